//! Decides whether the counter may be used, by answers of counter and system and by tests of it.
//!
//! Owns the questions, the step out of the state before the first use, and the counter's later
//! readmission and rejection. `trust` keeps the answers. `decisions` makes each change of the mode,
//! without the lock. Of all readings, the second one of a process asks, or the first if the OS
//! clock refuses. It compares no clocks.

use super::clocks::first_reading::FirstReading;
use super::layers::Admission;
use super::page::version::{ServingMode, Version};
use super::trust::system_answers::Answers;
use super::{Counter, Demotion, OsClock};

/// Questions to counter and system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Questions {
    /// Those that decide whether the counter is used.
    Deciding,
    /// Also those whose answers only evidence reports.
    All,
}

impl<C: Counter, S: OsClock> Admission<C, S> {
    /// Asks counter and system once for this process and its children. Returns after that.
    pub(super) fn prepare(&self) {
        while self.page.mode() == ServingMode::New {
            self.begin();
        }
    }

    /// Leaves the state before the first use: asks whether the counter may be used, once for a
    /// process and its children.
    #[cold]
    fn begin(&self) {
        let page = &self.page;
        let mut version = page.version();
        // A child that is forked in the middle of this, by a signal handler, finds another version,
        // and begins by itself.
        if version == Version::NEW {
            let marked = version.without_line(ServingMode::New);
            page.replace(&mut version, marked);
        }
        page.mark();
        let answers = match self.trust.answers() {
            Some(answers) => {
                self.os.prepare(answers.permitted);
                answers
            }
            None => {
                let answers = self.ask(Questions::Deciding);
                let (first, process) = (self.first(), self.os.process());
                if !first.was_taken() {
                    // A child that is forked later asks nothing.
                    first.keep(0, process);
                } else if let Some(first_ns) = first.taken_by(process) {
                    page.record(first_ns);
                }
                answers
            }
        };
        let mode = self.trust.demotion(&answers).map_or(ServingMode::Open, ServingMode::Barred);
        let next = version.without_line(mode);
        // Only one of the threads that race here succeeds; a process has many first calls after
        // forks.
        if version.is_new() && version != Version::NEW && page.replace(&mut version, next) {
            self.next_generation(0, None);
        }
    }

    /// Asks counter and system.
    fn ask(&self, questions: Questions) -> Answers {
        let before = self.trust.answers().unwrap_or_default();
        let permitted = self.counter.is_permitted();
        let (clocksource, mut name) = self.counter.clocksource();
        if questions == Questions::All {
            name = name.or_else(|| self.counter.clocksource_name());
        }
        // Before the OS clock is read for its tick: where the counter is disabled, that may be
        // fatal.
        self.os.prepare(permitted.or(before.permitted));
        self.trust.learn_machine(self.os.disruptions());
        let os_tick_ns = self.os.tick_ns(clocksource.or(before.clocksource) == Some(true));
        let (invariant, is_complete) = (self.counter.is_invariant(), questions == Questions::All);
        self.trust.keep(Answers { permitted, clocksource, invariant, name: 0, is_complete, os_tick_ns }, name)
    }

    /// Asks counter and system all questions again, and follows the answers. Returns true if the
    /// counter may be used.
    pub(super) fn recheck_all(&self) -> bool {
        self.learn_kernel_hz();
        self.follow(self.ask(Questions::All))
    }

    /// Asks the questions that decide again, and follows the answers. Returns true if the counter
    /// may be used.
    #[cfg(not(clockscope_models))]
    pub(crate) fn recheck_use(&self) -> bool {
        self.follow(self.ask(Questions::Deciding))
    }

    /// Learns the frequency that the kernel states, if the counter states none.
    fn learn_kernel_hz(&self) {
        if self.counter.nominal_hz().is_some() {
            return;
        }
        if let Some(hz) = self.counter.kernel_hz() {
            self.trust.keep_kernel_hz(hz);
        }
    }

