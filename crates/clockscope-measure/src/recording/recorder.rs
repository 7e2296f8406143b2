//! A platform that keeps what it delivers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clockscope_records::{
    Adjtimex, Environment, HypervisorStatement, KernelVerdict, RecordedCounter, RecordedReference, RecordedRun,
    Synchronization,
};
use clockscope_system::account;
use clockscope_system::adjtimex::AdjtimexError;
use clockscope_system::affinity::AffinityError;
use clockscope_system::child_read::{Outcome, SeveralThreads};
use clockscope_system::sleeping::Call;
use clockscope_system::{Entry, Errno, RawClock, Unavailable, Visitor};

use super::deltas::differences;
use super::facts::recorded_child_read;
use super::log::{Log, Logged};
use crate::platform::{Platform, ReferenceClock, ThreadError};

/// A platform that keeps what it delivers to *steps* ([`record`](crate::record)). Otherwise it is
/// the one that it is made of.
#[derive(Debug)]
pub struct Recorder<P> {
    platform: P,
    /// During child_reads.
    is_paused: Arc<AtomicBool>,
    kept: Mutex<PartialRecording>,
}

/// Parts that were delivered so far.
#[derive(Debug)]
struct PartialRecording {
    run: RecordedRun,
    ordered_counter: Option<Arc<Log>>,
    references: Vec<Arc<Log>>,
}

impl PartialRecording {
    fn new() -> Self {
        let run = RecordedRun {
            environment: Environment::default(),
            unix_seconds: None,
            reads_asked: 0,
            interrupted: false,
            cpu: None,
            not_pinned: None,
            child_reads: Vec::new(),
            counters: Vec::new(),
            ordered_counter: None,
            references: Vec::new(),
            clocks: Vec::new(),
        };
        Self { run, ordered_counter: None, references: Vec::new() }
    }
}

impl<P: Platform> Recorder<P> {
    /// Makes one of a platform.
    pub fn new(platform: P) -> Self {
        Self { platform, is_paused: Arc::default(), kept: Mutex::new(PartialRecording::new()) }
    }

    /// Returns the platform that it is made of.
    pub fn platform(&self) -> &P {
        &self.platform
    }

    /// Forgets what was kept of a former run.
    pub(super) fn begin(&self) {
        *self.partial() = PartialRecording::new();
    }

    /// Returns what was kept, and forgets it. Environment, clocks and what was asked for are the
    /// caller's.
    pub(super) fn run(&self) -> RecordedRun {
        let PartialRecording { mut run, ordered_counter, references } =
            std::mem::replace(&mut *self.partial(), PartialRecording::new());
        let reference_clocks = run.ordered_counter.iter_mut().chain(&mut run.references);
        for (reference_clock, log) in reference_clocks.zip(ordered_counter.iter().chain(&references)) {
            reference_clock.readings = differences(log.take());
        }
        run
    }

    fn partial(&self) -> MutexGuard<'_, PartialRecording> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn logged<C: ReferenceClock>(&self, clock: C) -> (Logged<C>, RecordedReference) {
        let record =
            RecordedReference { name: clock.name().to_owned(), tick_ns: clock.tick_ns(), readings: Vec::new() };
        (Logged { clock, log: Arc::new(Log::new(Arc::clone(&self.is_paused))) }, record)
    }
}

/// Notes the names of counters, and why they are missing.
struct Noting<'a, V> {
    visitor: &'a mut V,
    counters: Vec<RecordedCounter>,
}

impl<V: Visitor> Visitor for Noting<'_, V> {
    fn visit<C: RawClock + 'static>(&mut self, entry: Entry<C>) {
        let reason = entry.clock.as_ref().err().map(ToString::to_string);
        self.counters.push(RecordedCounter { name: entry.info.name.to_string(), reason });
        self.visitor.visit(entry);
    }
}

impl<P: Platform> Platform for Recorder<P> {
    type Counter = Logged<P::Counter>;
    type Reference = Logged<P::Reference>;
    type Word = P::Word;
    type Pinned = P::Pinned;
    type Sleeper = P::Sleeper;

    fn environment(&self) -> Environment {
        self.platform.environment()
    }

    fn counters(&self, visitor: &mut impl Visitor) {
        let mut noting = Noting { visitor, counters: Vec::new() };
        self.platform.counters(&mut noting);
        self.partial().run.counters = noting.counters;
    }

