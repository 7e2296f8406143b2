//! Variety of machines beside their clocks: CPUs, what hardware and kernel say and permit.
//!
//! It is drawn from a stream of its own, so that a machine of a seed from before has the clocks and
//! the load that it had.

use clockscope_records::checks::HypervisorStatement;
use clockscope_records::{Adjtimex, ClockReason, Hypervisor, Unknown, WallState};
use clockscope_system::ClockKind;
use clockscope_system::child_read::Outcome;
use clockscope_testing::simulation::Random;

use crate::harness::long_one_in;
use crate::machine::{Machine, Maker, Spec, pick};

/// SIGILL, SIGSEGV and SIGSYS on Linux.
const SIGNALS: [i32; 3] = [4, 11, 31];

/// The shortest and longest times for which busy machines are asked for long, in s.
const LONG_S: [f64; 2] = [0.06, 3.0];

/// Way in which a read ends the process that tries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadly {
    /// By this signal.
    Signal(i32),
    /// It does not return.
    Silent,
}

impl Deadly {
    /// Outcome that a trial in a child process shows of it.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Signal(signal) => Outcome::Killed(signal),
            Self::Silent => Outcome::Silent,
        }
    }

    /// Returns whether a record states this failure of it.
    fn is_reason(self, is_counter_disabled: bool, reason: &ClockReason) -> bool {
        match self {
            Self::Silent => matches!(reason, ClockReason::ChildReadSilent { .. }),
            // By the vDSO, too, which reads it.
            Self::Signal(11) if is_counter_disabled => *reason == ClockReason::CounterDisabled,
            Self::Signal(_) => matches!(reason, ClockReason::ChildReadKilled { .. }),
        }
    }
}

/// The record of a clock that does not answer says why.
///
/// # Panics
/// It answers, or the record has another reason.
pub(crate) fn check_unreadable(machine: &Machine, spec: &Spec, reason: Option<&Unknown>) {
    assert!(!machine.answers(spec), "{} answers, and was not read: {reason:?}", spec.label());
    let Some(Unknown::Clock(reason)) = reason else { panic!("{}: {reason:?}", spec.label()) };
    let is_expected = match machine.facts.deadly(spec) {
        Some(deadly) => deadly.is_reason(machine.counter_cost.is_none(), reason),
        None => reason.is_missing(),
    };
    assert!(is_expected, "{}: {reason:?}", spec.label());
}

/// Facts that hardware and kernel state, and what they permit.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// True if threads can be bound to CPUs.
    pub(crate) can_bind: bool,
    /// Time after which the counter wraps, in s, if it does.
    pub(crate) wraps_after_s: Option<f64>,
    pub(crate) is_invariant: Option<bool>,
    /// The hypervisor's statement, if there is a hypervisor.
    pub(crate) statement: Option<HypervisorStatement>,
    /// The kernel's statement on its steering; `None` if it refuses one.
    pub(crate) adjtimex: Option<Adjtimex>,
    /// Way in which a read of the counter ends its process, where it is not simply missing.
    pub(crate) deadly_counter: Option<Deadly>,
    /// Way in which a read of the clock of this name ends its process, by each of its paths.
    pub(crate) deadly_clock: Option<(&'static str, Deadly)>,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            can_bind: true,
            wraps_after_s: None,
            is_invariant: Some(true),
            statement: None,
            adjtimex: None,
            deadly_counter: None,
            deadly_clock: None,
        }
    }
}

impl Facts {
    /// The hypervisor that it runs under.
    pub(crate) fn hypervisor(&self) -> Hypervisor {
        if self.statement.is_some() { Hypervisor::Named("KVM".to_owned()) } else { Hypervisor::None }
    }

    /// Way in which a read of this clock ends its process; `None` if it does not.
    pub(crate) fn deadly(&self, spec: &Spec) -> Option<Deadly> {
        match spec.info.kind {
            ClockKind::Counter => self.deadly_counter,
            _ => self.deadly_clock.filter(|(name, _)| *name == spec.info.name).map(|(_, deadly)| deadly),
        }
    }

