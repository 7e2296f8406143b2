//! The machine that the program runs on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use clockscope_records::checks::HypervisorStatement;
use clockscope_records::{Adjtimex, Environment, KernelVerdict, Synchronization, WallState};
use clockscope_system::adjtimex::{self, AdjtimexError};
use clockscope_system::affinity::{self, AffinityError, Pinned};
use clockscope_system::child_read::{self, Outcome, SeveralThreads};
use clockscope_system::clocks::{counter, library};
use clockscope_system::hypervisor;
use clockscope_system::os::{self, Reference};
use clockscope_system::sleeping::{self, Call, SleepError, Sleeper};
use clockscope_system::{Errno, ReadPath, Unavailable, Visitor};
use clockscope_system::{account, clocksource, synchronization};

use super::{Clocks, Facts, ReferenceClock, SharedWord, SleepingCalls, Sleeps, ThreadError, Threads, steering};

/// Turns of waiting after which another thread may need this very CPU.
const PATIENT_TURNS: u32 = 1 << 13;
/// Longest sleep: after each the stop flag is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The machine that the program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl ReferenceClock for counter::Ordered {
    fn name(&self) -> &'static str {
        counter::ORDERED_NAME
    }

    fn tick_ns(&self) -> f64 {
        0.0
    }

    fn is_vdso(&self) -> bool {
        false
    }

    fn is_steered(&self) -> bool {
        false
    }
}

impl ReferenceClock for Reference {
    fn name(&self) -> &'static str {
        Self::name(self)
    }

    fn tick_ns(&self) -> f64 {
        Self::tick_ns(self)
    }

    fn is_vdso(&self) -> bool {
        self.path() == ReadPath::Vdso
    }

    fn is_steered(&self) -> bool {
        Self::is_steered(self)
    }
}

impl SharedWord for AtomicU64 {
    #[inline(always)]
    fn load(&self, ordering: Ordering) -> u64 {
        Self::load(self, ordering)
    }

    #[inline(always)]
    fn store(&self, value: u64, ordering: Ordering) {
        Self::store(self, value, ordering);
    }

    #[inline(always)]
    fn fetch_add(&self, value: u64, ordering: Ordering) -> u64 {
        Self::fetch_add(self, value, ordering)
    }
}

impl SleepingCalls for Sleeper {
    fn sleep(&self, call: Call, ns: u64, monotonic_ns: u64) -> Result<(), SleepError> {
        Self::sleep(self, call, ns, monotonic_ns)
    }
}

impl Clocks for ThisMachine {
    type Counter = counter::Ordered;
    type Reference = Reference;

    fn counters(&self, visitor: &mut impl Visitor) {
        counter::each(visitor);
    }

    fn clocks(&self, visitor: &mut impl Visitor) {
        os::each(visitor);
        library::each(visitor);
    }

    fn ordered_counter(&self) -> Result<counter::Ordered, Unavailable> {
        counter::ordered()
    }

    fn references(&self) -> Vec<Reference> {
        os::references()
    }

    fn attempt(
        &self,
        count: usize,
        timeout_ms: i32,
        read: &mut dyn FnMut(usize) -> Result<(), Errno>,
    ) -> Result<Vec<Outcome>, SeveralThreads> {
        child_read::attempt(count, timeout_ms, read)
    }

    fn unix_seconds(&self) -> Option<u64> {
        os::unix_seconds()
    }
}

impl Threads for ThisMachine {
    type Word = AtomicU64;
    type Pinned = Pinned;

    fn allowed_cpus(&self) -> Result<Vec<u32>, AffinityError> {
        affinity::allowed()
    }

    fn current_cpu(&self) -> Option<u32> {
        affinity::current_cpu()
    }

    fn pin(&self, cpu: u32) -> Result<Pinned, AffinityError> {
        affinity::pin(cpu)
    }

    fn bind(&self, cpu: u32) -> Result<(), AffinityError> {
        affinity::bind(cpu)
    }

