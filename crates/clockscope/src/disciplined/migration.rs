//! Notices that the clock runs where nothing is known of its counter: on a machine that it was
//! moved to, or on a CPU that no test has covered.

use core::sync::atomic::Ordering;

use super::holding::SteeringGuard;
use super::verified_cpus::{Test, plus_one};
use super::version::ServingMode;
use super::{Counter, Demotion, Disciplined, OsClock};

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// Returns whether what is known of the counter was found here. Where it was not, ends the line
    /// and what depends on it. Asked before each bracket.
    pub(super) fn is_where_it_was(&self, guard: &mut SteeringGuard<'_>) -> bool {
        let disruptions = self.shared.os.disruptions();
        self.is_same_machine(guard, disruptions) && self.is_covered(guard, disruptions)
    }

    /// Learns the machine's number of disruptions, if none was known.
    pub(super) fn learn_machine(&self) {
        let now = plus_one(self.shared.os.disruptions());
        let _ = self.disruptions.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn is_same_machine(&self, guard: &mut SteeringGuard<'_>, disruptions: Option<u64>) -> bool {
        let (now, known) = (plus_one(disruptions), self.disruptions.load(Ordering::Relaxed));
        if now == known || now == 0 {
            return true;
        }
        if known == 0 {
            self.learn_machine();
            return true;
        }
        if self.leave(guard, self.verified_cpus.last()) {
            self.disruptions.store(now, Ordering::Relaxed);
        }
        false
    }

    fn is_covered(&self, guard: &mut SteeringGuard<'_>, disruptions: Option<u64>) -> bool {
        let Some(test) = self.verified_cpus.last() else { return true };
        if self.verified_cpus.covers_machine(disruptions)
            && self.verified_cpus.covers_cpu(test, || self.shared.os.current_cpu())
        {
            return true;
        }
        if self.is_trusted_by_system() {
            self.verified_cpus.withdraw(test);
            return true;
        }
        self.leave(guard, Some(test));
        false
    }

    /// Returns whether the counter is used without a test of our own.
    fn is_trusted_by_system(&self) -> bool {
        self.system_answers.answers().is_some_and(|answers| answers.demotion(false).is_none())
    }

    /// Ends the generation. No fault of the counter: it is calibrated again at once, unless it was
    /// used because of this test, which was made elsewhere. `false` if another thread has just
    /// decided otherwise.
    fn leave(&self, guard: &mut SteeringGuard<'_>, test: Option<Test>) -> bool {
        let error_ns = self.error_by_line(guard.rate.ticks_ns()).unwrap_or(0).max(guard.errors.worst_ns());
        let is_barred = test.is_some() && !self.is_trusted_by_system();
        let mode = if is_barred { ServingMode::Barred(Demotion::Untested) } else { guard.version.mode() };
        if self.verified_cpus.last() != test || !self.end_line(guard, mode) {
            return false;
        }
        if let Some(test) = test {
            self.verified_cpus.withdraw(test);
        }
        let ahead_ns = self.os_ns().map_or(0, |os_ns| self.shared.page.floor().saturating_sub(os_ns));
        self.next_generation(error_ns.max(ahead_ns));
        guard.restart_next();
        true
    }
}
