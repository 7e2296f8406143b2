//! Steps of a task, some of them side by side, and the report of those that failed.

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::needs::{self, Need};
use crate::outcome::Outcome;
use crate::run;
use crate::tally::Tally;

/// The steps that are to be run.
#[derive(Args, Default)]
pub(crate) struct Choice {
    /// Steps; by default, all of them.
    #[arg(value_name = "STEP")]
    names: Vec<String>,
    /// The same.
    #[arg(long, value_name = "STEP", num_args = 1.., conflicts_with = "names")]
    only: Vec<String>,
    /// Repeats the steps that failed in the last run.
    #[arg(long, conflicts_with_all = ["names", "only"])]
    failed: bool,
    /// Prints the names of all steps.
    #[arg(long, conflicts_with_all = ["names", "only", "failed"])]
    list: bool,
}

/// One step, with its name.
#[derive(Clone, Copy)]
pub(crate) struct Step(pub(crate) &'static str, pub(crate) fn(&Tally) -> Result<Outcome>);

/// All steps of a task, in the order in which they begin.
pub(crate) struct Plan {
    /// The task: `cargo xtask TASK`.
    pub(crate) task: &'static str,
    /// Steps that take seconds. The others do not begin before all of these have passed.
    pub(crate) basics: &'static [Step],
    /// Steps that run alone, before the lanes.
    pub(crate) alone: &'static [Step],
    /// Steps that no other program disturbs, side by side.
    pub(crate) lanes: &'static [&'static [Step]],
    /// Steps that take the whole machine, after the lanes.
    pub(crate) last: &'static [Step],
    /// Everything that the steps need.
    pub(crate) needs: &'static [Need],
}

impl Plan {
    /// Runs the steps that are chosen, or prints the names of all steps.
    pub(crate) fn run(&self, choice: Choice) -> Result<()> {
        if choice.list {
            self.names().for_each(|name| println!("{name}"));
            return Ok(());
        }
        let names = if choice.failed { self.failed()? } else { [choice.names, choice.only].concat() };
        if let Some(unknown) = names.iter().find(|name| !self.names().any(|known| known == *name)) {
            bail!("unknown step {unknown:?}: expected one of {}", self.names().collect::<Vec<_>>().join(", "));
        }
        let is_chosen = |name: &&str| names.is_empty() || names.iter().any(|chosen| chosen == name);
        self.run_steps(&self.names().filter(is_chosen).collect())
    }

    /// Returns the names of the steps that failed in the last run.
    fn failed(&self) -> Result<Vec<String>> {
        let failed = fs::read_to_string(self.failed_list()).unwrap_or_default();
        if failed.is_empty() {
            bail!("no step failed in the last run of `cargo xtask {}`", self.task);
        }
        Ok(failed.lines().map(str::to_owned).collect())
    }

    /// Returns the names of all steps, in the order in which they begin.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let lanes = self.lanes.iter().copied().flatten();
        self.basics.iter().chain(self.alone).chain(lanes).chain(self.last).map(|Step(name, _)| *name)
    }

    /// The file with the names of the steps that failed in the last run.
    fn failed_list(&self) -> String {
        run::built(&format!("failed-steps-{}.txt", self.task))
    }

    /// Runs the steps of these names: the basics up to the first failure, then all others to their
    /// end, so that one run shows all that fails.
    fn run_steps(&self, names: &BTreeSet<&str>) -> Result<()> {
        if let Some(missing) = needs::missing(self.needs) {
            println!("== missing, so that steps are skipped: {missing}");
        }
        let tally = Tally::default();
        let mut failed = one_by_one(&chosen(self.basics, names), &tally);
        if failed.is_empty() {
            failed.extend(to_the_end(&chosen(self.alone, names), &tally));
            let lanes: Vec<Vec<Step>> = self.lanes.iter().map(|lane| chosen(lane, names)).collect();
            failed.extend(side_by_side(&lanes, &tally));
            failed.extend(to_the_end(&chosen(self.last, names), &tally));
        }
        fs::write(self.failed_list(), failed.join("\n")).context("cannot write the list of failed steps")?;
        tally.print();
        for name in &failed {
            println!("== repeat it alone: cargo xtask {} --only {name}", self.task);
        }
        if failed.is_empty() {
            return Ok(());
        }
        bail!("failed: {}; `cargo xtask {} --failed` repeats them", failed.join(", "), self.task)
    }
}

/// Returns the steps of these names.
fn chosen(steps: &[Step], names: &BTreeSet<&str>) -> Vec<Step> {
    steps.iter().filter(|Step(name, _)| names.contains(name)).copied().collect()
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
        let mut failed = Vec::new();
        for lane in running {
            failed.extend(lane.join().unwrap_or_else(|_| vec!["?".to_owned()]));
        }
        failed
    })
}

impl Step {
    /// Runs it and prints its outcome; returns its name if it failed.
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
                return Some((*name).to_owned());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Step = Step("good", |_| Ok(Outcome::Passed));
    const BAD: Step = Step("bad", |_| bail!("planted"));
    const WORSE: Step = Step("worse", |_| bail!("planted, too"));
    const PLAN: Plan =
        Plan { task: "example", basics: &[GOOD], alone: &[BAD], lanes: &[&[WORSE]], last: &[], needs: &[] };

    fn failed(lanes: &[Vec<Step>]) -> Vec<String> {
        side_by_side(lanes, &Tally::default())
    }

    #[test]
    fn failures_of_all_lanes_are_named() {
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
    fn steps_are_listed_in_their_order() {
        assert_eq!(PLAN.names().collect::<Vec<_>>(), ["good", "bad", "worse"]);
        let names: BTreeSet<&str> = chosen(PLAN.alone, &["bad", "worse"].into()).iter().map(|step| step.0).collect();
        assert_eq!(names, ["bad"].into());
    }

    #[test]
    fn unknown_steps_are_refused() {
        let choice = Choice { names: ["good", "best"].map(str::to_owned).to_vec(), ..Choice::default() };
        let error = PLAN.run(choice).unwrap_err().to_string();
        assert_eq!(error, "unknown step \"best\": expected one of good, bad, worse");
    }
}
