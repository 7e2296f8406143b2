//! Publishes a line, and ends it, while the lock is held.
//!
//! Owns the changes that a lock holder makes to the version: the announcement of a line, the line
//! itself, its end, and the pause before the counter is tried again. Each takes the guard and
//! replaces no version but the guard's, so a late holder changes nothing. It writes to the page and
//! to the lock's content, and reads no clock.

use core::sync::atomic::Ordering;

use super::layers::Publication;
use super::lines::os_speed::SlowOsClock;
use super::locking::SteeringGuard;
use super::page::line::ServedLine;
use super::page::sync::stored_before_reading;
use super::page::version::ServingMode;
use super::{Counter, Demotion, OsClock};

impl<C: Counter, S: OsClock> Publication<C, S> {
    /// Announces that a line may begin with a bracket that is taken from now on: see the protocol
    /// in [`super`].
    pub(super) fn announce(&self, guard: &mut SteeringGuard<'_>) {
        if !guard.version.is_announced() {
            let announced = guard.version.announced();
            self.page.replace(&mut guard.version, announced);
            stored_before_reading();
        }
    }

    /// Publishes the line, unless another thread has ended the line that it follows.
    #[inline(never)]
    pub(super) fn publish(&self, guard: &mut SteeringGuard<'_>, line: &ServedLine) -> bool {
        self.os.preemption_point();
        let beside = guard.beside.published();
        let is_published = self.page.publish(&mut guard.version, line, &beside);
        if is_published {
            guard.errors.line_ends(line.end_value());
        }
        is_published
    }

    /// Ends the line, if there is one. `false` if another thread has replaced the version.
    pub(super) fn end_line(&self, guard: &mut SteeringGuard<'_>) -> bool {
        self.change_mode(guard, guard.version.mode())
    }

    /// Stops using the counter. `false` if another thread has replaced the version.
    pub(super) fn demote(&self, guard: &mut SteeringGuard<'_>, reason: Demotion) -> bool {
        self.change_mode(guard, ServingMode::Barred(reason))
    }

    /// Serves only the OS clock for some time. `false` if another thread has replaced the version.
    pub(super) fn pause(&self, guard: &mut SteeringGuard<'_>, reason: Demotion, os_ns: u64, pause_ns: u64) -> bool {
        let is_paused = self.demote(guard, reason);
        if is_paused {
            self.page.next_try_ns.store(os_ns.saturating_add(pause_ns), Ordering::Relaxed);
        }
        is_paused
    }

    /// Serves only the OS clock for some time, because it has become slower, which the counter does
    /// not explain: the kernel may no longer use the counter. `false` if another thread has
    /// replaced the version.
    pub(super) fn pause_slow(&self, guard: &mut SteeringGuard<'_>, slow_os_clock: SlowOsClock, os_ns: u64) -> bool {
        let is_paused = self.pause(guard, Demotion::OsClockSlower, os_ns, slow_os_clock.pause_ns);
        if is_paused {
            guard.restart_next();
            guard.os_speed.pause(slow_os_clock);
        }
        is_paused
    }

    /// Ends the line, if there is one, and serves by this mode from now on. `false` if another
    /// thread has replaced the version.
    #[inline(never)]
    pub(super) fn change_mode(&self, guard: &mut SteeringGuard<'_>, mode: ServingMode) -> bool {
        self.os.preemption_point();
        let next = guard.version.without_line(mode);
        self.page.end_line_of(&mut guard.version, next)
    }
}
