//! One moment of a history: both clocks' readings, and the system's statement on the time of day.

use clockscope_core::brackets::Bracket;

use super::layers::Observer;
use super::page::statement::{earlier, later};
use super::page::{ClockOffset, OffsetClock};
use super::{Counter, Demotion, OsClock};
use clockscope_core::WallState;

/// Brackets tried for an observation.
const TRIES: u32 = 4;

/// The clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    pub(crate) bracket: Bracket,
    pub(crate) os_tick_ns: u64,
    /// Time that the machine has spent suspended, in ns, plus 1; 0 if unknown.
    pub(crate) suspended_ns: u64,
    pub(crate) disruptions: Option<u64>,
    /// The wall clock's lead before the bracket and after it, and its largest error, in ns.
    pub(crate) wall: [Option<(ClockOffset, u64)>; 2],
    /// The true time's smallest and largest lead over the timeline, in ns.
    pub(crate) bounds: (i64, i64, WallState),
}

/// Way in which an observation learns of the time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundsRequest {
    /// A question to the system, by a system call.
    Asked,
    /// The system's last statement, carried on.
    Unasked,
}

/// Reason for a missing observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unobserved {
    /// The counter is not used, for this reason.
    Barred(Demotion),
    /// Another thread holds the lock and cannot run, or no clock answers, or the counter went back
    /// within a bracket.
    NoBracket,
}

impl Observation {
    /// No observation: all zero.
    pub(crate) const NONE: Self = Self {
        bracket: Bracket::ZERO,
        os_tick_ns: 0,
        suspended_ns: 0,
        disruptions: None,
        wall: [None; 2],
        bounds: (0, 0, WallState::Synchronized),
    };
}

impl<C: Counter, S: OsClock> Observer<C, S> {
    /// Compares both clocks, and reads the system's time of day. A bracket that is no wider than
    /// `enough` ticks ends the search for a narrower one.
    pub(crate) fn observe(&self, enough: u64, bounds: BoundsRequest) -> Result<Observation, Unobserved> {
        self.prepare();
        if let Some(reason) = self.barred() {
            return Err(Unobserved::Barred(reason));
        }
        // If the OS clock stepped back, a reading notices that, and has the timeline wait.
        self.read();
        let before = self.offset_now(OffsetClock::Wall);
        let bounds = self.ahead(bounds);
        if let Some(clocks) = self.observe_bracket(enough) {
            let wall = [before, self.offset_now(OffsetClock::Wall)];
            if !clocks.bracket.went_back() {
                return Ok(Observation { bounds, wall, ..clocks });
            }
        }
        Err(self.barred().map_or(Unobserved::NoBracket, Unobserved::Barred))
    }

    /// Compares both clocks. `None` without the lock, on another machine or CPU, and if the OS
    /// clock does not answer.
    fn observe_bracket(&self, enough: u64) -> Option<Observation> {
        let mut guard = self.wait_lock()?;
        if !self.is_unmoved(&mut guard) {
            return None;
        }
        let disruptions = self.os.disruptions();
        let bracket = self.narrowest_bracket(TRIES, enough).ok()?;
        let (os_tick_ns, suspended_ns) = (self.trust.os_tick_ns(), self.suspended_ns());
        Some(Observation { bracket, os_tick_ns, suspended_ns, disruptions, ..Observation::NONE })
    }

    /// The true time's smallest and largest lead over the timeline.
    fn ahead(&self, bounds: BoundsRequest) -> (i64, i64, WallState) {
        let Ok(before_ns) = self.os_ns_at_once() else { return (0, 0, WallState::Unavailable) };
        let bounded = match bounds {
            BoundsRequest::Asked => self.bounded(),
            BoundsRequest::Unasked => self.bounded_unasked(),
        };
        let Ok(after_ns) = self.os_ns_at_once() else { return (0, 0, WallState::Unavailable) };
        // The clocks of a timeline and of a statement may each be a tick further than they show.
        let tick_ns = self.trust.os_tick_ns();
        let least_ns = earlier(earlier(bounded.earliest_ns, after_ns), tick_ns);
        (least_ns, later(earlier(bounded.latest_ns, before_ns), tick_ns), bounded.state)
    }

    /// Observes only the OS clock, which is both clocks of the bracket.
    #[cfg(not(clockscope_models))]
    pub(crate) fn observe_os(&self, bounds: BoundsRequest) -> Result<Observation, Unobserved> {
        self.prepare();
        self.read();
        let (before, bounds) = (self.offset_now(OffsetClock::Wall), self.ahead(bounds));
        let ns = self.os_ns().map_err(|_| Unobserved::NoBracket)?;
        let bracket = Bracket { before: ns, inner: ns, after: ns };
        Ok(Observation { bracket, bounds, wall: [before, self.offset_now(OffsetClock::Wall)], ..Observation::NONE })
    }
}