    fn together<T: Send>(&self, bodies: Vec<impl FnOnce() -> T + Send>) -> Vec<Result<T, ThreadError>> {
        thread::scope(|scope| {
            let started: Vec<_> =
                bodies.into_iter().map(|body| thread::Builder::new().spawn_scoped(scope, body)).collect();
            let ended = started.into_iter().map(|thread| {
                let thread = thread.map_err(|error| ThreadError::NotStarted(Errno::from(&error)))?;
                thread.join().map_err(|_| ThreadError::Panicked)
            });
            ended.collect()
        })
    }

    fn word(&self, value: u64) -> AtomicU64 {
        AtomicU64::new(value)
    }

    /// Gives the CPU away now and then, since the other thread may need this very one.
    #[inline(always)]
    fn wait_until(&self, mut holds: impl FnMut() -> bool) -> bool {
        let (mut turns, mut is_long) = (0, false);
        while !holds() {
            turns += 1;
            if turns == PATIENT_TURNS {
                (turns, is_long) = (0, true);
                thread::yield_now();
            }
            std::hint::spin_loop();
        }
        is_long
    }

    fn thread_account(&self) -> account::ThreadAccount {
        account::of_thread()
    }

    fn thread_wait_ns(&self) -> Option<u64> {
        account::thread_wait_ns()
    }

    fn cpu_account(&self, cpu: u32) -> account::CpuAccount {
        account::of_cpu(cpu)
    }
}

impl Facts for ThisMachine {
    fn environment(&self) -> Environment {
        clockscope_system::environment()
    }

    fn adjtimex(&self) -> Result<Adjtimex, AdjtimexError> {
        let kernels = adjtimex::read()?;
        let (state, time_of_day_error_s) = time_of_day();
        Ok(Adjtimex { state, time_of_day_error_s, ..kernels })
    }

    fn steering_ppm(&self) -> Option<f64> {
        adjtimex::read().ok().map(|kernels| kernels.steering_ppm())
    }

    fn synchronization(&self) -> Synchronization {
        Synchronization { adjtimex: steering(self), chrony: synchronization::chrony(), ptp: synchronization::ptp() }
    }

    fn preloaded(&self) -> Vec<String> {
        clockscope_system::preloaded()
    }

    fn is_invariant(&self) -> Option<bool> {
        counter::is_invariant()
    }

    fn hypervisor_statement(&self) -> Option<HypervisorStatement> {
        hypervisor::statement()
    }

    fn kernel_verdict(&self, environment: &Environment) -> KernelVerdict {
        clocksource::kernel_verdict(environment)
    }
}

impl Sleeps for ThisMachine {
    type Sleeper = Sleeper;

    fn sleep(&self, ns: u64) {
        // Any wait of std's but this one reads the vDSO's clock, which is fatal where the counter
        // is disabled.
        thread::sleep(POLL_INTERVAL.min(Duration::from_nanos(ns)));
    }

    fn sleeping_calls(&self) -> &'static [Call] {
        Call::ALL
    }

    fn sleeper(&self) -> Sleeper {
        Sleeper::new()
    }

    fn timer_slack_ns(&self) -> Option<u64> {
        sleeping::timer_slack_ns()
    }

    fn spin(&self, ns: u64) {
        let start = clockscope::now();
        while start.elapsed().as_nanos() < u128::from(ns) {
            std::hint::spin_loop();
        }
    }

    fn spin_error_ns(&self) -> u64 {
        clockscope::error_bound().map_or(0, |bound| 2 * bound.largest.as_nanos() as u64)
    }
}

/// Returns what the library makes of the kernel's figures, and half of the interval that it
/// answers, in s.
fn time_of_day() -> (Option<WallState>, Option<f64>) {
    match clockscope::utc_now() {
        Ok(utc) => (Some(utc.state), Some(utc.width().as_secs_f64() / 2.0)),
        Err(clockscope::Unbounded::Slewing { .. }) => (Some(WallState::Slewing), None),
        Err(clockscope::Unbounded::Worthless(_)) => (Some(WallState::Worthless), None),
        Err(clockscope::Unbounded::Unsynchronized(_)) => (Some(WallState::Unsynchronized), None),
        Err(_) => (None, None),
    }
}
