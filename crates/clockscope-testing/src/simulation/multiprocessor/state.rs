//! The state of the machine, and how each thread's time passes.

use super::change::{Change, TimedChange};
use super::memory::SharedMemory;
use super::thread::{Status, Thread};
use super::trace::{Lost, Trace};
use super::world::{History, World};
use crate::simulation::clock::{Counted, SimulatedClock};
use crate::simulation::counter::SimulatedCounter;
use crate::simulation::random::Random;
use crate::simulation::scheduler::{Load, Scheduler, Taken, Taker};

/// The system's counts of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedCpuAccount {
    /// Interrupts.
    pub interrupts: u64,
    /// Time that the hypervisor took, in ns, in whole steps.
    pub steal_ns: u64,
}

/// The step in which Linux counts steal time.
const STEAL_STEP_NS: u64 = 10_000_000;

/// Settings of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) jitter: f64,
    pub(super) transit_ps: (u64, u64),
    pub(super) lateness_ps: (u64, u64),
    pub(super) lookahead_ps: u64,
    pub(super) steal_step_ns: u64,
    pub(super) end_ps: u128,
    /// The shares of a read's cost between which its value is taken.
    pub(super) taken: (f64, f64),
}

/// State of the machine: its threads, shared words, clocks, settings and future events.
#[derive(Debug)]
pub(super) struct MachineState {
    /// The first is the one that calls `together`; the others run meanwhile.
    pub(super) threads: Vec<Thread>,
    /// The place of the thread that runs.
    pub(super) running: usize,
    /// The running thread does not go on beyond.
    pub(super) limit_ps: u128,
    pub(super) cpus: u32,
    pub(super) started: u32,
    /// CPU time of the threads that have ended.
    pub(super) ended_ps: u128,
    pub(super) words: SharedMemory,
    pub(super) history: History,
    pub(super) events: Vec<TimedChange>,
    pub(super) random: Random,
    pub(super) settings: Settings,
    /// Additional transit time of a word to each CPU, in ps.
    pub(super) detours_ps: Vec<u64>,
    pub(super) lost: Vec<Lost>,
    pub(super) trace: Trace,
    /// Time at which the last read's value was taken.
    pub(super) taken_ps: u128,
    /// Rest of the present read, in ps.
    remaining_ps: u64,
    interrupts: Vec<u64>,
    steal_ps: Vec<u128>,
    seed: u64,
}

/// The next event of a thread.
enum Next {
    Loss(Taken),
    Event(u128),
}

impl MachineState {
    pub(super) fn new(counter: SimulatedCounter, cpus: u32, seed: u64) -> Self {
        let settings = Settings {
            jitter: 0.0,
            transit_ps: (40_000, 120_000),
            lateness_ps: (2_000_000, 60_000_000),
            lookahead_ps: 1_000_000,
            steal_step_ns: STEAL_STEP_NS,
            end_ps: u128::MAX,
            taken: (0.5, 0.5),
        };
        let mut state = Self {
            threads: vec![Thread::new(0, 0, 0, Scheduler::new(Load::NONE, 0, 0))],
            running: 0,
            limit_ps: u128::MAX,
            cpus,
            started: 0,
            ended_ps: 0,
            words: SharedMemory::default(),
            history: History::new(counter),
            events: Vec::new(),
            random: Random::new(seed),
            settings,
            detours_ps: vec![0; cpus as usize],
            lost: Vec::new(),
            trace: Trace::default(),
            taken_ps: 0,
            remaining_ps: 0,
            interrupts: vec![0; cpus as usize],
            steal_ps: vec![0; cpus as usize],
            seed,
        };
        state.arrive(0);
        state
    }

    #[inline]
    pub(super) fn thread(&mut self) -> &mut Thread {
        &mut self.threads[self.running]
    }

    #[inline]
    pub(super) fn now_ps(&self) -> u128 {
        self.threads[self.running].now_ps
    }

