//! Turns of threads: which one runs next, and how threads start, sleep, wait and end.

use std::fmt;

use super::state::MachineState;
use super::thread::{Status, Thread};
use crate::simulation::scheduler::{Load, Scheduler};

/// A CPU that a thread cannot be bound to: it is not online.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offline {
    /// The CPU.
    pub cpu: u32,
}

impl fmt::Display for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPU {} is not online", self.cpu)
    }
}

impl std::error::Error for Offline {}

/// Cost for the parent of starting a thread, in ps.
const START_PS: (u64, u64) = (5_000_000, 25_000_000);
/// Cost of waking the parent, in ps.
const JOIN_PS: (u64, u64) = (3_000_000, 30_000_000);
/// Cost of moving to another CPU, in ps.
const BIND_PS: (u64, u64) = (1_000_000, 6_000_000);

impl MachineState {
    /// Returns whether the running thread has to let others run first.
    #[inline]
    pub(super) fn is_ahead(&self) -> bool {
        self.now_ps() > self.limit_ps
    }

    fn draw(&mut self, (shortest, longest): (u64, u64)) -> u64 {
        self.random.between(shortest, longest.saturating_add(1))
    }

    /// Starts `count` threads, one after the other. The running one waits until they have ended.
    /// Returns `false` if it cannot start others.
    pub(super) fn start(&mut self, count: usize) -> bool {
        if self.threads.len() > 1 {
            return false;
        }
        for _ in 0..count {
            let ps = self.draw(START_PS);
            self.run(ps);
            self.add_thread();
        }
        self.threads[0].status = Status::Away;
        true
    }

    fn add_thread(&mut self) {
        self.started += 1;
        let (number, cpu, now_ps) = (self.started, self.quietest_cpu(), self.now_ps());
        let mut thread = Thread::new(number, cpu, now_ps, Scheduler::new(Load::NONE, 0, now_ps));
        thread.next_event = self.threads[0].next_event;
        self.threads.push(thread);
        self.running = self.threads.len() - 1;
        self.arrive(cpu);
        self.running = 0;
        self.trace.add(now_ps, &format!("thread {number} started on CPU {cpu}"));
    }

    /// Returns one of the CPUs that have the fewest threads.
    fn quietest_cpu(&mut self) -> u32 {
        let mut threads = vec![0; self.cpus as usize];
        self.threads[1..].iter().for_each(|thread| threads[thread.cpu as usize] += 1);
        let online: Vec<u32> = (0..self.cpus).filter(|cpu| self.is_online(*cpu)).collect();
        let fewest = online.iter().map(|cpu| threads[*cpu as usize]).min();
        let quietest: Vec<u32> = online.into_iter().filter(|cpu| Some(threads[*cpu as usize]) == fewest).collect();
        let index = self.random.below(quietest.len() as u64) as usize;
        quietest.get(index).copied().unwrap_or(0)
    }

    /// Chooses the thread that runs next: the one that is the furthest behind. `None` if all have
    /// ended. If all that are left wait, one of them is stuck.
    pub(super) fn choose(&mut self) -> Option<usize> {
        let index = match self.earliest(Thread::goes_on) {
            Some(index) => index,
            None => {
                let index = self.earliest(|thread| thread.status == Status::Waiting)?;
                self.threads[index].is_stuck = true;
                self.threads[index].wakeup_ps = self.threads[index].now_ps;
                index
            }
        };
        self.threads[index].status = Status::Runnable;
        self.running = index;
        let others = self.threads.iter().enumerate().filter(|(other, thread)| *other != index && thread.goes_on());
        let next_ps = others.map(|(_, thread)| thread.now_ps).min();
        let ahead_ps = u128::from(self.random.below(self.settings.lookahead_ps + 1));
        self.limit_ps = next_ps.map_or(u128::MAX, |next_ps| next_ps + ahead_ps);
        Some(index)
    }

    fn earliest(&self, which: impl Fn(&Thread) -> bool) -> Option<usize> {
        let indices = (0..self.threads.len()).filter(|index| which(&self.threads[*index]));
        indices.min_by_key(|index| self.threads[*index].now_ps)
    }

    /// Ends the running thread.
    pub(super) fn end(&mut self) {
        let (number, now_ps) = (self.thread().number, self.now_ps());
        self.thread().status = Status::Away;
        self.trace.add(now_ps, &format!("thread {number} ended"));
    }

    /// Wakes the thread that started the others, after the last one has ended.
    pub(super) fn join(&mut self) {
        let end_ps = self.threads.iter().map(|thread| thread.now_ps).max().unwrap_or(0);
        self.ended_ps += self.threads[1..].iter().map(|thread| thread.cpu_time_ps(thread.now_ps)).sum::<u128>();
        self.threads.truncate(1);
        (self.running, self.limit_ps) = (0, u128::MAX);
        let wake_ps = u128::from(self.draw(JOIN_PS));
        let thread = self.thread();
        thread.status = Status::Runnable;
        thread.account.voluntary += 1;
        thread.away_ps += end_ps + wake_ps - thread.now_ps;
        thread.now_ps = end_ps + wake_ps;
        // The others' times include those in which the machine did not run.
        self.skip_events();
        self.wake();
    }

