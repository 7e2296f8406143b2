//! A simulated machine as a platform of the instrument's.

mod log;
mod sleeper;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use clockscope_measure::{Clocks, Facts, ReferenceClock, SharedWord, Sleeps, ThreadError, Threads, steering};
use clockscope_records::checks::HypervisorStatement;
use clockscope_records::{Adjtimex, Environment, KernelVerdict, Synchronization};
use clockscope_system::account;
use clockscope_system::adjtimex::AdjtimexError;
use clockscope_system::affinity::{self, AffinityError};
use clockscope_system::child_read::{Outcome, SeveralThreads};
use clockscope_system::sleeping::Call;
use clockscope_system::{ClockKind, Entry, Errno, RawClock, ReadPath, Unavailable, Unit, Unwrapped, Visitor};
use clockscope_testing::simulation::{ClockId, Multiprocessor, Offline, ReadCost, Taker};

pub(crate) use log::{Around, Log, LoggedReads, Read, ReferenceReads};
pub(crate) use sleeper::{Signal, Sleeper};

use crate::across;
use crate::machine::{Clocksource, Machine, Spec};
use crate::names;
use crate::varied::Deadly;

/// Durations of the system calls that account for a thread and for a CPU, in ps.
pub(crate) const THREAD_ACCOUNT_PS: u64 = 1_000_000;
const CPU_ACCOUNT_PS: u64 = 80_000_000;
/// A wait that takes longer is long.
const LONG_WAIT_PS: u128 = 10_000_000;
/// The longest time that a spinning thread does not look at its clock, in ps.
const MAX_WORK_PS: u64 = 1_000_000;

/// The instrument's view of a simulated machine.
pub(crate) struct Simulated {
    pub(crate) machine: Machine,
    /// Sleeps so far: the call, the time that was asked for, and what CLOCK_MONOTONIC advanced by,
    /// in ns.
    pub(crate) sleeps: Arc<Mutex<Vec<(Call, u64, u64)>>>,
    /// Waits by the library's clock so far: the time that was asked for, and what CLOCK_MONOTONIC
    /// advanced by, in ns.
    pub(crate) spins: Mutex<Vec<(u64, u64)>>,
    /// Reads of clocks, once one of [`Simulated::log_reads`] and [`Simulated::log_around`] was
    /// called.
    reads: Log,
    /// Reads of references, once [`Simulated::log_reference_reads`] was called.
    pub(crate) reference_reads: ReferenceReads,
    /// A signal that ends sleeps and asks to stop.
    pub(crate) signal: Option<Arc<Signal>>,
    /// Reads of accounts so far.
    pub(crate) account_reads: Mutex<Vec<AccountRead>>,
    /// Fate of a process that tries clocks.
    child_reads: Arc<ChildReads>,
    /// Amount that a narrow counter shows more than one of 64 bits; `None` for the latter.
    narrow: Option<u64>,
    /// True if it shows its clocks under names that no system has.
    pub(crate) has_other_names: bool,
}

/// Bits of a narrow counter: no suspend is as long as it takes to begin anew.
const NARROW_BITS: u32 = 40;

/// A child process that tries clocks, one after the other.
#[derive(Debug, Default)]
struct ChildReads {
    /// True if one is there: elsewhere a deadly read ends the instrument.
    is_on: AtomicBool,
    /// Way in which the last read ended it.
    ended: Mutex<Option<Deadly>>,
}

impl ChildReads {
    /// Ends the process.
    ///
    /// # Panics
    /// It is the instrument's own.
    fn end(&self, clock: &str, by: Deadly) {
        assert!(self.is_on.load(Ordering::Relaxed), "{clock} was read, which had ended a child_reads: {by:?}");
        *self.ended.lock().expect("nobody panicked") = Some(by);
    }

    /// Tries one clock.
    fn outcome(&self, read: impl FnOnce() -> Result<(), Errno>) -> Outcome {
        self.is_on.store(true, Ordering::Relaxed);
        let answer = read();
        self.is_on.store(false, Ordering::Relaxed);
        match self.ended.lock().expect("nobody panicked").take() {
            Some(deadly) => deadly.outcome(),
            None => answer.map_or_else(Outcome::Refused, |()| Outcome::Answered),
        }
    }
}

