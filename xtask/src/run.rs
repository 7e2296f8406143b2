//! Runs other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::plan::NotInstalled;

/// The profile of archives and packages: cargo names the folder of what it builds after it.
pub(crate) const DIST_PROFILE: &str = "dist";

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A file in the folder that cargo builds into.
pub(crate) fn built(file: &str) -> String {
    let folder = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    format!("{folder}/{file}")
}

/// Builds the command with the profile `release`, as users of a clone do, and returns its path.
pub(crate) fn release_program() -> Result<String> {
    cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    Ok(built("release/clockscope"))
}

/// Runs cargo and fails if it does.
pub(crate) fn cargo(arguments: &[&str]) -> Result<()> {
    with(&[], "cargo", arguments)
}

/// Runs a program with some environment variables set, and fails if it does.
pub(crate) fn with(variables: &[(&str, &str)], program: &str, arguments: &[&str]) -> Result<()> {
    let command_line = format!("{program} {}", arguments.join(" "));
    let mut command = Command::new(program);
    let status = command
        .args(arguments)
        .envs(variables.iter().copied())
        .status()
        .with_context(|| format!("cannot run {command_line}"))?;
    if !status.success() {
        bail!("{command_line}: {status}");
    }
    Ok(())
}

/// Runs a program and returns what it printed.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Result<String> {
    output_with(&[], program, arguments)
}

/// The same with some environment variables set.
pub(crate) fn output_with(variables: &[(&str, &str)], program: &str, arguments: &[&str]) -> Result<String> {
    let command_line = format!("{program} {}", arguments.join(" "));
    let mut command = Command::new(program);
    let output = command
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .with_context(|| format!("cannot run {command_line}"))?;
    if !output.status.success() {
        bail!("{command_line}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("{command_line} printed something that is no text"))
}

/// Runs a program and returns the JSON document that it printed.
pub(crate) fn document(program: &str, arguments: &[&str]) -> Result<Value> {
    document_with(&[], program, arguments)
}

/// The same with some environment variables set.
pub(crate) fn document_with(variables: &[(&str, &str)], program: &str, arguments: &[&str]) -> Result<Value> {
    let printed = output_with(variables, program, arguments)?;
    serde_json::from_str(&printed).with_context(|| format!("{program} {} printed no JSON", arguments.join(" ")))
}

/// Runs a tool that `xtask/fetch-tools.sh` has put into the folder that cargo builds into, or that
/// is on PATH.
pub(crate) fn tool(name: &str, arguments: &[&str]) -> Result<()> {
    let fetched = built(&format!("tools/{name}"));
    let is_fetched = Path::new(&fetched).is_file();
    if !is_fetched && !exists(name) {
        bail!(NotInstalled(format!("{name} is missing: xtask/fetch-tools.sh {}", built("tools"))));
    }
    with(&[], if is_fetched { &fetched } else { name }, arguments)
}

/// Builds the command as `cargo test` does, which leaves nothing to do after the tests, and returns
/// its path.
pub(crate) fn debug_command() -> Result<String> {
    cargo(&["test", "--quiet", "--no-run", "--test", "cli"])?;
    Ok(built("debug/clockscope"))
}

/// Returns true if a program can be found.
pub(crate) fn exists(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}
