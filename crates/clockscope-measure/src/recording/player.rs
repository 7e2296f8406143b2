//! A platform that delivers a recording.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use clockscope_records::{
    Adjtimex, Environment, HypervisorStatement, KernelVerdict, RecordedBatch, RecordedClock, RecordedCounter,
    RecordedRun, Synchronization,
};
use clockscope_system::account;
use clockscope_system::adjtimex::AdjtimexError;
use clockscope_system::affinity::AffinityError;
use clockscope_system::child_read::{Outcome, SeveralThreads, Untried};
use clockscope_system::sleeping::{Call, SleepError};
use clockscope_system::{
    ClockBasis, ClockInfo, ClockKind, Entry, Errno, RawClock, ReadPath, Resolution, Unavailable, Unit, Visitor,
};

use super::deltas::readings;
use super::facts::{info, outcome};
use super::fault::{LAST_SECOND, MOST_CLOCKS, RecordingFault, ReplayMismatch};
use super::recording_sampler::NOT_RECORDED;
use super::replayed_clocks::{ReplayProgress, ReplayedClock, ReplayedSampler};
use crate::catalog::{Catalog, CatalogEntry};
use crate::failure_reason::FailureReason;
use crate::platform::{Platform, Sleeps, ThreadError, steering};
use crate::sampler::Sampler;

/// Reason that questions other than *steps* get.
const NOT_IN_IT: &str = "not recorded";

/// A machine of which nothing is known but a recorded run.
pub(super) struct Player {
    environment: Environment,
    unix_seconds: Option<u64>,
    cpu: Option<u32>,
    not_pinned: Option<String>,
    child_reads: Mutex<VecDeque<Vec<Outcome>>>,
    counters: Vec<RecordedCounter>,
    ordered_counter: Option<ReplayedClock>,
    references: Vec<ReplayedClock>,
    progress: Arc<ReplayProgress>,
}

impl Player {
    /// Returns the machine, and the clocks that were read on it.
    ///
    /// # Errors
    /// No run gives such a recording.
    pub(super) fn new(run: RecordedRun) -> Result<(Self, Catalog<Self>), RecordingFault> {
        for (what, count) in [("clocks", run.clocks.len()), ("counters", run.counters.len())] {
            if count > MOST_CLOCKS {
                return Err(RecordingFault::TooMany { what, count });
            }
        }
        if let Some(seconds) = run.unix_seconds.filter(|seconds| *seconds > LAST_SECOND) {
            return Err(RecordingFault::Date { seconds });
        }
        let batches = run.clocks.iter().map(|clock| clock.batches.len()).sum();
        let progress = Arc::new(ReplayProgress::new(batches, run.interrupted));
        let entries = run.clocks.into_iter().map(|clock| row(clock, &progress)).collect::<Result<_, _>>()?;
        let child_reads = run.child_reads.into_iter().map(|of_call| of_call.into_iter().map(outcome).collect());
        let player = Self {
            environment: run.environment,
            unix_seconds: run.unix_seconds,
            cpu: run.cpu,
            not_pinned: run.not_pinned,
            child_reads: Mutex::new(child_reads.collect()),
            counters: run.counters,
            ordered_counter: run.ordered_counter.map(ReplayedClock::new).transpose()?,
            references: run.references.into_iter().map(ReplayedClock::new).collect::<Result<_, _>>()?,
            progress,
        };
        Ok((player, Catalog { entries }))
    }

    /// Returns true if the run was interrupted before it read any clock.
    pub(super) fn is_stopped_from_the_start(&self) -> bool {
        self.progress.is_stopped_from_the_start()
    }

    /// Returns what was not asked for as it was recorded.
    pub(super) fn mismatch(&self) -> Option<ReplayMismatch> {
        let child_reads = self.child_reads.lock().unwrap_or_else(PoisonError::into_inner).len();
        let of_child_reads = || (child_reads > 0).then_some(ReplayMismatch::ChildReadsLeft(child_reads));
        let of_reference_clocks =
            || self.ordered_counter.iter().chain(&self.references).find_map(ReplayedClock::mismatch);
        self.progress.mismatch().or_else(of_child_reads).or_else(of_reference_clocks)
    }
}

/// The catalog entry of a recorded clock.
fn row(clock: RecordedClock, progress: &Arc<ReplayProgress>) -> Result<CatalogEntry<Player>, RecordingFault> {
    let info = info(&clock)?;
    let RecordedClock { identity, reason, failure, batches, readings: differences, .. } = clock;
    let name = identity.label();
    if batches.contains(&RecordedBatch { delivered: 0, error: None }) {
        return Err(RecordingFault::EmptyBatch { clock: name });
    }
    let (recorded, delivered) = (differences.len(), batches.last().map_or(0, |batch| batch.delivered));
    if delivered != recorded as u64 {
        return Err(RecordingFault::Readings { clock: name, delivered, recorded });
    }
    let sampler = match (failure, reason) {
        (Some(failure), Some(reason)) => Err(FailureReason { failure, reason }),
        (Some(_), None) | (None, Some(_)) => return Err(RecordingFault::HalfRefused { clock: name }),
        (None, None) => {
            let (values, progress) = (readings(differences), Arc::clone(progress));
            let clock = ReplayedSampler { name, batches: batches.into_iter(), values, progress };
            Ok(Box::new(clock) as Box<dyn Sampler<Player>>)
        }
    };
    Ok(CatalogEntry { info, sampler })
}