/// A thread's question for an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccountRead {
    /// Number of the thread.
    pub(crate) thread: u32,
    /// The CPU whose account it is; `None` for that of the thread.
    pub(crate) of_cpu: Option<u32>,
    /// Time at which the thread asked, in ps of true time.
    pub(crate) from_ps: u128,
    /// Time at which it got the answer, which holds for that time.
    pub(crate) until_ps: u128,
}

impl Simulated {
    /// The simulation ends after this true time in ps: a question that goes on beyond its time
    /// panics, whatever it waits for.
    pub(crate) fn limited(machine: Machine, limit_ps: u128) -> Self {
        machine.cpus.set_end_ps(limit_ps);
        Self {
            machine,
            sleeps: Arc::default(),
            spins: Mutex::default(),
            reads: Log::default(),
            reference_reads: ReferenceReads::default(),
            signal: None,
            account_reads: Mutex::default(),
            child_reads: Arc::default(),
            narrow: None,
            has_other_names: false,
        }
    }

    /// Has a counter that begins anew after `seconds`.
    pub(crate) fn with_narrow_counter(self, seconds: f64) -> Self {
        let left = (self.machine.counter_hz * seconds) as u64;
        let began = self.machine.cpus.true_counter(0, 0);
        Self { narrow: Some((1u64 << NARROW_BITS).wrapping_sub(left).wrapping_sub(began)), ..self }
    }

    /// The name under which it shows a clock.
    fn displayed_name(&self, name: &'static str) -> &'static str {
        if self.has_other_names { names::other_name(name) } else { name }
    }

    /// Limits a machine's time to that of a question of `duration_s` on one thread.
    pub(crate) fn within(machine: Machine, duration_s: f64) -> Self {
        let limit_ps = machine.longest_ps(duration_s);
        Self::limited(machine, limit_ps)
    }

    /// Limits a machine's time to that of a question of `duration_s` across CPUs, where threads
    /// wait for each other.
    pub(crate) fn across(machine: Machine, duration_s: f64) -> Self {
        let limit_ps = across::longest_ps(&machine, duration_s);
        Self::limited(machine, limit_ps)
    }

    /// Keeps all reads of clocks from now on.
    pub(crate) fn log_reads(&self) {
        *self.reads.lock().expect("nobody panicked") = LoggedReads::All(Vec::new());
    }

    /// All reads of clocks so far, since that was called.
    pub(crate) fn logged(&self) -> Vec<Read> {
        match std::mem::take(&mut *self.reads.lock().expect("nobody panicked")) {
            LoggedReads::All(reads) => reads,
            _ => Vec::new(),
        }
    }

    /// Keeps the reads of this clock that are next to a true time.
    pub(crate) fn log_around(&self, clock_index: usize, at_ps: u128) {
        let around = Around { clock_index, at_ps, before: None, reads_before: 0, after: None, reads_after: 0 };
        *self.reads.lock().expect("nobody panicked") = LoggedReads::Around(around);
    }

    /// Reads that were kept since that was called.
    pub(crate) fn around(&self) -> Option<Around> {
        match &*self.reads.lock().expect("nobody panicked") {
            LoggedReads::Around(around) => Some(*around),
            _ => None,
        }
    }

    /// Keeps all reads of references from now on.
    pub(crate) fn log_reference_reads(&self) {
        *self.reference_reads.lock().expect("nobody panicked") = Some(Vec::new());
    }

    /// Lets the thread work for an account, and notes it down.
    fn ask(&self, of_cpu: Option<u32>, ps: u64) {
        let (thread, from_ps) = (self.cpus().thread(), self.cpus().now_ps());
        self.cpus().work_ps(ps);
        let read = AccountRead { thread, of_cpu, from_ps, until_ps: self.cpus().now_ps() };
        self.account_reads.lock().expect("nobody panicked").push(read);
    }

    fn cpus(&self) -> &Arc<Multiprocessor> {
        &self.machine.cpus
    }
}

/// A clock of the machine's.
#[derive(Clone)]
pub(crate) struct MachineClock {
    cpus: Arc<Multiprocessor>,
    name: &'static str,
    /// `None` for the counter.
    id: Option<ClockId>,
    cost: ReadCost,
    tick_ns: f64,
    is_steered: bool,
    /// Counts per second of a clock that delivers counts of its time.
    counts_hz: Option<f64>,
    /// Its place among the machine's.
    clock_index: usize,
    /// True if it is read for itself.
    is_target: bool,
    reads: Log,
    /// Of a reference alone.
    reference_reads: Option<ReferenceReads>,
    /// Way in which a read of it ends its process.
    deadly: Option<(Deadly, Arc<ChildReads>)>,
    signal: Option<Arc<Signal>>,
    narrow: Option<Narrow>,
}

/// A narrow counter.
#[derive(Clone)]
struct Narrow {
    /// Amount that it shows more than one of 64 bits.
    more: u64,
    whole: Arc<Unwrapped>,
}

impl RawClock for MachineClock {
    type Raw = u64;

    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        if let Some(signal) = self.signal.as_ref().filter(|signal| self.cpus.now_ps() >= signal.at_ps) {
            signal.stop.store(true, Ordering::Relaxed);
        }
        if let Some((deadly, child_reads)) = &self.deadly {
            child_reads.end(self.name, *deadly);
            return Ok(());
        }
        if let Some(reference_reads) = &self.reference_reads
            && let Some(reference_reads) = &mut *reference_reads.lock().expect("nobody panicked")
        {
            reference_reads.push((self.cpus.thread(), self.cpus.now_ps()));
        }
        *raw = match self.id {
            None => self.cpus.read_counter(self.cost),
            Some(id) => self.cpus.read_clock(id, self.cost).map_err(|refused| Errno::new(refused.0))?,
        };
        let read = Read {
            clock_index: self.clock_index,
            value: *raw,
            taken_ps: self.cpus.taken_ps(),
            is_target: self.is_target,
        };
        self.reads.lock().expect("nobody panicked").push(read);
        if let Some(narrow) = &self.narrow {
            *raw = raw.wrapping_add(narrow.more) & ((1 << NARROW_BITS) - 1);
        }
        Ok(())
    }

