//! *Gaps*: the times that threads lost, their lengths and causes.

use clockscope_measure::{GapsRequest, Session, gaps};
use clockscope_records::{CauseKind, CpuGaps, CpusReason, Envelope, Figure, Gaps, Unknown};
use clockscope_testing::simulation::{Lost, Random, Taker};

use crate::harness::{are_many, on_machines, on_one};
use crate::machine::{Machine, Maker, pick};
use crate::platform::{AccountRead, Simulated, THREAD_ACCOUNT_PS};

/// Share by which the scale of the timer may be off: the reference's rate, and the calibration's
/// bound.
const SCALE: f64 = 2e-3;
/// Turns of the loop between two looks whether the time is over.
const TURNS_PER_CHECK: f64 = 4096.0;

/// A machine on which threads lose time, sometimes to long thefts.
fn busy(mut maker: Maker) -> Machine {
    let random = &mut maker.random;
    if maker.load.stolen_every_ns > 0 && random.happens(0.5) {
        maker.load.stolen_ns = (20_000, 30_000_000);
    }
    let step_ns = pick(random, &[10_000_000, 10_000_000, 1_000_000, 1]);
    let machine = maker.make();
    machine.cpus.set_steal_step_ns(step_ns);
    machine
}

/// Has a machine move threads where these cannot be bound.
fn moving(mut maker: Maker) -> Maker {
    if !maker.facts.can_bind {
        maker.load.competitors = maker.load.competitors.clamp(1, 4);
        maker.load.migrates = maker.load.migrates.max(0.3);
    }
    maker
}

fn request(seed: u64, machine: &Machine) -> GapsRequest {
    let cpus = machine.cpus.cpus();
    let mut random = Random::new(seed);
    let on_all = random.happens(0.35);
    let threshold_s = pick(&mut random, &[0.0, 1e-6, 1e-6, 1e-6, 5e-6, 50e-6]);
    let seconds = if random.happens(0.02) { 0.3 } else { 0.002 + 0.03 * random.fraction() };
    let duration_s = match on_all {
        true => machine.duration_s(seconds) / f64::from(cpus),
        // Threads that cannot be bound are moved now and then.
        false if !machine.facts.can_bind => machine.duration_s(0.1 + 5.0 * seconds),
        false => machine.duration_s(seconds),
    };
    GapsRequest { threshold_s, duration_s, cpus: on_all.then(|| (0..cpus).collect()) }
}

/// A machine whose question has to end.
fn limited(machine: Machine, seed: u64) -> Simulated {
    let request = request(seed, &machine);
    // Asking for a gap's cause takes time as well.
    Simulated::within(machine, 2.0 * request.duration_s)
}

fn ask(session: &Session<'_, Simulated>, request: &GapsRequest) -> Envelope<Gaps> {
    session.platform().log_reference_reads();
    gaps(session, request, &mut |_| {}).expect("it can be asked")
}

/// A length that lies in between, in ns, and what may have caused it.
#[derive(Clone, Debug)]
struct Expected {
    at_ps: u128,
    lowest_ns: f64,
    highest_ns: f64,
    takers: Vec<Taker>,
    /// Takers of time since the account before, beside the gap.
    bystanders: Vec<Taker>,
    has_moved: bool,
    is_in_asking: bool,
}

/// Truth that a thread should have seen.
#[derive(Debug, Default)]
struct Truth {
    gaps: Vec<Expected>,
    /// Time that it looked or asked, in ns.
    whole_ns: f64,
    /// Time of that in which it asked.
    asking_ns: f64,
    /// Largest error of these, in ns.
    slack_ns: f64,
}

/// One thread's view of the machine.
struct View<'a> {
    lost: Vec<&'a Lost>,
    /// A read of the timer, and a step of it, in ps.
    turn_ps: f64,
    tick_ps: f64,
    threshold_ns: f64,
    /// Duration of a check whether the time is over, and the reads of the reference for these,
    /// ascending.
    check_ps: f64,
    reference_reads: Vec<u128>,
}

/// Questions that follow each other with no more than a read between them.
type Cluster = Vec<AccountRead>;

