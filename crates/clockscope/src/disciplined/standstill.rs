//! Holds the time while the OS clock is behind it, and follows a clock that has stepped back.
//!
//! Owns the offset between the OS clock and our timeline: it replaces that after the time has stood
//! still for long enough.

use core::sync::atomic::Ordering;

use super::layers::Standstill;
use super::page::version::ServingMode;
use super::{Counter, Demotion, OsClock};

/// Time for which the time is held while the OS clock is behind earlier readings, in ns. Three
/// windows if that is longer: a line may end that far ahead.
const HOLD_NS: u64 = 10_000_000;

impl<C: Counter, S: OsClock> Standstill<C, S> {
    /// The OS clock is behind `at`, the least time that may be served: the time is held. After the
    /// limit it goes on from there at the OS clock's rate: that clock has stepped back.
    pub(super) fn hold_at(&self, at: u64) {
        let page = &self.page;
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
        // Read again, because another thread may have changed the offset before this one had the
        // lock.
        let Ok(raw_ns) = self.os.now_ns() else { return };
        let offset = page.offset();
        let os_ns = raw_ns.wrapping_add(offset);
        if os_ns >= at {
            return;
        }
        let limit_ns = HOLD_NS.max(3 * self.window_ns());
        let Some(until_ns) = guard.hold.hold(at, at - os_ns, raw_ns, limit_ns) else { return };
        if self.end_line(&mut guard) {
            page.replace_offset(offset, at.wrapping_sub(until_ns));
            let largest_ns = page.largest_error_ns.load(Ordering::Relaxed);
            self.next_generation(guard.errors.open_ns().max(largest_ns), Some(os_ns));
            guard.restart_next();
            guard.hold.count_step();
        }
    }

    /// Follows a clock that has stepped back when the lock is lost permanently: without the lock
    /// the length of the hold is not known, so the time goes on at once.
    fn go_on_without_the_lock(&self, at: u64) {
        let offset = self.page.offset();
        let Ok(raw_ns) = self.os.now_ns() else { return };
        if at.saturating_sub(raw_ns.wrapping_add(offset)) > HOLD_NS
            && self.page.replace_offset(offset, at.wrapping_sub(raw_ns))
        {
            self.next_generation(0, None);
        }
    }
}
