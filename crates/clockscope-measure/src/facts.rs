//! Documents that need no measurement: the list of clocks and the facts about the machine.

use std::time::{Duration, UNIX_EPOCH};

use clockscope::os;
use clockscope_machine::trial;
use clockscope_records::{Environment, Info, Listing, SCHEMA_VERSION};

use crate::catalogue::{Catalogue, PATIENCE_MS, refusal};

/// Every clock of the catalogue and whether it can be read. To be called while the process has one thread, since
/// clocks are tried in a child process.
#[must_use]
pub fn list(catalogue: Catalogue, environment: Environment) -> Listing {
    let counter_readable = environment.counter_readable;
    let clocks = catalogue.tried(counter_readable).list();
    Listing { schema_version: SCHEMA_VERSION, recorded_at: recorded_at(counter_readable), environment, clocks }
}

/// The facts about the machine, stamped with the time. To be called while the process has one thread.
#[must_use]
pub fn info(environment: Environment) -> Info {
    Info { schema_version: SCHEMA_VERSION, recorded_at: recorded_at(environment.counter_readable), environment }
}

/// Civil time for stamping a record, RFC 3339 in UTC. Tried in a child first, as clocks are: a filter may kill.
pub(crate) fn recorded_at(counter_readable: Option<bool>) -> Option<String> {
    let mut read = |_| os::unix_seconds().map(|_| ()).ok_or_else(|| "no wall clock".to_owned());
    let outcome = trial::attempt(1, PATIENCE_MS, &mut read).pop()?;
    if refusal(outcome, counter_readable).is_some() {
        return None;
    }
    let since_1970 = Duration::from_secs(os::unix_seconds()?);
    Some(humantime::format_rfc3339_seconds(UNIX_EPOCH + since_1970).to_string())
}
