//! The simulated machine (clockscope-testing) as the library's traits see it: a counter and an
//! OS clock on one true time, and everything that can go wrong with either.
//!
//! Time passes only when a clock is read, when [`World::pass`] says so, and when a read is
//! interrupted. What another thread would do while this one is preempted is done by
//! [`World::interrupt_at`]: the clock under test waits for nobody, so that it may be called again
//! from within its own reading of a counter.

#![allow(dead_code, reason = "each test uses the part that it needs")]

pub(crate) mod watch;

use std::cell::Cell;

use clockscope::Errno;
use clockscope::WallState;
use clockscope::disciplined::{Counter, OsClock, WallStatement};
use clockscope_testing::simulation::{Refused, SimulatedClock, Uniprocessor};

pub(crate) use clockscope_testing::simulation::Moment;

pub(crate) const GHZ: f64 = 1e9;
pub(crate) const MILLISECOND: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const YEAR: u64 = 31_557_600 * SECOND;

/// Costs of a read, in ps.
pub(crate) const COUNTER_READ_PS: u64 = 9_000;
pub(crate) const OS_READ_PS: u64 = 22_000;

/// The machine, and what system and hypervisor say of it.
pub(crate) struct World {
    pub(crate) machine: Uniprocessor,
    pub(crate) tells_suspends: Cell<bool>,
    /// The hypervisor's announcement, and the CPU that the thread runs on.
    pub(crate) disruptions: Cell<Option<u64>>,
    pub(crate) cpu: Cell<Option<u32>>,
    /// Duration of a read of each, in ps.
    pub(crate) counter_read_ps: Cell<u64>,
    pub(crate) os_read_ps: Cell<u64>,
    pub(crate) permitted: Cell<Option<bool>>,
    pub(crate) clocksource: Cell<Option<bool>>,
    pub(crate) invariant: Cell<Option<bool>>,
    /// Number of questions to the system about the counter or its own clock.
    pub(crate) questions: Cell<u64>,
    /// Number of reads of the counter.
    pub(crate) counter_reads: Cell<u64>,
    /// Number of reads of the wall clock and the boot clock, and of questions for the system's
    /// error.
    pub(crate) wall_reads: Cell<u64>,
    pub(crate) boot_reads: Cell<u64>,
    pub(crate) statements: Cell<u64>,
    /// State of the time of day that the system states.
    pub(crate) states: Cell<Option<WallState>>,
    /// Amount by which the system's stated error exceeds the true one, in ns.
    pub(crate) margin_ns: Cell<u64>,
    /// Rate error of the OS clock, as a share: positive if it is fast.
    share: Cell<f64>,
    /// Rate error of the unsteered clock, as a share, which the OS clock is corrected for.
    raw_share: Cell<f64>,
    pub(crate) has_raw: Cell<bool>,
    /// Wall time at the beginning, in ns.
    wall_start_ns: u64,
}

/// The machine's clocks: the monotonic one, the wall clock, the one that no daemon steers, and the
/// one that goes on in a suspend.
const OS: usize = 0;
const WALL: usize = 1;
const RAW: usize = 2;
const BOOT: usize = 3;

/// Beginning of the wall clock, after the OS clock, in ns.
const WALL_AHEAD_NS: u64 = 1_700_000_000 * SECOND + 123_456_789;

/// Time that the machine had slept before the world began, in ns.
const BOOT_AHEAD_NS: u64 = 77 * SECOND + 7;

/// Duration of the question for the system's error, in ps.
const STATEMENT_PS: u64 = 1_200_000;

impl World {
    /// A counter of `hz` that began at `counter`, and an OS clock that began at `os_ns` and agrees
    /// with the true time.
    pub(crate) fn new(hz: f64, counter: u64, os_ns: u64) -> Self {
        let machine = Uniprocessor::new(clockscope_testing::simulation::SimulatedCounter::new(hz, counter));
        machine.add(SimulatedClock::new(os_ns));
        // Wraps in worlds that are hundreds of years old, as the wall clock itself does.
        let wall_start_ns = os_ns.wrapping_add(WALL_AHEAD_NS);
        machine.add(SimulatedClock::new(wall_start_ns));
        machine.add(SimulatedClock::new(os_ns));
        machine.add(SimulatedClock::new(os_ns.wrapping_add(BOOT_AHEAD_NS)));
        Self {
            machine,
            tells_suspends: Cell::new(true),
            disruptions: Cell::new(None),
            cpu: Cell::new(None),
            counter_read_ps: Cell::new(COUNTER_READ_PS),
            os_read_ps: Cell::new(OS_READ_PS),
            permitted: Cell::new(Some(true)),
            clocksource: Cell::new(Some(true)),
            invariant: Cell::new(Some(true)),
            questions: Cell::new(0),
            counter_reads: Cell::new(0),
            wall_reads: Cell::new(0),
            boot_reads: Cell::new(0),
            statements: Cell::new(0),
            states: Cell::new(Some(WallState::Synchronized)),
            margin_ns: Cell::new(0),
            share: Cell::new(0.0),
            raw_share: Cell::new(0.0),
            has_raw: Cell::new(true),
            wall_start_ns,
        }
    }

