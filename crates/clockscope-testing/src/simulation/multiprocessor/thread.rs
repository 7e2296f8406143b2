//! A simulated thread.

use crate::simulation::scheduler::{Load, Scheduler};

/// The system's counts of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedThreadAccount {
    /// The CPU that it is on.
    pub cpu: u32,
    /// Times that it slept.
    pub voluntary: u64,
    /// Times that other threads took its CPU.
    pub involuntary: u64,
}

/// Activity of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It runs, or would if it were its turn.
    Runnable,
    /// It wakes at its time.
    Asleep,
    /// It waits until a word is stored.
    Waiting,
    /// It has ended, or waits until others have.
    Away,
}

/// One thread and its own time.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) number: u32,
    pub(super) cpu: u32,
    pub(super) is_bound: bool,
    pub(super) now_ps: u128,
    /// Time at which it started, and the time since then in which it did not run: it slept, waited
    /// for others to end, or lost its CPU to another thread or the hypervisor.
    pub(super) started_ps: u128,
    pub(super) away_ps: u128,
    /// Nothing happens to it before.
    pub(super) quiet_until_ps: u128,
    /// No read takes its value before.
    pub(super) floor_ps: u128,
    /// Time at which its last store became visible.
    pub(super) stored_ps: u128,
    pub(super) scheduler: Scheduler,
    /// Other work of its CPU.
    pub(super) load: Load,
    /// The first of the events that it has not passed.
    pub(super) next_event: usize,
    pub(super) status: Status,
    /// True if it evaluates what it waits for, and so watches the words that it loads.
    pub(super) is_watching: bool,
    /// Those words, each with its version then.
    pub(super) observed: Vec<(usize, u64)>,
    /// Time at which its waiting began, and at which a store ended it.
    pub(super) spun_from_ps: u128,
    pub(super) wakeup_ps: u128,
    /// It waits for what nobody can do any more.
    pub(super) is_stuck: bool,
    pub(super) account: SimulatedThreadAccount,
}

impl Thread {
    /// Returns a thread that starts now.
    pub(super) fn new(number: u32, cpu: u32, now_ps: u128, scheduler: Scheduler) -> Self {
        Self {
            number,
            cpu,
            is_bound: false,
            now_ps,
            started_ps: now_ps,
            away_ps: 0,
            quiet_until_ps: 0,
            floor_ps: now_ps,
            stored_ps: 0,
            scheduler,
            load: Load::NONE,
            next_event: 0,
            status: Status::Runnable,
            is_watching: false,
            observed: Vec::new(),
            spun_from_ps: now_ps,
            wakeup_ps: now_ps,
            is_stuck: false,
            account: SimulatedThreadAccount::default(),
        }
    }

    /// Returns its CPU time until then, in ps. Interrupts count as the thread's.
    pub(super) fn cpu_time_ps(&self, at_ps: u128) -> u128 {
        at_ps.saturating_sub(self.started_ps + self.away_ps)
    }

    /// Returns whether it goes on by itself.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self.status, Status::Runnable | Status::Asleep)
    }
}
