//! The queries of a fleet, on both engines, against censuses whose faults are known.

use anyhow::Result;

use crate::python::Environment;
use crate::tally::Tally;
use crate::{folder, needs, python, run};

/// Packages of the tests, with their versions.
const REQUIREMENTS: &str = "crates/clockscope-python/tests/census/requirements.txt";
const TESTS: &str = "crates/clockscope-python/tests/census";
/// Makes the records of a fleet, with planted faults.
const CENSUS: &str = "crates/clockscope-python/tests/census/census.py";
const HOSTS: &str = "50";
const DAYS: &str = "12";

/// Makes a census with all faults and one without any, and has queries find them.
pub(crate) fn check(tally: &mut Tally) -> Result<()> {
    let environment = environment()?;
    let folder = run::built("fleet");
    folder::remove(&folder)?;
    census(&environment, &[HOSTS, DAYS, &format!("{folder}/faults")])?;
    census(&environment, &[HOSTS, DAYS, &format!("{folder}/healthy"), "--healthy"])?;
    tally.pytest(&environment.python, &[TESTS], &[("CLOCKSCOPE_CENSUS", &std::path::absolute(&folder)?)])
}

/// Makes a census by the program [`CENSUS`] with these arguments.
pub(crate) fn census(environment: &Environment, arguments: &[&str]) -> Result<()> {
    // A path of modules of the caller's would hide what was installed.
    run::with(&[("PYTHONPATH", "")], &environment.python, &[&[CENSUS], arguments].concat())
}

/// The environment of the tests, with both engines.
pub(crate) fn environment() -> Result<Environment> {
    needs::require("queries by Spark", "java")?;
    python::installed("fleet", REQUIREMENTS)
}
