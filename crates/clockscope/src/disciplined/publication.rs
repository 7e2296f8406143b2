//! Publishes a line, and ends it, while the lock is held.
//!
//! Owns the changes that a lock holder makes to the version: the announcement of a line, the line
//! itself, its end, and the pause before the counter is tried again. Each takes the guard and
//! replaces the guard's version alone, so a late holder changes nothing. It writes to the page and
//! to the lock's content, and reads no clock.

use core::sync::atomic::Ordering;

use super::holding::SteeringGuard;
use super::layers::Publication;
use super::lines::os_speed::SlowOsClock;
use super::page::line::ServedLine;
use super::page::sync::stored_before_reading;
use super::page::version::ServingMode;
use super::{Counter, Demotion, OsClock};

impl<C: Counter, S: OsClock> Publication<C, S> {
    /// Says that a line may begin with a bracket that is taken from here on: see the protocol in
    /// [`super`].
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

    /// From here on no tick is covered. `false` if another thread has ended the line.
    pub(super) fn withdraw(&self, guard: &mut SteeringGuard<'_>) -> bool {
        self.end_line(guard, guard.version.mode())
    }

    /// Gives the counter up. `false` if another thread has just decided otherwise.
    pub(super) fn demote(&self, guard: &mut SteeringGuard<'_>, reason: Demotion) -> bool {
        self.end_line(guard, ServingMode::Barred(reason))
    }

    /// Serves the OS clock alone for some time. `false` if another thread has just decided
    /// otherwise.
    pub(super) fn pause(&self, guard: &mut SteeringGuard<'_>, reason: Demotion, os_ns: u64, pause_ns: u64) -> bool {
        let is_away = self.demote(guard, reason);
        if is_away {
            let until = os_ns.saturating_add(pause_ns);
            self.page.next_try_ns.store(until, Ordering::Relaxed);
        }
        is_away
    }

    /// Serves the OS clock for some time, because it has become slower, which the counter does not
    /// explain: the kernel may have turned away from the counter. `false` if another thread has
    /// just decided otherwise.
    pub(super) fn turn_away(&self, guard: &mut SteeringGuard<'_>, slow_os_clock: SlowOsClock, os_ns: u64) -> bool {
        let is_away = self.pause(guard, Demotion::OsClockSlower, os_ns, slow_os_clock.pause_ns);
        if is_away {
            guard.restart_next();
            guard.os_speed.turn_away(slow_os_clock);
        }
        is_away
    }

    #[inline(never)]
    pub(super) fn end_line(&self, guard: &mut SteeringGuard<'_>, mode: ServingMode) -> bool {
        self.os.preemption_point();
        let next = guard.version.without_line(mode);
        self.page.end_line_of(&mut guard.version, next)
    }
}
