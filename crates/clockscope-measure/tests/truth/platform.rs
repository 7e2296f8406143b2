//! A simulated machine as a platform of the instrument's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use clockscope_machine::account;
use clockscope_machine::adjtimex::AdjtimexError;
use clockscope_machine::affinity::{self, AffinityError};
use clockscope_machine::sleeping::{Call, SleepError};
use clockscope_machine::trial::{Outcome, SeveralThreads};
use clockscope_measure::{Platform, Sleeps, ThreadError, Word, Yardstick};
use clockscope_records::{Adjtimex, Environment, HypervisorStatement, KernelVerdict};
use clockscope_simulation::{ClockId, Multiprocessor, Offline, ReadCost};
use clockscope_sources::{Entry, Errno, Kind, Path, RawClock, Unavailable, Visitor};

use crate::machine::{Clocksource, Machine, Spec};

/// What the system calls that account for a thread and for a CPU take, in ps.
pub(crate) const THREAD_ACCOUNT_PS: u64 = 1_000_000;
const CPU_ACCOUNT_PS: u64 = 80_000_000;
/// A wait that takes longer is long.
const LONG_WAIT_PS: u128 = 10_000_000;
/// The longest time that a spinning thread does not look at its clock, in ps.
const GLANCE_PS: u64 = 1_000_000;

/// The instrument's view of a simulated machine.
pub(crate) struct Simulated {
    pub(crate) machine: Machine,
    /// Sleeps so far: the call, the time that was asked for, and what CLOCK_MONOTONIC advanced by,
    /// in ns.
    pub(crate) sleeps: Arc<Mutex<Vec<(Call, u64, u64)>>>,
    /// Waits by the library's clock so far: the time that was asked for, and what CLOCK_MONOTONIC
    /// advanced by, in ns.
    pub(crate) spins: Mutex<Vec<(u64, u64)>>,
    /// All reads of clocks, once [`Simulated::log_reads`] was called.
    pub(crate) reads: Log,
    /// Reads of references, once [`Simulated::log_looks`] was called.
    pub(crate) looks: Looks,
    /// A signal that ends sleeps and asks to stop.
    pub(crate) signal: Option<Arc<Signal>>,
    /// True time in ps after which reading a clock panics: the question goes on beyond its time.
    pub(crate) limit_ps: u128,
    /// Accounts that threads asked for so far.
    pub(crate) asked: Mutex<Vec<Asked>>,
}

/// One read of a clock: the clock's place among the machine's, its reading, and the true time at
/// which that was taken, in ps.
pub(crate) type Read = (usize, u64, u128);
/// Reads of clocks, in order; `None` if they are not kept.
pub(crate) type Log = Arc<Mutex<Option<Vec<Read>>>>;

/// Reads of references: the number of the thread, and the true time at which each began, in ps;
/// `None` if they are not kept.
pub(crate) type Looks = Arc<Mutex<Option<Vec<(u32, u128)>>>>;

/// A signal that comes at a true time, and sets a flag.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) at_ps: u128,
    pub(crate) stop: AtomicBool,
}

impl Signal {
    /// Sleeps no longer than until the signal comes. Returns whether it has come.
    fn interrupts(&self, cpus: &Multiprocessor, ns: u64) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let left_ps = self.at_ps.saturating_sub(cpus.now_ps());
        if left_ps > u128::from(ns) * 1000 {
            return false;
        }
        cpus.sleep_ps(left_ps as u64);
        self.stop.store(true, Ordering::Relaxed);
        true
    }
}

/// A thread's question for an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Number of the thread.
    pub(crate) thread: u32,
    /// The CPU whose account it is; `None` for that of the thread.
    pub(crate) of_cpu: Option<u32>,
    /// When the thread asked, in ps of true time.
    pub(crate) from_ps: u128,
    /// When it got the answer, which holds for that time.
    pub(crate) until_ps: u128,
}

impl Simulated {
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            sleeps: Arc::default(),
            spins: Mutex::default(),
            reads: Log::default(),
            looks: Looks::default(),
            signal: None,
            limit_ps: u128::MAX,
            asked: Mutex::default(),
        }
    }

    /// Keeps all reads of clocks from now on.
    pub(crate) fn log_reads(&self) {
        *self.reads.lock().expect("nobody panicked") = Some(Vec::new());
    }

    /// Keeps all reads of references from now on.
    pub(crate) fn log_looks(&self) {
        *self.looks.lock().expect("nobody panicked") = Some(Vec::new());
    }

    /// Lets the thread work for an account, and notes it down.
    fn ask(&self, of_cpu: Option<u32>, ps: u64) {
        let (thread, from_ps) = (self.cpus().thread(), self.cpus().now_ps());
        self.cpus().work_ps(ps);
        let asked = Asked { thread, of_cpu, from_ps, until_ps: self.cpus().now_ps() };
        self.asked.lock().expect("nobody panicked").push(asked);
    }

    fn cpus(&self) -> &Arc<Multiprocessor> {
        &self.machine.cpus
    }
}

