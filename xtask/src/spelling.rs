//! The spelling of all files (`_typos.toml`).

use anyhow::Result;

use crate::outcome::{Outcome, passed};
use crate::run;

/// Runs typos, which prints each word that it does not accept.
pub(crate) fn check() -> Result<Outcome> {
    run::by_tool("typos", |program| passed(run::with(&[], program, &["--format", "brief"])))
}