    fn now_ps(&self) -> u128 {
        self.machine.now_ps()
    }

    /// Time passes, in ns.
    pub(crate) fn pass(&self, ns: u64) {
        self.machine.pass_ps(u128::from(ns) * 1000);
    }

    /// The machine sleeps for `ns`: the counter and the wall clock go on, and the other clocks
    /// leave the time out.
    pub(crate) fn suspend(&self, ns: u64) {
        self.machine.suspend_ps(u128::from(ns) * 1000, &[OS, RAW]);
    }

    /// True time since the world began, in ns.
    pub(crate) fn true_ns(&self) -> u64 {
        (self.now_ps() / 1000) as u64
    }

    /// The OS clock's time now, in ps, with nothing of its tick lost.
    pub(crate) fn os_ps(&self) -> i128 {
        self.machine.clock(OS).truth_ps(self.now_ps())
    }

    /// Distance of a reading from the OS clock now, in ns: positive if it is ahead.
    pub(crate) fn ahead_ns(&self, reading: u64) -> f64 {
        in_f64(i128::from(reading) * 1000 - self.os_ps()) / 1000.0
    }

    /// The OS clock's time now in whole ns; wraps like a reading.
    pub(crate) fn os_reading(&self) -> u64 {
        let (ns, tick_ns) = ((self.os_ps() / 1000) as u64, self.machine.clock(OS).tick_ns());
        ns / tick_ns * tick_ns
    }

    /// The rate of the OS clock from now on, as the share by which it is fast. −1 stops it.
    pub(crate) fn slew(&self, share: f64) {
        self.share.set(share);
        self.machine.clock(OS).slew(self.now_ps(), share);
        self.machine.clock(WALL).slew(self.now_ps(), share);
        self.machine.clock(BOOT).slew(self.now_ps(), share);
    }

    /// The rate of the unsteered clock from now on. Whoever steers the others corrects them for it.
    pub(crate) fn set_raw_share(&self, share: f64) {
        self.raw_share.set(share);
        self.machine.clock(RAW).slew(self.now_ps(), share);
    }

    /// The wall clock is set.
    pub(crate) fn step_wall(&self, ns: i64) {
        self.machine.clock(WALL).step(ns);
    }

    /// The wall clock now, in ps, with nothing of its tick lost.
    pub(crate) fn wall_ps(&self) -> i128 {
        self.machine.clock(WALL).truth_ps(self.now_ps())
    }

    /// The boot clock now, in ps, with nothing of its tick lost.
    pub(crate) fn boot_ps(&self) -> i128 {
        self.machine.clock(BOOT).truth_ps(self.now_ps())
    }

    /// Makes the boot clock refuse from now on, or answer again.
    pub(crate) fn set_boot_refuses(&self, refuses: bool) {
        self.machine.clock(BOOT).refuse(refuses.then_some(Refused(1)));
    }

    /// The true time of day, in ns: that of a wall clock which nobody ever touched.
    pub(crate) fn true_utc_ns(&self) -> i128 {
        i128::from(self.wall_start_ns) + (self.now_ps() / 1000) as i128
    }

    /// Makes the wall clock refuse from now on, or answer again.
    pub(crate) fn set_wall_refuses(&self, refuses: bool) {
        self.machine.clock(WALL).refuse(refuses.then_some(Refused(1)));
    }

    /// The OS clock is set. The wall clock is not, as where a process joins a time namespace.
    pub(crate) fn step_os(&self, ns: i64) {
        self.machine.clock(OS).step(ns);
        self.machine.clock(RAW).step(ns);
    }

    /// The OS clock's tick from now on.
    pub(crate) fn set_os_tick(&self, ns: u64) {
        self.machine.clock(OS).set_tick_ns(ns);
        self.machine.clock(RAW).set_tick_ns(ns);
        self.machine.clock(WALL).set_tick_ns(ns);
        self.machine.clock(BOOT).set_tick_ns(ns);
    }

    /// Makes the OS refuse to give the time from now on, or give it again.
    pub(crate) fn set_os_refuses(&self, refuses: bool) {
        self.machine.clock(OS).refuse(refuses.then_some(Refused(1)));
    }

    /// The counter's frequency from now on.
    pub(crate) fn set_hz(&self, hz: f64) {
        self.machine.counter().line().set_rate(self.now_ps(), hz);
    }

    /// The counter runs down from now on, at its rate.
    pub(crate) fn run_down(&self) {
        self.machine.counter().line().reverse(self.now_ps());
    }

    /// The counter's true length of a tick, in ns of the OS clock.
    pub(crate) fn ns_per_tick(&self) -> f64 {
        self.machine.clock(OS).rate() * 1e9 / self.machine.counter().hz()
    }

    /// The counter is set.
    pub(crate) fn step_counter(&self, ticks: i64) {
        self.machine.counter().line().step(ticks.into());
    }

    /// The counter begins anew.
    pub(crate) fn reset_counter(&self) {
        self.machine.counter().line().set(self.now_ps(), 0);
    }

