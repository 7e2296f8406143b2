//! *Order*: readings that CPUs hand to each other, counted against what is true of their counters.

use clockscope_measure::{Catalog, Handoff, OrderRequest, Paths, Session, order};
use clockscope_records::{
    ClockReason, CpusReason, Figure, HandoffPair, Handoffs, LostPair, Order, PairsReason, Sequence, Unknown, reasons,
};
use clockscope_testing::simulation::{Change, Random, Refused};

use crate::across::{self, Apart, count_ns, is_gone, is_on_counter};
use crate::events;
use crate::harness::{are_many, on_machines, on_one};
use crate::machine::{Machine, Maker, Spec};
use crate::platform::Simulated;
use crate::varied::check_unreadable;

/// Shortest time for one clock and pair, in ns (docs/reference/method/order.md).
const MIN_TASK_NS: f64 = 0.5e6;

/// Duration of a question, in s, but for busy machines that are asked for long.
const USUAL_S: f64 = 0.001;

/// A machine whose question has to end.
fn limited(machine: Machine) -> Simulated {
    let limit_s = machine.duration_s(USUAL_S);
    across::limited(machine, limit_s)
}

/// Time for which a machine is asked beyond the usual one, in ms.
fn longer_ms(maker: &Maker) -> f64 {
    events::longer_ms(maker, USUAL_S)
}

/// A question: its clocks and how they are handed over.
struct Question {
    names: Vec<String>,
    handoffs: &'static [Handoff],
    serial: bool,
}

impl Question {
    /// Two clocks at random, handed over somehow.
    fn random(machine: &Machine, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let all: Vec<String> = machine.specs.iter().map(Spec::label).collect();
        let mut names: Vec<String> = (0..2).map(|_| all[random.below(all.len() as u64) as usize].clone()).collect();
        names.dedup();
        let ways: [&[Handoff]; 3] = [&[Handoff::Mailbox], &[Handoff::Lock], &Handoff::ALL];
        let handoffs = ways[random.below(3) as usize];
        Self { names, handoffs, serial: random.happens(0.3) }
    }

    fn ask(&self, session: &Session<'_, Simulated>) -> Order {
        let catalog = Catalog::new(session.platform()).select(&self.names, Paths::Libc).expect("they are there");
        let &Self { handoffs, serial, .. } = self;
        let machine = &session.platform().machine;
        let duration_s = machine.duration_s(USUAL_S);
        let request = OrderRequest { duration_s, cpus: None, serial, handoffs, stores: false };
        let found = order(session, catalog, &request, &mut |_| {}).expect("it can be asked").found;
        let (rounds, turns) = across::turns(machine.cpus.cpus(), serial);
        let tasks = (1 + handoffs.len() * self.names.len()) as f64;
        let all = rounds * turns * tasks;
        across::check_time(machine, all, MIN_TASK_NS.max(duration_s * 1e9 / all));
        self.consistent(machine, &found);
        found
    }

