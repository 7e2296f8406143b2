//! The library's public API, compared with that of an earlier commit.

use anyhow::{Context, Result, bail};

use crate::run;

const PROGRAM: &str = "cargo-semver-checks";

/// The crates whose public API semantic versioning covers: the library, and what it passes on of
/// its core.
const PACKAGES: [&str; 2] = ["clockscope", "clockscope-core"];

/// Fails on a breaking change since a commit that the version does not allow.
pub(crate) fn check(commit: &str) -> Result<()> {
    if !run::exists(PROGRAM) {
        bail!("{PROGRAM} is missing: cargo install --locked {PROGRAM}");
    }
    let found = run::output("git", &["rev-parse", "--verify", &format!("{commit}^{{commit}}")]);
    let found = found.with_context(|| format!("this clone has no commit {commit:?}: git fetch origin {commit}"))?;
    let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
    let arguments: Vec<&str> =
        ["semver-checks"].into_iter().chain(packages).chain(["--baseline-rev", found.trim()]).collect();
    run::cargo(&arguments)
}
