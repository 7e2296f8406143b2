//! The words beside a line: the offsets to other clocks, and the bounds of the time of day that the
//! counter carries on.

use clockscope_core::WallState;
use clockscope_core::brackets::Bracket;

use super::agreement::{MAX_RATE_DIFFERENCE, is_at};
use crate::disciplined::page::statement::Bounds;
use crate::disciplined::page::{BesideLine, ClockOffset};

/// The values that the next line is published with. All zero is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BesideNextLine {
    wall: ClockOffset,
    boot: ClockOffset,
    carried: Carried,
}

/// The bounds that are carried on, and where the counter was compared for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    bounds: Bounds,
    since: Bracket,
    /// The rate at that bracket.
    ns_per_tick: f64,
}

impl Carried {
    const NONE: Self = Self { bounds: Bounds::NONE, since: Bracket::ZERO, ns_per_tick: 0.0 };

    /// Bounds that hold from a bracket on, at a rate.
    pub(crate) fn new(bounds: Bounds, since: Bracket, ns_per_tick: f64) -> Self {
        Self { bounds, since, ns_per_tick }
    }

    fn exists(&self) -> bool {
        self.ns_per_tick > 0.0
    }
}

impl BesideNextLine {
    pub(crate) const NONE: Self =
        Self { wall: ClockOffset::UNKNOWN, boot: ClockOffset::UNKNOWN, carried: Carried::NONE };

    pub(crate) fn published(&self) -> BesideLine {
        BesideLine { wall: self.wall, boot: self.boot, bounds: self.carried.bounds }
    }

    pub(crate) fn has_bounds(&self) -> bool {
        self.carried.exists()
    }

    /// Returns true if there are bounds of this state, expired or not, that are carried on at this
    /// rate.
    pub(crate) fn is_bounded_as(&self, state: WallState, ns_per_tick: f64) -> bool {
        let is_at = (self.carried.ns_per_tick / ns_per_tick - 1.0).abs() <= MAX_RATE_DIFFERENCE;
        self.has_bounds() && self.carried.bounds.state() == state && is_at
    }

    /// Takes the wall clock's offset. Where that clock was set, the system is asked about the time
    /// of day anew: it may state something else.
    pub(crate) fn take_wall(&mut self, wall: ClockOffset) {
        if wall != self.wall {
            self.set_wall(wall);
        }
    }

    /// Takes the boot clock's offset.
    pub(crate) fn take_boot(&mut self, boot: ClockOffset) {
        self.boot = boot;
    }

    /// Takes the wall clock's offset, also if it may have been set to the same one.
    pub(crate) fn set_wall(&mut self, wall: ClockOffset) {
        (self.wall, self.carried) = (wall, Carried::NONE);
    }

    /// Carries these bounds on.
    pub(crate) fn carry(&mut self, carried: Carried) {
        self.carried = carried;
    }

    /// Drops the bounds unless the OS clock has kept their rate until this bracket.
    pub(crate) fn check(&mut self, bracket: &Bracket, os_tick_ns: u64) {
        let Carried { since, ns_per_tick, .. } = self.carried;
        if !(self.has_bounds() && is_at(&since, bracket, os_tick_ns, ns_per_tick)) {
            self.carried = Carried::NONE;
        }
    }
}
