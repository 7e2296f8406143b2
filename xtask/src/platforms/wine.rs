//! The command for Windows: built by MinGW, and run by Wine.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{compiler, emulated};
use crate::cross;
use crate::run;

pub(super) const TARGET: &str = "x86_64-pc-windows-gnu";

/// Where it is built: in the profile that the library's tests are built in, which shares the
/// standard library with them.
fn folder() -> String {
    format!("{}/{TARGET}/debug", compiler::FOLDER)
}

/// Builds the command; returns the executable's path.
pub(super) fn build() -> Result<String> {
    emulated::WINDOWS.complete(&folder())?;
    let own = emulated::WINDOWS.variables(TARGET);
    let variables: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let arguments = ["build", "--quiet", "--package", "clockscope-cli", "--target", TARGET, cross::BUILD_STD];
    run::with(&variables, "cargo", &arguments)?;
    Ok(format!("{}/clockscope.exe", folder()))
}

/// Has Wine warn of requests for a period of the timer, and of their ends; but for a period of 1
/// ms, which it has anyway.
pub(super) const PERIOD_CALLS: (&str, &str) = ("WINEDEBUG", "warn+mmtime");

/// How often a period was requested and withdrawn, as these warnings show.
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
        let shown = arguments.join(" ");
        let output = self.command(arguments).args(["--format", "json"]).output().context("cannot run wine")?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "clockscope {shown} under Wine: {}\n{error}", output.status);
        let document: Value = serde_json::from_slice(&output.stdout).with_context(|| format!("{shown}: no JSON"))?;
        let emulation = &document["environment"]["emulation"];
        ensure!(*emulation == serde_json::json!(["wine"]), "{shown}: the emulation is {emulation}: expected wine");
        Ok(document)
    }
}
