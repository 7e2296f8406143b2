//! Runs a program before it is packed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::origin::Origin;
use super::target::Target;
use crate::run;

/// Shells, and where their completion scripts are.
pub(super) const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "clockscope.bash"),
    ("zsh", "_clockscope"),
    ("fish", "clockscope.fish"),
    ("elvish", "clockscope.elv"),
    ("powershell", "_clockscope.ps1"),
];

/// The largest program, in bytes.
const LARGEST: u64 = 8_000_000;

/// A program that was built for a target.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) runner: &'static [&'static str],
}

impl Program {
    /// Refuses a program that does not run, or is not what the archive's name says.
    pub(super) fn check(&self, target: &Target, origin: &Origin) -> Result<()> {
        let size = fs::metadata(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?.len();
        ensure!(size <= LARGEST, "the program has {size} bytes, expected {LARGEST} at most");
        let headers = run::output("objdump", &["-p", &self.path.to_string_lossy()])?;
        ensure!(is_static(&headers), "the program needs a loader or libraries, expected a static one");
        let version = self.output(&["--version", "--verbose"])?;
        check_version(&version, target.triple, origin)?;
        self.measures("measure", "clocks")?;
        self.measures("check", "verdicts")?;
        println!("   {size} bytes, static; it states its commit, measures and checks");
        Ok(())
    }

    /// Asks a question for a short time; the answer must have rows.
    fn measures(&self, question: &str, rows: &str) -> Result<()> {
        let printed = self.output(&[question, "--json", "--duration", "500ms"])?;
        let document: Value = serde_json::from_str(&printed).with_context(|| format!("{question} prints no JSON"))?;
        ensure!(has_rows(&document, question, rows), "{question} has no {rows}: {}", document["schema"]);
        Ok(())
    }

    /// Returns what it prints, in an empty environment.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<String> {
        let mut words = self.runner.iter().map(PathBuf::from).chain([self.path.clone()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let output = command.args(words).args(arguments).env_clear().env("PATH", path).output();
        let output = output.with_context(|| format!("cannot run {}", self.path.display()))?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            bail!("clockscope {}: {}\n{error}", arguments.join(" "), output.status);
        }
        String::from_utf8(output.stdout).with_context(|| format!("clockscope {} prints no text", arguments.join(" ")))
    }
}

/// Returns true if `objdump -p` shows neither a loader nor libraries.
fn is_static(headers: &str) -> bool {
    let lines = || headers.lines().map(str::trim_start);
    lines().any(|line| line.starts_with("LOAD"))
        && !lines().any(|line| line.starts_with("INTERP") || line.starts_with("NEEDED"))
}

/// Checks what the program says of itself.
fn check_version(printed: &str, triple: &str, origin: &Origin) -> Result<()> {
    let Origin { version, commit, .. } = origin;
    let expected = format!("clockscope {version}\ncommit: {commit}\ntarget: {triple}\n");
    ensure!(printed == expected, "--version --verbose prints\n{printed}expected\n{expected}");
    Ok(())
}

/// Returns true if a document is the question's and has at least one row.
fn has_rows(document: &Value, question: &str, rows: &str) -> bool {
    let is_there = document[rows].as_array().is_some_and(|rows| !rows.is_empty());
    document["schema"] == format!("clockscope.{question}") && is_there
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_with_a_loader_or_libraries_is_not_static() {
        let sound = "Program Header:\n    LOAD off    0x0\n   STACK off    0x0\n";
        assert!(is_static(sound));
        assert!(!is_static(&sound.replace("STACK", "INTERP")));
        assert!(!is_static(&format!("{sound}\nDynamic Section:\n  NEEDED               libc.so.6\n")));
        assert!(!is_static("not a program"));
    }

    fn origin() -> Origin {
        Origin { version: "1.2.3".to_owned(), commit: "c0ffee".to_owned(), epoch: "0".to_owned(), time: String::new() }
    }

    #[test]
    fn a_program_of_another_commit_or_target_is_refused() {
        let sound = "clockscope 1.2.3\ncommit: c0ffee\ntarget: x\n";
        assert!(check_version(sound, "x", &origin()).is_ok());
        assert!(check_version(sound, "y", &origin()).is_err());
        assert!(check_version(&sound.replace("c0ffee", "c0ffee-changed"), "x", &origin()).is_err());
    }

    #[test]
    fn an_answer_without_rows_is_refused() {
        let sound = json!({ "schema": "clockscope.measure", "clocks": [1] });
        assert!(has_rows(&sound, "measure", "clocks"));
        assert!(!has_rows(&sound, "check", "clocks"));
        assert!(!has_rows(&json!({ "schema": "clockscope.measure", "clocks": [] }), "measure", "clocks"));
    }
}