impl View<'_> {
    fn lost_in(&self, from_ps: u128, until_ps: u128) -> Vec<&Lost> {
        self.lost.iter().copied().filter(|lost| (from_ps..until_ps).contains(&lost.taken.at_ps)).collect()
    }

    fn lost_ps(&self, from_ps: u128, until_ps: u128) -> u128 {
        self.lost_in(from_ps, until_ps).iter().map(|lost| lost.taken.ps).sum()
    }

    fn clusters(&self, accounts: &[AccountRead]) -> Vec<Cluster> {
        let mut clusters: Vec<Cluster> = Vec::new();
        for account in accounts {
            let is_near = clusters.last().and_then(|cluster| cluster.last()).is_some_and(|last| {
                let lost_ps = self.lost_ps(last.until_ps, account.from_ps);
                let ran_ps = (account.from_ps - last.until_ps).saturating_sub(lost_ps) as f64;
                ran_ps < 3.0 * self.turn_ps
            });
            match clusters.last_mut() {
                Some(cluster) if is_near => cluster.push(*account),
                _ => clusters.push(vec![*account]),
            }
        }
        clusters
    }

    /// Adds what one thread should have found that asked these.
    fn truth(&self, accounts: &[AccountRead], truth: &mut Truth) {
        let few_ns = (3.0 * self.turn_ps + 2.0 * self.tick_ps) / 1e3;
        let mut usual: Option<(f64, f64)> = None;
        let mut former: Option<Cluster> = None;
        let mut began_ps = None;
        let in_polls = self.lost.iter().filter(|lost| self.is_in_poll(lost)).map(|lost| lost.taken.ps as f64 / 1e3);
        truth.slack_ns += in_polls.filter(|ns| *ns <= self.long_check_ns()).sum::<f64>();
        for cluster in self.clusters(accounts) {
            let (first, last) = (cluster[0], cluster[cluster.len() - 1]);
            let cpu_index =
                cluster.iter().position(|account| account.of_cpu.is_some()).expect("a glance leads to asking");
            let is_first = cpu_index == 0 && cluster.len() > 1;
            let is_last = cpu_index + 1 == cluster.len();
            if is_first {
                let took_ns = (first.until_ps - first.from_ps) as f64 / 1e3;
                usual = Some(shorter(usual, (took_ns, took_ns + few_ns)));
                began_ps = Some(last.until_ps);
                former = Some(cluster);
                continue;
            }
            let Some(before) = former.replace(cluster.clone()) else {
                panic!("a question before the first: {first:?}")
            };
            let resumed_ps = before[before.len() - 1].until_ps;
            if is_last {
                let began_ps = began_ps.take().expect("it began");
                truth.whole_ns += (first.from_ps - began_ps) as f64 / 1e3;
                truth.slack_ns += 4.0 * few_ns;
                self.all_are_noticed(resumed_ps, first.from_ps);
                continue;
            }
            let thread_read = cluster[cpu_index - 1];
            let mut gap = self.gap(resumed_ps, &cluster[..cpu_index], few_ns);
            gap.bystanders = self.takers(
                before.iter().find(|account| account.of_cpu.is_some()).map_or(resumed_ps, |account| account.from_ps),
                cluster[cpu_index].until_ps,
            );
            truth.gaps.push(gap);
            // Asking the CPU and the thread again.
            let took_ns = (last.until_ps - thread_read.until_ps) as f64 / 1e3;
            let took = (took_ns - few_ns, took_ns + few_ns);
            let now_usual = shorter(usual, took);
            usual = Some(now_usual);
            let more = (took.0 - now_usual.1, took.1 - now_usual.0);
            let least = |usual_ns: f64| self.threshold_ns.max(4.0 * usual_ns);
            if more.1 > least(now_usual.0) * (1.0 - SCALE) {
                let is_certain = more.0 > least(now_usual.1) * (1.0 + SCALE);
                truth.gaps.push(Expected {
                    at_ps: thread_read.until_ps,
                    lowest_ns: if is_certain { more.0 } else { 0.0 },
                    highest_ns: more.1,
                    takers: self.takers(thread_read.until_ps, last.until_ps),
                    bystanders: Vec::new(),
                    has_moved: self.has_moved(thread_read.until_ps, last.until_ps),
                    is_in_asking: true,
                });
            }
            let lost_ns = self.lost_ps(first.from_ps, last.until_ps) as f64 / 1e3;
            truth.asking_ns += ((last.until_ps - first.from_ps) as f64 / 1e3 - lost_ns).max(0.0);
            // What the asking lost is not looked at, or a gap.
            truth.slack_ns += lost_ns + 4.0 * few_ns;
        }
    }

    fn takers(&self, from_ps: u128, until_ps: u128) -> Vec<Taker> {
        self.lost_in(from_ps, until_ps).iter().map(|lost| lost.taken.by).collect()
    }

    fn has_moved(&self, from_ps: u128, until_ps: u128) -> bool {
        self.lost_in(from_ps, until_ps).iter().any(|lost| lost.taken.cpu != lost.cpu)
    }

    /// Losses right before a question, one after the other.
    fn tail(&self, from_ps: u128, until_ps: u128, check_ps: f64) -> Vec<&Lost> {
        let mut next_ps = until_ps;
        let is_near = |lost: &&Lost| {
            let ran_ps = next_ps.saturating_sub(lost.taken.at_ps + lost.taken.ps) as f64;
            next_ps = lost.taken.at_ps;
            ran_ps <= 9.0 * self.turn_ps + self.tick_ps + check_ps
        };
        self.lost_in(from_ps, until_ps).into_iter().rev().take_while(is_near).collect()
    }

    /// The gap that made a thread ask that had looked since then.
    fn gap(&self, since_ps: u128, thread_reads: &[AccountRead], few_ns: f64) -> Expected {
        let (first, last) = (thread_reads[0], thread_reads[thread_reads.len() - 1]);
        // It may have been lost while the thread looked whether its time was over. That belongs to
        // the gap where it alone would have made the thread ask.
        let check_ps = if self.has_polled(since_ps, first.from_ps) { self.check_ps } else { 0.0 };
        let [near, far] = [0.0, check_ps].map(|check_ps| self.tail(since_ps, first.from_ps, check_ps));
        let most_ps: u128 = far.iter().map(|lost| lost.taken.ps).sum();
        let is_noticed = |lost: &&Lost| lost.taken.ps as f64 / 1e3 > self.long_check_ns() + few_ns;
        let tail = if near.is_empty() || far[near.len()..].iter().any(is_noticed) { far } else { near };
        self.all_are_noticed(since_ps, tail.last().map_or(first.from_ps, |lost| lost.taken.at_ps));
        let is_after_asking =
            (tail.last().map_or(first.from_ps, |lost| lost.taken.at_ps) - since_ps) as f64 <= 9.0 * self.turn_ps;
        let long_ns = |ps: u128| ps as f64 / 1e3;
        let longest = tail.iter().map(|lost| long_ns(lost.taken.ps)).filter(|ns| *ns > 1e3);
        let mut lowest_ns: f64 = longest.sum::<f64>() - 2.0 * self.tick_ps / 1e3;
        let mut highest_ns = long_ns(most_ps) + few_ns + check_ps / 1e3;
        if is_after_asking {
            highest_ns += 8.0 * self.turn_ps / 1e3;
        }
        // An interruption of the first glance belongs to the gap.
        let thread_reads_ns = long_ns(last.until_ps - first.from_ps);
        let usual_ns = THREAD_ACCOUNT_PS as f64 / 1e3;
        let mut end_ps = first.from_ps;
        if thread_reads_ns > self.threshold_ns.max(4.0 * (usual_ns + few_ns)) * (1.0 + SCALE) {
            lowest_ns += thread_reads_ns;
        }
        if thread_reads_ns + few_ns > self.threshold_ns.max(4.0 * usual_ns) * (1.0 - SCALE) {
            highest_ns += thread_reads_ns + few_ns;
            end_ps = last.until_ps;
        }
        let at_ps = tail.last().map_or(first.from_ps, |lost| lost.taken.at_ps);
        Expected {
            at_ps,
            lowest_ns,
            highest_ns,
            takers: self.takers(at_ps, end_ps),
            bystanders: Vec::new(),
            has_moved: self.has_moved(at_ps, end_ps),
            is_in_asking: false,
        }
    }

    /// Returns true if the thread looked, right before a question, if its time was over.
    fn has_polled(&self, since_ps: u128, until_ps: u128) -> bool {
        let before = self.reference_reads.partition_point(|check_ps| *check_ps < until_ps);
        self.reference_reads[..before].last().is_some_and(|check_ps| {
            let ran_ps = (until_ps - check_ps).saturating_sub(self.lost_ps(*check_ps, until_ps)) as f64;
            *check_ps >= since_ps && ran_ps <= 9.0 * self.turn_ps + self.tick_ps + self.check_ps
        })
    }

    /// A time that a thread lost while it looked if its time was over is asked about where it is
    /// longer: a look takes so much more only if it was interrupted.
    fn long_check_ns(&self) -> f64 {
        (4.0 * self.turn_ps).max(2.0 * self.tick_ps).max(1e6).max(self.check_ps) / 1e3
    }

    /// Returns true if it was lost while the thread looked if its time was over.
    fn is_in_poll(&self, lost: &Lost) -> bool {
        let before = self.reference_reads.partition_point(|check_ps| *check_ps <= lost.taken.at_ps);
        self.reference_reads[..before]
            .last()
            .is_some_and(|check_ps| (lost.taken.at_ps - check_ps) as f64 <= self.check_ps)
    }

    /// No time that is above the threshold went by unnoticed while the thread looked.
    fn all_are_noticed(&self, from_ps: u128, until_ps: u128) {
        let slack_ns = (3.0 * self.turn_ps + 2.0 * self.tick_ps) / 1e3;
        for lost in self.lost_in(from_ps, until_ps) {
            let poll_ns = if self.is_in_poll(lost) { self.long_check_ns() } else { 0.0 };
            let is_long = lost.taken.ps as f64 / 1e3 > self.threshold_ns.max(poll_ns) * (1.0 + SCALE) + slack_ns;
            assert!(!is_long, "not noticed between {from_ps} and {until_ps}: {lost:?}");
        }
    }
}

