//! Generations: spells of readings that are on one line, and what ended them.

/// A generation that ends within this time, in ns, ended soon.
pub(crate) const SOON_NS: u64 = 10_000_000_000;

/// After so many of them in a row the OS clock alone is served, for a second at first, then twice
/// as long each time, up to a quarter of an hour.
const SHORT_GENERATIONS: u32 = 3;
pub(crate) const PAUSE_NS: u64 = 1_000_000_000;
pub(crate) const LONGEST_PAUSE_NS: u64 = 1024 * PAUSE_NS;

/// A suspend is longer than this, in ns: the two clocks that show it are read one after the other.
const SHORTEST_SUSPEND_NS: u64 = 1_000_000;

/// The generation that there is. All zero is one that has not begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generation {
    /// OS time at which its first line began; 0 before that.
    began_ns: u64,
    /// Generations in a row that ended soon.
    short: u32,
    /// For how long the machine was suspended when it began, in ns, plus 1; 0 where that is not
    /// known.
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

    /// The machine was suspended for so long, if that is not known yet.
    pub(crate) fn learn_suspends(&mut self, suspended_ns: impl FnOnce() -> u64) {
        if self.suspended_ns == 0 {
            self.suspended_ns = suspended_ns();
        }
    }

    /// Returns true if the machine was suspended in it; `suspended_ns` is the answer of now.
    pub(crate) fn had_suspend(&self, suspended_ns: u64) -> bool {
        let asleep = suspended_ns.wrapping_sub(self.suspended_ns) as i64;
        self.suspended_ns != 0 && suspended_ns != 0 && asleep.unsigned_abs() > SHORTEST_SUSPEND_NS
    }

    /// The one that follows it, of which only the number of short ones is known.
    pub(crate) fn next(&self) -> Self {
        Self { short: self.short, ..Self::NONE }
    }

    /// The one that follows a suspend, which is no fault of either clock.
    pub(crate) fn after_suspend(&self, suspended_ns: u64) -> Self {
        Self { suspended_ns, ..self.next() }
    }

    /// The one that follows where the clocks contradicted each other at this OS time.
    pub(crate) fn after_contradiction(&self, os_ns: u64, suspended_ns: u64) -> Self {
        let ended_soon = self.began_ns == 0 || os_ns.saturating_sub(self.began_ns) < SOON_NS;
        Self { began_ns: 0, short: if ended_soon { self.short.saturating_add(1) } else { 1 }, suspended_ns }
    }

    /// For how long the OS clock alone is served before it, in ns; `None` if at once another line
    /// may begin.
    pub(crate) fn pause_ns(&self) -> Option<u64> {
        let doublings = self.short.checked_sub(SHORT_GENERATIONS)?;
        Some(PAUSE_NS << doublings.min((LONGEST_PAUSE_NS / PAUSE_NS).ilog2()))
    }
}