    /// Sums, rates and what is unknown fit together.
    fn consistent(&self, machine: &Machine, found: &Order) {
        assert_eq!(found.sequences.len(), self.names.len());
        let of_pairs = |of: fn(&HandoffPair) -> u64| found.pairs.iter().map(of).sum::<u64>();
        let regressions = |ordered: bool| {
            let sequences = found.sequences.iter().filter(|reported| reported.ordered == ordered);
            sequences.filter_map(|reported| reported.regressions.get()).sum::<u64>()
        };
        assert_eq!(
            [
                of_pairs(|pair| pair.handoffs),
                of_pairs(|pair| pair.ordered_regressions),
                of_pairs(|pair| pair.unordered_regressions)
            ],
            [found.sequences.iter().map(|reported| reported.handoffs).sum(), regressions(true), regressions(false)],
            "{found:?}"
        );
        assert!(found.pairs.is_sorted_by_key(|pair| (pair.a, pair.b)), "{found:?}");
        for pair in &found.pairs {
            assert!(pair.a < pair.b && pair.handoff_ns.get().is_none_or(|ns| ns > 0.0), "{pair:?}");
        }
        for reported in &found.sequences {
            let ways: Vec<&Handoffs> = reported.mailbox.known().into_iter().chain(reported.lock.known()).collect();
            let sum = |of: fn(&Handoffs) -> u64| ways.iter().map(|way| of(way)).sum::<u64>();
            assert_eq!(reported.handoffs, sum(|way| way.handoffs), "{reported:?}");
            assert_eq!(reported.regressions.get().unwrap_or(0), sum(|way| way.regressions), "{reported:?}");
            assert!(ways.iter().all(|way| way.regressions <= way.handoffs), "{reported:?}");
            assert!(ways.iter().all(|way| way.worst_ns.is_some() == (way.regressions > 0)), "{reported:?}");
            let worst_ns = ways.iter().filter_map(|way| way.worst_ns).max_by(f64::total_cmp);
            assert_eq!(
                (reported.worst_ns.get(), reported.worst_pair.is_known()),
                (worst_ns, worst_ns.is_some()),
                "{reported:?}"
            );
            let is_same = is_one_reading(reported);
            assert_eq!(reported.regressions.is_known(), reported.handoffs > 0 && !is_same, "{reported:?}");
            assert!(!is_same || sum(|way| way.regressions) == 0, "{reported:?}");
            let share = reported.regressions.get().map(|count| count as f64 / reported.handoffs as f64 * 1e6);
            assert_eq!(reported.regressions_per_million.get(), share, "{reported:?}");
            let is_read = reported.available;
            assert_eq!(
                reported.mailbox.is_known(),
                is_read && self.handoffs.contains(&Handoff::Mailbox),
                "{reported:?}"
            );
            assert_eq!(reported.lock.is_known(), is_read && self.handoffs.contains(&Handoff::Lock), "{reported:?}");
            // Two threads cannot hand a word over more often than its transit takes; nor in less
            // time than was spent.
            let most = reported.handoffs_per_second.get().unwrap_or(0.0);
            assert!(most.is_finite() && most < 2e9, "{reported:?}");
            let is_known = reported.handoffs_per_second.is_known();
            assert!(is_known || reasons(&reported).contains_key("handoffs_per_second"), "{reported:?}");
            assert!(!is_known || most > 0.0 && reported.handoffs > 0, "{reported:?}");
            let spec = machine.spec(&reported.name).expect("it is there");
            assert_eq!(reported.ordered, spec.cost.early_ps == 0, "{reported:?}");
        }
    }
}

/// Returns true if it was handed over, and not counted since all of its readings were the same:
/// equal readings are in any order.
fn is_one_reading(reported: &Sequence) -> bool {
    reported.handoffs > 0 && !reported.regressions.is_known()
}

/// Nothing is reported where no two threads could be bound: to one CPU, or to any.
fn is_untested(machine: &Machine, found: &Order) {
    let cpus = machine.cpus.cpus();
    assert_eq!(found.pairs_checked, 0, "{found:?}");
    if cpus == 1 {
        let is_alone = matches!(found.untestable, Some(Unknown::Pairs(PairsReason::OneCpu { .. })));
        assert!(is_alone, "{found:?}");
    } else {
        assert_eq!(found.lost.len() as u32, cpus * (cpus - 1) / 2, "{found:?}");
        let is_denied = |lost: &LostPair| matches!(lost.reason, Unknown::Cpus(CpusReason::BindDenied { .. }));
        assert!(found.lost.iter().all(is_denied), "{found:?}");
    }
    for reported in &found.sequences {
        assert!(!reported.regressions.is_known() && reported.handoffs == 0, "{reported:?}");
        assert!(reasons(&reported).contains_key("regressions"), "{reported:?}");
    }
}

/// Distance by which a receiver's reading may truly be below the sender's, in ns of the clock,
/// without its step; 0 or less where it may not.
fn ahead_ns(machine: &Machine, spec: &Spec, ticks: &[i64], from: u32, to: u32) -> f64 {
    let has_offset = spec.id.is_none() || is_on_counter(machine) && !spec.info.is_coarse;
    let offset_ns = if has_offset { across::true_ns(machine, ticks, to, from) } else { 0.0 };
    offset_ns + spec.cost.early_ps as f64 / 1e3
}

/// Amount by which a regression may exceed that: the clock's step, and the uncertainty of its unit.
fn slack_ns(machine: &Machine, spec: &Spec, ns: f64) -> f64 {
    let step_ns = machine.counter_step as f64 * count_ns(machine);
    step_ns + if spec.id.is_none() { 0.0 } else { 1.0 } + ns.abs() * 1e-3
}

