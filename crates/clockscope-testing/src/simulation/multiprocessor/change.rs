//! Changes of the machine at a given true time.

use crate::simulation::clock::{ClockId, Refused};
use crate::simulation::scheduler::Load;

/// An event that changes clocks, the counter, a CPU or the whole machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Steps a clock by `ns`.
    StepClock {
        /// The clock.
        clock: ClockId,
        /// Forward, or backward if negative.
        ns: i64,
    },
    /// Runs a clock fast by this share of its usual rate from now on; −1 stops it.
    SlewClock {
        /// The clock.
        clock: ClockId,
        /// 1e-6 for one ppm.
        share: f64,
    },
    /// Freezes the readings of a clock; the clock itself goes on.
    FreezeClock {
        /// The clock.
        clock: ClockId,
    },
    /// Shows a frozen clock's time again.
    ThawClock {
        /// The clock.
        clock: ClockId,
    },
    /// Makes a clock refuse, or answer again.
    RefuseClock {
        /// The clock.
        clock: ClockId,
        /// The error; `None` to answer.
        refused: Option<Refused>,
    },
    /// Shows a clock in other steps.
    SetClockTick {
        /// The clock.
        clock: ClockId,
        /// The step in ns.
        ns: u64,
    },
    /// Runs the counter at another rate: 0 stops it, a negative rate runs it backward.
    SetCounterRate {
        /// Counts per second.
        hz: f64,
    },
    /// Steps the counter on all CPUs.
    StepCounter {
        /// Counts, backward if negative.
        ticks: i64,
    },
    /// Puts the counter of one CPU ahead of the true count.
    SetCounterOffset {
        /// The CPU.
        cpu: u32,
        /// Counts, behind if negative.
        ticks: i64,
    },
    /// Makes the next readings of the counter wrong, on whichever CPU they are taken.
    GlitchCounter {
        /// The error of each reading in counts, the next reading first.
        ticks: Vec<i64>,
    },
    /// Suspends the machine. The counter and the other clocks go on.
    Suspend {
        /// For how long.
        ps: u64,
        /// The clocks that leave the time out.
        left_out: Vec<ClockId>,
    },
    /// Moves the machine to another host: all threads pause, the counter changes, the clocks go on.
    MoveMachine {
        /// Length of the pause.
        ps: u64,
        /// By how many counts the counter steps.
        ticks: i64,
        /// The counter's rate on the new host.
        hz: f64,
    },
    /// Gives a CPU other things to do.
    SetLoad {
        /// The CPU.
        cpu: u32,
        /// The CPU's other work.
        load: Load,
    },
    /// Takes a CPU offline, or brings it back. Its threads move to another one and are unbound.
    SetOnline {
        /// The CPU.
        cpu: u32,
        /// True if it is there from now on.
        is_online: bool,
    },
}

/// A change and its time.
#[derive(Clone, Debug)]
pub(super) struct TimedChange {
    pub(super) at_ps: u128,
    pub(super) change: Change,
}