    /// [`Uniprocessor::interrupt_at`].
    pub(crate) fn interrupt_at(&self, reads: u64, moment: Moment, what: impl FnOnce() + 'static) {
        self.machine.interrupt_at(reads, moment, what);
    }

    /// [`Uniprocessor::interrupt_at_point`].
    pub(crate) fn interrupt_at_point(&self, when: impl Fn() -> bool + 'static, what: impl FnOnce() + 'static) {
        self.machine.interrupt_at_point(when, what);
    }
}

impl Counter for World {
    fn ordered(&self) -> u64 {
        assert_ne!(self.permitted.get(), Some(false), "the counter was read though it may not be: a fatal signal");
        self.counter_reads.set(self.counter_reads.get() + 1);
        self.machine.read_counter(self.counter_read_ps.get())
    }

    fn is_permitted(&self) -> Option<bool> {
        self.questions.set(self.questions.get() + 1);
        self.permitted.get()
    }

    fn is_clocksource(&self) -> Option<bool> {
        self.questions.set(self.questions.get() + 1);
        self.clocksource.get()
    }

    fn is_invariant(&self) -> Option<bool> {
        self.invariant.get()
    }
}

impl OsClock for World {
    fn now_ns(&self) -> Result<u64, Errno> {
        self.machine.read_clock(OS, self.os_read_ps.get()).map_err(|Refused(number)| Errno::new(number))
    }

    fn tick_ns(&self, _: bool) -> u64 {
        self.questions.set(self.questions.get() + 1);
        self.machine.clock(OS).tick_ns()
    }

    fn wall_ns(&self) -> Result<i64, Errno> {
        self.wall_reads.set(self.wall_reads.get() + 1);
        let ns = self.machine.read_clock(WALL, self.os_read_ps.get()).map_err(|Refused(number)| Errno::new(number))?;
        Ok(ns as i64)
    }

    fn boot_ns(&self) -> Result<i64, Errno> {
        self.boot_reads.set(self.boot_reads.get() + 1);
        let ns = self.machine.read_clock(BOOT, self.os_read_ps.get()).map_err(|Refused(number)| Errno::new(number))?;
        Ok(ns as i64)
    }

    fn raw_ns(&self) -> Option<u64> {
        self.has_raw.get().then(|| self.machine.read_clock(RAW, self.os_read_ps.get()).ok()).flatten()
    }

    /// A daemon that states its error exactly, and is believed unless it slews.
    fn wall_statement(&self) -> Option<WallStatement> {
        self.statements.set(self.statements.get() + 1);
        let share = self.share.get();
        let rate_ppm = ((1.0 + share) / (1.0 + self.raw_share.get()) - 1.0) * 1e6;
        let error_ns = || (self.wall_ps() / 1000 - self.true_utc_ns()).abs();
        // A clock that is slewed may be interrupted before it is read, and after.
        let before_ns = error_ns();
        let wall_ns = i128::from(self.machine.read_clock(WALL, STATEMENT_PS).ok()?);
        let error_ns = before_ns.max(error_ns()) + i128::from(self.margin_ns.get()) + 2;
        let state = self.states.get()?;
        let state = if share.abs() > 100e-6 && state.is_bounded() { WallState::Slewing } else { state };
        if !state.is_bounded() {
            let mut statement = WallStatement::nothing(state);
            statement.rate_ppm = rate_ppm;
            return Some(statement);
        }
        // The clock was read at some moment of what the question took.
        let mut statement = WallStatement::new((wall_ns - error_ns) as i64, (wall_ns + error_ns) as i64, state);
        statement.lasts_ns = if state == WallState::LeapSecond { 0 } else { SECOND };
        statement.rate_ppm = rate_ppm;
        Some(statement)
    }

    fn suspended_ns(&self) -> Option<u64> {
        self.tells_suspends.get().then(|| (self.machine.suspended_ps() / 1000) as u64)
    }

    fn disruptions(&self) -> Option<u64> {
        self.disruptions.get()
    }

    fn current_cpu(&self) -> Option<u32> {
        self.cpu.get()
    }

    fn preemption_point(&self) {
        self.machine.preemption_point();
    }
}

/// The counter of a world with fewer bits.
pub(crate) struct Narrow<'a, const BITS: u32>(pub(crate) &'a World);

impl<const BITS: u32> Counter for Narrow<'_, BITS> {
    const BITS: u32 = BITS;

    fn ordered(&self) -> u64 {
        self.0.ordered() & ((1 << BITS) - 1)
    }

    fn is_permitted(&self) -> Option<bool> {
        self.0.is_permitted()
    }

    fn is_clocksource(&self) -> Option<bool> {
        self.0.is_clocksource()
    }

    fn is_invariant(&self) -> Option<bool> {
        self.0.is_invariant()
    }
}

/// As the nearest `f64`: by 64 bits where these do, which takes a tenth of the time.
pub(crate) fn in_f64(number: i128) -> f64 {
    /// Apart, because the compiler knows that both are the same, and would leave one out.
    #[inline(never)]
    fn of_many_bits(number: i128) -> f64 {
        number as f64
    }
    i64::try_from(number).map_or_else(|_| of_many_bits(number), |number| number as f64)
}
