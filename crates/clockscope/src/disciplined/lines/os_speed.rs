//! The cost of reads: while the OS clock is slower than before, the counter is not used; a counter
//! that becomes slower is accepted.

use clockscope_core::brackets::Bracket;

use super::generation::{MAX_PAUSE_NS, MIN_PAUSE_NS};

/// Largest width of a bracket without an interruption, as a multiple of the narrowest.
pub(crate) const MAX_WIDTH_RATIO: u64 = 4;

/// Wide brackets in a row that no interruption explains: one of the clocks has become slower.
const MIN_WIDE_IN_A_ROW: u32 = 8;

/// Largest cost of the counter's own reads, as a multiple of the former cost, at which the counter
/// has not become slower.
const MAX_OWN_COST_RATIO: u64 = 2;

/// The meaning of a bracket's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// It was not interrupted.
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
    /// Former width of brackets, in ticks; 0 if the OS clock has not become slower.
    usual: u64,
    /// `own_ticks` at that time.
    own_ticks: u64,
    /// Length of the pause in ns.
    pub(crate) pause_ns: u64,
}

impl OsSpeed {
    pub(crate) const NONE: Self = Self { wide: 0, own_ticks: 0, slow: SlowOsClock::NONE };

    /// A calibration begins; reads of the counter take `own_ticks`.
    pub(crate) fn start(&mut self, own_ticks: u64) {
        self.own_ticks = own_ticks;
    }

    /// Judges the width of a bracket, where the narrowest had `narrowest` ticks.
    pub(crate) fn judge(&mut self, bracket: &Bracket, narrowest: u64) -> Width {
        if bracket.width() <= narrowest.saturating_mul(MAX_WIDTH_RATIO) {
            self.wide = 0;
            return Width::Usual;
        }
        self.wide += 1;
        if self.wide < MIN_WIDE_IN_A_ROW {
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
        SlowOsClock { usual: narrowest, own_ticks: self.own_ticks, pause_ns: MIN_PAUSE_NS }
    }

    pub(crate) fn slow(&self) -> SlowOsClock {
        self.slow
    }

    /// The OS clock is not compared for some time, because it is slow.
    pub(crate) fn pause(&mut self, slow: SlowOsClock) {
        *self = Self { slow, ..Self::NONE };
    }

    /// After a pause, the next pause, if brackets are still wide and the counter's own reads, which
    /// `own_ticks` times, do not explain it; `None` if the clock may be used.
    pub(crate) fn next_pause(&mut self, bracket: &Bracket, own_ticks: impl FnOnce() -> u64) -> Option<SlowOsClock> {
        let SlowOsClock { usual, own_ticks: before, pause_ns } = self.slow;
        if usual == 0 {
            return None;
        }
        let is_slow = bracket.width() > usual.saturating_mul(MAX_WIDTH_RATIO) && {
            self.own_ticks = own_ticks();
            !is_counter_slower(before, self.own_ticks, bracket, usual)
        };
        if is_slow {
            return Some(SlowOsClock { pause_ns: (2 * pause_ns).min(MAX_PAUSE_NS), ..self.slow });
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
    own_ticks > own_before * u128::from(MAX_OWN_COST_RATIO)
        && width * own_before <= usual * own_ticks * u128::from(MAX_WIDTH_RATIO)
}