/// Nothing goes back without the counters or the read itself as a cause.
fn check(machine: &Machine, ticks: &[i64], reported: &Sequence) {
    let spec = machine.spec(&reported.name).expect("it is there");
    if !machine.answers(spec) {
        assert!(!reported.available && reported.reason.is_some() && !reported.regressions.is_known(), "{reported:?}");
        return check_unreadable(machine, spec, reported.reason.as_ref());
    }
    assert!(reported.available && reported.reason.is_none(), "{reported:?}");
    let Figure::Known([from, to]) = reported.worst_pair else { return };
    let (ahead_ns, worst_ns) =
        (ahead_ns(machine, spec, ticks, from, to), reported.worst_ns.get().expect("it has a pair"));
    assert!(ahead_ns > 0.0, "CPU {from} is not ahead of {to}: {reported:?}");
    assert!(worst_ns <= ahead_ns + slack_ns(machine, spec, ahead_ns), "{ahead_ns}: {reported:?}");
}

/// Ordered reads of counters that agree, and of clocks on them, never go back; others by no more
/// than their lead.
#[test]
fn nothing_goes_back_where_counters_agree() {
    let mut handoffs = 0;
    on_machines(
        "order::nothing_goes_back",
        |seed| limited(across::random(seed, 0.0).machine),
        |session, seed| {
            let machine = &session.platform().machine;
            let found = Question::random(machine, seed).ask(session);
            let cpus = u64::from(machine.cpus.cpus());
            if machine.has_pairs() {
                assert!(found.lost.is_empty() && found.untestable.is_none(), "{found:?}");
                assert!(found.bare_handoffs_per_second.get().is_some_and(|most| most > 0.0), "{found:?}");
                assert_eq!(found.pairs_checked, cpus * (cpus - 1) / 2);
            } else {
                is_untested(machine, &found);
            }
            for reported in &found.sequences {
                check(machine, &vec![0; cpus as usize], reported);
                assert!(!reported.ordered || reported.regressions.get().unwrap_or(0) == 0, "{reported:?}");
                handoffs += reported.handoffs;
            }
        },
    );
    assert!(handoffs > 1000 || !are_many(), "{handoffs}");
}

/// However far the counters are apart, a regression is no larger than that, and is between CPUs
/// that are apart so.
#[test]
fn a_regression_is_as_large_as_the_offset_at_most() {
    let make = |seed| across::random(seed, 0.6);
    on_machines(
        "order::a_regression_is_as_large",
        |seed| limited(make(seed).machine),
        |session, seed| {
            let machine = &session.platform().machine;
            let ticks = make(seed).ticks;
            let found = Question::random(machine, seed).ask(session);
            found.sequences.iter().for_each(|reported| check(machine, &ticks, reported));
        },
    );
}

/// A quiet machine of two CPUs, one of which is behind by more than any message takes.
fn behind(seed: u64) -> (Apart, u32) {
    let mut maker = Maker::varied(seed).quiet().answering().with_pairs();
    maker.cpus = 2;
    let mut random = Random::new(seed ^ 0xbe41);
    let cpu = random.below(2) as u32;
    // 0.1 to 10 ms.
    let ns = 1e5 * 10f64.powf(2.0 * random.fraction());
    let mut ticks = vec![0; 2];
    ticks[cpu as usize] = -(ns * maker.counter_hz / 1e9) as i64;
    (across::with(maker.make(), &mut random, ticks), cpu)
}

/// Each reading that the CPU receives is ahead of its own, and none that it sends: under a lock,
/// every other handoff of each slice regresses. The worst is the offset, less the way.
#[test]
fn every_handoff_to_a_cpu_behind_regresses() {
    on_machines(
        "order::every_handoff",
        |seed| limited(behind(seed).0.machine),
        |session, seed| {
            let (apart, cpu) = behind(seed);
            let machine = &session.platform().machine;
            let mut question = Question::random(machine, seed);
            question.names.push("lfence_tsc_lfence".to_owned());
            question.names.sort();
            question.names.dedup();
            for reported in question.ask(session).sequences {
                check(machine, &apart.ticks, &reported);
                let spec = machine.spec(&reported.name).expect("it is there");
                let ahead_ns = ahead_ns(machine, spec, &apart.ticks, 1 - cpu, cpu);
                if ahead_ns < 5e4 {
                    continue;
                }
                assert_eq!(reported.worst_pair, Figure::Known([1 - cpu, cpu]), "{reported:?}");
                let worst_ns = reported.worst_ns.get().expect("there is one");
                assert!(worst_ns >= ahead_ns - 2e4, "{ahead_ns}: {reported:?}");
                if let Figure::Known(lock) = &reported.lock {
                    let halves = [lock.handoffs / 2, lock.handoffs.div_ceil(2)];
                    assert!(lock.handoffs > 100 && halves.contains(&lock.regressions), "{lock:?}");
                }
                if let Figure::Known(mailbox) = &reported.mailbox {
                    assert!(mailbox.handoffs > 100 && mailbox.regressions > 50, "{mailbox:?}");
                }
            }
        },
    );
}

