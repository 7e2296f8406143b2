//! Notices that the clock runs on a machine that it was moved to, or on a CPU that no test has
//! covered: there the calibration of its counter is void.

use super::layers::Migration;
use super::locking::SteeringGuard;
use super::page::version::ServingMode;
use super::trust::verified_cpus::Test;
use super::{Counter, Demotion, OsClock};

impl<C: Counter, S: OsClock> Migration<C, S> {
    /// Returns true if the counter was calibrated on this machine and tested on this CPU, if that
    /// is needed. Otherwise ends the line and the generation. Called before each bracket.
    pub(super) fn is_unmoved(&self, guard: &mut SteeringGuard<'_>) -> bool {
        let disruptions = self.os.disruptions();
        self.is_same_machine(guard, disruptions) && self.is_covered(guard, disruptions)
    }

    fn is_same_machine(&self, guard: &mut SteeringGuard<'_>, disruptions: Option<u64>) -> bool {
        let is_same = self.trust.is_of_machine(disruptions);
        if !is_same && self.leave(guard, self.trust.test()) {
            self.trust.follow_machine(disruptions);
        }
        is_same
    }

    fn is_covered(&self, guard: &mut SteeringGuard<'_>, disruptions: Option<u64>) -> bool {
        let Some(test) = self.trust.test() else { return true };
        if self.trust.covers(test, disruptions, || self.os.current_cpu()) {
            return true;
        }
        if self.trust.is_by_the_system() {
            self.trust.revoke(test);
            return true;
        }
        self.leave(guard, Some(test));
        false
    }

    /// Ends the generation. The counter is calibrated again at once, unless it was used because of
    /// this test, which does not hold here. `false` if another thread has replaced the version.
    fn leave(&self, guard: &mut SteeringGuard<'_>, test: Option<Test>) -> bool {
        let error_ns = self.error_by_line(guard.rate.ticks_ns()).unwrap_or(0).max(guard.errors.open_ns());
        let is_barred = test.is_some() && !self.trust.is_by_the_system();
        let mode = if is_barred { ServingMode::Barred(Demotion::Untested) } else { guard.version.mode() };
        if self.trust.test() != test || !self.change_mode(guard, mode) {
            return false;
        }
        if let Some(test) = test {
            self.trust.revoke(test);
        }
        let os_ns = self.os_ns().ok();
        let ahead_ns = os_ns.map_or(0, |os_ns| self.page.floor().saturating_sub(os_ns));
        self.next_generation(error_ns.max(ahead_ns), os_ns);
        guard.restart_next();
        true
    }
}
