//! Questions about a clock, and the figures that answer them.
//!
//! # Add evidence
//!
//! 1. This file: a variant of [`EvidenceData`] with its figures, one of [`EvidenceKind`], and a
//!    line of `kind`. If a test answers it, name it in `is_test`, too.
//! 2. `evidence/sentences.rs`: its name, sentence and source. `evidence/advice.rs`: its remedy.
//!    `evidence/sentences/tests.rs`: an entry in `checks`.
//! 3. `src/questions/check` of `clockscope-measure`: a function that fills it and decides finding
//!    and severity, and a line in `judge` of `counter.rs` or `os_clock.rs`.
//!    `check/tests/faults.rs`: an entry among the faults. Rigs (`clockscope-testing/rigs`) and
//!    emulated machines (`machines/`) make faults that no record shows.
//! 4. `CLOCKSCOPE_SCHEMA=write cargo test -p clockscope-records --lib` writes the schemas. Add a
//!    row to docs/concepts/evidence.md and one to docs/reference/evidence.md.

mod advice;
pub(crate) mod sentences;

use serde::{Deserialize, Serialize};

use crate::words::{worded, written};
use crate::{CivilState, Emulator, Finding, FrequencySource, Hypervisor, KernelCause, ReadPath, Unknown};

/// One piece of evidence on a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Evidence", transform = crate::schema::add_words::<CheckEvidence>))]
#[serde(remote = "Self")]
pub struct CheckEvidence {
    /// The question, with its figures.
    #[serde(flatten)]
    pub data: EvidenceData,
    /// Its meaning for the clock.
    pub finding: Finding,
    /// True if the verdict is based on it. Of an unfit or limited clock: against it, and as severe
    /// as the verdict. Of an undecided one: required, and without a result. Of a trusted one: a
    /// test that supports it.
    pub decides: bool,
}

worded!(CheckEvidence {
    /// The check's name in tables.
    name: &'static str = |evidence: &CheckEvidence| evidence.data.name(),
    /// The answer in a sentence; where it is unknown, why.
    text: String = CheckEvidence::text,
    /// The source of the answer.
    source: &'static str = |evidence: &CheckEvidence| evidence.data.source(),
    /// The remedy; `null` where none is needed.
    advice: Option<String> = CheckEvidence::advice,
});
written!(CheckEvidence);

