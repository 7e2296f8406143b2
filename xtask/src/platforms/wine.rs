//! The command for Windows: built by MinGW, and run by Wine.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{compiler, emulated};
use crate::cross;
use crate::run;

pub(super) const TARGET: &str = "x86_64-pc-windows-gnu";

/// Folder in which it is built: in the profile that the library's tests are built in, which shares
/// the standard library with them.
pub(super) fn folder() -> String {
    format!("{}/{TARGET}/debug", compiler::FOLDER)
}

/// Builds the command; returns the executable's path.
pub(super) fn build() -> Result<String> {
    build_package("clockscope-cli")?;
    Ok(format!("{}/clockscope.exe", folder()))
}

/// Builds a package, but not its tests.
pub(super) fn build_package(package: &str) -> Result<()> {
    emulated::WINDOWS.complete(&folder())?;
    let own = emulated::WINDOWS.variables(TARGET);
    let variables: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let arguments = ["build", "--quiet", "--package", package, "--target", TARGET, cross::BUILD_STD];
    run::with(&variables, "cargo", &arguments)
}

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
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("wine");
        command.arg(&self.program).args(arguments).envs(emulated::WINDOWS.variables.iter().copied());
        command
    }

    /// Compiles a program of this repository for Windows, beside the command; returns its path.
    pub(super) fn program(&self, source: &str, name: &str) -> Result<String> {
        let program = format!("{}/{name}.exe", folder());
        run::with(&[], emulated::MINGW, &["-O2", "-Wall", "-Werror", "-o", &program, source])?;
        Ok(std::path::absolute(program)?.display().to_string())
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