    /// The first reading, in the memory that the OS clock chooses.
    pub(super) fn first(&self) -> &FirstReading {
        self.os.first_reading(&self.first)
    }

    fn follow(&self, answers: Answers) -> bool {
        let demotion = self.trust.demotion(&answers);
        self.prepare();
        self.decide(|mode| match (mode, demotion) {
            // Unchanged, and the more exact reason.
            (
                ServingMode::Barred(Demotion::Untested),
                Some(Demotion::NotClocksource | Demotion::ClocksourceUnknown),
            ) => None,
            (ServingMode::Open, Some(reason)) => Some(ServingMode::Barred(reason)),
            (ServingMode::Barred(found), Some(reason))
                if (found.is_of_the_system() || found.is_for_some_time()) && found != reason =>
            {
                Some(ServingMode::Barred(reason))
            }
            (ServingMode::Barred(found), None) if found.is_of_the_system() => Some(ServingMode::Open),
            _ => None,
        });
        self.page.mode() == ServingMode::Open
    }

    /// Takes the counter because of a test that began when [`OsClock::disruptions`] was this: on
    /// only these CPUs, or on all.
    pub(crate) fn readmit_as_of(&self, cpus: Option<&[u32]>, disruptions: Option<u64>) -> bool {
        self.prepare();
        if !self.trust.may_be_tested() {
            self.trust.reject();
            return false;
        }
        if !self.trust.accept(cpus, disruptions) {
            return false;
        }
        self.decide(|mode| match mode {
            ServingMode::Barred(Demotion::Abandoned) if !self.shared.steering.has_room() => None,
            ServingMode::New | ServingMode::Barred(_) => Some(ServingMode::Open),
            ServingMode::Open => None,
        });
        self.page.mode() == ServingMode::Open
    }

    /// Stops using the counter, because the library's test of it has failed. Takes effect at once,
    /// without the lock.
    pub(super) fn give_up(&self) {
        self.prepare();
        self.trust.reject();
        self.decide(|mode| match mode {
            ServingMode::Barred(Demotion::Abandoned | Demotion::OutOfOrder) => None,
            ServingMode::New | ServingMode::Open | ServingMode::Barred(_) => {
                Some(ServingMode::Barred(Demotion::OutOfOrder))
            }
        });
    }

    /// Forbids to read the counter from now on. Callable in a signal handler.
    #[cfg(not(clockscope_models))]
    pub(crate) fn forbid(&self) {
        self.trust.forbid();
        self.decide(|mode| match mode {
            ServingMode::Barred(reason) if !reason.is_for_some_time() => None,
            ServingMode::New => None,
            ServingMode::Open | ServingMode::Barred(_) => Some(ServingMode::Barred(Demotion::NotPermitted)),
        });
    }

    /// The OS clock's tick in ns at the last question.
    pub(super) fn os_tick_ns(&self) -> u64 {
        self.prepare();
        self.trust.os_tick_ns()
    }
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::super::Disciplined;
    use super::*;
    use crate::Errno;

    /// Clocks that stand still.
    struct Machine;

    impl Counter for Machine {
        fn ordered(&self) -> u64 {
            1
        }
        crate::disciplined::trusted_counter!();
    }

    impl OsClock for Machine {
        fn now_ns(&self) -> Result<u64, Errno> {
            Ok(1)
        }
        fn tick_ns(&self, _: bool) -> u64 {
            1
        }
    }

    /// For all reasons for which it is barred, the counter may not be read from now on.
    #[test]
    fn a_forbidden_counter_is_not_opened_after_a_pause() {
        for reason in Demotion::ALL {
            let clock = Disciplined::new(Machine, Machine);
            clock.prepare();
            clock.layers.decide(|_| Some(ServingMode::Barred(reason)));
            clock.layers.forbid();
            let ServingMode::Barred(found) = clock.layers.page.mode() else { panic!("{reason:?}: it is served") };
            assert!(!found.is_for_some_time(), "{reason:?} became {found:?}");
        }
    }
}