    fn clocks(&self, visitor: &mut impl Visitor) {
        self.platform.clocks(visitor);
    }

    fn ordered_counter(&self) -> Result<Self::Counter, Unavailable> {
        let (counter, record) = self.logged(self.platform.ordered_counter()?);
        let mut kept = self.partial();
        kept.run.ordered_counter = Some(record);
        kept.ordered_counter = Some(Arc::clone(&counter.log));
        Ok(counter)
    }

    fn references(&self) -> Vec<Self::Reference> {
        let logged = self.platform.references().into_iter().map(|reference| self.logged(reference));
        let (references, records): (Vec<Self::Reference>, _) = logged.unzip();
        let mut kept = self.partial();
        kept.run.references = records;
        kept.references = references.iter().map(|reference| Arc::clone(&reference.log)).collect();
        references
    }

    fn attempt(
        &self,
        count: usize,
        timeout_ms: i32,
        read: &mut dyn FnMut(usize) -> Result<(), Errno>,
    ) -> Result<Vec<Outcome>, SeveralThreads> {
        self.is_paused.store(true, Ordering::Relaxed);
        let attempted = self.platform.attempt(count, timeout_ms, read);
        self.is_paused.store(false, Ordering::Relaxed);
        let outcomes = attempted?;
        self.partial().run.child_reads.push(outcomes.iter().map(recorded_child_read).collect());
        Ok(outcomes)
    }

    fn unix_seconds(&self) -> Option<u64> {
        let seconds = self.platform.unix_seconds();
        self.partial().run.unix_seconds = seconds;
        seconds
    }

    fn allowed_cpus(&self) -> Result<Vec<u32>, AffinityError> {
        self.platform.allowed_cpus()
    }

    fn current_cpu(&self) -> Option<u32> {
        self.platform.current_cpu()
    }

    fn pin(&self, cpu: u32) -> Result<Self::Pinned, AffinityError> {
        let pinned = self.platform.pin(cpu);
        let mut kept = self.partial();
        // A thread that was moved is pinned again, and what it read before is read again: a replay
        // needs the last readings only.
        kept.ordered_counter.iter().chain(&kept.references).for_each(|log| _ = log.take());
        kept.run.cpu = Some(cpu);
        kept.run.not_pinned = pinned.as_ref().err().map(ToString::to_string);
        pinned
    }

    fn bind(&self, cpu: u32) -> Result<(), AffinityError> {
        self.platform.bind(cpu)
    }

    fn together<T: Send>(&self, bodies: Vec<impl FnOnce() -> T + Send>) -> Vec<Result<T, ThreadError>> {
        self.platform.together(bodies)
    }

    fn word(&self, value: u64) -> Self::Word {
        self.platform.word(value)
    }

    fn wait_until(&self, holds: impl FnMut() -> bool) -> bool {
        self.platform.wait_until(holds)
    }

    fn sleep(&self, ns: u64) {
        self.platform.sleep(ns);
    }

    fn thread_account(&self) -> account::ThreadAccount {
        self.platform.thread_account()
    }

    fn cpu_account(&self, cpu: u32) -> account::CpuAccount {
        self.platform.cpu_account(cpu)
    }

    fn adjtimex(&self) -> Result<Adjtimex, AdjtimexError> {
        self.platform.adjtimex()
    }

    fn synchronization(&self) -> Synchronization {
        self.platform.synchronization()
    }

    fn sleeping_calls(&self) -> &'static [Call] {
        self.platform.sleeping_calls()
    }

    fn sleeper(&self) -> Self::Sleeper {
        self.platform.sleeper()
    }

    fn timer_slack_ns(&self) -> Option<u64> {
        self.platform.timer_slack_ns()
    }

    fn spin(&self, ns: u64) {
        self.platform.spin(ns);
    }

    fn spin_error_ns(&self) -> u64 {
        self.platform.spin_error_ns()
    }

    fn is_invariant(&self) -> Option<bool> {
        self.platform.is_invariant()
    }

    fn hypervisor_statement(&self) -> Option<HypervisorStatement> {
        self.platform.hypervisor_statement()
    }

    fn kernel_verdict(&self, environment: &Environment) -> KernelVerdict {
        self.platform.kernel_verdict(environment)
    }
}