    /// Returns the time that a clock counts, in ps, at a true time of the running thread.
    pub(super) fn counted_ps(&self, counted: Counted, at_ps: u128) -> u128 {
        let thread = &self.threads[self.running];
        match counted {
            Counted::Time => at_ps,
            Counted::ThreadTime => thread.cpu_time_ps(at_ps),
            Counted::ProcessTime => {
                let others = self.threads.iter().enumerate().filter(|(index, _)| *index != self.running);
                let others_ps: u128 = others.map(|(_, other)| other.cpu_time_ps(other.now_ps)).sum();
                self.ended_ps + others_ps + thread.cpu_time_ps(at_ps)
            }
        }
    }

    pub(super) fn add_clock(&mut self, clock: &SimulatedClock) -> usize {
        self.history.add(clock)
    }

    /// Schedules a change. It happens no earlier than the time of any running thread.
    pub(super) fn at(&mut self, ps: u128, change: Change) {
        let running = self.threads.iter().filter(|thread| thread.status == Status::Runnable);
        let at_ps = running.map(|thread| thread.now_ps).fold(ps, u128::max);
        let fixed = self.history.applied();
        let at_ps = self.events[..fixed].last().map_or(at_ps, |event| event.at_ps.max(at_ps));
        let index = fixed + self.events[fixed..].partition_point(|event| event.at_ps <= at_ps);
        self.events.insert(index, TimedChange { at_ps, change });
        self.history.expect(&self.events);
        self.forget_quiet();
        for thread in &mut self.threads {
            // One that waits may have been ahead.
            thread.next_event += usize::from(thread.next_event > index);
        }
    }

    /// Makes all threads look anew for what happens to them next.
    pub(super) fn forget_quiet(&mut self) {
        self.threads.iter_mut().for_each(|thread| thread.quiet_until_ps = 0);
    }

    /// Applies the changes of clocks and counter that are due at this time.
    #[inline]
    pub(super) fn apply_until(&mut self, now_ps: u128) {
        while self.history.is_due(now_ps) {
            let change = format!("{:?}", self.events[self.history.applied()].change);
            let at_ps = self.history.apply_next(&self.events);
            self.trace.add(at_ps, &change);
        }
    }

    /// Makes the running thread work for so long.
    #[inline]
    pub(super) fn run(&mut self, ps: u64) {
        let thread = &mut self.threads[self.running];
        let end_ps = thread.now_ps + u128::from(ps);
        if end_ps <= thread.quiet_until_ps {
            thread.now_ps = end_ps;
        } else {
            self.run_on(u128::from(ps));
        }
    }

    #[cold]
    fn run_on(&mut self, mut left_ps: u128) {
        loop {
            let now_ps = self.now_ps();
            match self.next(now_ps + left_ps) {
                Some(next) => left_ps -= self.undergo(next).saturating_sub(now_ps),
                None => return self.reach(now_ps + left_ps),
            }
        }
    }

    /// Makes the running thread spin until a time, or longer if it does not run then.
    pub(super) fn spin_until(&mut self, end_ps: u128) {
        while self.now_ps() < end_ps {
            match self.next(end_ps) {
                Some(next) => _ = self.undergo(next),
                None => self.reach(end_ps),
            }
        }
    }

    /// Returns what happens to the running thread before `end_ps`.
    fn next(&mut self, end_ps: u128) -> Option<Next> {
        let thread = &mut self.threads[self.running];
        let event_ps = self.events.get(thread.next_event).map_or(u128::MAX, |event| event.at_ps);
        match thread.scheduler.next(thread.now_ps, end_ps.min(event_ps)) {
            Some(taken) => Some(Next::Loss(taken)),
            None => (event_ps < end_ps).then_some(Next::Event(event_ps)),
        }
    }

    /// Makes it happen, and returns when it began.
    fn undergo(&mut self, next: Next) -> u128 {
        match next {
            Next::Loss(taken) => {
                self.lose(taken);
                taken.at_ps
            }
            Next::Event(at_ps) => {
                let thread = self.thread();
                thread.now_ps = thread.now_ps.max(at_ps);
                let began_ps = thread.now_ps;
                self.pass_event();
                began_ps
            }
        }
    }

