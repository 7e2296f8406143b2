//! One thread that does nothing but read the timer, and what it has seen. Times are in the timer's
//! unit.

use clockscope_records::{CauseKind, CpusReason, GapCounts};
use clockscope_statistics::Reservoir;
use clockscope_system::account::{CpuAccount, ThreadAccount};

use super::cause;

/// Gaps whose lengths are kept of a CPU; more are represented by an even sample of them.
const MAX_SAMPLED_GAPS: usize = 1 << 14;
/// Number of the longest gaps that are listed.
pub(super) const MAX_WORST_GAPS: usize = 10;
/// Turns of the loop between two checks whether the time is over by another clock, or the user
/// wants to stop.
const TURNS_PER_CHECK: u32 = 1 << 12;
/// Ratio of the time that asking the system took to the usual one above which it was interrupted
/// itself.
const MAX_USUAL_RATIO: u64 = 4;
/// Number of tries to read the thread's own counts or another clock without an interruption.
const MAX_TRIES: u32 = 4;
/// Reads after asking that are not watched.
const COLD_READS: u32 = 4;

/// Sources that the thread reads.
pub(super) trait WatchSources {
    /// The timer.
    fn now(&mut self) -> u64;
    /// Returns what the system has counted of the thread: takes little time.
    fn thread(&mut self) -> ThreadAccount;
    /// Returns what it has counted of the CPU: takes much time.
    fn cpu(&mut self) -> CpuAccount;
    /// Returns true if the time is over by another clock, which is read each time. To be called now
    /// and then.
    fn is_over(&mut self) -> bool;
    /// Converts counts of the timer to ns.
    fn ns(&self, counts: u64) -> f64;
}

/// Limits by which a thread counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct GapThresholds {
    /// Two turns further apart than this have a gap between them, in the timer's unit.
    pub(super) threshold: u64,
    /// Two turns further apart than this have a pause between them; no more than the threshold.
    pub(super) pause: u64,
    /// The most turns in which a timer that works shows the same.
    pub(super) stall_turns: u32,
}

/// Observations of one thread so far.
pub(super) struct Watch {
    pub(super) cpu: Option<u32>,
    limits: GapThresholds,
    /// Watched time, and the unwatched part of the run. Both are summed from read to
    /// read, so that they hold every gap, also where the timer goes back between two reads.
    pub(super) observed: u64,
    pub(super) unobserved: u64,
    pub(super) count: u64,
    pub(super) lost: u64,
    pub(super) lengths: Reservoir,
    /// Cause, number, sum and longest.
    pub(super) causes: Vec<(CauseKind, u64, u64, u64)>,
    pub(super) worst: Vec<Gap>,
    pub(super) steal_ns: Option<u64>,
    pub(super) failure: Option<CpusReason>,
    /// The shortest times that asking the system has taken: of the CPU, and of the thread.
    usual_cpu_read: u64,
    usual_account: u64,
    /// The shortest time that a look at another clock has taken, and what one that was interrupted
    /// takes more, at least.
    usual_read: u64,
    long_check: u64,
}

/// One gap.
pub(super) struct Gap {
    pub(super) at: u64,
    pub(super) length: u64,
    pub(super) cause: CauseKind,
    pub(super) counted: GapCounts,
}

impl Watch {
    pub(super) fn new(cpu: Option<u32>, limits: GapThresholds) -> Self {
        Self {
            cpu,
            limits: GapThresholds { pause: limits.pause.min(limits.threshold), ..limits },
            observed: 0,
            unobserved: 0,
            count: 0,
            lost: 0,
            lengths: Reservoir::new(MAX_SAMPLED_GAPS),
            causes: Vec::new(),
            worst: Vec::new(),
            steal_ns: None,
            failure: None,
            usual_cpu_read: u64::MAX,
            usual_account: u64::MAX,
            usual_read: u64::MAX,
            long_check: limits.pause,
        }
    }

