//! Times in which the CPU is taken from the thread that measures.

use crate::simulation::PS;
use crate::simulation::random::Random;

/// Other work of the CPU. Times are in ns; 0 means never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Period of the timer tick, at which threads take turns.
    pub tick_ns: u64,
    /// Threads that compete for the CPU.
    pub competitors: u32,
    /// For how long each runs: until the first tick after that.
    pub slice_ns: u64,
    /// Mean distance of interrupts.
    pub interrupts_every_ns: u64,
    /// The shortest and longest that they last.
    pub interrupt_ns: (u64, u64),
    /// Mean distance of the times that the hypervisor takes.
    pub stolen_every_ns: u64,
    /// The shortest and longest of them.
    pub stolen_ns: (u64, u64),
    /// CPUs of the machine.
    pub cpus: u32,
    /// Share of preemptions after which a thread goes on on another one, from 0 to 1.
    pub migrates: f64,
}

impl Load {
    /// One CPU that has nothing else to do.
    pub const NONE: Self = Self {
        tick_ns: 4_000_000,
        competitors: 0,
        slice_ns: 0,
        interrupts_every_ns: 0,
        interrupt_ns: (0, 0),
        stolen_every_ns: 0,
        stolen_ns: (0, 0),
        cpus: 1,
        migrates: 0.0,
    };
}

/// A time in which the thread does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Start, in ps of true time.
    pub at_ps: u128,
    /// Duration, in ps.
    pub ps: u128,
    /// The one that has the CPU meanwhile.
    pub by: Taker,
    /// The CPU on which the thread goes on.
    pub cpu: u32,
}

/// Takers of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taker {
    /// Other threads.
    Threads,
    /// An interrupt.
    Interrupt,
    /// The hypervisor.
    Hypervisor,
    /// The whole machine is suspended, or on its way to another host.
    Pause,
}

/// Decides it, from a seed.
#[derive(Clone, Debug)]
pub struct Scheduler {
    load: Load,
    random: Random,
    cpu: u32,
    /// Start of the thread's turn.
    turn_ps: u128,
    interrupt_at_ps: Option<u128>,
    theft_at_ps: Option<u128>,
}

impl Scheduler {
    /// Begins with a turn of the thread, on CPU 0, at `now_ps`.
    #[must_use]
    pub fn new(load: Load, seed: u64, now_ps: u128) -> Self {
        let mut scheduler =
            Self { load, random: Random::new(seed), cpu: 0, turn_ps: now_ps, interrupt_at_ps: None, theft_at_ps: None };
        scheduler.interrupt_at_ps = scheduler.after(now_ps, load.interrupts_every_ns);
        scheduler.theft_at_ps = scheduler.after(now_ps, load.stolen_every_ns);
        scheduler
    }

    fn after(&mut self, now_ps: u128, mean_ns: u64) -> Option<u128> {
        (mean_ns > 0).then(|| now_ps + 1 + u128::from(self.random.waiting(mean_ns)) * u128::from(PS))
    }

    /// The CPU that the thread runs on.
    #[must_use]
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Returns the same, of a thread on another CPU than the first.
    #[must_use]
    pub(crate) fn on_cpu(self, cpu: u32) -> Self {
        Self { cpu, ..self }
    }

    /// The thread has slept, and begins a turn.
    pub fn wake(&mut self, now_ps: u128) {
        self.turn_ps = now_ps;
    }

    /// The first time from `now_ps` on in which the CPU is taken away, if it begins before
    /// `end_ps`.
    pub fn next(&mut self, now_ps: u128, end_ps: u128) -> Option<Taken> {
        let at_ps = self.first(now_ps)?;
        if at_ps >= end_ps {
            return None;
        }
        let (by, ps) = if self.interrupt_at_ps.is_some_and(|moment| moment <= at_ps) {
            self.interrupt_at_ps = self.after(at_ps, self.load.interrupts_every_ns);
            (Taker::Interrupt, self.lasts(self.load.interrupt_ns))
        } else if self.theft_at_ps.is_some_and(|moment| moment <= at_ps) {
            self.theft_at_ps = self.after(at_ps, self.load.stolen_every_ns);
            (Taker::Hypervisor, self.lasts(self.load.stolen_ns))
        } else {
            let ps = u128::from(self.load.competitors) * self.turns_ps();
            self.turn_ps = at_ps + ps;
            if self.load.cpus > 1 && self.random.happens(self.load.migrates) {
                self.cpu = (self.cpu + 1 + self.random.below(u64::from(self.load.cpus) - 1) as u32) % self.load.cpus;
            }
            (Taker::Threads, ps)
        };
        Some(Taken { at_ps, ps, by, cpu: self.cpu })
    }