    /// Puts the running thread to sleep.
    pub(super) fn fall_asleep(&mut self, ps: u64) {
        let late_ps = self.draw(self.settings.lateness_ps);
        let thread = self.thread();
        thread.account.voluntary += 1;
        thread.status = Status::Asleep;
        thread.now_ps += u128::from(ps) + u128::from(late_ps);
        thread.away_ps += u128::from(ps) + u128::from(late_ps);
    }

    /// Wakes the running thread. Returns `false` if it sleeps on because the machine was suspended.
    pub(super) fn wakes(&mut self) -> bool {
        let paused_ps = self.skip_events();
        let thread = self.thread();
        thread.now_ps += paused_ps;
        thread.away_ps += paused_ps;
        thread.status = if paused_ps == 0 { Status::Runnable } else { Status::Asleep };
        if paused_ps == 0 {
            self.wake();
        }
        paused_ps == 0
    }

    fn wake(&mut self) {
        let cpu = self.thread().cpu;
        let load = self.load(cpu);
        let thread = self.thread();
        if thread.load != load {
            return self.arrive(cpu);
        }
        thread.scheduler.wake(thread.now_ps);
        thread.floor_ps = thread.now_ps;
        thread.quiet_until_ps = 0;
    }

    /// Binds the running thread to a CPU.
    pub(super) fn bind(&mut self, cpu: u32) -> Result<(), Offline> {
        let ps = self.draw(BIND_PS);
        self.run(ps);
        if !self.is_online(cpu) {
            return Err(Offline { cpu });
        }
        self.thread().is_bound = true;
        self.arrive(cpu);
        let number = self.thread().number;
        self.trace.add(self.now_ps(), &format!("thread {number} bound to CPU {cpu}"));
        Ok(())
    }

    /// Lets the running thread run on all CPUs.
    pub(super) fn unbind(&mut self) {
        let ps = self.draw(BIND_PS);
        self.run(ps);
        self.thread().is_bound = false;
        let cpu = self.thread().cpu;
        self.arrive(cpu);
    }

    /// Makes the running thread watch the words that it loads from now on.
    pub(super) fn watch(&mut self) {
        let thread = self.thread();
        thread.is_watching = true;
        thread.observed.clear();
    }

    /// Ends that: the running thread has what it waited for.
    pub(super) fn stop_watching(&mut self) {
        let thread = self.thread();
        (thread.is_watching, thread.is_stuck) = (false, false);
        thread.observed.clear();
        // The branch that ends the waiting keeps reads behind it.
        thread.floor_ps = thread.now_ps;
    }

    /// Returns whether a watched word has been stored since it was loaded.
    pub(super) fn has_changed(&mut self) -> bool {
        let observed = std::mem::take(&mut self.thread().observed);
        let has_changed = observed.iter().any(|(index, version)| self.words.line(*index).version != *version);
        self.thread().observed = observed;
        self.thread().is_stuck &= !has_changed;
        has_changed
    }

    /// Returns whether no thread can store a word any more.
    pub(super) fn is_deadlocked(&mut self) -> bool {
        self.thread().is_stuck || self.threads.len() == 1
    }

    /// Makes the running thread wait until a word is stored.
    pub(super) fn block(&mut self) {
        let thread = self.thread();
        thread.status = Status::Waiting;
        thread.spun_from_ps = thread.now_ps;
    }

    /// Wakes the threads that watch this word, which was stored at a time.
    pub(super) fn wake_watchers(&mut self, word: usize, stored_ps: u128) {
        for thread in &mut self.threads {
            let mut observed = thread.observed.iter();
            let watches = thread.observed.is_empty() || observed.any(|(index, _)| *index == word);
            if thread.status == Status::Waiting && watches {
                thread.status = Status::Runnable;
                // Others compare with the time at which it goes on.
                thread.now_ps = stored_ps.max(thread.now_ps);
                thread.wakeup_ps = thread.now_ps;
                let ahead_ps = u128::from(self.random.below(self.settings.lookahead_ps + 1));
                self.limit_ps = self.limit_ps.min(thread.now_ps + ahead_ps);
            }
        }
    }

    /// Makes the running thread spin from the beginning of its wait until it was woken.
    pub(super) fn spin(&mut self) {
        let thread = self.thread();
        let wakeup_ps = thread.wakeup_ps;
        thread.now_ps = thread.spun_from_ps.min(wakeup_ps);
        self.spin_until(wakeup_ps);
    }
}
