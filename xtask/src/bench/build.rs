//! Times of the commands that a newcomer runs first, in a fresh clone of the last commit.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::figure;
use crate::run;

/// Measures the times of a newcomer's commands. Downloads happen before the measurement.
pub(crate) fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let clone = folder.path().join("clockscope");
    let path = clone.to_str().context("the temporary folder's path is not text")?;
    run::with(&[], "git", &["clone", "--quiet", ".", path])?;
    cargo(&clone, &["fetch", "--quiet"])?;
    let table = cargo(&clone, &["run", "--release", "--quiet"])?;
    figure("cargo run --release: first table", "<= 75 s", &format!("{table:.0} s"));
    let build = cargo(&clone, &["test", "--no-run", "--quiet"])?;
    let tests = cargo(&clone, &["test", "--quiet"])?;
    figure("cargo test: build and tests", "<= 180 s", &format!("{:.0} s", build + tests));
    figure("cargo test: once built", "<= 75 s", &format!("{tests:.0} s"));
    Ok(())
}

/// Runs cargo in a folder, builds below that, and returns the seconds it took.
fn cargo(folder: &Path, arguments: &[&str]) -> Result<f64> {
    let start = Instant::now();
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(folder).env_remove("CARGO_TARGET_DIR").stdout(Stdio::null());
    let status = command.status().context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo {}: {status}", arguments.join(" "));
    }
    Ok(start.elapsed().as_secs_f64())
}