fn shorter(one: Option<(f64, f64)>, other: (f64, f64)) -> (f64, f64) {
    one.map_or(other, |one| (one.0.min(other.0), one.1.min(other.1)))
}

/// Compares what was found with the truth. Returns how many causes were those of bystanders.
fn compare(session: &Session<'_, Simulated>, request: &GapsRequest, answer: &Envelope<Gaps>) -> u64 {
    let (platform, found) = (session.platform(), &answer.found);
    let machine = &platform.machine;
    let timer = machine.spec(&answer.run.as_ref().expect("it is a run").timer.name).expect("it is there");
    let turn_ps = timer.cost.ps as f64;
    let check_ps = machine.spec("monotonic_raw:syscall").expect("it is there").cost.ps as f64 * 2.0;
    let loop_ns = found.loop_ns.get().expect("it was found");
    let tick_ps = timer.tick_ns.max(1.0) * 1e3;
    assert!((loop_ns * 1e3 - turn_ps).abs() <= 0.35 * turn_ps + tick_ps + 1.0, "a turn of {turn_ps} ps: {loop_ns} ns");
    let requested_ns = request.threshold_s * 1e9;
    assert!(found.threshold_ns >= requested_ns.max(3.9 * loop_ns), "{}", found.threshold_ns);
    assert!(found.threshold_ns <= requested_ns.max(4.1 * loop_ns + 2.0 * tick_ps / 1e3), "{}", found.threshold_ns);
    let (accounts, lost) = (platform.account_reads.lock().expect("nobody panicked").clone(), machine.cpus.taken());
    let reference_reads = platform.reference_reads.lock().expect("nobody panicked").take().expect("they were kept");
    let mut aside = 0;
    let mut all: Vec<Expected> = Vec::new();
    for of_cpu in &found.gaps {
        let mut truth = Truth::default();
        let is_of = |account: &&AccountRead| request.cpus.is_none() || of_cpu.cpu.get() == account.of_cpu;
        let mut threads: Vec<u32> = accounts
            .iter()
            .filter(|account| account.of_cpu.is_some())
            .filter(is_of)
            .map(|account| account.thread)
            .collect();
        threads.dedup();
        for thread in threads {
            let accounts: Vec<AccountRead> =
                accounts.iter().filter(|account| account.thread == thread).copied().collect();
            let lost = lost.iter().filter(|lost| lost.thread == thread).collect();
            let reference_reads = reference_reads.iter().filter(|poll| poll.0 == thread).map(|poll| poll.1).collect();
            let threshold_ns = found.threshold_ns;
            View { lost, turn_ps, tick_ps, threshold_ns, check_ps, reference_reads }.truth(&accounts, &mut truth);
        }
        let possible: Vec<Expected> =
            truth.gaps.iter().filter(|gap| gap.highest_ns > found.threshold_ns * (1.0 - SCALE)).cloned().collect();
        aside += figures(of_cpu, [found.threshold_ns, turn_ps, check_ps], &truth, &possible);
        all.extend(possible);
    }
    let longest: Vec<f64> = found.worst.iter().map(|gap| gap.ns).collect();
    assert!(longest.is_sorted_by(|a, b| a >= b) && longest.len() <= 10, "{longest:?}");
    let count: u64 = found.gaps.iter().map(|gaps| gaps.count).sum();
    assert_eq!(longest.len() as u64, count.min(10));
    ranks(&longest, &all, found.threshold_ns);
    if count == all.len() as u64 && count <= 10 {
        in_time(found, &mut all);
    }
    aside
}

