//! The session: a machine, the facts about it, and a flag that ends a question early.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, UNIX_EPOCH};

use clockscope_records::Environment;
use clockscope_system::Errno;
use clockscope_system::child_read::SeveralThreads;

use crate::platform::failure_reason::{PATIENCE_MS, refused};
use crate::platform::{Platform, ThisMachine};

/// A machine that questions are asked of, one after the other.
///
/// Questions take a session and give records. They reach clocks, CPUs, threads and the system
/// through its [`Platform`] alone.
#[derive(Debug)]
pub struct Session<'a, P: Platform = ThisMachine> {
    pub(crate) platform: &'a P,
    pub(crate) environment: Environment,
    pub(crate) stop: &'a AtomicBool,
}

impl<'a, P: Platform> Session<'a, P> {
    /// Gathers facts about the machine, which go into every record. Once `stop` is set, from
    /// outside, a question ends early, and what was found until then is its answer.
    pub fn new(platform: &'a P, stop: &'a AtomicBool) -> Self {
        Self { platform, environment: platform.environment(), stop }
    }

    /// The machine.
    #[must_use]
    pub fn platform(&self) -> &'a P {
        self.platform
    }

    /// Facts about the machine, as they were when the session began.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns true if the counter may be read in this process; `None` where that is unknown.
    pub(crate) fn counter_readable(&self) -> Option<bool> {
        self.environment.counter_readable.get()
    }

    /// The time of day for stamping a record, RFC 3339 in UTC. Tried in a child first, as clocks
    /// are: a filter may kill.
    pub(crate) fn recorded_at(&self) -> Result<Option<String>, SeveralThreads> {
        let platform = self.platform;
        let outcomes =
            platform.attempt(1, PATIENCE_MS, &mut |_| platform.unix_seconds().map(|_| ()).ok_or(Errno::UNSUPPORTED));
        let outcome = outcomes?.pop();
        if outcome.is_none_or(|outcome| refused(outcome, self.counter_readable()).is_some()) {
            return Ok(None);
        }
        let moment = platform.unix_seconds().map(|since_1970| UNIX_EPOCH + Duration::from_secs(since_1970));
        Ok(moment.map(|moment| humantime::format_rfc3339_seconds(moment).to_string()))
    }
}
