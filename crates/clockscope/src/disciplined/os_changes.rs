//! Handles an OS clock that steps back or becomes slower.

use core::sync::atomic::Ordering;

use super::holding::SteeringGuard;
use super::os_speed::SlowOsClock;
use super::version::ServingMode;
use super::{Counter, Demotion, Disciplined, OsClock};

/// Reads of the counter that are timed by it to see whether it has become slower itself.
const OWN_READS: u32 = 4;

/// Duration for which the time stands still when the OS clock is behind earlier readings, in ns.
/// Three windows if that is longer: a line may end that far ahead.
const HOLD_NS: u64 = 10_000_000;

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// The OS clock is behind `at`, below which nothing may be served: the time stands still. When
    /// it has done so for long, it goes on from there at the OS clock's rate: that clock has
    /// stepped back.
    pub(super) fn hold_at(&self, at: u64) {
        let page = &self.shared.page;
        // Before the system was asked the lock is not used: a forked child would inherit it.
        let mode = page.mode();
        if mode == ServingMode::New {
            return;
        }
        let Some(mut guard) = self.lock() else {
            if mode == ServingMode::Barred(Demotion::Abandoned) {
                self.go_on_without_the_lock(at);
            }
            return;
        };
        // Read again, because another thread may just have changed the offset: under the lock
        // nobody does.
        let Ok(raw_ns) = self.shared.os.now_ns() else { return };
        let offset = page.offset();
        let os_ns = raw_ns.wrapping_add(offset);
        if os_ns >= at {
            return;
        }
        let patience_ns = HOLD_NS.max(3 * self.window_ns());
        let Some(until_ns) = guard.hold.stand_still(at, at - os_ns, raw_ns, patience_ns) else { return };
        if self.withdraw(&mut guard) {
            page.replace_offset(offset, at.wrapping_sub(until_ns));
            let stood_ns = page.largest_error_ns.load(Ordering::Relaxed);
            self.next_generation(guard.errors.open_ns().max(stood_ns), Some(os_ns));
            guard.restart_next();
            guard.hold.go_on();
        }
    }

    /// The same when the lock is lost for good: nothing can record how long the time has stood
    /// still, so it goes on at once.
    fn go_on_without_the_lock(&self, at: u64) {
        let offset = self.shared.page.offset();
        let Ok(raw_ns) = self.shared.os.now_ns() else { return };
        if at.saturating_sub(raw_ns.wrapping_add(offset)) > HOLD_NS
            && self.shared.page.replace_offset(offset, at.wrapping_sub(raw_ns))
        {
            self.next_generation(0, None);
        }
    }

    /// Returns the cost of [`OWN_READS`] reads of the counter, in ticks: the shorter of two rounds.
    #[inline(never)]
    pub(super) fn own_ticks(&self) -> u64 {
        let round = || {
            let start = self.counter.ordered();
            let end = (0..OWN_READS).fold(start, |_, _| self.counter.ordered());
            end.wrapping_sub(start).saturating_add(1)
        };
        round().min(round())
    }

    /// Serves the OS clock for some time, because it has become slower and the counter has not: the
    /// kernel may have turned away from the counter. `false` if another thread has just decided
    /// otherwise.
    pub(super) fn turn_away(&self, guard: &mut SteeringGuard<'_>, slow_os_clock: SlowOsClock, os_ns: u64) -> bool {
        let is_away = self.pause(guard, Demotion::OsClockSlower, os_ns, slow_os_clock.pause_ns);
        if is_away {
            guard.restart_next();
            guard.os_speed.turn_away(slow_os_clock);
        }
        is_away
    }
}