/// The longest are as long as the longest are.
fn ranks(longest: &[f64], all: &[Expected], threshold_ns: f64) {
    let sorted = |of: fn(&Expected) -> f64| {
        let mut lengths: Vec<f64> = all.iter().map(of).collect();
        lengths.sort_by(|a, b| b.total_cmp(a));
        lengths
    };
    let (lowest, highest) = (sorted(|gap| gap.lowest_ns), sorted(|gap| gap.highest_ns));
    for (rank, ns) in longest.iter().enumerate() {
        let (low, high) = (lowest[rank] * (1.0 - SCALE), highest[rank] * (1.0 + SCALE));
        assert!(*ns <= high && (*ns >= low || low < threshold_ns), "longest {rank}: {ns} ns, truly {low} to {high}");
    }
}

/// Each of the longest happened when it is said to, if these are all. No figure shows when that
/// time began.
fn in_time(found: &Gaps, all: &mut [Expected]) {
    all.sort_by_key(|gap| gap.at_ps);
    let mut reported: Vec<_> = found.worst.iter().collect();
    reported.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let (Some(first), Some(first_reported)) = (all.first(), reported.first()) else { return };
    for (gap, reported) in all.iter().zip(&reported) {
        let since_ns = (gap.at_ps - first.at_ps) as f64 / 1e3;
        let reported_ns = (reported.at_s - first_reported.at_s) * 1e9;
        let slack_ns = 5_000.0 + 20.0 * found.loop_ns.get().unwrap_or(0.0) + since_ns * SCALE;
        assert!(
            (reported_ns - since_ns).abs() <= slack_ns,
            "{reported:?} is reported for {gap:?}: {reported_ns} against {since_ns}"
        );
        assert!(is_right(gap, reported.cause), "{reported:?} is reported for {gap:?}");
    }
}