    /// Brings the running thread to a time at which nothing happens to it.
    fn reach(&mut self, now_ps: u128) {
        let thread = &mut self.threads[self.running];
        thread.now_ps = now_ps;
        let event_ps = self.events.get(thread.next_event).map_or(u128::MAX, |event| event.at_ps);
        let quiet_until_ps = thread.scheduler.first(now_ps).unwrap_or(u128::MAX).min(event_ps);
        thread.quiet_until_ps = quiet_until_ps.min(self.settings.end_ps);
        if now_ps > self.settings.end_ps && !std::thread::panicking() {
            let trace = self.text();
            panic!("the simulated time is over\n{trace}");
        }
    }

    /// Takes the CPU from the running thread for a while.
    fn lose(&mut self, taken: Taken) {
        let thread = &mut self.threads[self.running];
        let (number, cpu) = (thread.number, thread.cpu);
        thread.now_ps = taken.at_ps + taken.ps;
        thread.away_ps += if taken.by == Taker::Interrupt { 0 } else { taken.ps };
        thread.floor_ps = thread.now_ps;
        self.lost.push(Lost { thread: number, cpu, taken });
        match taken.by {
            Taker::Threads => thread.account.involuntary += 1,
            Taker::Interrupt => self.interrupts[cpu as usize] += 1,
            Taker::Hypervisor => self.steal_ps[cpu as usize] += taken.ps,
            Taker::Pause => {}
        }
        if taken.cpu != cpu {
            self.migrate(taken.cpu);
        }
    }

    fn migrate(&mut self, cpu: u32) {
        let (number, from) = (self.thread().number, self.thread().cpu);
        let to = if self.is_online(cpu) { cpu } else { from };
        self.arrive(to);
        self.trace.add(self.now_ps(), &format!("thread {number} migrated from CPU {from} to {to}"));
    }

    /// Makes the running thread pass an event: what this does to threads happens to it.
    fn pass_event(&mut self) {
        let thread = &mut self.threads[self.running];
        let change = self.events[thread.next_event].change.clone();
        thread.next_event += 1;
        match change {
            Change::Suspend { ps, .. } | Change::MoveMachine { ps, .. } => {
                let (at_ps, cpu) = (thread.now_ps, thread.cpu);
                self.lose(Taken { at_ps, ps: u128::from(ps), by: Taker::Pause, cpu });
            }
            Change::SetLoad { cpu, .. } if cpu == thread.cpu => self.arrive(cpu),
            Change::SetOnline { cpu, is_online: false } if cpu == thread.cpu => {
                thread.is_bound = false;
                self.leave(cpu);
            }
            _ => {}
        }
    }

    /// Moves the running thread away from a CPU that went offline.
    fn leave(&mut self, cpu: u32) {
        let others: Vec<u32> = (0..self.cpus).filter(|other| *other != cpu && self.is_online(*other)).collect();
        if let Some(other) = others.get(self.random.below(others.len() as u64) as usize) {
            self.migrate(*other);
        }
    }

    /// Begins a turn of the running thread on a CPU.
    pub(super) fn arrive(&mut self, cpu: u32) {
        let load = self.load(cpu);
        let thread = &mut self.threads[self.running];
        let can_move = self.cpus > 1 && !thread.is_bound;
        thread.load = load;
        let load = Load { cpus: self.cpus, migrates: if can_move { load.migrates } else { 0.0 }, ..load };
        // The time distinguishes the turns on one CPU.
        let seed = [u64::from(cpu), u64::from(thread.number), thread.now_ps as u64]
            .into_iter()
            .fold(self.seed, |seed, part| Random::new(seed ^ part).any());
        thread.scheduler = Scheduler::new(load, seed, thread.now_ps).on_cpu(cpu);
        thread.cpu = cpu;
        thread.floor_ps = thread.now_ps;
        thread.quiet_until_ps = 0;
    }

    /// Returns what a CPU does besides at the running thread's time.
    pub(super) fn load(&self, cpu: u32) -> Load {
        let loads = self.passed().filter_map(|event| match event.change {
            Change::SetLoad { cpu: other, load } if other == cpu => Some(load),
            _ => None,
        });
        loads.last().unwrap_or(Load::NONE)
    }

