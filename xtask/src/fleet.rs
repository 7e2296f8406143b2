//! The queries of a fleet, on both engines, against censuses whose faults are known.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::census::Plan;
use crate::needs::{self, Need};
use crate::python::Environment;
use crate::tally::Tally;
use crate::{python, run};

/// Packages of the tests, with their versions.
const REQUIREMENTS: &str = "crates/clockscope-python/tests/census/requirements.txt";
const TESTS: &str = "crates/clockscope-python/tests/census";
const HOSTS: usize = 50;
const DAYS: u64 = 12;

/// Makes a census with all faults and one without any, and has queries find them.
pub(crate) fn check(tally: &mut Tally) -> Result<()> {
    let environment = environment()?;
    let folder = run::built("fleet");
    if Path::new(&folder).exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {folder}"))?;
    }
    let folder = std::path::absolute(&folder)?;
    Plan::new(HOSTS, DAYS, folder.join("faults")).make()?;
    Plan::new(HOSTS, DAYS, folder.join("healthy")).healthy().make()?;
    tally.pytest(&environment.python, &[TESTS], &[("CLOCKSCOPE_CENSUS", &folder)])
}

/// The environment of the tests, with both engines.
pub(crate) fn environment() -> Result<Environment> {
    needs::require("queries by Spark", &[Need::program("java", "openjdk-17-jdk-headless")])?;
    python::installed("fleet", REQUIREMENTS)
}