/// The cause is one of the gap, or of what fell into asking beside it, which
/// docs/reference/method/gaps.md says; or it is unknown.
fn is_right(gap: &Expected, cause: CauseKind) -> bool {
    let by = |taker: Taker| gap.takers.contains(&taker) || gap.bystanders.contains(&taker);
    if gap.has_moved {
        return cause == CauseKind::Migration;
    }
    if gap.takers.contains(&Taker::Threads) {
        return cause == CauseKind::InvoluntarySwitch;
    }
    match cause {
        CauseKind::Interrupt => by(Taker::Interrupt) && !gap.is_in_asking,
        CauseKind::Steal => by(Taker::Hypervisor) && !gap.is_in_asking,
        // What was counted is reported.
        CauseKind::Unknown => gap.is_in_asking || !gap.takers.contains(&Taker::Interrupt),
        // It fell between the reading of the counts and the beginning of the gap.
        CauseKind::InvoluntarySwitch => gap.bystanders.contains(&Taker::Threads),
        _ => false,
    }
}

/// The figures of one CPU.
fn figures(found: &CpuGaps, [threshold_ns, turn_ps, check_ps]: [f64; 3], truth: &Truth, possible: &[Expected]) -> u64 {
    let certain: Vec<&Expected> = possible.iter().filter(|gap| gap.lowest_ns > threshold_ns * (1.0 + SCALE)).collect();
    let (fewest, most) = (certain.len() as u64, possible.len() as u64);
    assert!(
        (fewest..=most).contains(&found.count),
        "truly {fewest} to {most}, threshold {threshold_ns} ns: {found:?} {possible:#?}"
    );
    let lowest: f64 = certain.iter().map(|gap| gap.lowest_ns).sum();
    let highest: f64 = possible.iter().map(|gap| gap.highest_ns).sum();
    let (low, high) = (lowest * (1.0 - SCALE), highest * (1.0 + SCALE) + 1.0);
    assert!((low..=high).contains(&found.lost_ns), "lost {} ns, truly {low} to {high}", found.lost_ns);
    let (seconds, asking) = (found.seconds, found.unwatched_seconds);
    let off_ns = ((seconds + asking) * 1e9 - truth.whole_ns).abs();
    assert!(off_ns <= truth.whole_ns * SCALE + truth.slack_ns, "{seconds} + {asking} s, truly {} ns", truth.whole_ns);
    let asking_off_ns = (asking * 1e9 - truth.asking_ns).abs();
    // Looking whether the time is over.
    let polls_ns = truth.whole_ns / (TURNS_PER_CHECK * turn_ps / 1e3).max(1.0) * check_ps / 1e3;
    let slack_ns = truth.whole_ns * SCALE + truth.slack_ns + possible.len() as f64 * 2e3 + polls_ns;
    assert!(asking_off_ns <= slack_ns, "not looked for {asking} s, truly {} ± {slack_ns} ns", truth.asking_ns);
    if let Figure::Known(percent) = found.lost_percent {
        assert!((percent - found.lost_ns / ((seconds + asking) * 1e9) * 100.0).abs() < 1e-6 * percent.max(1.0));
        assert!((0.0..=100.0).contains(&percent), "{percent} %");
    }
    let of_causes: u64 = found.causes.iter().map(|cause| cause.count).sum();
    let total_ns: f64 = found.causes.iter().map(|cause| cause.total_ns).sum();
    assert!(of_causes == found.count && (total_ns - found.lost_ns).abs() < 1.0, "{found:?}");
    let longest_ns = found.causes.iter().map(|cause| cause.max_ns).max_by(f64::total_cmp);
    assert_eq!(longest_ns, found.max_ns.get());
    if fewest == most {
        quantiles(found, &certain);
        return causes(found, &certain);
    }
    0
}

