//! The full tier: what a change has to pass. Its first steps take seconds, then come `cargo test`
//! and all that needs more than Rust and a C compiler.

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::outcome::{Outcome, passed};
use crate::tally::Tally;
use crate::{
    browsers, cross, dependencies, dist, docs, fast_path, fleet, fuzz, machines, needs, package, platforms, python,
    run, runtimes, spelling, structure, traces, workflows,
};

/// A thing that a change has to pass.
#[derive(Clone, Copy)]
struct Step(&'static str, fn(&Tally) -> Result<Outcome>);

/// Steps that take seconds. The others do not begin before all of these have passed.
const BASICS: &[Step] = &[
    Step("format", |_| passed(run::cargo(&["fmt", "--all", "--check"]))),
    Step("structure", |_| passed(structure::check())),
    Step("dependencies", |_| dependencies::check()),
    Step("docs", |_| passed(docs::check())),
    Step("site", |_| docs::site::check()),
    Step("spelling", |_| spelling::check()),
    Step("workflows", |_| workflows::check()),
    Step("packages", |_| passed(package::check())),
];

/// Steps that run alone: the quick tier, and tests of real clocks that need a quiet machine.
const ALONE: &[Step] = &[
    Step("quick", |tally| passed(tally.cargo_test(&[], &[]))),
    Step("ignored", |tally| {
        passed(tally.cargo_test(&[], &["--workspace", "--tests", "--", "--ignored", "--skip", MODELS]))
    }),
];

/// The models of the clock's protocol, which loom runs.
const MODELS: &str = "disciplined::protocol";

/// Steps that no other program disturbs, side by side. Lanes are about as long as each other, and
/// each builds into folders of its own.
const LANES: &[&[Step]] = &[
    &[
        Step("dist", |_| dist::check()),
        Step("cross", |_| cross::check()),
        Step("loom", |tally| passed(loom(tally))),
        Step("fuzz", |_| fuzz::check()),
        Step("python", python::check),
        Step("fleet", fleet::check),
        Step("fast-path", |_| passed(fast_path::check())),
        Step("pages", |_| browsers::check()),
        Step("traces", |_| traces::check()),
        Step("documentation", |_| passed(documentation())),
    ],
    &[
        Step("lints", |_| passed(lints())),
        Step("machines-full", |tally| passed(machines_full(tally))),
        Step("programs", |_| machines::build()),
        Step("platforms", platforms::test_some),
    ],
];

/// Steps that take the whole machine.
const LIVE: &[Step] = &[Step("runtimes", |_| runtimes::check()), Step("machines", |_| machines::check())];

/// The names of steps that failed last, in the folder that cargo builds into.
const FAILED: &str = "failed-steps.txt";

/// Runs all steps, or those that the arguments choose: `--only STEP...`, `--failed`; `--list`
/// prints their names.
pub(crate) fn test(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] => steps(&names().collect()),
        ["--list"] => {
            names().for_each(|name| println!("{name}"));
            Ok(())
        }
        ["--failed"] => {
            let failed = fs::read_to_string(run::built(FAILED)).unwrap_or_default();
            let failed: Vec<&str> = failed.lines().collect();
            if failed.is_empty() {
                bail!("no step failed in the last run of `cargo xtask test`")
            } else {
                chosen(&failed)
            }
        }
        ["--only", only @ ..] if !only.is_empty() => chosen(only),
        _ => bail!("unknown arguments {arguments:?}: expected --only STEP..., --failed or --list"),
    }
}

/// The names of all steps, in the order in which they begin.
fn names() -> impl Iterator<Item = &'static str> {
    let lanes = LANES.iter().copied().flatten();
    BASICS.iter().chain(ALONE).chain(lanes).chain(LIVE).map(|Step(name, _)| *name)
}

fn chosen(only: &[&str]) -> Result<()> {
    if let Some(unknown) = only.iter().find(|only| !names().any(|name| name == **only)) {
        bail!("unknown step {unknown:?}: expected one of {}", names().collect::<Vec<_>>().join(", "));
    }
    steps(&names().filter(|name| only.contains(name)).collect())
}

/// Runs these steps: the basics up to the first failure, then all others to their end, so that one
/// run shows all that fails.
fn steps(chosen: &BTreeSet<&str>) -> Result<()> {
    if let Some(missing) = needs::missing(needs::ALL) {
        println!("== missing, so that steps are skipped: {missing}");
    }
    let tally = Tally::default();
    let of =
        |steps: &[Step]| -> Vec<Step> { steps.iter().filter(|Step(name, _)| chosen.contains(name)).copied().collect() };
    let mut failed = one_by_one(&of(BASICS), &tally);
    if failed.is_empty() {
        failed.extend(to_the_end(&of(ALONE), &tally));
        failed.extend(side_by_side(&LANES.iter().map(|lane| of(lane)).collect::<Vec<_>>(), &tally));
        failed.extend(to_the_end(&of(LIVE), &tally));
    }
    fs::write(run::built(FAILED), failed.join("\n")).context("cannot write the list of failed steps")?;
    tally.print();
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}; `cargo xtask test --failed` repeats them", failed.join(", "))
}

