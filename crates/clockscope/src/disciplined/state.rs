//! The lock's content. Each part changes its own fields; `steering` says when.

use super::agreement::AmbiguousChange;
use super::carried::BesideNextLine;
use super::drawn_rate::DrawnRate;
use super::errors::LineErrors;
use super::generation::Generation;
use super::os_speed::OsSpeed;
use super::time_hold::TimeHold;
use super::use_rate::LineUse;
use super::version::Version;

/// The lock's content. All zero is the state before the first use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteeringState {
    /// The version that the last holder left. Where there is another one, another thread has
    /// decided something without the lock, and nothing is known any more.
    pub(super) version_left: Version,
    pub(super) generation: Generation,
    pub(super) rate: DrawnRate,
    pub(super) errors: LineErrors,
    pub(super) ambiguous_change: AmbiguousChange,
    pub(super) line_use: LineUse,
    pub(super) os_speed: OsSpeed,
    pub(super) hold: TimeHold,
    pub(super) beside: BesideNextLine,
}

impl SteeringState {
    /// The state before the first use.
    pub(super) const ZERO: Self = Self {
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
    pub(super) fn restart(&mut self, generation: Generation) {
        *self = Self { generation, hold: self.hold, ..Self::ZERO };
    }

    /// The same where nothing else is known of the next one.
    pub(super) fn restart_next(&mut self) {
        self.restart(self.generation.next());
    }

    /// The same after a pause: why the OS clock was not compared is still known.
    pub(super) fn reopen(&mut self) {
        let slow = self.os_speed.slow();
        self.restart_next();
        self.os_speed.turn_away(slow);
    }
}
