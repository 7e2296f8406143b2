//! Decides whether the counter may be used, by the answers of system and hardware and by the
//! library's last test of it.
//!
//! Outside of the memory that a fork wipes: a child uses the counter for its parent's reasons.

pub(super) mod clocksource_names;
pub(super) mod system_answers;
pub(super) mod verified_cpus;

use clockscope_core::atomic::AtomicU64;
use clockscope_core::clocksource::ClocksourceName;
use core::sync::atomic::Ordering;

use crate::evidence::Demotion;
use clocksource_names::ClocksourceNames;
use system_answers::{Answers, SystemAnswers};
use verified_cpus::{Test, VerifiedCpus, plus_one};

/// Answers about the counter and tests of it. All zero is the state before the first question.
pub(super) struct Trust {
    verified_cpus: VerifiedCpus,
    /// [`super::OsClock::disruptions`] when this generation began, plus 1; 0 if unknown.
    disruptions: AtomicU64,
    answers: SystemAnswers,
    names: ClocksourceNames,
    /// [`super::Counter::kernel_hz`], as the bits of a float; 0 if unknown.
    kernel_hz: AtomicU64,
}

impl Trust {
    pub(super) const fn new() -> Self {
        Self {
            verified_cpus: VerifiedCpus::new(),
            disruptions: AtomicU64::new(0),
            answers: SystemAnswers::new(),
            names: ClocksourceNames::new(),
            kernel_hz: AtomicU64::new(0),
        }
    }

    /// The answers; `None` before the first question.
    pub(super) fn answers(&self) -> Option<Answers> {
        self.answers.answers()
    }

    /// The OS clock's tick in ns at the last question; 1 before the first.
    pub(super) fn os_tick_ns(&self) -> u64 {
        self.answers().map_or(1, |answers| answers.os_tick_ns)
    }

    /// The name of the clocksource of these answers, where it is known.
    pub(super) fn name_of(&self, answers: &Answers) -> Option<ClocksourceName> {
        self.names.at(answers.name)
    }

    /// The frequency that the kernel states, in Hz.
    pub(super) fn kernel_hz(&self) -> Option<f64> {
        let hz = f64::from_bits(self.kernel_hz.load(Ordering::Relaxed));
        if hz > 0.0 { Some(hz) } else { None }
    }

    /// Keeps new answers, with the clocksource's name where that is known. Returns those that hold
    /// now.
    pub(super) fn keep(&self, answers: Answers, name: Option<ClocksourceName>) -> Answers {
        self.answers.keep(Answers { name: name.map_or(0, |name| self.names.store(&name)), ..answers })
    }

    pub(super) fn keep_kernel_hz(&self, hz: f64) {
        self.kernel_hz.store(hz.to_bits(), Ordering::Relaxed);
    }

    /// Forbids to read the counter from now on. Callable in a signal handler.
    #[cfg(not(clockscope_models))]
    pub(super) fn forbid(&self) {
        self.answers.forbid();
    }

    /// Reason why these answers forbid the use of the counter; `None` if they do not. A test that
    /// has passed stands in for the kernel's answer.
    pub(super) fn demotion(&self, answers: &Answers) -> Option<Demotion> {
        answers.demotion(self.test().is_some())
    }

    /// Returns true if the counter may be used without a test.
    pub(super) fn is_by_the_system(&self) -> bool {
        self.answers().is_some_and(|answers| answers.demotion(false).is_none())
    }

    /// Returns true if the counter may be used where a test passes.
    pub(super) fn may_be_tested(&self) -> bool {
        self.answers().is_some_and(|answers| answers.demotion(true).is_none())
    }

    /// The last test that passed, if it was not revoked.
    pub(super) fn test(&self) -> Option<Test> {
        self.verified_cpus.last()
    }

    /// Keeps a test that has passed: see [`VerifiedCpus::accept`].
    pub(super) fn accept(&self, cpus: Option<&[u32]>, disruptions: Option<u64>) -> bool {
        self.verified_cpus.accept(cpus, disruptions)
    }

    /// Revokes every test.
    pub(super) fn reject(&self) {
        self.verified_cpus.reject();
    }

    /// Revokes this test, unless another one has passed since.
    pub(super) fn revoke(&self, test: Test) {
        self.verified_cpus.revoke(test);
    }

    /// Returns true if a test was made on this machine and CPU.
    pub(super) fn covers(&self, test: Test, disruptions: Option<u64>, cpu: impl FnOnce() -> Option<u32>) -> bool {
        self.verified_cpus.covers_machine(disruptions) && self.verified_cpus.covers_cpu(test, cpu)
    }

    /// Returns true if the generation began on this machine: its number of disruptions is what it
    /// was, or is not known. A number that was not known is learned.
    pub(super) fn is_of_machine(&self, disruptions: Option<u64>) -> bool {
        let (now, known) = (plus_one(disruptions), self.disruptions.load(Ordering::Relaxed));
        if known == 0 {
            self.learn_machine(disruptions);
        }
        now == known || now == 0 || known == 0
    }

    /// Learns the machine's number of disruptions, if none was known.
    pub(super) fn learn_machine(&self, disruptions: Option<u64>) {
        let _ = self.disruptions.compare_exchange(0, plus_one(disruptions), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The generation goes on on this machine.
    pub(super) fn follow_machine(&self, disruptions: Option<u64>) {
        self.disruptions.store(plus_one(disruptions), Ordering::Relaxed);
    }
}