    /// Returns when that time begins; `None` if the CPU is never taken away.
    pub(crate) fn first(&self, now_ps: u128) -> Option<u128> {
        let turn_ends = self.turn_ends(now_ps);
        Some([turn_ends, self.interrupt_at_ps, self.theft_at_ps].into_iter().flatten().min()?.max(now_ps))
    }

    /// The tick at which the thread's turn ends; none where nobody competes.
    fn turn_ends(&self, now_ps: u128) -> Option<u128> {
        if self.load.competitors == 0 {
            return None;
        }
        let tick = self.tick_ps();
        let used_up = self.turn_ps + u128::from(self.load.slice_ns) * u128::from(PS);
        Some(used_up.max(now_ps).div_ceil(tick) * tick)
    }

    /// Length of the turn of a thread that begins at a tick.
    fn turns_ps(&self) -> u128 {
        let slice = u128::from(self.load.slice_ns) * u128::from(PS);
        slice.div_ceil(self.tick_ps()).max(1) * self.tick_ps()
    }

    fn tick_ps(&self) -> u128 {
        u128::from(self.load.tick_ns.max(1)) * u128::from(PS)
    }

    fn lasts(&mut self, (shortest, longest): (u64, u64)) -> u128 {
        u128::from(self.random.between(shortest, longest + 1)) * u128::from(PS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u128 = 1_000_000_000;

    #[test]
    fn threads_take_turns_at_ticks() {
        let load = Load { competitors: 2, slice_ns: 6_000_000, ..Load::NONE };
        let mut scheduler = Scheduler::new(load, 1, MS);
        // 6 ms from 1 ms on are over at the tick of 8 ms; two others run for two ticks each.
        let first = scheduler.next(MS, 100 * MS).unwrap();
        assert_eq!((first.at_ps, first.ps, first.by), (8 * MS, 16 * MS, Taker::Threads));
        let second = scheduler.next(24 * MS, 100 * MS).unwrap();
        assert_eq!((second.at_ps, second.ps), (32 * MS, 16 * MS));
        assert_eq!(scheduler.next(48 * MS, 50 * MS), None);
        // Who slept has a turn before it.
        scheduler.wake(70 * MS);
        assert_eq!(scheduler.next(70 * MS, 100 * MS).unwrap().at_ps, 76 * MS);
    }

    #[test]
    fn what_comes_at_random_comes_as_often_as_is_said() {
        let load = Load {
            interrupts_every_ns: 1_000_000,
            interrupt_ns: (2_000, 9_000),
            stolen_every_ns: 10_000_000,
            stolen_ns: (100_000, 100_000),
            ..Load::NONE
        };
        let mut scheduler = Scheduler::new(load, 3, 0);
        let (mut now, mut counts) = (0, [0, 0]);
        while let Some(taken) = scheduler.next(now, 10_000 * MS) {
            assert!(taken.at_ps >= now);
            match taken.by {
                Taker::Interrupt => {
                    counts[0] += 1;
                    assert!((2 * 1_000_000..=9 * 1_000_000).contains(&taken.ps), "{taken:?}");
                }
                Taker::Hypervisor => counts[1] += 1,
                Taker::Threads | Taker::Pause => panic!("nobody competes, and nothing pauses"),
            }
            now = taken.at_ps + taken.ps;
        }
        assert!((9_000..11_000).contains(&counts[0]) && (850..1150).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn a_preempted_thread_may_continue_on_another_cpu() {
        let load = Load { competitors: 1, slice_ns: 1, cpus: 4, migrates: 0.5, ..Load::NONE };
        let mut scheduler = Scheduler::new(load, 5, 0);
        let (mut now, mut seen) = (1, [0; 4]);
        for _ in 0..1000 {
            let taken = scheduler.next(now, u128::MAX).unwrap();
            seen[taken.cpu as usize] += 1;
            now = taken.at_ps + taken.ps + 1;
        }
        assert!(seen.iter().all(|count| *count > 150), "{seen:?}");
    }
}
