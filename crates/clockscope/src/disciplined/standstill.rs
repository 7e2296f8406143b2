//! Holds the time while the OS clock is behind it, and follows a clock that has stepped back.
//!
//! Owns the offset between the OS clock and our timeline: it replaces that after the time has stood
//! still for long enough.

use core::sync::atomic::Ordering;

use super::layers::Standstill;
use super::page::version::ServingMode;
use super::{Counter, Demotion, OsClock};

/// Duration for which the time stands still when the OS clock is behind earlier readings, in ns.
/// Three windows if that is longer: a line may end that far ahead.
const HOLD_NS: u64 = 10_000_000;

impl<C: Counter, S: OsClock> Standstill<C, S> {
    /// The OS clock is behind `at`, below which nothing may be served: the time stands still. When
    /// it has done so for long, it goes on from there at the OS clock's rate: that clock has
    /// stepped back.
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
        // Read again, because another thread may just have changed the offset: under the lock
        // nobody does.
        let Ok(raw_ns) = self.os.now_ns() else { return };
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
        let offset = self.page.offset();
        let Ok(raw_ns) = self.os.now_ns() else { return };
        if at.saturating_sub(raw_ns.wrapping_add(offset)) > HOLD_NS
            && self.page.replace_offset(offset, at.wrapping_sub(raw_ns))
        {
            self.next_generation(0, None);
        }
    }
}
