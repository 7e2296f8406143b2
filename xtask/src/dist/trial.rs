//! Trials: an artifact that is installed in a root of its own, and run there. One that fails is not
//! made.

use std::fmt::Write;
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A command that ran where an artifact was installed, and ended as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    /// Name of the artifact's file.
    pub(super) artifact: String,
    /// The root, for people: `empty chroot`.
    pub(super) root: String,
    /// As a user would type it there.
    pub(super) command: String,
}

/// The root that trials of one artifact take place in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) artifact: &'a str,
    pub(super) root: &'a str,
}

impl Place<'_> {
    /// Runs the commands of [`QUESTIONS`] after `program`, as a user would type that, and judges
    /// the answers.
    pub(super) fn ask(
        &self,
        program: &str,
        command: impl Fn(&[&str]) -> Command,
        trials: &mut Vec<Trial>,
    ) -> Result<()> {
        for question in QUESTIONS {
            let words = format!("{program} {}", question.join(" "));
            let printed = self.run(&mut command(question), &words, trials)?;
            judge(question, &printed).with_context(|| self.named(&words))?;
        }
        Ok(())
    }

    /// Runs a command, which must succeed; returns what it printed, and notes the trial down under
    /// the words that a user would type.
    pub(super) fn run(&self, command: &mut Command, words: &str, trials: &mut Vec<Trial>) -> Result<String> {
        let output = command.output().with_context(|| self.named(words))?;
        self.accept(&output, words, trials)
    }

    /// The same for a command that ended already.
    pub(super) fn accept(&self, output: &Output, words: &str, trials: &mut Vec<Trial>) -> Result<String> {
        let error = String::from_utf8_lossy(&output.stderr);
        let exit =
            output.status.code().with_context(|| format!("{}: {}\n{error}", self.named(words), output.status))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(exit == 0, "{}: exit code {exit}\n{error}{printed}", self.named(words));
        let [artifact, root, command] = [self.artifact, self.root, words].map(str::to_owned);
        trials.push(Trial { artifact, root, command });
        Ok(printed)
    }

    /// The command and its root, for errors.
    pub(super) fn named(&self, words: &str) -> String {
        format!("{words}, of {} in {}", self.artifact, self.root)
    }
}

/// The commands by which every root tries the instrument, apart from the program's name: the main
/// job, verdicts, and a page. Each answer is checked by [`judge`].
pub(super) const QUESTIONS: [&[&str]; 3] = [
    &["measure", "--json", "--duration", "500ms"],
    &["check", "--json", "--duration", "500ms"],
    &["measure", "monotonic", "--duration", "200ms", "--format", "html"],
];

/// Removes the folder and the flags of this build, which a user has none of.
pub(super) fn remove_build_variables(command: &mut Command) {
    for variable in ["CARGO_TARGET_DIR", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"] {
        command.env_remove(variable);
    }
}

/// Fails unless this is the answer of a command of [`QUESTIONS`].
pub(super) fn judge(question: &[&str], printed: &str) -> Result<()> {
    if question.contains(&"html") {
        ensure!(
            printed.starts_with("<!doctype html>") && printed.trim_end().ends_with("</html>"),
            "no page: {printed}"
        );
        return Ok(());
    }
    let rows = if question[0] == "check" { "verdicts" } else { "clocks" };
    let document: Value = serde_json::from_str(printed).with_context(|| format!("{} prints no JSON", question[0]))?;
    let is_there = document[rows].as_array().is_some_and(|rows| !rows.is_empty());
    ensure!(
        document["schema"] == format!("clockscope.{}", question[0]) && is_there,
        "{} has no {rows}: {}",
        question[0],
        document["schema"]
    );
    Ok(())
}

/// The trials as a table of Markdown. All have ended with 0.
pub(super) fn table(trials: &[Trial]) -> String {
    let mut text = "| artifact | root | command | exit code |\n|---|---|---|---|\n".to_owned();
    for Trial { artifact, root, command } in trials {
        let _ = writeln!(text, "| {artifact} | {root} | `{command}` | 0 |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_no_trial() {
        let place = Place { artifact: "a.tar.gz", root: "here" };
        let mut trials = Vec::new();
        let printed = place.run(Command::new("echo").arg("x"), "echo x", &mut trials).unwrap();
        assert_eq!((printed.as_str(), trials.len()), ("x\n", 1));
        let error = place.run(&mut Command::new("false"), "false", &mut trials).unwrap_err();
        assert!(error.to_string().starts_with("false, of a.tar.gz in here: exit code 1"), "{error}");
        assert_eq!(
            table(&trials),
            "| artifact | root | command | exit code |\n|---|---|---|---|\n| a.tar.gz | here | `echo x` | 0 |\n"
        );
    }

    #[test]
    fn an_answer_without_rows_is_refused() {
        let [measure, check, page] = QUESTIONS;
        let sound = r#"{ "schema": "clockscope.measure", "clocks": [1] }"#;
        assert!(judge(measure, sound).is_ok());
        assert!(judge(check, sound).is_err());
        assert!(judge(measure, r#"{ "schema": "clockscope.measure", "clocks": [] }"#).is_err());
        assert!(judge(page, "<!doctype html><title>x</title></html>\n").is_ok());
        assert!(judge(page, "<!doctype html><title>x</title>").is_err());
    }
}
