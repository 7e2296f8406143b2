//! What a change has to pass, in two tiers: `quick` on any machine with Rust, everything with
//! Debian's packages.

use std::time::Instant;

use anyhow::{Error, Result, anyhow, bail};

use crate::outcome::{Outcome, passed};
use crate::tally::Tally;
use crate::{
    browsers, cross, dependencies, fast_path, fuzz, loom, machines, package, platforms, python, quick, run, runtimes,
    spelling, structure,
};

/// One thing that a change has to pass.
#[derive(Clone, Copy)]
struct Step(&'static str, fn(&Tally) -> Result<Outcome>);

const BASICS: [Step; 7] = [
    Step("what is needed", |_| passed(needs())),
    Step("format", |_| passed(run::cargo(&["fmt", "--all", "--check"]))),
    Step("lints", |_| {
        passed(run::cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]))
    }),
    Step("structure", |_| passed(structure::check())),
    Step("dependencies", |_| passed(dependencies::check())),
    Step("spelling", |_| spelling::check()),
    Step("packages", |_| passed(package::check())),
];

const QUICK: Step = Step("quick tests", |tally| passed(quick(tally)));

/// Everything that has to be right at the speed of this machine runs alone.
const TESTS: [Step; 1] = [Step("tests", |tally| passed(tally.cargo_test(&[], &["--workspace"])))];

/// Builds on what the tests have built.
const PACKAGES: [Step; 1] = [Step("packages build", |_| passed(package::verify()))];

/// What no other program disturbs, side by side. Lanes are about as long as each other, and each
/// builds into folders of its own.
const LANES: [&[Step]; 2] = [
    &[
        Step("other architectures", cross::check),
        Step("every interleaving", |tally| passed(loom::check(tally))),
        Step("fuzz targets", |_| fuzz::check()),
        Step("Python package", python::check),
    ],
    &[
        Step("programs of the machines", |_| machines::build()),
        Step("fast path", |_| passed(fast_path::check())),
        Step("other platforms", platforms::test_some),
        Step("tests with time daemons", |tally| passed(with_time_daemons(tally))),
        Step("pages in a browser", |_| browsers::check()),
        Step("documentation", |_| passed(documentation())),
    ],
];

const LIVE: [Step; 2] =
    [Step("language runtimes", |_| runtimes::check()), Step("emulated machines", |_| machines::check())];

/// The first tier.
pub(crate) fn quickly() -> Result<()> {
    let tally = Tally::default();
    let result = one_by_one(&BASICS, &tally).and_then(|()| one_by_one(&[QUICK], &tally));
    tally.print();
    result
}

/// Everything: the basics up to the first failure, then all tests to their end, so that one run
/// shows all that fails.
pub(crate) fn everything() -> Result<()> {
    let tally = Tally::default();
    let result = one_by_one(&BASICS, &tally).and_then(|()| {
        let mut failures = to_the_end(&TESTS, &tally);
        failures.extend(to_the_end(&PACKAGES, &tally));
        failures.extend(side_by_side(&LANES, &tally));
        failures.extend(to_the_end(&LIVE, &tally));
        all_passed(failures)
    });
    tally.print();
    result
}

/// Runs steps up to the first failure.
fn one_by_one(steps: &[Step], tally: &Tally) -> Result<()> {
    steps.iter().try_for_each(|step| step.run(tally))
}

/// Runs all steps and returns their failures.
fn to_the_end(steps: &[Step], tally: &Tally) -> Vec<Error> {
    steps.iter().filter_map(|step| step.run(tally).inspect_err(|error| println!("== {error:#}")).err()).collect()
}

/// Runs the lanes at once, each to its end, and returns their failures.
fn side_by_side(lanes: &[&[Step]], tally: &Tally) -> Vec<Error> {
    std::thread::scope(|scope| {
        let running: Vec<_> = lanes.iter().map(|lane| scope.spawn(|| to_the_end(lane, tally))).collect();
        running.into_iter().flat_map(|lane| lane.join().unwrap_or_else(|_| vec![anyhow!("a step panicked")])).collect()
    })
}

/// Returns one error of all failures.
fn all_passed(failures: Vec<Error>) -> Result<()> {
    match failures.as_slice() {
        [] => Ok(()),
        failures => {
            bail!("{}", failures.iter().map(|failure| format!("{failure:#}")).collect::<Vec<_>>().join("\n"))
        }
    }
}

impl Step {
    /// Runs it and prints how it went.
    fn run(&self, tally: &Tally) -> Result<()> {
        let Self(name, step) = self;
        println!("== {name}");
        let start = Instant::now();
        let outcome = step(tally).map_err(|error| error.context(format!("{name}: failed")))?;
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Outcome::Passed => println!("== {name}: passed in {seconds:.0} s"),
            Outcome::Skipped(reason) => {
                println!("== {name}: skipped: {reason}");
                tally.skip(name, &reason);
            }
        }
        Ok(())
    }
}

/// All test programs but the thorough ones, and what the documentation shows.
fn quick(tally: &Tally) -> Result<()> {
    tally.cargo_test(&[], &quick::arguments()?.iter().map(String::as_str).collect::<Vec<_>>())?;
    tally.cargo_test(&[], &["--workspace", "--doc"])
}

fn with_time_daemons(tally: &Tally) -> Result<()> {
    let features = ["--package", "clockscope", "--features", "chrony,clockbound,serde"];
    run::cargo(&[&["clippy", "--quiet"], &features[..], &["--all-targets", "--", "--deny", "warnings"]].concat())?;
    tally.cargo_test(&[], &[&features[..], &["--lib", "--test", "platform"]].concat())
}

fn documentation() -> Result<()> {
    run::with(&[("RUSTDOCFLAGS", "--deny warnings")], "cargo", &["doc", "--workspace", "--no-deps", "--quiet"])
}

/// What the tests need beside Rust.
fn needs() -> Result<()> {
    if !run::exists("cc") {
        bail!("the tests compile small C libraries and found no `cc`: apt-get install gcc libc6-dev");
    }
    for component in ["rustfmt", "cargo-clippy"] {
        if !run::exists(component) {
            bail!("{component} is missing: rustup component add rustfmt clippy");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Step = Step("good", |_| Ok(Outcome::Passed));
    const BAD: Step = Step("bad", |_| bail!("planted"));
    const WORSE: Step = Step("worse", |_| bail!("planted, too"));

    #[test]
    fn failures_of_all_lanes_are_shown() {
        let tally = Tally::default();
        let shown = |lanes: &[&[Step]]| all_passed(side_by_side(lanes, &tally)).map_err(|error| error.to_string());
        assert_eq!(shown(&[&[GOOD], &[GOOD, GOOD]]), Ok(()));
        assert_eq!(shown(&[&[GOOD], &[BAD, GOOD]]), Err("bad: failed: planted".to_owned()));
        let all = "bad: failed: planted\nworse: failed: planted, too".to_owned();
        assert_eq!(shown(&[&[BAD, GOOD, WORSE], &[GOOD]]), Err(all.clone()));
        assert_eq!(shown(&[&[BAD], &[GOOD, WORSE]]), Err(all));
    }

    #[test]
    fn basics_end_at_the_first_failure() {
        let tally = Tally::default();
        assert!(one_by_one(&[GOOD, GOOD], &tally).is_ok());
        assert_eq!(one_by_one(&[GOOD, BAD, WORSE], &tally).unwrap_err().to_string(), "bad: failed");
    }
}
