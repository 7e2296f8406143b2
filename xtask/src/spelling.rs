//! Checks the spelling of all files (`_typos.toml`).

use std::path::Path;

use anyhow::Result;

use crate::outcome::{Outcome, lacking, passed};
use crate::run;

/// Where `xtask/fetch-typos.sh` puts the program, in the folder that cargo builds into.
const FETCHED: &str = "typos/typos";

/// Runs typos, which prints each word that it does not accept.
pub(crate) fn check() -> Result<Outcome> {
    let fetched = run::built(FETCHED);
    let program = if Path::new(&fetched).is_file() {
        &fetched
    } else if run::exists("typos") {
        "typos"
    } else {
        return lacking(format!("typos is missing: xtask/fetch-typos.sh {}", run::built("typos")));
    };
    passed(run::with(&[], program, &["--format", "brief"]))
}
