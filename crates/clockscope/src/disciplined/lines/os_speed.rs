//! The cost of reads: an OS clock that becomes slower is served alone for some time, and a counter
//! that becomes slower is accepted.

use clockscope_core::brackets::Bracket;

use super::generation::{LONGEST_PAUSE_NS, PAUSE_NS};

/// A bracket this many times wider than the narrowest was interrupted.
pub(crate) const TOO_WIDE: u64 = 4;

/// So many in a row were not interrupted: the OS clock has become slower, or the counter has.
const WIDE_IN_A_ROW: u32 = 8;

/// The counter has become slower itself if its own reads take more than this many times as long.
const OWN_SLOWER: u64 = 2;

/// The meaning of a bracket's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// Nothing came between.
    Usual,
    /// It was interrupted.
    Interrupted,
    /// One of the clocks has become slower.
    Slower,
}

/// The cost of reads, by the widths of brackets. All zero is the state before the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OsSpeed {
    /// Brackets in a row that were too wide.
    wide: u32,
    /// Duration of some reads of the counter, in ticks, when the calibration began.
    own_ticks: u64,
    slow: SlowOsClock,
}

/// The OS clock has become slower, and is not compared for some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowOsClock {
    /// Width of brackets before, in ticks; 0 if nothing of that kind happened.
    usual: u64,
    /// `own_ticks` of then.
    own_ticks: u64,
    /// Length of the pause in ns.
    pub(crate) pause_ns: u64,
}

impl OsSpeed {
    pub(crate) const NONE: Self = Self { wide: 0, own_ticks: 0, slow: SlowOsClock::NONE };

    /// A calibration begins; some reads of the counter take so many ticks.
    pub(crate) fn start(&mut self, own_ticks: u64) {
        self.own_ticks = own_ticks;
    }

    /// Looks at the width of a bracket, where the narrowest had `narrowest` ticks.
    pub(crate) fn look_at(&mut self, bracket: &Bracket, narrowest: u64) -> Width {
        if bracket.width() <= narrowest.saturating_mul(TOO_WIDE) {
            self.wide = 0;
            return Width::Usual;
        }
        self.wide += 1;
        if self.wide < WIDE_IN_A_ROW {
            return Width::Interrupted;
        }
        self.wide = 0;
        Width::Slower
    }

    /// Returns true if the counter's own reads, which take `own_ticks` now, explain the bracket: a
    /// hypervisor traps the counter, or the processor runs more slowly.
    pub(crate) fn is_counter_slower(&mut self, own_ticks: u64, bracket: &Bracket, narrowest: u64) -> bool {
        let before = core::mem::replace(&mut self.own_ticks, own_ticks);
        is_counter_slower(before, own_ticks, bracket, narrowest)
    }

    /// The first pause of an OS clock that has become slower, where the narrowest bracket had
    /// `narrowest` ticks.
    pub(crate) fn slow_os_clock(&self, narrowest: u64) -> SlowOsClock {
        SlowOsClock { usual: narrowest, own_ticks: self.own_ticks, pause_ns: PAUSE_NS }
    }

    pub(crate) fn slow(&self) -> SlowOsClock {
        self.slow
    }

    /// The OS clock is not compared for some time, because it is slow.
    pub(crate) fn turn_away(&mut self, slow: SlowOsClock) {
        *self = Self { slow, ..Self::NONE };
    }

    /// After a pause, the next pause, if brackets are still wide and the counter's own reads, which
    /// `own_ticks` times, are no reason for it; `None` if the clock may be used.
    pub(crate) fn next_pause(&mut self, bracket: &Bracket, own_ticks: impl FnOnce() -> u64) -> Option<SlowOsClock> {
        let SlowOsClock { usual, own_ticks: before, pause_ns } = self.slow;
        if usual == 0 {
            return None;
        }
        let is_slow = bracket.width() > usual.saturating_mul(TOO_WIDE) && {
            self.own_ticks = own_ticks();
            !is_counter_slower(before, self.own_ticks, bracket, usual)
        };
        if is_slow {
            return Some(SlowOsClock { pause_ns: (2 * pause_ns).min(LONGEST_PAUSE_NS), ..self.slow });
        }
        self.slow = SlowOsClock::NONE;
        None
    }
}

impl SlowOsClock {
    const NONE: Self = Self { usual: 0, own_ticks: 0, pause_ns: 0 };
}

/// Returns true if reads of the counter take much longer, and a bracket is wider than `usual` by no
/// more than that permits: an OS clock that is slower by far more is slower itself, whatever delays
/// the counter at the same time.
fn is_counter_slower(own_before: u64, own_ticks: u64, bracket: &Bracket, usual: u64) -> bool {
    let [own_before, own_ticks, width, usual] = [own_before, own_ticks, bracket.width(), usual].map(u128::from);
    own_ticks > own_before * u128::from(OWN_SLOWER) && width * own_before <= usual * own_ticks * u128::from(TOO_WIDE)
}
