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
    /// The version that the last holder left. If it was replaced since, another thread has decided
    /// something without the lock, and this state is void.
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

    /// Forgets the generation that has ended, and begins this one.
    #[inline(never)]
    pub(crate) fn restart(&mut self, generation: Generation) {
        *self = Self { generation, hold: self.hold, ..Self::ZERO };
    }

    /// Forgets the generation that has ended; only the number of short ones goes on.
    pub(crate) fn restart_next(&mut self) {
        self.restart(self.generation.next());
    }

    /// Forgets the generation that has ended before a pause, but not that the OS clock was slow.
    pub(crate) fn reopen(&mut self) {
        let slow = self.os_speed.slow();
        self.restart_next();
        self.os_speed.pause(slow);
    }
}
