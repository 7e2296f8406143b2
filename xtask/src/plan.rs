//! Steps of a task, one after the other, and the report of those that failed.

use std::time::Instant;
use std::{env, fmt, fs};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::needs;
use crate::run;
use crate::tally::Tally;

/// The steps that are to be run.
#[derive(Args, Default)]
pub(crate) struct Choice {
    /// Steps; by default, all of them.
    #[arg(value_name = "STEP")]
    names: Vec<String>,
    /// Steps, after an option.
    #[arg(long, value_name = "STEP", num_args = 1.., conflicts_with = "names")]
    only: Vec<String>,
    /// Repeats the steps that failed in the last run.
    #[arg(long, conflicts_with_all = ["names", "only"])]
    failed: bool,
    /// Prints the names of all steps.
    #[arg(long, conflicts_with_all = ["names", "only", "failed"])]
    list: bool,
}

/// A step: its name, and its function.
pub(crate) type Step = (&'static str, fn(&mut Tally) -> Result<()>);

/// All steps of a task, in their order.
pub(crate) struct Plan {
    /// The task: `cargo xtask TASK`.
    pub(crate) task: &'static str,
    pub(crate) steps: &'static [Step],
    /// Everything that the steps need, for [`needs::listed`].
    pub(crate) needs: &'static str,
}

/// The error of a step that lacks a program, a package or a file. The message has the command that
/// gets it. CI has everything: such a step fails there and is skipped elsewhere.
#[derive(Debug)]
pub(crate) struct NotInstalled(pub(crate) String);

impl std::error::Error for NotInstalled {}

impl fmt::Display for NotInstalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Plan {
    /// Runs the steps that are chosen to their end, so that one run shows all that fails; or prints
    /// the names of all steps.
    ///
    /// # Errors
    /// A step fails, or one of the names is unknown.
    pub(crate) fn run(&self, choice: Choice) -> Result<()> {
        if choice.list {
            self.names().for_each(|name| println!("{name}"));
            return Ok(());
        }
        let names = if choice.failed { self.failed()? } else { [choice.names, choice.only].concat() };
        if let Some(unknown) = names.iter().find(|name| !self.names().any(|known| known == *name)) {
            bail!("unknown step {unknown:?}: expected one of {}", self.names().collect::<Vec<_>>().join(", "));
        }
        if let Some(missing) = needs::missing(needs::listed(self.needs)) {
            println!("== missing, so that steps are skipped: {missing}");
        }
        let mut tally = Tally::default();
        let mut failed = Vec::new();
        for (name, step) in self.steps {
            let is_chosen = names.is_empty() || names.iter().any(|chosen| chosen == name);
            if is_chosen && !passes(name, *step, &mut tally) {
                failed.push(*name);
            }
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

    /// Returns the names of all steps.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.steps.iter().map(|(name, _)| *name)
    }

    /// Returns the names of the steps that failed in the last run.
    fn failed(&self) -> Result<Vec<String>> {
        let failed = fs::read_to_string(self.failed_list()).unwrap_or_default();
        if failed.is_empty() {
            bail!("no step failed in the last run of `cargo xtask {}`", self.task);
        }
        Ok(failed.lines().map(str::to_owned).collect())
    }

    /// The file with the names of the steps that failed in the last run.
    fn failed_list(&self) -> String {
        run::built(&format!("failed-steps-{}.txt", self.task))
    }
}

/// Runs a step and prints its outcome; returns false if it failed.
fn passes(name: &str, step: fn(&mut Tally) -> Result<()>, tally: &mut Tally) -> bool {
    println!("== {name}");
    let start = Instant::now();
    let outcome = step(tally);
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(()) => println!("== {name}: passed in {seconds:.0} s"),
        Err(error) if error.is::<NotInstalled>() && env::var_os("CI").is_none() => {
            println!("== {name}: skipped: {error:#}");
            tally.skip(name, &format!("{error:#}"));
        }
        Err(error) => {
            println!("== {name}: failed after {seconds:.0} s: {error:#}");
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan {
        task: "example",
        steps: &[("good", |_| Ok(())), ("bad", |_| bail!("planted")), ("worse", |_| bail!("planted, too"))],
        needs: "",
    };

    fn chosen(names: &[&str]) -> Choice {
        Choice { names: names.iter().map(ToString::to_string).collect(), ..Choice::default() }
    }

    #[test]
    fn all_chosen_steps_run_and_those_that_failed_are_repeated() {
        fs::create_dir_all(run::built("")).unwrap();
        PLAN.run(chosen(&["good"])).unwrap();
        assert!(PLAN.failed().unwrap_err().to_string().starts_with("no step failed"));
        let error = PLAN.run(chosen(&[])).unwrap_err().to_string();
        assert_eq!(error, "failed: bad, worse; `cargo xtask example --failed` repeats them");
        let error = PLAN.run(chosen(&["good", "worse"])).unwrap_err().to_string();
        assert!(error.starts_with("failed: worse;"), "{error}");
        let error = PLAN.run(Choice { failed: true, ..Choice::default() }).unwrap_err().to_string();
        assert!(error.starts_with("failed: worse;"), "{error}");
        fs::remove_file(PLAN.failed_list()).unwrap();
    }

    #[test]
    fn unknown_steps_are_refused() {
        let error = PLAN.run(chosen(&["good", "best"])).unwrap_err().to_string();
        assert_eq!(error, "unknown step \"best\": expected one of good, bad, worse");
    }

    #[test]
    fn a_step_that_lacks_a_program_is_known_by_its_error() {
        let error = Err::<(), _>(NotInstalled("tests need packages".to_owned())).context("the trace");
        assert!(error.unwrap_err().is::<NotInstalled>());
    }
}
