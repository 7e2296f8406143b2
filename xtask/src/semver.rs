//! Public items of the library, compared with those of an earlier commit.

use anyhow::{Context, Result, bail};

use crate::run;

const PROGRAM: &str = "cargo-semver-checks";

/// The crates whose public items semantic versioning covers: the library, and what it passes on of
/// its core.
const PACKAGES: [&str; 2] = ["clockscope", "clockscope-core"];

/// Fails if a program that used the library of a commit would not compile with the present one,
/// though the version says that it does.
pub(crate) fn check(commit: &str) -> Result<()> {
    if !run::exists(PROGRAM) {
        bail!("{PROGRAM} is missing: cargo install --locked {PROGRAM}");
    }
    let found = run::output("git", &["rev-parse", "--verify", &format!("{commit}^{{commit}}")]);
    let found = found.with_context(|| format!("this clone has no commit {commit:?}"))?;
    let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
    let arguments: Vec<&str> =
        ["semver-checks"].into_iter().chain(packages).chain(["--baseline-rev", found.trim()]).collect();
    run::cargo(&arguments)
}
