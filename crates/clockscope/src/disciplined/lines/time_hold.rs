//! Holds the time while the OS clock is behind it.

use super::generation::MAX_SHORT_NS;

/// Largest number of doublings of the time limit.
const MAX_DOUBLINGS: u32 = 10;

/// A time that is held, because the OS clock is behind it. All zero is the state before that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeHold {
    at: u64,
    /// The OS clock's own time when the hold began.
    since_os_ns: u64,
    /// Steps back of the OS clock that were followed, each soon after the one before.
    steps: u32,
    /// The OS clock's own time when it was last behind by more than the time limit.
    behind_os_ns: u64,
}

impl TimeHold {
    pub(crate) const NONE: Self = Self { at: 0, since_os_ns: 0, steps: 0, behind_os_ns: 0 };

    /// Holds the time at `at`, `behind_ns` ahead of the OS clock, whose own time is `raw_ns`.
    /// Returns the OS clock's own time when the limit was reached, if it was: then that clock has
    /// stepped back.
    ///
    /// Each step back soon after another doubles the limit. Otherwise CPUs whose OS clocks differ
    /// would make the time run fast.
    pub(crate) fn hold(&mut self, at: u64, behind_ns: u64, raw_ns: u64, limit_ns: u64) -> Option<u64> {
        if behind_ns > limit_ns {
            if raw_ns.abs_diff(self.behind_os_ns) >= MAX_SHORT_NS {
                self.steps = 0;
            }
            self.behind_os_ns = raw_ns;
        }
        if self.at != at || raw_ns < self.since_os_ns {
            (self.at, self.since_os_ns) = (at, raw_ns);
            return None;
        }
        let limit_ns = limit_ns << self.steps;
        if raw_ns - self.since_os_ns > limit_ns { Some(self.since_os_ns.wrapping_add(limit_ns)) } else { None }
    }

    /// Counts a step back of the OS clock that was followed.
    pub(crate) fn count_step(&mut self) {
        self.steps = (self.steps + 1).min(MAX_DOUBLINGS);
    }
}