    /// Returns whether a CPU is there at that time.
    pub(super) fn is_online(&self, cpu: u32) -> bool {
        let changes = self.passed().filter_map(|event| match event.change {
            Change::SetOnline { cpu: other, is_online } if other == cpu => Some(is_online),
            _ => None,
        });
        cpu < self.cpus && changes.last().unwrap_or(true)
    }

    /// Returns the events that the running thread has passed.
    fn passed(&self) -> impl Iterator<Item = &TimedChange> {
        self.events[..self.threads[self.running].next_event].iter()
    }

    /// Passes the events until the running thread's time without losing time. Returns for how
    /// long the machine did not run.
    pub(super) fn skip_events(&mut self) -> u128 {
        let mut paused_ps = 0;
        loop {
            let thread = &mut self.threads[self.running];
            let Some(event) = self.events.get(thread.next_event) else { break };
            if event.at_ps >= thread.now_ps {
                break;
            }
            thread.next_event += 1;
            if let Change::Suspend { ps, .. } | Change::MoveMachine { ps, .. } = event.change {
                paused_ps += u128::from(ps);
            }
        }
        let cpu = self.thread().cpu;
        if !self.is_online(cpu) {
            self.thread().is_bound = false;
            self.leave(cpu);
        }
        paused_ps
    }

    /// Begins a read of the running thread. Returns when its value is taken, and on which CPU.
    #[inline]
    pub(super) fn begin_read(&mut self, cost_ps: u64, early_ps: u64) -> (u128, u32) {
        let until_taken_ps = self.until_taken(cost_ps);
        self.remaining_ps = cost_ps - until_taken_ps;
        self.run(until_taken_ps);
        self.apply_until(self.now_ps());
        let early_ps = if early_ps == 0 { 0 } else { self.random.below(early_ps + 1) };
        let thread = &mut self.threads[self.running];
        let at_ps = thread.now_ps.saturating_sub(u128::from(early_ps)).max(thread.floor_ps);
        // The reads of one thread keep their order.
        thread.floor_ps = at_ps;
        let cpu = thread.cpu;
        self.taken_ps = at_ps;
        (at_ps, cpu)
    }

    /// Part of a read that passes before its value is taken.
    #[inline]
    fn until_taken(&mut self, cost_ps: u64) -> u64 {
        let (from, until) = self.settings.taken;
        if from >= until {
            return (cost_ps as f64 * from) as u64;
        }
        (cost_ps as f64 * (from + (until - from) * self.random.fraction())) as u64
    }

    /// Ends a read of the running thread.
    #[inline]
    pub(super) fn end_read(&mut self, cost_ps: u64) {
        let share = self.settings.jitter;
        let longer_ps = if share == 0.0 { 0 } else { self.random.waiting((cost_ps as f64 * share) as u64) };
        self.run(self.remaining_ps + longer_ps);
    }

    /// Looks at the world at a time, which may be in the future.
    pub(super) fn observe<T>(&mut self, ps: u128, at: impl FnOnce(&World) -> T) -> T {
        if !self.history.is_due(ps) {
            return at(self.history.at(ps));
        }
        let mut history = self.history.clone();
        while history.is_due(ps) {
            history.apply_next(&self.events);
        }
        at(history.at(ps))
    }

    /// Returns what the machine did.
    pub(super) fn text(&mut self) -> String {
        self.apply_until(self.now_ps());
        self.trace.text(&self.lost)
    }

    /// Returns what was counted of a CPU.
    pub(super) fn cpu_account(&self, cpu: u32) -> SimulatedCpuAccount {
        let step_ps = u128::from(self.settings.steal_step_ns.max(1)) * 1000;
        let steal_ps = self.steal_ps.get(cpu as usize).map_or(0, |ps| ps / step_ps * step_ps);
        let interrupts = self.interrupts.get(cpu as usize).copied().unwrap_or(0);
        SimulatedCpuAccount { interrupts, steal_ns: (steal_ps / 1000) as u64 }
    }
}
