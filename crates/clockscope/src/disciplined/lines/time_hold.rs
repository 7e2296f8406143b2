//! A time that stands still, because the OS clock is behind what was served.

use super::generation::SOON_NS;

/// Most times that the patience is doubled.
const MOST_DOUBLINGS: u32 = 10;

/// The OS clock is behind what was served, and the time stands still. All zero is the state before
/// that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeHold {
    at: u64,
    /// The OS clock's own time when that was noticed.
    since_os_ns: u64,
    /// Number of times that the time went on from there, each soon after a step back of the OS
    /// clock; and when that was behind for the last time, by itself. (Our timeline may just have
    /// moved by as much as two CPUs differ.)
    steps: u32,
    behind_os_ns: u64,
}

impl TimeHold {
    pub(crate) const NONE: Self = Self { at: 0, since_os_ns: 0, steps: 0, behind_os_ns: 0 };

    /// The time stands still at `at`, `behind_ns` ahead of the OS clock, which shows `raw_ns` by
    /// itself. Returns what the OS clock showed when the time should have gone on from there, if it
    /// has stood still for longer than the patience: that clock has stepped back.
    ///
    /// Each step back soon after another doubles the patience; otherwise CPUs whose OS clocks
    /// differ would make the time run fast.
    pub(crate) fn stand_still(&mut self, at: u64, behind_ns: u64, raw_ns: u64, patience_ns: u64) -> Option<u64> {
        if behind_ns > patience_ns {
            if raw_ns.abs_diff(self.behind_os_ns) >= SOON_NS {
                self.steps = 0;
            }
            self.behind_os_ns = raw_ns;
        }
        if self.at != at || raw_ns < self.since_os_ns {
            (self.at, self.since_os_ns) = (at, raw_ns);
            return None;
        }
        let patience_ns = patience_ns << self.steps;
        (raw_ns - self.since_os_ns > patience_ns).then(|| self.since_os_ns.wrapping_add(patience_ns))
    }

    /// The time goes on.
    pub(crate) fn go_on(&mut self) {
        self.steps = (self.steps + 1).min(MOST_DOUBLINGS);
    }
}