    /// Returns true if a read of this clock ends its process.
    pub(crate) fn ends_process(&self, spec: &Spec) -> bool {
        self.deadly(spec).is_some()
    }
}

impl Maker {
    /// Makes the counter readable, and all clocks answer.
    pub(crate) fn answering(mut self) -> Self {
        self.has_counter = true;
        (self.facts.deadly_counter, self.facts.deadly_clock) = (None, None);
        self
    }

    /// Has CPUs that threads can be bound to: two at least.
    pub(crate) fn with_pairs(mut self) -> Self {
        self.cpus = self.cpus.max(2);
        self.facts.can_bind = true;
        self
    }

    /// The machine of this seed, which may also have a single CPU, refuse to bind threads, move
    /// them, wrap its counter, have less said for it, and end processes that read a clock of it. It
    /// has a clock that counts suspends. If it is busy, it may be asked for long.
    pub(crate) fn varied(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x1095_0000_0000_0000);
        let is_long = random.below(1 << 32) < (1 << 32) / long_one_in();
        // As many of each magnitude.
        let long_s = LONG_S[0] * (LONG_S[1] / LONG_S[0]).powf(random.fraction());
        Self { long_s: is_long.then_some(long_s), has_boottime: true, ..Self::varied_before(seed) }
    }

    /// The machine of this seed as it was before some were asked for long, and had a clock that
    /// counts suspends.
    pub(crate) fn varied_before(seed: u64) -> Self {
        let mut maker = Self::new(seed);
        let mut random = Random::new(seed ^ 0xfac7_5000_0000_0000);
        if random.happens(0.12) {
            maker.cpus = 1;
        }
        maker.facts.can_bind = !random.happens(0.15);
        // Threads that are bound stay where they are.
        maker.load.migrates = if random.happens(0.7) { random.fraction() } else { 0.0 };
        maker.facts.wraps_after_s = random.happens(0.1).then(|| 0.2 * random.fraction());
        maker.facts.is_invariant = pick(&mut random, &[Some(true), Some(true), Some(true), Some(false), None]);
        let statements = [HypervisorStatement::StableClocksource, HypervisorStatement::EmulatedReads];
        maker.facts.statement = random.happens(0.2).then(|| pick(&mut random, &statements));
        maker.facts.adjtimex = random.happens(0.7).then(|| adjtimex(&mut random));
        let deadly = if random.happens(0.2) { Deadly::Silent } else { Deadly::Signal(pick(&mut random, &SIGNALS)) };
        if !maker.has_counter && random.happens(0.6) {
            maker.facts.deadly_counter = Some(deadly);
        }
        if random.happens(0.07) {
            maker.facts.deadly_clock = Some((pick(&mut random, &["realtime", "monotonic_coarse"]), deadly));
        }
        maker
    }
}

/// Statement of some kernel on its steering.
fn adjtimex(random: &mut Random) -> Adjtimex {
    let worths = [
        None,
        Some(WallState::Synchronized),
        Some(WallState::WhileNotSlewing),
        Some(WallState::Slewing),
        Some(WallState::Worthless),
        Some(WallState::Unsynchronized),
    ];
    let maxerror_us = random.between(0, 16_000_000) as i64;
    Adjtimex {
        tai_offset_s: random.happens(0.5).then_some(37),
        freq_ppm: (random.fraction() - 0.5) * 1000.0,
        tick_us: pick(random, &[10_000, 9_900, 10_050]),
        offset_ns: random.between(0, 1_000_000) as i64,
        maxerror_us,
        esterror_us: maxerror_us / 2,
        status: vec!["pll".to_owned()],
        state: pick(random, &worths),
        time_of_day_error_s: random.happens(0.5).then_some(maxerror_us as f64 / 1e6),
    }
}
