//! The lock's content. Each part changes its own fields; `steering` says when.

use super::agreement::AmbiguousChange;
use super::carried::BesideNextLine;
use super::errors::LineErrors;
use super::generation::Generation;
use super::os_speed::OsSpeed;
use super::time_hold::TimeHold;
use crate::disciplined::page::version::Version;
use crate::disciplined::rate::drawn_rate::DrawnRate;
use crate::disciplined::use_rate::LineUse;

/// The lock's content. All zero is the state before the first use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteeringState {
    /// The version that the last holder left. Where there is another one, another thread has
    /// decided something without the lock, and nothing is known any more.
    pub(crate) version_left: Version,
    pub(crate) generation: Generation,
    pub(crate) rate: DrawnRate,
    pub(crate) errors: LineErrors,
    pub(crate) ambiguous_change: AmbiguousChange,
    pub(crate) line_use: LineUse,
    pub(crate) os_speed: OsSpeed,
    pub(crate) hold: TimeHold,
    pub(crate) beside: BesideNextLine,
}

impl SteeringState {
    /// The state before the first use.
    pub(crate) const ZERO: Self = Self {
        version_left: Version::NEW,
        generation: Generation::NONE,
        rate: DrawnRate::NONE,
        errors: LineErrors::NONE,
        ambiguous_change: AmbiguousChange::NONE,
        line_use: LineUse::NONE,
        os_speed: OsSpeed::NONE,
        hold: TimeHold::NONE,
        beside: BesideNextLine::NONE,
    };

    /// Forgets what was known of the generation that has ended.
    #[inline(never)]
    pub(crate) fn restart(&mut self, generation: Generation) {
        *self = Self { generation, hold: self.hold, ..Self::ZERO };
    }

    /// The same where nothing else is known of the next one.
    pub(crate) fn restart_next(&mut self) {
        self.restart(self.generation.next());
    }

    /// The same after a pause: why the OS clock was not compared is still known.
    pub(crate) fn reopen(&mut self) {
        let slow = self.os_speed.slow();
        self.restart_next();
        self.os_speed.turn_away(slow);
    }
}