/// Each is between what it would be of the shortest and of the longest lengths that are possible.
fn quantiles(found: &CpuGaps, certain: &[&Expected]) {
    let sorted = |length: fn(&Expected) -> f64| {
        let mut lengths: Vec<f64> = certain.iter().map(|gap| length(gap)).collect();
        lengths.sort_by(f64::total_cmp);
        lengths
    };
    let (lowest, highest) = (sorted(|gap| gap.lowest_ns), sorted(|gap| gap.highest_ns));
    for (share, reported) in
        [(0.5, &found.p50_ns), (0.9, &found.p90_ns), (0.99, &found.p99_ns), (0.999, &found.p999_ns)]
    {
        let Some(reported) = reported.get() else { continue };
        let position = share * (lowest.len() - 1) as f64;
        let (low, high) = (lowest[position.floor() as usize], highest[position.ceil() as usize]);
        let is_between = reported >= low * (1.0 - SCALE) - 1.0 && reported <= high * (1.0 + SCALE) + 1.0;
        assert!(is_between, "quantile {share}: {reported} ns, truly {low} to {high}");
    }
}

/// As many of each cause as there were, or fewer where it is unknown.
fn causes(found: &CpuGaps, certain: &[&Expected]) -> u64 {
    let reported =
        |kind: CauseKind| found.causes.iter().find(|cause| cause.cause == kind).map_or(0, |cause| cause.count);
    let count = |is: &dyn Fn(&Expected) -> bool| certain.iter().filter(|gap| is(gap)).count() as u64;
    let moved = count(&|gap| gap.has_moved);
    assert_eq!(reported(CauseKind::Migration), moved, "{found:?}");
    let preempted = count(&|gap| !gap.has_moved && gap.takers.contains(&Taker::Threads));
    let beside = count(&|gap| !gap.takers.contains(&Taker::Threads) && gap.bystanders.contains(&Taker::Threads));
    let switched = reported(CauseKind::InvoluntarySwitch);
    assert!((preempted..=preempted + beside).contains(&switched), "{switched} of {preempted}: {certain:#?}");
    assert_eq!(reported(CauseKind::VoluntarySwitch) + reported(CauseKind::Softirq), 0);
    let alone = |gap: &Expected, taker: Taker| !gap.takers.is_empty() && gap.takers.iter().all(|by| *by == taker);
    let interrupted = count(&|gap| gap.takers.contains(&Taker::Interrupt));
    let others = count(&|gap| !gap.takers.contains(&Taker::Interrupt) && gap.bystanders.contains(&Taker::Interrupt));
    let interrupts = reported(CauseKind::Interrupt);
    let purely = count(&|gap| {
        alone(gap, Taker::Interrupt)
            && !gap.is_in_asking
            && !gap.bystanders.contains(&Taker::Threads)
            && !gap.bystanders.contains(&Taker::Hypervisor)
    });
    assert!(
        (purely..=interrupted + others).contains(&interrupts),
        "{interrupts} of {purely} to {interrupted} + {others}"
    );
    assert!(reported(CauseKind::Steal) <= count(&|gap| gap.takers.contains(&Taker::Hypervisor)), "{found:?}");
    interrupts.saturating_sub(interrupted)
}