    /// Reads the timer for `length`. Gaps are recorded relative to `origin`.
    pub(super) fn watch(&mut self, sources: &mut impl WatchSources, origin: u64, length: u64) {
        self.time_reads(sources);
        let before = sources.now();
        let first = sources.cpu();
        let mut counted = Counted { thread: ThreadAccount::default(), cpu: first.clone() };
        let begin = sources.now();
        // The first asking about a gap has something to be compared with.
        self.usual_cpu_read = self.usual_cpu_read.min(since(begin, before).max(1));
        let start = self.read_account(sources, begin, &mut counted.thread);
        let (mut last, mut turns, mut is_over) = (start, 0_u32, false);
        let (mut furthest, mut stalled) = (0, 0);
        let (started, elapsed_before) = (since(start, origin), self.observed + self.unobserved);
        loop {
            let now = sources.now();
            let passed = since(now, last);
            if passed > self.limits.pause {
                let at = started + (self.observed + self.unobserved - elapsed_before);
                last = self.ask(sources, &mut counted, last, now, at);
            } else {
                self.observed += passed;
                last = now;
            }
            turns = turns.wrapping_add(1);
            if is_over || since(now, start) >= length {
                break;
            }
            if turns.is_multiple_of(TURNS_PER_CHECK) {
                is_over = sources.is_over();
                stalled = if since(last, start) > furthest { 0 } else { stalled + TURNS_PER_CHECK };
                furthest = furthest.max(since(last, start));
                if stalled >= self.limits.stall_turns {
                    self.failure.get_or_insert(CpusReason::TimerStopped);
                    break;
                }
                // The look may be a system call, which does not count as a gap. Where it took far
                // longer than looks do, something came between: the next turn finds the gap.
                let resumed = sources.now();
                let usual = self.usual_read.min(since(resumed, last));
                (last, self.usual_read) = (last.wrapping_add(usual), usual.max(1));
                self.unobserved += usual;
                let is_gap = since(resumed, last) > self.long_check.max(usual);
                if !is_gap {
                    self.unobserved += since(resumed, last);
                    last = resumed;
                }
                // A gap that was found is asked about first.
                if is_over && !is_gap {
                    break;
                }
            }
        }
        let end = sources.cpu();
        self.steal_ns = match (end.steal_ns, first.steal_ns) {
            (Some(end_ns), Some(first_ns)) if end.number == first.number => {
                Some(self.steal_ns.unwrap_or(0) + end_ns.saturating_sub(first_ns))
            }
            _ => self.steal_ns,
        };
    }

    /// Finds out what a look at another clock takes.
    fn time_reads(&mut self, sources: &mut impl WatchSources) {
        for _ in 0..MAX_TRIES {
            let from = sources.now();
            _ = sources.is_over();
            self.usual_read = self.usual_read.min(since(sources.now(), from).max(1));
        }
    }

    /// Asks the system what it has counted since it was asked last, after a pause from `last` until
    /// `now` that began `at` so much of the run. What came between the counts of the thread before
    /// and after asking is a gap of its own. Returns where looking goes on.
    fn ask(&mut self, sources: &mut impl WatchSources, counted: &mut Counted, last: u64, now: u64, at: u64) -> u64 {
        let mut thread = ThreadAccount::default();
        let until = self.read_account(sources, now, &mut thread);
        // An interruption that came with the counts of the thread is counted by these.
        let account_took = since(until, now);
        let is_longer = account_took > self.limits.threshold.max(MAX_USUAL_RATIO * self.usual_account);
        let (length, unseen) = if is_longer { (since(until, last), 0) } else { (since(now, last), account_took) };
        self.observed += length;
        self.unobserved += unseen;
        let cpu = sources.cpu();
        if length > self.limits.threshold {
            let (cause, counts) =
                cause::attributed([&counted.thread, &thread], [&counted.cpu, &cpu], sources.ns(length));
            self.take(Gap { at, length, cause, counted: counts });
        }
        // Gives memory back, which takes time.
        *counted = Counted { thread, cpu };
        let begin = sources.now();
        let end = self.read_account(sources, begin, &mut counted.thread);
        self.record_account_read(since(end, until), [&thread, &counted.thread], at + length + unseen);
        // The first reads after that are cold. What is longer than a gap is left to the next turn.
        let mut resumed = end;
        for _ in 0..=COLD_READS {
            let next = sources.now();
            if since(next, resumed) > self.limits.threshold {
                break;
            }
            resumed = next;
        }
        self.unobserved += since(resumed, end);
        resumed
    }