/// A question about a clock, with the figures that answer it. An unknown figure is `None`; `reason`
/// explains it, by a reason of another record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum EvidenceData {
    /// Can this process read the clock?
    Readable {
        /// The way by which it is read.
        path: ReadPath,
        /// The part that failed; `null` if nothing did.
        failure: Option<ReadFailure>,
        /// Reads that failed while the clock's rate was compared.
        errors: u64,
        /// Reason why it cannot be read; `null` where no reason is known.
        reason: Option<Unknown>,
    },
    /// Does the hardware guarantee the counter a constant rate in all power states?
    Invariance {
        /// True if it does; `null` if that is unknown.
        invariant: Option<bool>,
        /// True if CPUID states it; otherwise the architecture does.
        by_cpuid: bool,
    },
    /// Are the kernel's clocks based on the counter?
    Clocksource {
        /// The kernel's clocksource.
        current: Option<String>,
        /// The one that it used when the check began; `null` unless it changed during the run.
        former: Option<String>,
        /// True if the hardware guarantees the counter a constant rate; `null` if that is unknown.
        invariant: Option<bool>,
    },
    /// The kernel's reason for not using the counter.
    KernelVerdict {
        /// One of its reasons; `null` where none was found.
        cause: Option<KernelCause>,
        /// Error of the kernel's log, for which causes may be missing; `null` where it was read.
        log_error: Option<String>,
    },
    /// Does a hypervisor provide the counter?
    Hypervisor {
        /// Its name, or "none".
        hypervisor: Option<Hypervisor>,
        /// Its statement about the counter.
        statement: Option<HypervisorStatement>,
        /// True if it gave the kernel the counter's frequency.
        states_frequency: bool,
        /// Reason why it is not known if there is one.
        reason: Option<Unknown>,
    },
    /// Does an emulator provide the counter?
    Emulation {
        /// Emulators and recorders that this process runs under.
        emulators: Vec<Emulator>,
    },
    /// Is a reading ever smaller than the one before, on one CPU?
    StepsBack {
        /// Readings that were.
        count: Option<u64>,
        /// Readings that were compared.
        readings: u64,
        /// The suspect for a step back.
        suspect: Suspect,
        /// Reason why the count is `null`.
        reason: Option<Unknown>,
    },
    /// Does the clock ever stop?
    Stuck {
        /// Runs of 200 or more repeats of one value that the clock's tick does not explain.
        runs: Option<u64>,
        /// Time for which the clock showed one value, in ns; `null` for a clock that changed.
        unchanged_ns: Option<f64>,
        /// Reason why both are `null`.
        reason: Option<Unknown>,
    },
    /// Does the clock advance by more, or by less, than a second clock does meanwhile?
    Jumps {
        /// Steps ahead of the second clock.
        ahead: Option<u64>,
        /// Steps behind it; `null` for a coarse clock.
        behind: Option<u64>,
        /// Readings that were compared.
        readings: u64,
        /// The second clock.
        reference: Option<String>,
        /// The suspect for a jump.
        suspect: Suspect,
        /// Reason why the second clock cannot judge this one.
        reference_problem: Option<ReferenceProblem>,
        /// `true` if both are computed from one hardware counter; `null` where that is unknown.
        reference_shares_hardware: Option<bool>,
        /// Reason why `ahead` is `null`.
        reason: Option<Unknown>,
    },
    /// Can readings from different CPUs be compared?
    Order {
        /// Readings that were smaller than an earlier one from another CPU.
        regressions: Option<u64>,
        /// Readings that one CPU handed to another.
        handoffs: u64,
        /// Pairs of CPUs that were tested.
        pairs: u64,
        /// The clock whose readings these are, where too few of its own could be handed over: one
        /// that the same code reads from the same counter; `null` where they are its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shared_with: Option<String>,
        /// The largest regression.
        worst_ns: Option<f64>,
        /// The suspect for a regression.
        suspect: Suspect,
        /// Reason why the order was not tested; `null` where it was.
        untested: Option<Untested>,
        /// The same in the words of the test.
        reason: Option<Unknown>,
    },
    /// The distance between the CPUs' counters.
    Offsets {
        /// Pairs of CPUs whose counters certainly differ.
        apart: u64,
        /// All counters agree within this.
        within_ns: Option<f64>,
        /// One CPU of the pair that is furthest apart; `null` where none is.
        a: Option<u32>,
        /// The other CPU.
        b: Option<u32>,
        /// The counter of `b` less that of `a`; `null` where it changed during the run.
        offset_ns: Option<f64>,
        /// The bound of `offset_ns`.
        bound_ns: Option<f64>,
        /// Reason why no offset was tested; `null` where one was.
        untested: Option<Untested>,
        /// The same in the words of the test.
        reason: Option<Unknown>,
    },
    /// Does one rate explain the clock beside a second clock?
    ConstantRate {
        /// The second clock.
        reference: Option<String>,
        /// Brackets that were compared.
        brackets: u64,
        /// Time between the first bracket and the last.
        seconds: Option<f64>,
        /// The change that contradicts a constant rate.
        change: Option<RateChange>,
        /// The suspect for a change.
        suspect: Suspect,
        /// Reason why the second clock cannot judge this one.
        reference_problem: Option<ReferenceProblem>,
        /// `true` if both are computed from one hardware counter; `null` where that is unknown.
        reference_shares_hardware: Option<bool>,
        /// Reason why the rates were not compared.
        reason: Option<Unknown>,
    },
    /// The clock's rate relative to the one that is never steered. Of a CPU-time clock, relative to
    /// wall time while the thread spins, or to another CPU-time clock.
    Rate {
        /// Its frequency offset.
        ppm: Option<f64>,
        /// The bound of `ppm`.
        bound_ppm: Option<f64>,
        /// The second clock.
        reference: Option<String>,
        /// By how much a time daemon corrects the rate of the second clock, and will go on to: it
        /// has a wrong frequency. `null` where that is not known, or no more than a crystal's
        /// error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lasting_ppm: Option<f64>,
        /// True if one rate explains all brackets; `null` if that is unknown.
        constant: Option<bool>,
        /// True if steering can explain the offset.
        steerable: bool,
        /// `true` if both are computed from one hardware counter; `null` where that is unknown.
        reference_shares_hardware: Option<bool>,
        /// Reason why `ppm` is `null`.
        reason: Option<Unknown>,
    },
    /// Is the counter's nominal frequency right?
    NominalFrequency {
        /// The nominal frequency.
        nominal_hz: Option<f64>,
        /// The source of that statement.
        reported_by: Option<FrequencySource>,
        /// The measured frequency, in Hz of the reference of its rate.
        measured_hz: Option<f64>,
        /// Offset of the nominal frequency from the measured one. Where none is stated to programs,
        /// of the one that the kernel uses, by what a daemon corrects.
        ppm: Option<f64>,
        /// By how much a time daemon corrects the rate of the reference, and will go on to; `null`
        /// where that is not known, or no more than a crystal's error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lasting_ppm: Option<f64>,
        /// The bound of `measured_hz`, and with it of `ppm`.
        bound_ppm: Option<f64>,
    },
    /// The cost of a read.
    Cost {
        /// Median cost, back to back.
        cost_ns: Option<f64>,
        /// 99th percentile of the batches' costs; `null` with fewer than a hundred batches.
        p99_ns: Option<f64>,
        /// The batches by their cost, as pairs of a bin and a count, in ascending order: bin b
        /// holds costs from 2^(b/32) ns on, below 2^((b+1)/32) ns. Of more than 256 batches it
        /// has 256 quantiles of equal distance. Counts of several machines may be added.
        histogram: Vec<(i64, u64)>,
        /// The counter's reading sequence that was measured; `null` for a clock of the system.
        sequence: Option<String>,
        /// Cost of `monotonic`; only of the counter.
        monotonic_ns: Option<f64>,
        /// Cost of a system call that reads a clock, in ns.
        syscall_ns: Option<f64>,
        /// The explanation of the cost; `null` for one that needs none.
        cause: Option<CostCause>,
        /// The clocksource that makes reads enter the kernel.
        clocksource: Option<String>,
        /// Emulators and recorders whose cost it is.
        emulators: Vec<Emulator>,
    },
    /// The resolution of the clock's readings.
    Resolution {
        /// Its tick.
        tick_ns: Option<f64>,
        /// The bound of a tick that was not found.
        at_most_ns: Option<f64>,
        /// Its nominal resolution, where that is coarse although it is not coarse by design.
        coarse_nominal_ns: Option<f64>,
        /// Reason why all of these are `null`.
        reason: Option<Unknown>,
    },
    /// The certainty with which civil time is known.
    Synchronization {
        /// True if the kernel could be asked.
        answered: bool,
        /// The worth of the stated error.
        state: Option<CivilState>,
        /// Half the length of the interval in which civil time lies: by the statement of a daemon
        /// that answers, or else by the kernel's.
        error_s: Option<f64>,
        /// The largest error by the statement of chronyd, with what it has still to correct.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        daemon_error_s: Option<f64>,
        /// The largest error by the kernel's own statement, whatever that is worth.
        reported_error_s: Option<f64>,
        /// True if it is a clock of TAI that shows UTC, because the kernel does not know how far
        /// they are apart.
        shows_utc: bool,
    },
    /// Is the clock the same by the C library, the vDSO and the system call?
    Paths {
        /// The paths that were compared with the reference.
        compared: Vec<ReadPath>,
        /// The path that they were compared with: the system call, or the vDSO where that is
        /// refused.
        #[serde(default = "system_call")]
        reference: ReadPath,
        /// The path that shows another time than the reference; `null` where none does.
        fault: Option<ReadPath>,
        /// The lead of that path over the reference, in ns.
        offset_ns: Option<f64>,
        /// Paths that agree do so within this, in ns.
        within_ns: Option<f64>,
        /// Libraries that are preloaded into this process.
        preloaded: Vec<String>,
    },
    /// Is the counter sound that the kernel computes this clock from?
    Counter {
        /// The checks that make the counter unfit.
        faults: Vec<EvidenceKind>,
    },
}