/// Fault of one clock during the run.
struct ClockFault {
    name: &'static str,
    /// Otherwise it freezes.
    refuses: bool,
    at_ms: f64,
}

impl ClockFault {
    fn random(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0xfa11);
        let name = ["monotonic", "realtime", "monotonic_raw", "monotonic_coarse"][random.below(4) as usize];
        // Its slices begin after 3 ms, and are over after 10.
        Self { name, refuses: random.happens(0.5), at_ms: 2.0 + 6.0 * random.fraction() }
    }
}

/// A machine of which one clock refuses or freezes during the run.
fn failing(maker: Maker, seed: u64) -> Machine {
    let fault = ClockFault::random(seed);
    let mut machine = maker.quiet().answering().make();
    let clock = machine.spec(fault.name).and_then(|spec| spec.id).expect("every machine has it");
    let rejection = Change::RefuseClock { clock, refused: Some(Refused(22)) };
    machine.at_ms(fault.at_ms, if fault.refuses { rejection } else { Change::FreezeClock { clock } });
    machine
}

/// Asks a machine as it was before machines varied, of which this was wrong once.
fn once(test: &str, seed: u64) {
    on_one(test, seed, &limited(failing(Maker::new(seed), seed)), &mut |session, seed| _ = fails(session, seed));
}

/// A clock that refuses or stands still is reported so, within the time of the question. Others are
/// not. Returns how many were: of those that stand still, and of those that refuse.
fn fails(session: &Session<'_, Simulated>, seed: u64) -> [u32; 2] {
    let mut reported = [0, 0];
    let ClockFault { name, refuses, at_ms } = ClockFault::random(seed);
    let machine = &session.platform().machine;
    let question =
        Question { names: vec![name.to_owned(), "lfence_tsc_lfence".to_owned()], ..Question::random(machine, seed) };
    let found = question.ask(session);
    let ended_ms = machine.cpus.now_ps() as f64 / 1e9;
    let is_coarse = machine.spec(name).is_some_and(|spec| spec.info.is_coarse);
    for sequence in &found.sequences {
        assert_eq!(sequence.regressions.get().unwrap_or(0), 0, "{sequence:?}");
        let is_failed = match &sequence.reason {
            Some(Unknown::Clock(ClockReason::ReadingsEnded { .. })) => refuses,
            Some(Unknown::Clock(ClockReason::StoodStill)) => !refuses,
            _ => false,
        };
        let is_reported = !refuses && is_one_reading(sequence) || is_failed;
        if sequence.name != name {
            assert!(sequence.reason.is_none() && sequence.regressions.is_known(), "{sequence:?}");
            continue;
        }
        reported[usize::from(refuses)] += u32::from(is_reported);
        // It has failed for the whole of the last round, or never in the run.
        assert!(is_reported || sequence.reason.is_none(), "{sequence:?}");
        let round_ms = ended_ms - (at_ms + 8.0);
        assert!(is_reported || round_ms < 0.0 || is_coarse, "{at_ms} of {ended_ms}: {sequence:?}");
    }
    reported
}

#[test]
fn a_clock_that_fails_is_reported() {
    let mut reported = [0, 0];
    on_machines(
        "order::a_clock_that_fails",
        |seed| limited(failing(Maker::varied(seed).with_pairs(), seed)),
        |session, seed| {
            let found = fails(session, seed);
            reported = [reported[0] + found[0], reported[1] + found[1]];
        },
    );
    assert!(reported.iter().all(|count| *count > 0) || std::env::var("CLOCKSCOPE_SEED").is_ok(), "{reported:?}");
}

/// The time that a reference measured which refused during the run was infinite, and added up to a
/// panic. One that stood still never ended the question.
#[test]
fn a_reference_that_fails_ends_the_question() {
    [10, 15, 28].into_iter().for_each(|seed| once("order::a_reference_that_fails", seed));
}

/// Handoffs were counted while the reference stood still, and their time was not: 3 a nanosecond.
#[test]
fn handoffs_whose_time_is_not_known_have_no_rate() {
    once("order::handoffs_whose_time", 789);
}

