//! A machine that is not there: a counter and an OS clock on one true time, and everything that can
//! go wrong with either.
//!
//! Time passes only when a clock is read, when [`World::pass`] says so, and when a read is
//! interrupted. What another thread would do while this one is preempted is done by
//! [`World::interrupt_at`]: the clock under test waits for nobody, so that it may be called again
//! from within its own reading of a counter.

#![allow(dead_code, reason = "each test uses the part that it needs")]

pub(crate) mod watch;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use clockscope::Errno;
use clockscope::disciplined::{Counter, OsClock};

pub(crate) const GHZ: f64 = 1e9;
pub(crate) const MILLISECOND: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const YEAR: u64 = 31_557_600 * SECOND;

/// Fraction bits of counters and of time: ps × 2^48.
const FRACTION: u32 = 48;

/// Costs of a read, in ps.
pub(crate) const COUNTER_READ_PS: u64 = 9_000;
pub(crate) const OS_READ_PS: u64 = 22_000;

/// The state of both clocks.
pub(crate) struct World {
    counter: Cell<u128>,
    ticks_per_ps: Cell<u128>,
    os: Cell<i128>,
    os_per_ps: Cell<i128>,
    os_tick_ns: Cell<u64>,
    os_refuses: Cell<bool>,
    /// True time since the world began, in ps.
    passed: Cell<u128>,
    suspended_ns: Cell<u64>,
    pub(crate) tells_suspends: Cell<bool>,
    /// What the hypervisor announces, and the CPU that the thread runs on.
    pub(crate) disruptions: Cell<Option<u64>>,
    pub(crate) cpu: Cell<Option<u32>>,
    /// What a read of each takes, in ps.
    pub(crate) counter_read_ps: Cell<u64>,
    pub(crate) os_read_ps: Cell<u64>,
    pub(crate) permitted: Cell<Option<bool>>,
    pub(crate) clocksource: Cell<Option<bool>>,
    pub(crate) invariant: Cell<Option<bool>>,
    /// How often the system was asked about the counter or its own clock.
    pub(crate) questions: Cell<u64>,
    /// How often the counter was read.
    pub(crate) counter_reads: Cell<u64>,
    /// Reads of both clocks.
    reads: Cell<u64>,
    interruptions: RefCell<VecDeque<(u64, Moment, Interruption)>>,
    at_point: RefCell<Option<(Condition, Interruption)>>,
}

/// When in a reading something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before its value is taken.
    Before,
    /// After that: the thread goes on with an old value.
    After,
}

/// What happens within a reading.
type Interruption = Box<dyn FnOnce()>;
/// And when.
type Condition = Box<dyn Fn() -> bool>;

impl World {
    /// A counter of `hz` that began at `counter`, and an OS clock that began at `os_ns` and agrees
    /// with the true time.
    pub(crate) fn new(hz: f64, counter: u64, os_ns: u64) -> Self {
        Self {
            counter: Cell::new(u128::from(counter) << FRACTION),
            ticks_per_ps: Cell::new((hz / 1e12 * (1u64 << FRACTION) as f64) as u128),
            os: Cell::new((i128::from(os_ns) * 1000) << FRACTION),
            os_per_ps: Cell::new(1 << FRACTION),
            os_tick_ns: Cell::new(1),
            os_refuses: Cell::new(false),
            passed: Cell::new(0),
            suspended_ns: Cell::new(0),
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
            reads: Cell::new(0),
            interruptions: RefCell::new(VecDeque::new()),
            at_point: RefCell::new(None),
        }
    }

    /// Time passes, in ns.
    pub(crate) fn pass(&self, ns: u64) {
        // In parts: 200 years of picoseconds by 2^48 fit into 128 bits, thousands of years do not.
        self.pass_ps(u128::from(ns) * 1000);
    }

    fn pass_ps(&self, ps: u128) {
        self.passed.set(self.passed.get() + ps);
        self.counter.set(self.counter.get().wrapping_add(ps.wrapping_mul(self.ticks_per_ps.get())));
        self.os.set(self.os.get().wrapping_add((ps as i128).wrapping_mul(self.os_per_ps.get())));
    }

    /// The machine sleeps for `ns`: the counter goes on, and the OS clock leaves the time out.
    pub(crate) fn suspend(&self, ns: u64) {
        let os = self.os.get();
        self.pass(ns);
        self.os.set(os);
        self.suspended_ns.set(self.suspended_ns.get() + ns);
    }

    /// True time since the world began, in ns.
    pub(crate) fn true_ns(&self) -> u64 {
        (self.passed.get() / 1000) as u64
    }

    /// The OS clock's time now, in ps, with nothing of its tick lost.
    pub(crate) fn os_ps(&self) -> i128 {
        self.os.get() >> FRACTION
    }

    /// How far a reading is from the OS clock now, in ns: positive if it is ahead.
    pub(crate) fn ahead_ns(&self, reading: u64) -> f64 {
        (i128::from(reading) * 1000 - self.os_ps()) as f64 / 1000.0
    }

