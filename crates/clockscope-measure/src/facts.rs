//! Documents that need no measurement: the list of clocks and the facts about the machine.

use std::time::{Duration, UNIX_EPOCH};

use clockscope_machine::trial::SeveralThreads;
use clockscope_records::{Envelope, Info, Listing};
use clockscope_sources::Errno;

use crate::catalogue::Catalogue;
use crate::error::MeasureError;
use crate::platform::Platform;
use crate::session::Session;
use crate::unreadable::{PATIENCE_MS, Unreadable};

/// Lists every clock of the catalogue and whether it can be read.
///
/// # Errors
/// The process has more than one thread: clocks are tried in a forked child.
pub fn list<P: Platform>(session: &Session<'_, P>, catalogue: Catalogue<P>) -> Result<Envelope<Listing>, MeasureError> {
    let clocks = catalogue.tried(session)?.list(session.environment.clocksource.as_deref());
    Ok(Envelope::of_facts(recorded_at(session)?, session.environment.clone(), Listing { clocks }))
}

/// Stamps the facts about the machine with the time.
///
/// # Errors
/// The process has more than one thread: the clock is tried in a forked child.
pub fn info<P: Platform>(session: &Session<'_, P>) -> Result<Envelope<Info>, MeasureError> {
    Ok(Envelope::of_facts(
        recorded_at(session)?,
        session.environment.clone(),
        Info { windows: clockscope_machine::windows_facts() },
    ))
}

/// Civil time for stamping a record, RFC 3339 in UTC. Tried in a child first, as clocks are: a
/// filter may kill.
pub(crate) fn recorded_at<P: Platform>(session: &Session<'_, P>) -> Result<Option<String>, SeveralThreads> {
    let platform = session.platform;
    let mut read = |_| platform.unix_seconds().map(|_| ()).ok_or(Errno::UNSUPPORTED);
    let outcome = platform.attempt(1, PATIENCE_MS, &mut read)?.pop();
    if outcome.is_none_or(|outcome| Unreadable::of(outcome, session.counter_readable()).is_some()) {
        return Ok(None);
    }
    let moment = platform.unix_seconds().map(|since_1970| UNIX_EPOCH + Duration::from_secs(since_1970));
    Ok(moment.map(|moment| humantime::format_rfc3339_seconds(moment).to_string()))
}
