//! Handles an OS clock that steps back or becomes slower.

use clockscope_core::brackets::Bracket;

use super::agreement::SOON_NS;
use super::holding::SteeringGuard;
use super::steering::TOO_WIDE;
use super::version::ServingMode;
use super::{Counter, Demotion, Disciplined, OsClock};

/// The OS clock has become slower, and was not compared for some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlowOsClock {
    /// Width of brackets before, in ticks; 0 if nothing of that kind happened.
    pub(super) usual: u64,
    /// `own_ticks` of then.
    pub(super) own_ticks: u64,
    /// Length of the pause in ns.
    pub(super) pause_ns: u64,
}

/// The OS clock is behind what was served, and the time stands still.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeHold {
    at: u64,
    /// The OS clock's own time when that was noticed.
    since_os_ns: u64,
    /// Number of times that the time went on from there, each soon after a step back of the OS
    /// clock; and when that was behind for the last time, by itself. (Our timeline may just have
    /// moved by as much as two CPUs differ.)
    steps: u32,
    behind_os_ns: u64,
}

/// Reads of the counter that are timed by it to see whether it has become slower itself, and by how
/// much that would be.
const OWN_READS: u32 = 4;
const OWN_SLOWER: u64 = 2;

/// Time for which the OS clock alone is served after it has become slower, in ns: a second at
/// first, then twice as long each time, up to a quarter of an hour.
pub(super) const PAUSE_NS: u64 = 1_000_000_000;
pub(super) const LONGEST_PAUSE_NS: u64 = 1024 * PAUSE_NS;

/// Duration for which the time stands still when the OS clock is behind earlier readings, in ns.
/// Three windows if that is longer: a line may end that far ahead. Each step back soon after
/// another doubles it; otherwise CPUs whose OS clocks differ would make the time run fast.
const HOLD_NS: u64 = 10_000_000;
const MOST_DOUBLINGS: u32 = 10;

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
        if at - os_ns > patience_ns {
            let is_soon = raw_ns.abs_diff(guard.hold.behind_os_ns) < SOON_NS;
            guard.hold.steps = if is_soon { guard.hold.steps } else { 0 };
            guard.hold.behind_os_ns = raw_ns;
        }
        let TimeHold { at: before, since_os_ns, steps, .. } = guard.hold;
        if before != at || raw_ns < since_os_ns {
            guard.hold = TimeHold { at, since_os_ns: raw_ns, ..guard.hold };
            return;
        }
        let patience_ns = patience_ns << steps;
        if raw_ns - since_os_ns > patience_ns && self.withdraw(&mut guard) {
            page.replace_offset(offset, at.wrapping_sub(since_os_ns.wrapping_add(patience_ns)));
            self.next_generation(guard.interval.worst_ns());
            *guard = guard.restarted();
            guard.hold.steps = (steps + 1).min(MOST_DOUBLINGS);
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
            self.next_generation(0);
        }
    }

    /// Returns the cost of [`OWN_READS`] reads of the counter, in ticks: the shorter of two rounds.
    pub(super) fn own_ticks(&self) -> u64 {
        let round = || {
            let start = self.counter.ordered();
            let end = (0..OWN_READS).fold(start, |_, _| self.counter.ordered());
            end.wrapping_sub(start).saturating_add(1)
        };
        round().min(round())
    }

    /// Returns true if the counter's own reads take much longer than `before`: a hypervisor traps
    /// it, or the processor runs more slowly. Then brackets are wider for that reason.
    pub(super) fn is_slower_itself(&self, guard: &mut SteeringGuard<'_>, before: u64) -> bool {
        guard.own_ticks = self.own_ticks();
        guard.own_ticks > before.saturating_mul(OWN_SLOWER)
    }

    /// Serves the OS clock for some time, because it has become slower and the counter has not: the
    /// kernel may have turned away from the counter. `false` if another thread has just decided
    /// otherwise.
    pub(super) fn turn_away(&self, guard: &mut SteeringGuard<'_>, slow_os_clock: SlowOsClock, os_ns: u64) -> bool {
        let is_away = self.pause(guard, Demotion::OsClockSlower, os_ns, slow_os_clock.pause_ns);
        if is_away {
            **guard = guard.restarted();
            guard.slow_os_clock = slow_os_clock;
        }
        is_away
    }

    /// After such a pause, whether brackets are as narrow as before or there is another reason;
    /// else the next pause begins.
    pub(super) fn is_as_fast_again(&self, guard: &mut SteeringGuard<'_>, bracket: &Bracket) -> bool {
        let SlowOsClock { usual, own_ticks, pause_ns } = guard.slow_os_clock;
        if bracket.width() > usual.saturating_mul(TOO_WIDE) && !self.is_slower_itself(guard, own_ticks) {
            let pause_ns = (2 * pause_ns).min(LONGEST_PAUSE_NS);
            self.turn_away(guard, SlowOsClock { pause_ns, ..guard.slow_os_clock }, bracket.inner);
            return false;
        }
        guard.slow_os_clock = SlowOsClock::NONE;
        true
    }
}

impl SlowOsClock {
    pub(super) const NONE: Self = Self { usual: 0, own_ticks: 0, pause_ns: 0 };
}

impl TimeHold {
    pub(super) const NONE: Self = Self { at: 0, since_os_ns: 0, steps: 0, behind_os_ns: 0 };
}