    fn value(&self, raw: &u64) -> u64 {
        let value = self.narrow.as_ref().map_or(*raw, |narrow| narrow.whole.whole(*raw));
        match self.counts_hz {
            Some(hz) if self.reference_reads.is_some() => (counts(value, hz) as f64 * 1e9 / hz) as u64,
            Some(hz) => counts(value, hz),
            None => value,
        }
    }
}

/// Whole counts of this frequency that have passed after `ns`.
fn counts(ns: u64, hz: f64) -> u64 {
    (u128::from(ns) * hz as u128 / 1_000_000_000) as u64
}

impl ReferenceClock for MachineClock {
    fn name(&self) -> &'static str {
        self.name
    }

    fn tick_ns(&self) -> f64 {
        self.tick_ns
    }

    fn is_vdso(&self) -> bool {
        self.name.ends_with(":vdso")
    }

    fn is_steered(&self) -> bool {
        self.is_steered
    }
}

/// A word of the machine's.
pub(crate) struct Shared(clockscope_testing::simulation::Word);

impl SharedWord for Shared {
    fn load(&self, _: Ordering) -> u64 {
        self.0.load()
    }

    fn store(&self, value: u64, _: Ordering) {
        self.0.store(value);
    }

    fn fetch_add(&self, value: u64, _: Ordering) -> u64 {
        self.0.fetch_add(value)
    }
}

/// A bound thread.
pub(crate) struct Pinned(Arc<Multiprocessor>);

impl Drop for Pinned {
    fn drop(&mut self) {
        self.0.unbind();
    }
}

impl Clocks for Simulated {
    type Counter = MachineClock;
    type Reference = MachineClock;

    fn counters(&self, visitor: &mut impl Visitor) {
        self.show(visitor, |spec| spec.info.kind == ClockKind::Counter && spec.info.path == ReadPath::Instruction);
    }

    fn clocks(&self, visitor: &mut impl Visitor) {
        self.show(visitor, |spec| spec.info.kind != ClockKind::Counter || spec.info.path != ReadPath::Instruction);
    }

    fn ordered_counter(&self) -> Result<MachineClock, Unavailable> {
        let missing = || Unavailable::Missing("this machine has no counter".into());
        let spec = self.machine.spec("lfence_tsc_lfence").filter(|spec| self.is_there(spec)).ok_or_else(missing)?;
        Ok(MachineClock { name: "lfence_tsc_lfence", tick_ns: 0.0, ..self.clock(spec) })
    }