/// A clock of the machine's.
#[derive(Clone)]
pub(crate) struct Clock {
    cpus: Arc<Multiprocessor>,
    name: &'static str,
    /// `None` for the counter.
    id: Option<ClockId>,
    cost: ReadCost,
    tick_ns: f64,
    /// Its place among the machine's.
    place: usize,
    reads: Log,
    /// Of a reference alone.
    looks: Option<Looks>,
    limit_ps: u128,
}

impl RawClock for Clock {
    type Raw = u64;

    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        if self.limit_ps < u128::MAX {
            assert!(self.cpus.now_ps() <= self.limit_ps, "it goes on beyond its time, {} ps", self.limit_ps);
        }
        if let Some(looks) = &self.looks
            && let Some(looks) = &mut *looks.lock().expect("nobody panicked")
        {
            looks.push((self.cpus.thread(), self.cpus.now_ps()));
        }
        *raw = match self.id {
            None => self.cpus.read_counter(self.cost),
            Some(id) => self.cpus.read_clock(id, self.cost).map_err(|refused| Errno::new(refused.0))?,
        };
        if let Some(reads) = &mut *self.reads.lock().expect("nobody panicked") {
            reads.push((self.place, *raw, self.cpus.taken_ps()));
        }
        Ok(())
    }

    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

impl Yardstick for Clock {
    fn name(&self) -> &'static str {
        self.name
    }

    fn tick_ns(&self) -> f64 {
        self.tick_ns
    }

    fn is_vdso(&self) -> bool {
        self.name == "monotonic_raw:vdso"
    }
}

/// A word of the machine's.
pub(crate) struct Shared(clockscope_simulation::Word);

impl Word for Shared {
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

/// The calls that sleep: until CLOCK_MONOTONIC has advanced by what was asked for, and later; or
/// earlier, where the machine is made so.
pub(crate) struct Sleeper {
    cpus: Arc<Multiprocessor>,
    monotonic: ClockId,
    /// The step in which the kernel sees its clock.
    tick_ns: u64,
    early_ns: u64,
    sleeps: Arc<Mutex<Vec<(Call, u64, u64)>>>,
    signal: Option<Arc<Signal>>,
}

impl Sleeper {
    fn monotonic_ns(&self) -> u64 {
        let ns = (self.cpus.true_clock_ps(self.monotonic, self.cpus.now_ps()) / 1000) as u64;
        ns / self.tick_ns * self.tick_ns
    }
}

impl Sleeps for Sleeper {
    fn sleep(&self, call: Call, ns: u64, monotonic_ns: u64) -> Result<(), SleepError> {
        if call == Call::Poll && !ns.is_multiple_of(1_000_000) {
            return Err(SleepError::Whole("milliseconds"));
        }
        let began_ns = self.monotonic_ns();
        let from_ns = if call == Call::ClockNanosleepAbsolute { monotonic_ns } else { began_ns };
        let until_ns = (from_ns + ns).saturating_sub(self.early_ns);
        loop {
            let left_ns = until_ns.saturating_sub(self.monotonic_ns());
            if left_ns == 0 {
                break;
            }
            if self.signal.as_ref().is_some_and(|signal| signal.interrupts(&self.cpus, left_ns)) {
                return Ok(());
            }
            // Until it is seen that so much has passed.
            self.cpus.sleep_ps(left_ns.next_multiple_of(self.tick_ns) * 1000);
        }
        let got_ns = self.monotonic_ns() - began_ns;
        self.sleeps.lock().expect("nobody panicked").push((call, ns, got_ns));
        Ok(())
    }
}

impl Platform for Simulated {
    type Counter = Clock;
    type Reference = Clock;
    type Word = Shared;
    type Pinned = Pinned;
    type Sleeper = Sleeper;

    fn environment(&self) -> Environment {
        self.machine.environment()
    }

    fn counters(&self, visitor: &mut impl Visitor) {
        self.show(visitor, |spec| spec.info.kind == Kind::Counter && spec.info.path == Path::Instruction);
    }

    fn clocks(&self, visitor: &mut impl Visitor) {
        self.show(visitor, |spec| spec.info.kind != Kind::Counter || spec.info.path != Path::Instruction);
    }

    fn ordered_counter(&self) -> Result<Clock, Unavailable> {
        let missing = || Unavailable::Missing("this machine has no counter".into());
        let counter = self.machine.counter_cost.ok_or_else(missing)?;
        let spec = self.machine.spec("lfence_tsc_lfence").ok_or_else(missing)?;
        Ok(Clock { name: "lfence_tsc_lfence", cost: counter, tick_ns: 0.0, ..self.clock(spec) })
    }

