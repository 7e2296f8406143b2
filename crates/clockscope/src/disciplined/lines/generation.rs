//! Generations: periods in which readings are on one line, and the reasons of their ends.

/// Longest duration of a short generation, in ns.
pub(crate) const MAX_SHORT_NS: u64 = 10_000_000_000;

/// Short generations in a row after which only the OS clock is served, for a second at first, then
/// twice as long each time, up to a quarter of an hour.
const MIN_SHORT_GENERATIONS: u32 = 3;
pub(crate) const MIN_PAUSE_NS: u64 = 1_000_000_000;
pub(crate) const MAX_PAUSE_NS: u64 = 1024 * MIN_PAUSE_NS;

/// Shortest suspend, in ns: the two clocks that show it are read one after the other.
const MIN_SUSPEND_NS: u64 = 1_000_000;

/// The current generation. All zero is one that has not begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generation {
    /// OS time at which its first line began; 0 before that.
    began_ns: u64,
    /// Short generations in a row.
    short: u32,
    /// Time that the machine had spent suspended when it began, in ns, plus 1; 0 if unknown.
    suspended_ns: u64,
}

impl Generation {
    pub(crate) const NONE: Self = Self { began_ns: 0, short: 0, suspended_ns: 0 };

    /// Its first line, or a later one, begins at this OS time.
    pub(crate) fn begin_line(&mut self, os_ns: u64) {
        if self.began_ns == 0 {
            self.began_ns = os_ns.max(1);
        }
    }

    /// Learns the time spent suspended, if that is not known yet.
    pub(crate) fn learn_suspends(&mut self, suspended_ns: impl FnOnce() -> u64) {
        if self.suspended_ns == 0 {
            self.suspended_ns = suspended_ns();
        }
    }

    /// Returns true if the machine was suspended in it; `suspended_ns` is the time until now.
    pub(crate) fn had_suspend(&self, suspended_ns: u64) -> bool {
        was_suspended(self.suspended_ns, suspended_ns)
    }

    /// The generation that follows it, of which only the number of short ones is known.
    pub(crate) fn next(&self) -> Self {
        Self { short: self.short, ..Self::NONE }
    }

    /// The generation that follows a suspend, which is not an error of either clock.
    pub(crate) fn after_suspend(&self, suspended_ns: u64) -> Self {
        Self { suspended_ns, ..self.next() }
    }

    /// The generation that follows a contradiction of the clocks at this OS time.
    pub(crate) fn after_contradiction(&self, os_ns: u64, suspended_ns: u64) -> Self {
        let was_short = self.began_ns == 0 || os_ns.saturating_sub(self.began_ns) < MAX_SHORT_NS;
        Self { began_ns: 0, short: if was_short { self.short.saturating_add(1) } else { 1 }, suspended_ns }
    }

    /// Time for which only the OS clock is served before it, in ns; `None` if a line may begin at
    /// once.
    pub(crate) fn pause_ns(&self) -> Option<u64> {
        let doublings = self.short.checked_sub(MIN_SHORT_GENERATIONS)?;
        Some(MIN_PAUSE_NS << doublings.min((MAX_PAUSE_NS / MIN_PAUSE_NS).ilog2()))
    }
}

/// Returns true if the machine was suspended between two moments, at which the time spent suspended
/// was this, in ns, plus 1; 0 if unknown.
pub(crate) fn was_suspended(before_ns: u64, now_ns: u64) -> bool {
    let asleep = now_ns.wrapping_sub(before_ns) as i64;
    before_ns != 0 && now_ns != 0 && asleep.unsigned_abs() > MIN_SUSPEND_NS
}
