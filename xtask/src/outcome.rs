//! Outcome of a step of the tests.

use anyhow::{Result, bail};

/// Outcome of a step that did not fail.
pub(crate) enum Outcome {
    Passed,
    /// Something is missing on this machine.
    Skipped(String),
}

/// A step that lacks something fails under CI, which installs all that there is, and is skipped
/// elsewhere.
pub(crate) fn missing_tool(missing: String) -> Result<Outcome> {
    if std::env::var_os("CI").is_some() {
        bail!("{missing}");
    }
    Ok(Outcome::Skipped(missing))
}

/// Outcome of a step that needs nothing.
pub(crate) fn passed(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Passed)
}