/// Machines on which this was wrong once, by their seeds.
fn once(test: &str, seeds: &[u64]) {
    for seed in seeds {
        on_one(test, *seed, &limited(busy(Maker::new(*seed)), *seed), &mut |session, seed| {
            let request = request(seed, &session.platform().machine);
            compare(session, &request, &ask(session, &request));
        });
    }
}

/// Seeds of an earlier list of errors.
#[test]
fn losses_of_a_busy_cpu_are_reported() {
    once("gaps::what_threads_lost", &[0, 4, 5, 8]);
}

/// Looking whether the time was over took more than 1 µs, and asking the thread after that was
/// counted as a gap.
#[test]
fn reading_the_time_is_no_gap() {
    once("gaps::what_threads_lost", &[7, 11, 14, 19]);
}

/// The counter moves every 40 ns, and a turn takes less: a turn was taken to be 0, and every step
/// of the counter for a gap.
#[test]
fn a_step_of_the_timer_is_no_gap() {
    once("gaps::what_threads_lost", &[359, 910, 996, 1417]);
}

/// The thread was preempted when it looked whether its time was over, which it was: that was lost.
#[test]
fn the_last_gap_is_reported() {
    once("gaps::what_threads_lost", &[1109]);
}

/// An interrupt came while the thread looked whether its time was over. It was not asked about, so
/// that the next gap, which the hypervisor took, was counted as an interrupt. Where the look took
/// more than 1 µs, asking the thread after that was counted as lost.
#[test]
fn an_interrupt_while_the_time_is_read_is_noticed() {
    once("gaps::what_threads_lost", &[507, 1660]);
}

/// Five reads after asking took longer than a threshold of four, and were counted as the next gap.
#[test]
fn reads_after_asking_are_no_gap() {
    for seed in [511, 991, 1759] {
        on_one("gaps::what_threads_lost", seed, &limited(busy(Maker::new(seed)), seed), &mut |session, seed| {
            let request = request(seed, &session.platform().machine);
            let answer = ask(session, &request);
            compare(session, &request, &answer);
            let unknown = answer.found.worst.iter().filter(|gap| gap.cause == CauseKind::Unknown).count();
            assert_eq!(unknown, 0, "{:?}", answer.found.worst);
        });
    }
}

/// No CPU was watched, because threads cannot be bound; and none is reported to have no gaps.
fn is_not_monitored(found: &Gaps) {
    for of_cpu in &found.gaps {
        assert!(matches!(of_cpu.reason, Some(Unknown::Cpus(CpusReason::BindDenied { .. }))), "{of_cpu:?}");
        assert!(of_cpu.count == 0 && of_cpu.seconds == 0.0 && !of_cpu.lost_percent.is_known(), "{of_cpu:?}");
    }
    assert!(found.worst.is_empty(), "{found:?}");
}

/// Every time that a thread lost while it looked is reported, with its length and its cause, and no
/// other.
#[test]
fn what_threads_lost_is_reported_and_nothing_else() {
    let (mut gaps, mut aside, mut moved) = (0, 0, 0);
    let make = |seed| limited(busy(moving(Maker::varied(seed))), seed);
    on_machines("gaps::what_threads_lost", make, |session, seed| {
        let machine = &session.platform().machine;
        let request = request(seed, machine);
        let answer = ask(session, &request);
        if request.cpus.is_some() && !machine.facts.can_bind {
            return is_not_monitored(&answer.found);
        }
        aside += compare(session, &request, &answer);
        moved += machine.cpus.taken().iter().filter(|lost| lost.taken.cpu != lost.cpu).count();
        gaps += answer.found.gaps.iter().map(|gaps| gaps.count).sum::<u64>();
    });
    assert!(moved > 0 || !are_many(), "no thread was moved");
    eprintln!(
        "{moved} of which threads were moved, {gaps} gaps, of which {aside} were taken for interrupts that came while asking"
    );
}
