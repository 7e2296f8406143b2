//! The command for Windows, run by Wine.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The variable that names the folder of programs for Windows.
const FOLDER: &str = "CLOCKSCOPE_WINDOWS";

/// Wine prints no messages of its own.
pub(super) const QUIET: (&str, &str) = ("WINEDEBUG", "-all");

/// Has Wine warn of requests for a period of the timer, and of their ends; but for a period of 1
/// ms, which it has anyway.
pub(super) const PERIOD_CALLS: (&str, &str) = ("WINEDEBUG", "warn+mmtime");

/// Number of times that a period was requested, and that it was withdrawn, as these warnings show.
pub(super) fn period_calls(log: &str) -> (usize, usize) {
    (log.matches("timeBeginPeriod").count(), log.matches("timeEndPeriod").count())
}

/// The command under Wine.
pub(super) struct Wine {
    pub(super) program: String,
}

impl Wine {
    /// Finds the command.
    pub(super) fn new() -> Result<Self> {
        let folder = std::env::var(FOLDER).with_context(|| format!("{FOLDER} names no folder"))?;
        Ok(Self { program: format!("{folder}/clockscope.exe") })
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("wine");
        command.arg(&self.program).args(arguments).envs([QUIET]);
        command
    }

    /// Compiles a program of this test for Windows, beside the command; returns its path.
    pub(super) fn program(&self, source: &str, name: &str) -> Result<String> {
        let program = self.program.replace("clockscope.exe", &format!("{name}.exe"));
        let source = format!("{}/tests/wine/{source}", env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new("x86_64-w64-mingw32-gcc");
        let status = command.args(["-O2", "-Wall", "-Werror", "-o", &program, &source]).status()?;
        ensure!(status.success(), "cannot compile {source}: {status}");
        Ok(program)
    }

    /// The document of a question that succeeds, and that names Wine as an emulator.
    pub(super) fn document(&self, arguments: &[&str]) -> Result<Value> {
        let command_line = arguments.join(" ");
        // Files, since a process that is left behind would keep pipes open for ever.
        let files = ["stdout", "stderr"].map(|name| format!("{}.{name}", self.program));
        let [stdout, stderr] = files.each_ref().map(File::create);
        let mut command = self.command(arguments);
        command.args(["--format", "json"]).stdin(Stdio::null()).stdout(stdout?).stderr(stderr?);
        let status = command.status().context("cannot run wine")?;
        let [output, error] =
            files.each_ref().map(|file| String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned());
        ensure!(status.success(), "clockscope {command_line} under Wine: {status}\n{error}{output}");
        let document: Value = serde_json::from_str(&output).with_context(|| format!("{command_line}: no JSON"))?;
        let emulation = &document["environment"]["emulation"];
        ensure!(
            *emulation == serde_json::json!(["wine"]),
            "{command_line}: the emulation is {emulation}: expected wine"
        );
        Ok(document)
    }
}
