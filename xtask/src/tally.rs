//! Runs tests and counts them: passed, failed, skipped.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, ensure};

use crate::run;

/// The variable that names the list which skipped tests write themselves into
/// (crates/clockscope-testing/src/skip.rs).
const LIST: &str = "CLOCKSCOPE_SKIPPED_TESTS";

/// The tests of one task.
#[derive(Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    /// Places of the skipped tests, and why they were skipped. A test may say so several times.
    skipped: BTreeSet<String>,
    /// The commands that repeat those that failed.
    repeats: BTreeSet<String>,
}

impl Tally {
    /// Runs `cargo test` with these arguments to the end, prints what it prints, and counts.
    ///
    /// # Errors
    /// A test fails, or the tests cannot be built.
    pub(crate) fn cargo_test(&mut self, variables: &[(&str, &str)], arguments: &[&str]) -> Result<()> {
        let list = std::path::absolute(run::built("skipped-tests.txt"))?;
        // Elsewhere a step repeats its tests.
        let selection = if arguments.contains(&"--workspace") { " --workspace" } else { "" };
        let is_native = !arguments.contains(&"--target") && !variables.iter().any(|(name, _)| *name == "RUSTFLAGS");
        // A list that is not there needs no removal.
        let _ = fs::remove_file(&list);
        let mut command = Command::new("cargo");
        command
            .args(["test", "--quiet", "--no-fail-fast"])
            .args(arguments)
            .envs(variables.iter().copied())
            .env(LIST, &list);
        let status = run_by_line(&mut command, |line| {
            self.count(line);
            if is_native && let Some(test) = failed_test(line) {
                self.repeats.insert(repeat(variables, selection, test));
            }
        })?;
        let skipped = fs::read_to_string(&list).unwrap_or_default();
        self.skipped.extend(skipped.lines().map(str::to_owned));
        ensure!(status.success(), "cargo test {}: {status}", arguments.join(" "));
        Ok(())
    }

    /// Runs pytest with these arguments and variables, prints what it prints, and counts.
    ///
    /// # Errors
    /// A test fails, or none is there.
    pub(crate) fn pytest(&mut self, python: &str, arguments: &[&str], variables: &[(&str, &Path)]) -> Result<()> {
        let mut command = Command::new(python);
        command.args(["-m", "pytest", "--quiet", "-rs", "--color=no"]).args(arguments);
        command.envs(variables.iter().copied()).env("PYTHONPATH", "");
        let status = run_by_line(&mut command, |line| self.count_pytest(line))?;
        ensure!(status.success(), "pytest {}: {status}", arguments.join(" "));
        Ok(())
    }

    /// The counts of a line such as `1 failed, 41 passed, 2 skipped in 3.17s`, and the reason in a
    /// line such as `SKIPPED [1] tests/test_clocks.py:30: why`.
    fn count_pytest(&mut self, line: &str) {
        if let Some((_, reason)) = line.strip_prefix("SKIPPED [").and_then(|tail| tail.split_once("] ")) {
            self.skipped.insert(format!("skipped: {reason}"));
        }
        let Some((result, _)) = line.rsplit_once(" in ").filter(|(_, took)| took.contains('s')) else { return };
        self.add(result);
    }

    /// Takes a step that was skipped as a whole.
    pub(crate) fn skip(&mut self, step: &str, reason: &str) {
        self.skipped.insert(format!("skipped: {step}: {reason}"));
    }

    /// The counts of a line such as `test result: ok. 41 passed; 0 failed; 0 ignored; ...`.
    fn count(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        self.add(result);
    }

    /// Adds the counts of a result such as `ok. 41 passed; 0 failed` or `1 failed, 41 passed`.
    fn add(&mut self, result: &str) {
        self.passed += number_before(result, "passed");
        self.failed += number_before(result, "failed");
    }

    /// Returns the number of tests that were run until now.
    pub(crate) fn run_count(&self) -> u64 {
        self.passed + self.failed
    }

    /// Prints what was skipped and why, and the counts in the last line.
    pub(crate) fn print(&self) {
        for line in &self.skipped {
            println!("{line}");
        }
        for command in &self.repeats {
            println!("repeat it alone: {command}");
        }
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped.len());
    }
}

/// Runs tests to the end, prints what they print, and hands each line to `take`.
fn run_by_line(command: &mut Command, mut take: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {command:?}"))?;
    let output = child.stdout.take().context("no output")?;
    for line in BufReader::new(output).lines() {
        let line = line.context("the tests printed something that is not text")?;
        println!("{line}");
        take(&line);
    }
    Ok(child.wait()?)
}

/// Returns the number before a word, or 0 if the word is not there.
fn number_before(result: &str, word: &str) -> u64 {
    let number = result.split(['.', ',', ';']).find_map(|part| part.trim().strip_suffix(word));
    number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Returns the test that a line such as `---- clock::goes_on stdout ----` names as failed.
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// Returns the command that runs one test again. `selection` chooses the members of the workspace.
fn repeat(variables: &[(&str, &str)], selection: &str, test: &str) -> String {
    let set: String = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    // An example of the documentation is named by its file.
    match test.split_once(" - ") {
        Some((file, _)) => format!("{set}cargo test{selection} --doc '{file}'"),
        None => format!("{set}cargo test{selection} {test} -- --exact --include-ignored"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted() {
        let mut tally = Tally::default();
        for line in [
            "running 2 tests",
            "test result: ok. 41 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.17s",
            "test result: FAILED. 10 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 22.26s",
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s",
        ] {
            tally.count(line);
        }
        tally.skip("other architectures", "no qemu");
        assert_eq!((tally.passed, tally.failed, tally.skipped.len()), (56, 1, 1));
    }

    #[test]
    fn a_failed_test_has_a_command_that_repeats_it() {
        assert_eq!(failed_test("---- clock::goes_on stdout ----"), Some("clock::goes_on"));
        assert_eq!(failed_test("test result: ok. 1 passed"), None);
        let full = [("CLOCKSCOPE_MACHINES", "full")];
        let expected = "CLOCKSCOPE_MACHINES=full cargo test clock::goes_on -- --exact --include-ignored";
        assert_eq!(repeat(&full, "", "clock::goes_on"), expected);
        let expected = "cargo test --workspace --doc 'crates/clockscope/src/lib.rs'";
        assert_eq!(repeat(&[], " --workspace", "crates/clockscope/src/lib.rs - now (line 3)"), expected);
    }

    #[test]
    fn results_of_pytest_are_counted() {
        let mut tally = Tally::default();
        for line in [
            ".......F..s                                                              [100%]",
            "E       assert 1 passed in the message",
            "SKIPPED [1] tests/test_clocks.py:30: the system has no fork",
            "1 failed, 41 passed, 1 skipped in 13.94s",
            "30 passed in 65.10s (0:01:05)",
        ] {
            tally.count_pytest(line);
        }
        assert_eq!((tally.passed, tally.failed), (71, 1));
        assert!(tally.skipped.contains("skipped: tests/test_clocks.py:30: the system has no fork"));
    }
}