    fn references(&self) -> Vec<MachineClock> {
        let names = [
            "monotonic_raw:syscall",
            "monotonic:syscall",
            "boottime:syscall",
            "monotonic_raw:vdso",
            "query_performance_counter:syscall",
        ];
        let known = names.iter().filter_map(|name| Some((*name, self.machine.spec(name)?)));
        let reference_reads = || Some(Arc::clone(&self.reference_reads));
        known
            .map(|(name, spec)| MachineClock {
                name: self.displayed_name(name),
                reference_reads: reference_reads(),
                ..self.clock(spec)
            })
            .collect()
    }

    fn attempt(
        &self,
        count: usize,
        _: i32,
        read: &mut dyn FnMut(usize) -> Result<(), Errno>,
    ) -> Result<Vec<Outcome>, SeveralThreads> {
        Ok((0..count).map(|item| self.child_reads.outcome(|| read(item))).collect())
    }

    fn unix_seconds(&self) -> Option<u64> {
        Some(1_800_000_000)
    }
}

impl Threads for Simulated {
    type Word = Shared;
    type Pinned = Pinned;

    fn allowed_cpus(&self) -> Result<Vec<u32>, AffinityError> {
        Ok((0..self.cpus().cpus()).filter(|cpu| self.cpus().is_online(*cpu)).collect())
    }

    fn current_cpu(&self) -> Option<u32> {
        Some(self.cpus().cpu())
    }

    fn pin(&self, cpu: u32) -> Result<Pinned, AffinityError> {
        self.bind(cpu).map(|()| Pinned(Arc::clone(self.cpus())))
    }

    fn bind(&self, cpu: u32) -> Result<(), AffinityError> {
        if !self.machine.facts.can_bind {
            return Err(AffinityError::System { call: "sched_setaffinity", error: Errno::new(1) });
        }
        let present = || {
            let online: Vec<u32> = (0..self.cpus().cpus()).filter(|cpu| self.cpus().is_online(*cpu)).collect();
            affinity::show_cpus(&online)
        };
        self.cpus().bind(cpu).map_err(|Offline { cpu }| AffinityError::NoSuchCpu { cpu, present: present() })
    }

    fn together<T: Send>(&self, bodies: Vec<impl FnOnce() -> T + Send>) -> Vec<Result<T, ThreadError>> {
        let bodies = bodies.into_iter().map(|body| Box::new(body) as Box<dyn FnOnce() -> T + Send + '_>);
        let ended = self.cpus().together(bodies.collect()).into_iter();
        // The instrument would report it as the reason why there is no figure.
        ended.map(|ended| Ok(ended.unwrap_or_else(|panicked| panic!("{panicked}")))).collect()
    }

    fn word(&self, value: u64) -> Shared {
        Shared(self.cpus().word(value))
    }

    fn wait_until(&self, holds: impl FnMut() -> bool) -> bool {
        let began_ps = self.cpus().now_ps();
        self.cpus().wait_until(holds);
        self.cpus().now_ps() - began_ps > LONG_WAIT_PS
    }

    fn thread_account(&self) -> account::ThreadAccount {
        self.ask(None, THREAD_ACCOUNT_PS);
        let account = self.cpus().account();
        let switches = account::Switches { voluntary: account.voluntary, involuntary: account.involuntary };
        account::ThreadAccount { cpu: Some(account.cpu), switches: Some(switches) }
    }

    fn thread_wait_ns(&self) -> Option<u64> {
        let taken = self.cpus().taken();
        let waits = taken.iter().filter(|lost| lost.thread == 0 && lost.taken.by == Taker::Threads);
        Some((waits.map(|lost| lost.taken.ps).sum::<u128>() / 1000) as u64)
    }

    fn cpu_account(&self, cpu: u32) -> account::CpuAccount {
        self.ask(Some(cpu), CPU_ACCOUNT_PS);
        let account = self.cpus().cpu_account(cpu);
        account::CpuAccount {
            number: cpu,
            interrupts: vec![("LOC".to_owned(), account.interrupts)],
            softirqs: Vec::new(),
            steal_ns: Some(account.steal_ns),
            smis: None,
        }
    }
}

impl Facts for Simulated {
    fn environment(&self) -> Environment {
        self.machine.environment()
    }

    fn adjtimex(&self) -> Result<Adjtimex, AdjtimexError> {
        self.machine.facts.adjtimex.clone().ok_or(AdjtimexError::Refused(Errno::new(1)))
    }