    /// The OS clock's time now in whole ns; wraps like a reading.
    pub(crate) fn os_reading(&self) -> u64 {
        let ns = (self.os_ps() / 1000) as u64;
        ns / self.os_tick_ns.get() * self.os_tick_ns.get()
    }

    /// The rate of the OS clock from now on, as the share by which it is fast. −1 stops it.
    pub(crate) fn slew(&self, share: f64) {
        self.os_per_ps.set(((1.0 + share) * (1u64 << FRACTION) as f64) as i128);
    }

    /// The OS clock is set.
    pub(crate) fn step_os(&self, ns: i64) {
        self.os.set(self.os.get() + ((i128::from(ns) * 1000) << FRACTION));
    }

    /// The OS clock's tick from now on.
    pub(crate) fn set_os_tick(&self, ns: u64) {
        self.os_tick_ns.set(ns);
    }

    /// Whether the OS refuses to tell the time from now on.
    pub(crate) fn set_os_refuses(&self, refuses: bool) {
        self.os_refuses.set(refuses);
    }

    /// The counter's frequency from now on.
    pub(crate) fn set_hz(&self, hz: f64) {
        self.ticks_per_ps.set((hz / 1e12 * (1u64 << FRACTION) as f64) as u128);
    }

    /// The counter runs down from now on, at its rate.
    pub(crate) fn run_down(&self) {
        self.ticks_per_ps.set(self.ticks_per_ps.get().wrapping_neg());
    }

    /// The counter's true length of a tick, in ns of the OS clock.
    pub(crate) fn ns_per_tick(&self) -> f64 {
        self.os_per_ps.get() as f64 / 1000.0 / self.ticks_per_ps.get() as f64
    }

    /// The counter is set.
    pub(crate) fn step_counter(&self, ticks: i64) {
        let ticks = (i128::from(ticks) as u128).wrapping_shl(FRACTION);
        self.counter.set(self.counter.get().wrapping_add(ticks));
    }

    /// The counter begins anew.
    pub(crate) fn reset_counter(&self) {
        self.counter.set(0);
    }

    /// `what` happens within the read after `reads` more, or at another moment at which a thread
    /// may be preempted, all of which are counted.
    pub(crate) fn interrupt_at(&self, reads: u64, moment: Moment, what: impl FnOnce() + 'static) {
        let at = self.reads.get() + reads + 1;
        let mut interruptions = self.interruptions.borrow_mut();
        let place = interruptions.iter().position(|(other, ..)| *other > at).unwrap_or(interruptions.len());
        interruptions.insert(place, (at, moment, Box::new(what)));
    }

    /// `what` happens at the first moment at which a thread may be preempted
    /// (`OsClock::preemption_point`) and `when` holds.
    pub(crate) fn interrupt_at_point(&self, when: impl Fn() -> bool + 'static, what: impl FnOnce() + 'static) {
        *self.at_point.borrow_mut() = Some((Box::new(when), Box::new(what)));
    }

    /// A read that takes `cost_ps`, half of it before its value is taken.
    fn read<T>(&self, cost_ps: u64, value: impl FnOnce() -> T) -> T {
        let read = self.reads.get() + 1;
        self.reads.set(read);
        self.pass_ps(u128::from(cost_ps / 2));
        self.interrupt(read, Moment::Before);
        let value = value();
        self.interrupt(read, Moment::After);
        self.pass_ps(u128::from(cost_ps / 2));
        value
    }

    /// Does what is due at this moment of this read.
    fn interrupt(&self, read: u64, moment: Moment) {
        loop {
            let mut interruptions = self.interruptions.borrow_mut();
            let is_due = |(at, when, _): &(u64, Moment, Interruption)| *at <= read && *when == moment;
            let Some(place) = interruptions.iter().position(is_due) else { return };
            let next = interruptions.remove(place);
            // What happens may read the clocks itself.
            drop(interruptions);
            if let Some((.., what)) = next {
                what();
            }
        }
    }
}

impl Counter for World {
    fn ordered(&self) -> u64 {
        assert_ne!(self.permitted.get(), Some(false), "the counter was read though it may not be: a fatal signal");
        self.counter_reads.set(self.counter_reads.get() + 1);
        self.read(self.counter_read_ps.get(), || (self.counter.get() >> FRACTION) as u64)
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
        self.read(self.os_read_ps.get(), || if self.os_refuses.get() { Err(Errno(1)) } else { Ok(self.os_reading()) })
    }

    fn tick_ns(&self, _: bool) -> u64 {
        self.questions.set(self.questions.get() + 1);
        self.os_tick_ns.get()
    }

    fn suspended_ns(&self) -> Option<u64> {
        self.tells_suspends.get().then_some(self.suspended_ns.get())
    }

    fn disruptions(&self) -> Option<u64> {
        self.disruptions.get()
    }

    fn current_cpu(&self) -> Option<u32> {
        self.cpu.get()
    }

    fn preemption_point(&self) {
        self.read(0, || ());
        let is_now = self.at_point.borrow().as_ref().is_some_and(|(when, _)| when());
        let now = if is_now { self.at_point.take() } else { None };
        if let Some((_, what)) = now {
            what();
        }
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
