//! The machine: its true time, its clocks, and what is done to it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::DerefMut;

use crate::simulation::clock::{ClockId, Refused, SimulatedClock};
use crate::simulation::counter::SimulatedCounter;
use crate::simulation::random::Random;
use crate::simulation::scheduler::{Load, Scheduler};

/// Moment of a reading at which something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before its value is taken.
    Before,
    /// After that: the thread goes on with an old value.
    After,
}

/// Action within a reading.
type Interruption = Box<dyn FnOnce()>;
/// Condition under which an interruption is due.
type Condition = Box<dyn Fn() -> bool>;

/// A machine of one thread. Its clocks are read through shared references, as those of a real one.
pub struct Uniprocessor {
    now_ps: Cell<u128>,
    suspended_ps: Cell<u128>,
    counter: RefCell<SimulatedCounter>,
    clocks: RefCell<Vec<SimulatedClock>>,
    scheduler: RefCell<Scheduler>,
    /// Nothing takes the CPU before.
    quiet_until_ps: Cell<u128>,
    random: RefCell<Random>,
    /// By what share a read takes longer than it must, on average.
    jitter: Cell<f64>,
    /// Reads of all clocks.
    reads: Cell<u64>,
    interruptions: RefCell<VecDeque<(u64, Moment, Interruption)>>,
    at_point: RefCell<Option<(Condition, Interruption)>>,
}

impl Uniprocessor {
    /// A machine with this counter and no other clock, on a CPU that has nothing else to do.
    #[must_use]
    pub fn new(counter: SimulatedCounter) -> Self {
        Self {
            now_ps: Cell::new(0),
            suspended_ps: Cell::new(0),
            counter: RefCell::new(counter),
            clocks: RefCell::new(Vec::new()),
            scheduler: RefCell::new(Scheduler::new(Load::NONE, 0, 0)),
            quiet_until_ps: Cell::new(0),
            random: RefCell::new(Random::new(0)),
            jitter: Cell::new(0.0),
            reads: Cell::new(0),
            interruptions: RefCell::new(VecDeque::new()),
            at_point: RefCell::new(None),
        }
    }

    /// Adds a clock.
    pub fn add(&self, clock: SimulatedClock) -> ClockId {
        let mut clocks = self.clocks.borrow_mut();
        clocks.push(clock);
        clocks.len() - 1
    }

    /// The CPU has all of this to do from now on, in an order that the seed decides.
    pub fn set_load(&self, load: Load, seed: u64) {
        *self.scheduler.borrow_mut() = Scheduler::new(load, seed, self.now_ps.get());
        self.quiet_until_ps.set(0);
    }

    /// Each read takes longer than it must from now on, by this share of that on average.
    pub fn set_jitter(&self, share: f64, seed: u64) {
        self.jitter.set(share);
        *self.random.borrow_mut() = Random::new(seed);
    }

    /// True time since the machine began, in ps.
    #[must_use]
    pub fn now_ps(&self) -> u128 {
        self.now_ps.get()
    }

    /// For how long the machine has been suspended in all, in ps.
    #[must_use]
    pub fn suspended_ps(&self) -> u128 {
        self.suspended_ps.get()
    }

    /// The CPU that the thread runs on.
    #[must_use]
    pub fn cpu(&self) -> u32 {
        self.scheduler.borrow().cpu()
    }

