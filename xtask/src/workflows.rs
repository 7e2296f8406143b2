//! The workflows of GitHub (`.github/workflows`).

use anyhow::Result;

use crate::outcome::{Outcome, passed};
use crate::run;

/// Runs actionlint, which prints each mistake. It has shellcheck check the commands of the steps,
/// if that is installed.
pub(crate) fn check() -> Result<Outcome> {
    run::by_tool("actionlint", |program| passed(run::with(&[], program, &[])))
}
