//! What a change has to pass, in two tiers: `quick` on any machine with Rust, everything with
//! Debian's packages.

use std::time::Instant;

use anyhow::{Result, bail};

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

/// What no other program disturbs, side by side. Lanes are about as long as each other, and each
/// builds into folders of its own.
const LANES: [&[Step]; 2] = [
    &[
        Step("other architectures", cross::check),
        Step("every interleaving", |tally| passed(loom::check(tally))),
        Step("fuzz targets", |_| fuzz::check()),
    ],
    &[
        Step("programs of the machines", |_| machines::build()),
        Step("fast path", |_| passed(fast_path::check())),
        Step("other platforms", platforms::test_some),
        Step("tests with Parquet", |tally| passed(with_parquet(tally))),
        Step("tests with time daemons", |tally| passed(with_time_daemons(tally))),
        Step("Python package", python::check),
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

/// Everything, stopping at the first failure.
pub(crate) fn everything() -> Result<()> {
    let tally = Tally::default();
    let result = one_by_one(&BASICS, &tally)
        .and_then(|()| one_by_one(&TESTS, &tally))
        .and_then(|()| side_by_side(&LANES, &tally))
        .and_then(|()| one_by_one(&LIVE, &tally));
    tally.print();
    result
}

fn one_by_one(steps: &[Step], tally: &Tally) -> Result<()> {
    for Step(name, step) in steps {
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
    }
    Ok(())
}

/// The lanes at once; the first error of all.
fn side_by_side(lanes: &[&[Step]], tally: &Tally) -> Result<()> {
    std::thread::scope(|scope| {
        let running: Vec<_> = lanes.iter().map(|lane| scope.spawn(|| one_by_one(lane, tally))).collect();
        let ended: Vec<Result<()>> =
            running.into_iter().map(|lane| lane.join().unwrap_or_else(|_| bail!("a step panicked"))).collect();
        ended.into_iter().collect()
    })
}

/// All test programs but the thorough ones, and what the documentation shows.
fn quick(tally: &Tally) -> Result<()> {
    tally.cargo_test(&[], &quick::arguments()?.iter().map(String::as_str).collect::<Vec<_>>())?;
    tally.cargo_test(&[], &["--workspace", "--doc"])
}

fn with_parquet(tally: &Tally) -> Result<()> {
    tally.cargo_test(&[], &["--package", "clockscope-report", "--features", "parquet", "--lib"])
}

fn with_time_daemons(tally: &Tally) -> Result<()> {
    let features = ["--package", "clockscope", "--features", "chrony,clockbound,serde"];
    run::cargo(&[&["clippy", "--quiet"], &features[..], &["--all-targets", "--", "--deny", "warnings"]].concat())?;
    tally.cargo_test(&[], &[&features[..], &["--lib", "--test", "interop"]].concat())
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

    #[test]
    fn a_failure_of_any_lane_is_one_of_all() {
        let (good, bad) = (Step("good", |_| Ok(Outcome::Passed)), Step("bad", |_| bail!("planted")));
        let tally = Tally::default();
        assert!(side_by_side(&[&[good], &[good, good]], &tally).is_ok());
        for lanes in [[&[good] as &[Step], &[good, bad]], [&[bad], &[good]]] {
            assert_eq!(side_by_side(&lanes, &tally).unwrap_err().to_string(), "bad: failed");
        }
    }
}