    /// Number of times that any clock was read.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.reads.get()
    }

    /// The counter, to be looked at or changed.
    pub fn counter(&self) -> impl DerefMut<Target = SimulatedCounter> + '_ {
        self.counter.borrow_mut()
    }

    /// A clock, likewise.
    ///
    /// # Panics
    /// There is no such clock.
    pub fn clock(&self, clock: ClockId) -> impl DerefMut<Target = SimulatedClock> + '_ {
        std::cell::RefMut::map(self.clocks.borrow_mut(), |clocks| &mut clocks[clock])
    }

    /// Time passes in which the thread sleeps, in ps.
    pub fn pass_ps(&self, ps: u128) {
        self.now_ps.set(self.now_ps.get() + ps);
        self.scheduler.borrow_mut().wake(self.now_ps.get());
    }

    /// The thread works for so long, in ps, and whatever takes the CPU from it meanwhile makes it
    /// later.
    pub fn run_ps(&self, ps: u128) {
        let mut left = ps;
        loop {
            let now = self.now_ps.get();
            if now + left <= self.quiet_until_ps.get() {
                self.now_ps.set(now + left);
                return;
            }
            let mut scheduler = self.scheduler.borrow_mut();
            let Some(taken) = scheduler.next(now, now + left) else {
                // Nothing moves it to an earlier time but another load.
                self.quiet_until_ps.set(scheduler.first(now).unwrap_or(u128::MAX));
                continue;
            };
            left -= taken.at_ps - now;
            self.now_ps.set(taken.at_ps + taken.ps);
        }
    }

    /// The machine sleeps for `ps`: the counter goes on, and these clocks leave the time out.
    pub fn suspend_ps(&self, ps: u128, clocks: &[ClockId]) {
        self.pass_ps(ps);
        self.suspended_ps.set(self.suspended_ps.get() + ps);
        for clock in clocks {
            self.clock(*clock).line().leave_out(ps);
        }
    }

    /// Reads the counter on the CPU that the thread runs on, which takes `cost_ps` at least.
    pub fn read_counter(&self, cost_ps: u64) -> u64 {
        self.read(cost_ps, || self.counter.borrow_mut().read(self.now_ps.get(), self.cpu()))
    }

    /// Reads a clock likewise, in ns.
    ///
    /// # Errors
    /// It refuses.
    pub fn read_clock(&self, clock: ClockId, cost_ps: u64) -> Result<u64, Refused> {
        self.read(cost_ps, || self.clock(clock).read(self.now_ps.get(), self.cpu(), &self.counter.borrow()))
    }

    /// A moment at which a thread may be preempted although it reads no clock.
    pub fn preemption_point(&self) {
        self.read(0, || ());
        let is_now = self.at_point.borrow().as_ref().is_some_and(|(when, _)| when());
        let now = if is_now { self.at_point.take() } else { None };
        if let Some((_, what)) = now {
            what();
        }
    }

    /// `what` happens within the read after `reads` more, or at another moment at which a thread
    /// may be preempted, all of which are counted.
    pub fn interrupt_at(&self, reads: u64, moment: Moment, what: impl FnOnce() + 'static) {
        let at = self.reads.get() + reads + 1;
        let mut interruptions = self.interruptions.borrow_mut();
        let index = interruptions.iter().position(|(other, ..)| *other > at).unwrap_or(interruptions.len());
        interruptions.insert(index, (at, moment, Box::new(what)));
    }

    /// `what` happens at the first moment at which a thread may be preempted
    /// ([`Uniprocessor::preemption_point`]) and `when` holds.
    pub fn interrupt_at_point(&self, when: impl Fn() -> bool + 'static, what: impl FnOnce() + 'static) {
        *self.at_point.borrow_mut() = Some((Box::new(when), Box::new(what)));
    }

    /// A read that takes `cost_ps`, half of it before its value is taken.
    fn read<T>(&self, cost_ps: u64, value: impl FnOnce() -> T) -> T {
        let read = self.reads.get() + 1;
        self.reads.set(read);
        self.run_ps(u128::from(cost_ps / 2));
        self.interrupt(read, Moment::Before);
        let value = value();
        self.interrupt(read, Moment::After);
        self.run_ps(u128::from(cost_ps / 2 + self.longer_ps(cost_ps)));
        value
    }

    fn longer_ps(&self, cost_ps: u64) -> u64 {
        match self.jitter.get() {
            0.0 => 0,
            share => self.random.borrow_mut().waiting((cost_ps as f64 * share) as u64),
        }
    }

    /// Does what is due at this moment of this read.
    fn interrupt(&self, read: u64, moment: Moment) {
        loop {
            let mut interruptions = self.interruptions.borrow_mut();
            let due = interruptions.iter().take_while(|(at, ..)| *at <= read);
            let Some(index) = due.enumerate().find_map(|(index, (_, when, _))| (*when == moment).then_some(index))
            else {
                return;
            };
            let next = interruptions.remove(index);
            // What happens may read the clocks itself.
            drop(interruptions);
            if let Some((.., what)) = next {
                what();
            }
        }
    }
}

#[cfg(test)]
mod tests;