    fn synchronization(&self) -> Synchronization {
        Synchronization { adjtimex: steering(self), ..Synchronization::default() }
    }

    fn is_invariant(&self) -> Option<bool> {
        self.machine.facts.is_invariant
    }

    fn hypervisor_statement(&self) -> Option<HypervisorStatement> {
        self.machine.facts.statement
    }

    fn kernel_verdict(&self, environment: &Environment) -> KernelVerdict {
        let is_current = environment.clocksource.as_deref() == Some("tsc");
        KernelVerdict {
            name: Some("tsc".to_owned()),
            is_current: Some(is_current),
            is_available: Some(true),
            reasons: self.machine.reasons.clone(),
            ..KernelVerdict::default()
        }
    }
}

impl Sleeps for Simulated {
    type Sleeper = Sleeper;

    fn sleep(&self, ns: u64) {
        if self.signal.as_ref().is_none_or(|signal| !signal.interrupts(self.cpus(), ns)) {
            self.cpus().sleep_ps(ns * 1000);
        }
    }

    fn sleeping_calls(&self) -> &'static [Call] {
        Call::ALL
    }

    fn sleeper(&self) -> Sleeper {
        Sleeper {
            cpus: Arc::clone(self.cpus()),
            monotonic: self.machine.monotonic(),
            tick_ns: if let Clocksource::Device(ns) = self.machine.clocksource { ns } else { 1 },
            early_ns: self.machine.sleeps_end_early_ns,
            sleeps: Arc::clone(&self.sleeps),
            signal: self.signal.clone(),
        }
    }

    fn timer_slack_ns(&self) -> Option<u64> {
        Some(50_000)
    }

    fn spin(&self, ns: u64) {
        let now_ps = || self.cpus().true_clock_ps(self.machine.monotonic(), self.cpus().now_ps());
        let began_ps = now_ps();
        let until_ps = began_ps + i128::from(ns) * 1000;
        while now_ps() < until_ps {
            let left_ps = (until_ps - now_ps()) as u64;
            self.cpus().work_ps(left_ps.clamp(20_000, MAX_WORK_PS));
        }
        self.spins.lock().expect("nobody panicked").push((ns, ((now_ps() - began_ps) / 1000) as u64));
    }

    fn spin_error_ns(&self) -> u64 {
        200
    }
}

impl Simulated {
    fn clock(&self, spec: &Spec) -> MachineClock {
        let cpus = Arc::clone(self.cpus());
        let clock_index = self.machine.specs.iter().position(|other| std::ptr::eq(other, spec)).unwrap_or(usize::MAX);
        let reads = Arc::clone(&self.reads);
        let (id, cost, tick_ns) = (spec.id, spec.cost, spec.nominal_ns);
        let is_steered = spec.info.is_steered;
        let signal = self.signal.clone();
        let narrow = self.narrow.filter(|_| id.is_none());
        let narrow = narrow.map(|more| Narrow { more, whole: Arc::new(Unwrapped::new(NARROW_BITS)) });
        let counts_hz = match spec.info.unit {
            Unit::Counts(Some(hz)) if spec.id.is_some() => Some(hz),
            _ => None,
        };
        let deadly = self.machine.facts.deadly(spec).map(|deadly| (deadly, Arc::clone(&self.child_reads)));
        MachineClock {
            cpus,
            name: "",
            id,
            cost,
            tick_ns,
            is_steered,
            counts_hz,
            clock_index,
            is_target: false,
            reads,
            reference_reads: None,
            deadly,
            signal,
            narrow,
        }
    }

    /// Returns true if the catalog has this clock, also where a read of it ends its process.
    fn is_there(&self, spec: &Spec) -> bool {
        spec.id.is_some() || self.machine.counter_cost.is_some() || self.machine.facts.ends_process(spec)
    }

    fn show(&self, visitor: &mut impl Visitor, is_visible: impl Fn(&Spec) -> bool) {
        for spec in self.machine.specs.iter().filter(|spec| is_visible(spec)) {
            let clock = self.is_there(spec).then(|| MachineClock { is_target: true, ..self.clock(spec) });
            let clock = clock.ok_or_else(|| Unavailable::Missing("this machine has no counter".into()));
            let mut info = spec.info.clone();
            if let Cow::Borrowed(name) = info.name {
                info.name = self.displayed_name(name).into();
            }
            visitor.visit(Entry { info, clock });
        }
    }
}