    fn references(&self) -> Vec<Clock> {
        let names = ["monotonic_raw:syscall", "monotonic:syscall", "monotonic_raw:vdso"];
        let known = names.iter().filter_map(|name| Some((*name, self.machine.spec(name)?)));
        let looks = || Some(Arc::clone(&self.looks));
        known.map(|(name, spec)| Clock { name, looks: looks(), ..self.clock(spec) }).collect()
    }

    fn attempt(
        &self,
        count: usize,
        _: i32,
        read: &mut dyn FnMut(usize) -> Result<(), Errno>,
    ) -> Result<Vec<Outcome>, SeveralThreads> {
        Ok((0..count).map(|item| read(item).map_or_else(Outcome::Refused, |()| Outcome::Answered)).collect())
    }

    fn unix_seconds(&self) -> Option<u64> {
        Some(1_800_000_000)
    }

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
        let present = || {
            let online: Vec<u32> = (0..self.cpus().cpus()).filter(|cpu| self.cpus().is_online(*cpu)).collect();
            affinity::show_cpus(&online)
        };
        self.cpus().bind(cpu).map_err(|Offline { cpu }| AffinityError::NoSuchCpu { cpu, present: present() })
    }

    fn together<T: Send>(&self, bodies: Vec<impl FnOnce() -> T + Send>) -> Vec<Result<T, ThreadError>> {
        let bodies = bodies.into_iter().map(|body| Box::new(body) as Box<dyn FnOnce() -> T + Send + '_>);
        let ended = self.cpus().together(bodies.collect()).into_iter();
        ended.map(|ended| ended.map_err(|_| ThreadError::Panicked)).collect()
    }

    fn word(&self, value: u64) -> Shared {
        Shared(self.cpus().word(value))
    }

    fn wait_until(&self, holds: impl FnMut() -> bool) -> bool {
        let began_ps = self.cpus().now_ps();
        self.cpus().wait_until(holds);
        self.cpus().now_ps() - began_ps > LONG_WAIT_PS
    }

    fn nap(&self, ns: u64) {
        if self.signal.as_ref().is_none_or(|signal| !signal.interrupts(self.cpus(), ns)) {
            self.cpus().sleep_ps(ns * 1000);
        }
    }

    fn thread_account(&self) -> account::ThreadAccount {
        self.ask(None, THREAD_ACCOUNT_PS);
        let account = self.cpus().account();
        let switches = account::Switches { voluntary: account.voluntary, involuntary: account.involuntary };
        account::ThreadAccount { cpu: Some(account.cpu), switches: Some(switches) }
    }

    fn cpu_account(&self, cpu: u32) -> account::CpuAccount {
        self.ask(Some(cpu), CPU_ACCOUNT_PS);
        let account = self.cpus().cpu_account(cpu);
        account::CpuAccount {
            number: cpu,
            interrupts: vec![("LOC".to_owned(), account.interrupts)],
            softirqs: Vec::new(),
            steal_ns: Some(account.steal_ns),
        }
    }

    fn adjtimex(&self) -> Result<Adjtimex, AdjtimexError> {
        Err(AdjtimexError::Unsupported)
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
            self.cpus().work_ps(left_ps.clamp(20_000, GLANCE_PS));
        }
        self.spins.lock().expect("nobody panicked").push((ns, ((now_ps() - began_ps) / 1000) as u64));
    }

    fn spin_error_ns(&self) -> u64 {
        200
    }

    fn is_invariant(&self) -> Option<bool> {
        Some(true)
    }

    fn hypervisor_statement(&self) -> Option<HypervisorStatement> {
        None
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

impl Simulated {
    fn clock(&self, spec: &Spec) -> Clock {
        let cpus = Arc::clone(self.cpus());
        let place = self.machine.specs.iter().position(|other| std::ptr::eq(other, spec)).unwrap_or(usize::MAX);
        let (reads, limit_ps) = (Arc::clone(&self.reads), self.limit_ps);
        let (id, cost, tick_ns) = (spec.id, spec.cost, spec.stated_ns);
        Clock { cpus, name: "", id, cost, tick_ns, place, reads, looks: None, limit_ps }
    }

    fn show(&self, visitor: &mut impl Visitor, is_shown: impl Fn(&Spec) -> bool) {
        for spec in self.machine.specs.iter().filter(|spec| is_shown(spec)) {
            let is_there = spec.id.is_some() || self.machine.counter_cost.is_some();
            let clock = is_there.then(|| self.clock(spec));
            let clock = clock.ok_or_else(|| Unavailable::Missing("this machine has no counter".into()));
            visitor.visit(Entry { info: spec.info.clone(), clock });
        }
    }
}