/// A reading sequence of the counter, of which nothing is recorded but whether it answered.
struct UnrecordedSequence;

impl RawClock for UnrecordedSequence {
    type Raw = u64;

    fn read(&self, _: &mut u64) -> Result<(), Errno> {
        Err(NOT_RECORDED)
    }

    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

/// Sleeps never.
pub(super) struct Sleepless;

impl Sleeps for Sleepless {
    fn sleep(&self, _: Call, _: u64, _: u64) -> Result<(), SleepError> {
        Err(SleepError::NotRecorded)
    }
}

impl Platform for Player {
    type Counter = ReplayedClock;
    type Reference = ReplayedClock;
    type Word = AtomicU64;
    type Pinned = ();
    type Sleeper = Sleepless;

    fn environment(&self) -> Environment {
        self.environment.clone()
    }

    fn counters(&self, visitor: &mut impl Visitor) {
        for RecordedCounter { name, reason } in &self.counters {
            let info =
                ClockInfo::new(name.clone(), ClockKind::Counter, ReadPath::Instruction, Resolution::OneCount, "");
            let info = ClockInfo { unit: Unit::Counts(None), basis: ClockBasis::Counter, is_ordered: false, ..info };
            let clock =
                reason.clone().map_or(Ok(UnrecordedSequence), |reason| Err(Unavailable::Missing(reason.into())));
            visitor.visit(Entry { info, clock });
        }
    }

    fn clocks(&self, _: &mut impl Visitor) {}

    fn ordered_counter(&self) -> Result<ReplayedClock, Unavailable> {
        self.ordered_counter.clone().ok_or(Unavailable::Missing(NOT_IN_IT.into()))
    }

    fn references(&self) -> Vec<ReplayedClock> {
        self.references.clone()
    }

    fn attempt(
        &self,
        count: usize,
        _: i32,
        _: &mut dyn FnMut(usize) -> Result<(), Errno>,
    ) -> Result<Vec<Outcome>, SeveralThreads> {
        let mut outcomes =
            self.child_reads.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or_default();
        let recorded = outcomes.len();
        if recorded != count {
            self.progress.does_not_fit(|| ReplayMismatch::ChildReads { recorded, needed: count });
            outcomes.resize(count, Outcome::Untried(Untried::Recorded(NOT_IN_IT.to_owned())));
        }
        Ok(outcomes)
    }

    fn unix_seconds(&self) -> Option<u64> {
        self.unix_seconds
    }

    fn allowed_cpus(&self) -> Result<Vec<u32>, AffinityError> {
        Err(AffinityError::Recorded(NOT_IN_IT.to_owned()))
    }

    fn current_cpu(&self) -> Option<u32> {
        self.cpu
    }

    fn pin(&self, _: u32) -> Result<(), AffinityError> {
        self.not_pinned.clone().map_or(Ok(()), |reason| Err(AffinityError::Recorded(reason)))
    }

    fn bind(&self, _: u32) -> Result<(), AffinityError> {
        Err(AffinityError::Recorded(NOT_IN_IT.to_owned()))
    }

    fn together<T: Send>(&self, bodies: Vec<impl FnOnce() -> T + Send>) -> Vec<Result<T, ThreadError>> {
        bodies.into_iter().map(|_| Err(ThreadError::NotRecorded)).collect()
    }

    fn word(&self, value: u64) -> AtomicU64 {
        AtomicU64::new(value)
    }

    /// Returns at once: there is no other thread.
    fn wait_until(&self, _: impl FnMut() -> bool) -> bool {
        false
    }

    fn sleep(&self, _: u64) {}

    fn thread_account(&self) -> account::ThreadAccount {
        account::ThreadAccount { cpu: self.cpu, switches: None }
    }

    fn cpu_account(&self, cpu: u32) -> account::CpuAccount {
        account::CpuAccount { number: cpu, interrupts: Vec::new(), softirqs: Vec::new(), steal_ns: None }
    }

    fn adjtimex(&self) -> Result<Adjtimex, AdjtimexError> {
        Err(AdjtimexError::NotRecorded)
    }

    fn synchronization(&self) -> Synchronization {
        Synchronization { adjtimex: steering(self), ..Synchronization::default() }
    }

    fn sleeping_calls(&self) -> &'static [Call] {
        &[]
    }

    fn sleeper(&self) -> Sleepless {
        Sleepless
    }

    fn timer_slack_ns(&self) -> Option<u64> {
        None
    }

    fn spin(&self, _: u64) {}

    fn spin_error_ns(&self) -> u64 {
        0
    }

    fn is_invariant(&self) -> Option<bool> {
        None
    }

    fn hypervisor_statement(&self) -> Option<HypervisorStatement> {
        None
    }

    fn kernel_verdict(&self, _: &Environment) -> KernelVerdict {
        KernelVerdict::default()
    }
}
