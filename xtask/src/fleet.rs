//! The queries of a fleet, on both engines, against censuses whose faults are known.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::census::Plan;
use crate::outcome::{Outcome, missing_tool};
use crate::python::Environment;
use crate::tally::Tally;
use crate::{python, run};

/// Packages of the tests, with their versions.
const REQUIREMENTS: &str = "crates/clockscope-python/tests/census/requirements.txt";
const TESTS: &str = "crates/clockscope-python/tests/census";
const HOSTS: usize = 50;
const DAYS: u64 = 12;

/// Makes a census with all faults and one without any, and has queries find them; or says what is
/// missing.
pub(crate) fn check(tally: &Tally) -> Result<Outcome> {
    let environment = match environment()? {
        Ok(environment) => environment,
        Err(missing) => return missing_tool(missing),
    };
    let folder = run::built("fleet");
    if Path::new(&folder).exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {folder}"))?;
    }
    let folder = std::path::absolute(&folder)?;
    Plan::new(HOSTS, DAYS, folder.join("faults")).make()?;
    Plan::new(HOSTS, DAYS, folder.join("healthy")).healthy().make()?;
    tally.pytest(&environment.python, &[TESTS], &[("CLOCKSCOPE_CENSUS", &folder)])?;
    Ok(Outcome::Passed)
}

/// The environment of the tests, with both engines; or what is missing.
pub(crate) fn environment() -> Result<std::result::Result<Environment, String>> {
    if !run::exists("java") {
        return Ok(Err("java is missing, which Spark needs: apt-get install openjdk-17-jdk-headless".to_owned()));
    }
    python::installed("fleet", REQUIREMENTS)
}