    /// Reads the counts of the thread, and the timer right after: again if something came between,
    /// which neither would report. Returns what the timer showed.
    fn read_account(&mut self, sources: &mut impl WatchSources, mut from: u64, thread: &mut ThreadAccount) -> u64 {
        for _ in 0..MAX_TRIES {
            *thread = sources.thread();
            let until = sources.now();
            let took = since(until, from);
            from = until;
            let is_first = self.usual_account == u64::MAX;
            self.usual_account = self.usual_account.min(took.max(1));
            if !is_first && took <= self.limits.pause.max(MAX_USUAL_RATIO * self.usual_account) {
                break;
            }
        }
        from
    }

    /// Asking the system took so long. What is far beyond the usual is a gap as well, by what was
    /// counted of the thread before and after; not by interrupts, which were read once.
    fn record_account_read(&mut self, took: u64, thread: [&ThreadAccount; 2], at: u64) {
        self.usual_cpu_read = self.usual_cpu_read.min(took.max(1));
        let more = took.saturating_sub(self.usual_cpu_read);
        if more <= self.limits.threshold.max(MAX_USUAL_RATIO * self.usual_cpu_read) {
            self.unobserved += took;
            return;
        }
        self.observed += more;
        self.unobserved += took - more;
        let (cause, counts) = cause::attributed(thread, [&CpuAccount::default(), &CpuAccount::default()], 0.0);
        self.take(Gap { at, length: more, cause, counted: GapCounts { while_asking: true, ..counts } });
    }

    pub(super) fn take(&mut self, gap: Gap) {
        self.count += 1;
        self.lost += gap.length;
        self.lengths.push(gap.length as f64);
        match self.causes.iter_mut().find(|(cause, ..)| *cause == gap.cause) {
            Some((_, count, total, longest)) => {
                *count += 1;
                *total += gap.length;
                *longest = gap.length.max(*longest);
            }
            None => self.causes.push((gap.cause, 1, gap.length, gap.length)),
        }
        let index = self.worst.partition_point(|other| other.length >= gap.length);
        if index < MAX_WORST_GAPS {
            self.worst.truncate(MAX_WORST_GAPS - 1);
            self.worst.insert(index, gap);
        }
    }
}

/// Counts of the system at some moment.
struct Counted {
    thread: ThreadAccount,
    cpu: CpuAccount,
}

