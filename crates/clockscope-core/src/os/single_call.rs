//! A timeline that is one call of the system, and the time of day without an error: everywhere but
//! on Linux.

use super::backend::clock;
use crate::Errno;
use crate::kernel_clock::KernelClockState;

/// The system's monotonic clock. Needs no preparation, and is never the wall clock.
#[derive(Debug)]
pub struct Timeline(());

impl Timeline {
    /// Makes the clock.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it is for a static")]
    pub const fn new() -> Self {
        Self(())
    }

    /// Returns the time in ns.
    ///
    /// # Errors
    /// The system has no such clock, or refuses.
    #[inline(always)]
    pub fn now_ns(&self) -> Result<u64, Errno> {
        clock::monotonic_ns()
    }

    /// Returns the wall clock in ns since the Unix epoch.
    ///
    /// # Errors
    /// The system has no such clock, or refuses.
    #[inline(always)]
    pub fn wall_ns(&self) -> Result<i64, Errno> {
        clock::wall_ns()
    }

    /// Returns the time since the machine was started in ns, which goes on in a suspend.
    ///
    /// # Errors
    /// The system has no such clock that is known, or refuses.
    #[inline(always)]
    pub fn boot_ns(&self) -> Result<i64, Errno> {
        clock::boot_ns()
    }

    /// Returns `true`: it is.
    #[must_use]
    pub fn is_monotonic(&self) -> bool {
        true
    }

    /// Returns the clock's tick in ns, 1 or more: what the system states, and no less than the
    /// smallest step that it shows.
    #[must_use]
    pub fn tick_ns(&self, _: bool) -> u64 {
        clock::nominal_tick_ns().max(self.smallest_step_ns()).max(1)
    }

    /// Returns the smallest step between successive readings; 0 where none was seen.
    fn smallest_step_ns(&self) -> u64 {
        /// A browser's clock shows the same value for thousands of readings.
        const READINGS: usize = 20_000;
        const STEPS: u32 = 4;
        /// A clock of coarser steps has shown one by then.
        const MAX_SEARCH_NS: u64 = 200_000;
        let (mut smallest, mut steps) = (u64::MAX, 0);
        let Ok(first) = self.now_ns() else { return 0 };
        let mut last = first;
        for _ in 0..READINGS {
            let now = self.now_ns().unwrap_or(last);
            if now > last {
                smallest = smallest.min(now - last);
                steps += 1;
            }
            last = now;
            if steps == STEPS || last.saturating_sub(first) >= MAX_SEARCH_NS {
                break;
            }
        }
        if steps == 0 { 0 } else { smallest }
    }

    /// Returns for how long the machine has been suspended, in ns, where the clock leaves that out
    /// and the system reports.
    #[must_use]
    pub fn suspended_ns(&self) -> Option<u64> {
        clock::suspended_ns()
    }

    /// Returns `None`: no other clock of the same oscillator is known to be cheap.
    #[must_use]
    pub fn raw_ns(&self) -> Option<u64> {
        None
    }

    /// Returns `None`: nothing announces disruptions.
    #[must_use]
    pub fn disruptions(&self) -> Option<u64> {
        None
    }

    /// Returns the CPU that the calling thread runs on; `None` where the system does not show it.
    #[must_use]
    pub fn current_cpu(&self) -> Option<u32> {
        super::current_cpu()
    }

    /// Does nothing: there is nothing to prepare.
    pub fn prepare(&self, _: bool) {}

    /// Does nothing: the clock is not the counter.
    pub fn counter_is_disabled(&self) {}
}

/// Returns the time of day, of which nobody states an error.
///
/// # Errors
/// The system has no such clock, or refuses.
pub fn kernel_clock() -> Result<KernelClockState, Errno> {
    clock::wall_ns().map(|unix_ns| KernelClockState::unsynchronized(unix_ns.into()))
}
