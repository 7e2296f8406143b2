//! Documents that need no measurement: the list of clocks and the facts about the machine.

use std::time::{Duration, UNIX_EPOCH};

use clockscope::os;
use clockscope_machine::trial::{self, SeveralThreads};
use clockscope_records::{Environment, Info, Listing, SCHEMA_VERSION};

use crate::catalogue::{Catalogue, PATIENCE_MS, refusal};
use crate::error::MeasureError;

/// Lists every clock of the catalogue and whether it can be read.
///
/// # Errors
/// The process has more than one thread: clocks are tried in a forked child.
pub fn list(catalogue: Catalogue, environment: Environment) -> Result<Listing, MeasureError> {
    let counter_readable = environment.counter_readable;
    let clocks = catalogue.tried(counter_readable)?.list();
    let recorded_at = recorded_at(counter_readable)?;
    Ok(Listing { schema_version: SCHEMA_VERSION, recorded_at, environment, clocks })
}

/// Stamps the facts about the machine with the time.
///
/// # Errors
/// The process has more than one thread: the clock is tried in a forked child.
pub fn info(environment: Environment) -> Result<Info, MeasureError> {
    let recorded_at = recorded_at(environment.counter_readable)?;
    Ok(Info { schema_version: SCHEMA_VERSION, recorded_at, environment })
}

/// Civil time for stamping a record, RFC 3339 in UTC. Tried in a child first, as clocks are: a filter may kill.
pub(crate) fn recorded_at(counter_readable: Option<bool>) -> Result<Option<String>, SeveralThreads> {
    let mut read = |_| os::unix_seconds().map(|_| ()).ok_or_else(|| "no wall clock".to_owned());
    let outcome = trial::attempt(1, PATIENCE_MS, &mut read)?.pop();
    if outcome.is_none_or(|outcome| refusal(outcome, counter_readable).is_some()) {
        return Ok(None);
    }
    let moment = os::unix_seconds().map(|since_1970| UNIX_EPOCH + Duration::from_secs(since_1970));
    Ok(moment.map(|moment| humantime::format_rfc3339_seconds(moment).to_string()))
}