/// The reference refused from the calibration on, and was read for seconds.
#[test]
fn a_reference_that_fails_at_the_start_is_replaced() {
    once("order::a_clock_that_fails", 974);
}

/// The clock froze after a few steps, which were too few to know how often it takes one.
#[test]
fn a_clock_that_freezes_after_few_steps_is_reported() {
    once("order::a_clock_that_fails", 1592);
}

/// Without a counter, a reference that stood still was read four million times in each slice.
#[test]
fn a_reference_that_is_stuck_alone_ends_the_question() {
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let mut maker = Maker::new(seed).quiet();
        maker.has_counter = false;
        let mut machine = maker.make();
        let clock = machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("every machine has it");
        machine.at_ms(3.0 + 5.0 * random.fraction(), Change::FreezeClock { clock });
        on_one("order::a_reference_that_is_stuck", seed, &limited(machine), &mut |session, seed| {
            _ = Question::random(&session.platform().machine, seed).ask(session);
        });
    }
}

/// A machine that loses a CPU during the run.
fn losing(seed: u64) -> Apart {
    let maker = Maker::varied(seed).with_pairs();
    let longer_ms = longer_ms(&maker);
    let mut apart = across::from(maker, seed, 0.6);
    let mut random = Random::new(seed ^ 0x0ff1);
    let cpu = random.below(apart.ticks.len() as u64) as u32;
    let at_ms = 1.0 + (10.0 + longer_ms) * random.fraction();
    apart.machine.at_ms(at_ms, Change::SetOnline { cpu, is_online: false });
    apart
}

/// The part that was tested is right, and the rest is lost, with the reason.
#[test]
fn a_cpu_that_goes_offline_is_lost() {
    on_machines(
        "order::a_cpu_that_goes_offline",
        |seed| limited(losing(seed).machine),
        |session, seed| {
            let apart = losing(seed);
            let machine = &session.platform().machine;
            let found = Question::random(machine, seed).ask(session);
            let pairs = found.cpus.len() * (found.cpus.len().saturating_sub(1)) / 2;
            // All pairs are tested at least twice: one that is lost in a later pass counts as both.
            let (checked, lost) = (found.pairs_checked as usize, found.lost.len());
            assert!(checked <= pairs && lost <= pairs && checked + lost >= pairs, "{found:?}");
            assert!(found.lost.iter().all(|lost| is_gone(&lost.reason)), "{found:?}");
            for reported in &found.sequences {
                if found.pairs_checked > 0 {
                    check(machine, &apart.ticks, reported);
                } else {
                    assert!(
                        !reported.regressions.is_known() && reasons(&reported).contains_key("regressions"),
                        "{reported:?}"
                    );
                }
            }
        },
    );
}

/// A suspend, a move to another host or a clock that is set makes readings go back by what it sets
/// them back, and no others.
#[test]
fn what_happens_to_a_machine_goes_back_by_what_it_is() {
    on_machines("order::what_happens", disturbed, goes_back_by_what_it_is);
}

/// Both threads lost their CPUs for 72 ms at the end of a slice in which a coarse clock of 4 ms was
/// read for 1 ms: it seemed to stand still.
#[test]
fn a_slice_that_ended_late_made_a_coarse_clock_appear_stuck() {
    on_one("order::what_happens", 260, &disturbed(260), &mut goes_back_by_what_it_is);
}

/// A machine that is suspended or moves, or whose clock is set.
fn disturbed(seed: u64) -> Simulated {
    let maker = Maker::varied(seed).with_pairs();
    let at_ms = 2.0 + (10.0 + longer_ms(&maker)) * Random::new(seed ^ 0xd15).fraction();
    limited(events::disturbed(maker, seed, at_ms))
}

fn goes_back_by_what_it_is(session: &Session<'_, Simulated>, seed: u64) {
    let machine = &session.platform().machine;
    for reported in Question::random(machine, seed).ask(session).sequences {
        let spec = machine.spec(&reported.name).expect("it is there");
        if !machine.answers(spec) {
            check_unreadable(machine, spec, reported.reason.as_ref());
            continue;
        }
        assert!(reported.reason.is_none(), "{reported:?}");
        let lead_ns = events::set_back_ns(machine, spec) + spec.cost.early_ps as f64 / 1e3;
        let Figure::Known(worst_ns) = reported.worst_ns else { continue };
        assert!(lead_ns > 0.0, "it was not set back: {reported:?}");
        assert!(worst_ns <= lead_ns + slack_ns(machine, spec, lead_ns), "{lead_ns} ns: {reported:?}");
    }
}