/// Runs steps up to the first failure, whose name it returns.
fn one_by_one(steps: &[Step], tally: &Tally) -> Vec<String> {
    steps.iter().find_map(|step| step.run(tally)).into_iter().collect()
}

/// Runs all steps and returns the names of those that failed.
fn to_the_end(steps: &[Step], tally: &Tally) -> Vec<String> {
    steps.iter().filter_map(|step| step.run(tally)).collect()
}

/// Runs the lanes at once, each to its end, and returns the names of steps that failed.
fn side_by_side(lanes: &[Vec<Step>], tally: &Tally) -> Vec<String> {
    std::thread::scope(|scope| {
        let running: Vec<_> = lanes.iter().map(|lane| scope.spawn(|| to_the_end(lane, tally))).collect();
        let ended = |lane: std::thread::ScopedJoinHandle<'_, _>| lane.join().unwrap_or_else(|_| vec!["?".to_owned()]);
        running.into_iter().flat_map(ended).collect()
    })
}

impl Step {
    /// Runs it and prints how it went; returns its name if it failed.
    fn run(&self, tally: &Tally) -> Option<String> {
        let Self(name, step) = self;
        println!("== {name}");
        let start = Instant::now();
        let outcome = step(tally);
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Passed) => println!("== {name}: passed in {seconds:.0} s"),
            Ok(Outcome::Skipped(reason)) => {
                println!("== {name}: skipped: {reason}");
                tally.skip(name, &reason);
            }
            Err(error) => {
                println!("== {name}: failed after {seconds:.0} s: {error:#}");
                println!("== repeat it alone: cargo xtask test --only {name}");
                return Some((*name).to_owned());
            }
        }
        None
    }
}

fn lints() -> Result<()> {
    run::cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])
}

/// The questions to simulated machines, and the ticks of simulated clocks, with all their seeds.
fn machines_full(tally: &Tally) -> Result<()> {
    // Named like the quick tier's, so that nothing is built again.
    let full = [("CLOCKSCOPE_MACHINES", "full")];
    tally.cargo_test(&full, &["--workspace", "--lib", "--", "tick::tests"])?;
    tally.cargo_test(&full, &["--workspace", "--test", "truth"])
}

/// The models that take too long for the quick tier.
fn loom(tally: &Tally) -> Result<()> {
    tally.cargo_test(&[], &["--workspace", "--test", "models", "--", "--ignored", MODELS])
}

fn documentation() -> Result<()> {
    run::with(&[("RUSTDOCFLAGS", "--deny warnings")], "cargo", &["doc", "--workspace", "--no-deps", "--quiet"])
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Step = Step("good", |_| Ok(Outcome::Passed));
    const BAD: Step = Step("bad", |_| bail!("planted"));
    const WORSE: Step = Step("worse", |_| bail!("planted, too"));

    #[test]
    fn failures_of_all_lanes_are_named() {
        let tally = Tally::default();
        let failed = |lanes: &[Vec<Step>]| side_by_side(lanes, &tally);
        assert_eq!(failed(&[vec![GOOD], vec![GOOD, GOOD]]), [""; 0]);
        assert_eq!(failed(&[vec![GOOD], vec![BAD, GOOD]]), ["bad"]);
        assert_eq!(failed(&[vec![BAD, GOOD, WORSE], vec![GOOD]]), ["bad", "worse"]);
        assert_eq!(failed(&[vec![BAD], vec![GOOD, WORSE]]), ["bad", "worse"]);
    }

    #[test]
    fn basics_end_at_the_first_failure() {
        let tally = Tally::default();
        assert_eq!(one_by_one(&[GOOD, GOOD], &tally), [""; 0]);
        assert_eq!(one_by_one(&[GOOD, BAD, WORSE], &tally), ["bad"]);
    }

    #[test]
    fn every_step_has_a_name_of_its_own() {
        let all: Vec<&str> = names().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    }

    #[test]
    fn unknown_steps_and_arguments_are_refused() {
        let error = test(&["--only", "loom", "spells"]).unwrap_err().to_string();
        assert!(error.starts_with("unknown step \"spells\": expected one of format, structure"), "{error}");
        assert!(test(&["quick"]).unwrap_err().to_string().contains("expected --only STEP"));
    }
}