/// Paths are compared with the system call where a record does not say otherwise.
const fn system_call() -> ReadPath {
    ReadPath::Syscall
}

/// The question of [`EvidenceData`], without its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the variants of EvidenceData are documented")]
pub enum EvidenceKind {
    Readable,
    Invariance,
    Clocksource,
    KernelVerdict,
    Hypervisor,
    Emulation,
    StepsBack,
    Stuck,
    Jumps,
    Order,
    Offsets,
    ConstantRate,
    Rate,
    NominalFrequency,
    Cost,
    Resolution,
    Synchronization,
    Paths,
    Counter,
}

impl EvidenceData {
    /// Returns its name in tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Returns which question it asks.
    #[must_use]
    pub fn kind(&self) -> EvidenceKind {
        match self {
            Self::Readable { .. } => EvidenceKind::Readable,
            Self::Invariance { .. } => EvidenceKind::Invariance,
            Self::Clocksource { .. } => EvidenceKind::Clocksource,
            Self::KernelVerdict { .. } => EvidenceKind::KernelVerdict,
            Self::Hypervisor { .. } => EvidenceKind::Hypervisor,
            Self::Emulation { .. } => EvidenceKind::Emulation,
            Self::StepsBack { .. } => EvidenceKind::StepsBack,
            Self::Stuck { .. } => EvidenceKind::Stuck,
            Self::Jumps { .. } => EvidenceKind::Jumps,
            Self::Order { .. } => EvidenceKind::Order,
            Self::Offsets { .. } => EvidenceKind::Offsets,
            Self::ConstantRate { .. } => EvidenceKind::ConstantRate,
            Self::Rate { .. } => EvidenceKind::Rate,
            Self::NominalFrequency { .. } => EvidenceKind::NominalFrequency,
            Self::Cost { .. } => EvidenceKind::Cost,
            Self::Resolution { .. } => EvidenceKind::Resolution,
            Self::Synchronization { .. } => EvidenceKind::Synchronization,
            Self::Paths { .. } => EvidenceKind::Paths,
            Self::Counter { .. } => EvidenceKind::Counter,
        }
    }
}

