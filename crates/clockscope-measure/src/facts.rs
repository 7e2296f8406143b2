//! Documents that need no measurement: the list of clocks and the facts about the machine.

use std::time::{Duration, UNIX_EPOCH};

use clockscope_records::{AllClocks, Envelope, Info, Listing, SystemClock};
use clockscope_system::Errno;
use clockscope_system::child_read::SeveralThreads;
use clockscope_system::clocks::catalog::{self, System};

use crate::catalog::Catalog;
use crate::error::MeasureError;
use crate::failure_reason::{FailureReason, PATIENCE_MS};
use crate::platform::Platform;
use crate::session::Session;

/// Lists every clock of the catalog and whether it can be read.
///
/// # Errors
/// The process has more than one thread: clocks are tried in a forked child.
pub fn list<P: Platform>(session: &Session<'_, P>, catalog: Catalog<P>) -> Result<Envelope<Listing>, MeasureError> {
    let clocks = catalog.tried(session)?.list(session.environment.clocksource.as_deref());
    Ok(Envelope::of_facts(recorded_at(session)?, session.environment.clone(), Listing { clocks }))
}

/// Lists the clocks of every system, as each documents them: by system, in the catalog's order.
///
/// # Errors
/// The process has more than one thread: the clock that stamps the record is tried in a forked
/// child.
pub fn all_clocks<P: Platform>(session: &Session<'_, P>) -> Result<Envelope<AllClocks>, MeasureError> {
    let of = |system: System| catalog::CLOCKS.iter().filter(move |clock| clock.systems.contains(&system));
    let clocks = System::ALL.into_iter().flat_map(|system| of(system).map(move |clock| system_clock(system, clock)));
    let here = System::HERE.map(|system| system.name().to_owned());
    let found = AllClocks { here, clocks: clocks.collect() };
    Ok(Envelope::of_facts(recorded_at(session)?, session.environment.clone(), found))
}

fn system_clock(system: System, clock: &catalog::Cataloged) -> SystemClock {
    let info = &clock.info;
    SystemClock {
        system: system.name().to_owned(),
        name: info.name.to_string(),
        aliases: info.aliases.iter().map(ToString::to_string).collect(),
        kind: info.kind,
        nominal_resolution_ns: info.nominal_resolution_ns(None),
        description: clock.description(),
    }
}

/// Stamps the facts about the machine with the time.
///
/// # Errors
/// The process has more than one thread: the clock is tried in a forked child.
pub fn info<P: Platform>(session: &Session<'_, P>) -> Result<Envelope<Info>, MeasureError> {
    Ok(Envelope::of_facts(
        recorded_at(session)?,
        session.environment.clone(),
        Info { windows: clockscope_system::windows_facts() },
    ))
}

/// Civil time for stamping a record, RFC 3339 in UTC. Tried in a child first, as clocks are: a
/// filter may kill.
pub(crate) fn recorded_at<P: Platform>(session: &Session<'_, P>) -> Result<Option<String>, SeveralThreads> {
    let platform = session.platform;
    let mut read = |_| platform.unix_seconds().map(|_| ()).ok_or(Errno::UNSUPPORTED);
    let outcome = platform.attempt(1, PATIENCE_MS, &mut read)?.pop();
    if outcome.is_none_or(|outcome| FailureReason::of(outcome, session.counter_readable()).is_some()) {
        return Ok(None);
    }
    let moment = platform.unix_seconds().map(|since_1970| UNIX_EPOCH + Duration::from_secs(since_1970));
    Ok(moment.map(|moment| humantime::format_rfc3339_seconds(moment).to_string()))
}