/// From `earlier` until `later`; 0 where the timer went back.
fn since(later: u64, earlier: u64) -> u64 {
    (later.wrapping_sub(earlier) as i64).max(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use clockscope_system::account::Switches;
    use std::ops::Range;

    const STOPPED: u64 = 100_000_000;
    const LIMITS: GapThresholds = GapThresholds { threshold: 100, pause: 100, stall_turns: 1 << 20 };

    /// A thread that is stopped once, in the midst of whatever it does as the n-th, and interrupted
    /// every now and then.
    struct Simulated {
        time: u64,
        actions: u64,
        stopped_at: u64,
        /// True if what is being read is read before that, false if after it.
        before: bool,
        interrupts: u64,
        voluntary: u64,
        /// The times at which the counts of the CPU were read.
        counted_cpu: Vec<Range<u64>>,
    }

    impl Simulated {
        const BETWEEN_INTERRUPTS: u64 = 1_000_000;

        fn act<T>(&mut self, cost: u64, read: impl Fn(&Self) -> T) -> T {
            self.actions += 1;
            let is_stopped = self.actions == self.stopped_at;
            self.pass(cost / 2);
            let early = read(self);
            if is_stopped {
                self.voluntary += 1;
                self.time += STOPPED;
            }
            let value = if self.before { early } else { read(self) };
            self.pass(cost - cost / 2);
            value
        }

        fn pass(&mut self, time: u64) {
            self.time += time;
            if self.time > (self.interrupts + 1) * Self::BETWEEN_INTERRUPTS {
                self.interrupts = self.time / Self::BETWEEN_INTERRUPTS;
                self.time += 50_000;
            }
        }
    }

    impl WatchSources for Simulated {
        fn now(&mut self) -> u64 {
            self.act(1_000, |it| it.time)
        }

        fn thread(&mut self) -> ThreadAccount {
            self.act(2_000, |it| ThreadAccount {
                cpu: Some(0),
                switches: Some(Switches { voluntary: it.voluntary, involuntary: 0 }),
            })
        }

        fn cpu(&mut self) -> CpuAccount {
            let start = self.time;
            let account = self.act(200_000, |it| CpuAccount {
                interrupts: vec![("LOC".to_owned(), it.interrupts)],
                ..CpuAccount::default()
            });
            self.counted_cpu.push(start..self.time);
            account
        }

        fn is_over(&mut self) -> bool {
            self.act(2_000, |_| false)
        }

        fn ns(&self, counts: u64) -> f64 {
            counts as f64
        }
    }

    fn after_stop_at(stopped_at: u64, before: bool) -> (Simulated, Watch) {
        let mut sources = Simulated {
            time: 1_000,
            actions: 0,
            stopped_at,
            before,
            interrupts: 0,
            voluntary: 0,
            counted_cpu: Vec::new(),
        };
        let mut watch = Watch::new(Some(0), GapThresholds { threshold: 10_000, pause: 3_000, ..LIMITS });
        watch.watch(&mut sources, 0, 5_000_000);
        (sources, watch)
    }

    /// No time of a run is lost: what was watched and what was not are all that passes between the
    /// counts of the CPU that are read before and after it, but for one read of the timer and two
    /// of the thread's counts with the timer.
    #[test]
    fn observed_and_unobserved_time_are_the_run() {
        const OUTSIDE: u64 = 1_000 + 2 * (2_000 + 1_000);
        for stopped_at in [0, 100, 1000, 2000] {
            let (sources, watch) = after_stop_at(stopped_at, true);
            let (first, last) = (&sources.counted_cpu[0], &sources.counted_cpu[sources.counted_cpu.len() - 1]);
            let between = last.start - first.end;
            assert_eq!(between - (watch.observed + watch.unobserved), OUTSIDE, "{stopped_at}");
        }
    }

    /// Wherever the thread is stopped, also while it asks about another gap or reads the counts,
    /// the gap is attributed to the stop.
    #[test]
    fn a_stop_is_reported_wherever_it_falls() {
        let (sources, _) = after_stop_at(0, true);
        // Before the first and after the last look there is nothing to report.
        let (actions, mut asking) = (8 + 3 * u64::from(MAX_TRIES)..sources.actions - 3, 0);
        for (action, before) in actions.flat_map(|action| [(action, true), (action, false)]) {
            let (_, watch) = after_stop_at(action, before);
            let worst = &watch.worst[0];
            assert!(worst.length + 50_000 >= STOPPED, "{action} {before}: {}", worst.length);
            assert_eq!(worst.cause, CauseKind::VoluntarySwitch, "{action} {before}: {:?}", worst.counted);
            let voluntary = watch.causes.iter().find(|(cause, ..)| *cause == CauseKind::VoluntarySwitch).unwrap();
            assert_eq!(voluntary.1, 1, "{action} {before}");
            asking += u32::from(worst.counted.while_asking);
        }
        assert!(asking > 20, "{asking}");
    }

    #[test]
    fn asking_that_was_interrupted_is_a_gap() {
        let mut watch = Watch::new(Some(0), LIMITS);
        let thread = ThreadAccount::default();
        let sides = [&thread, &thread];
        watch.record_account_read(1000, sides, 0);
        watch.record_account_read(4900, sides, 0);
        assert_eq!((watch.unobserved, watch.count), (5900, 0));
        watch.record_account_read(90_000, sides, 7);
        assert_eq!((watch.unobserved, watch.observed, watch.count, watch.lost), (6900, 89_000, 1, 89_000));
        assert_eq!((watch.worst[0].at, watch.worst[0].cause), (7, CauseKind::Unknown));
        // A timer that went back meanwhile.
        assert_eq!(since(5, 10), 0);
    }
}