impl EvidenceKind {
    /// Returns whether a test answers it, rather than a statement of the hardware or of the system.
    #[must_use]
    pub fn is_test(self) -> bool {
        matches!(self, Self::StepsBack | Self::Jumps | Self::Order | Self::Offsets | Self::ConstantRate | Self::Rate)
    }
}

/// The part that failed when a clock was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadFailure {
    /// The counter's instructions.
    Instruction,
    /// The vDSO, which reads a counter that this process may not read.
    CounterDisabled,
    /// The call.
    Call,
    /// Reads during the run, after others had succeeded.
    DuringRun,
}

/// The suspect for a step of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Suspect {
    /// The processor's counter.
    Counter,
    /// The kernel, which promises that its clocks never go backward.
    Kernel,
    /// A person or a daemon that sets the wall clock.
    Setting,
    /// The path by which the clock is read: by the system call it shows another time.
    Path,
}

/// Reason why a second clock cannot judge another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReferenceProblem {
    /// The timer tick moves the kernel's clock, and may be late or lost.
    TimerTick,
    /// The second clock changed against all others, which did not change against each other.
    ReferenceChanged,
    /// The second clock is the counter, which is unfit.
    CounterUnfit,
    /// One jump was seen, against the counter alone: either of them may have jumped.
    SeenOnce,
}

/// Reason why a test across CPUs was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Untested {
    /// There is one CPU, so that no other can disagree.
    OneCpu,
    /// No two CPUs could take part.
    NoPair,
    /// Nothing was handed over.
    NoHandoff,
    /// Too little was handed over.
    FewHandoffs,
}

/// A change that contradicts a constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RateChange {
    /// The clock stepped.
    Step {
        /// Its time, in seconds from the first bracket.
        at_s: f64,
        /// By how much at least.
        step_ns: f64,
    },
    /// The rate changed once.
    Once {
        /// One rate explains all brackets from here on.
        from_s: f64,
        /// One rate explains all brackets until here.
        until_s: f64,
    },
    /// No rate explains the brackets.
    Unexplained,
    /// The mean over the whole check differs from the rate that was measured.
    OtherMean {
        /// The frequency that was measured.
        measured_hz: f64,
        /// The mean over the whole check.
        mean_hz: f64,
    },
    /// The counter stopped, or went behind its value at the start of the check.
    WentBack,
    /// All other clocks changed against this one, and not against each other.
    AgainstAll,
}

/// A hypervisor's statement about the counter that it gives to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HypervisorStatement {
    /// KVM: its clocks agree on all CPUs.
    StableClocksource,
    /// Hyper-V: the counter can be made invariant.
    InvariantCounter,
    /// Hyper-V: a reference page scales the counter.
    ReferencePage,
    /// Xen: it emulates every read of the counter.
    EmulatedReads,
    /// Xen: the host's counter is reliable.
    ReliableHost,
}

impl HypervisorStatement {
    /// Returns whether the hypervisor says that the counter can be relied upon.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        !matches!(self, Self::EmulatedReads)
    }
}

/// An explanation of the cost of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CostCause {
    /// An emulator: it is not the machine's cost.
    Emulation,
    /// Every read of the counter is trapped.
    Trap,
    /// The kernel works around an erratum of the counter (Arm), and traps every read.
    Erratum,
    /// The clock reads the counter, and every read of that is trapped.
    TrappedCounter,
    /// Programs cannot read the clocksource without entering the kernel.
    Clocksource,
    /// The read costs as much as a system call.
    LikeSystemCall,
    /// The read costs far more than a system call.
    AboveSystemCall,
}

impl CostCause {
    /// Share of a system call's cost from which a read counts as one.
    ///
    /// A system call that reads a clock does what the vDSO does, and enters the kernel in addition.
    /// A read by the vDSO costs a small part of it; one that falls back costs all of it, less the
    /// variation between runs.
    pub const SYSTEM_CALL_SHARE: f64 = 0.7;

    /// Returns true if a read costs as much as a system call that reads a clock, both measured on
    /// the same machine.
    #[must_use]
    pub const fn is_like_system_call(read_ns: f64, syscall_ns: f64) -> bool {
        read_ns >= Self::SYSTEM_CALL_SHARE * syscall_ns
    }
}
