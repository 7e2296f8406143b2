//! *Offsets*: bounds that contain the truth, and what changes during the run.

use clockscope_measure::{OffsetsRequest, Session, offsets};
use clockscope_records::{CpusReason, Figure, OffsetPair, Offsets, PairsReason, Unknown, reasons, texts};
use clockscope_system::ClockBasis;
use clockscope_testing::simulation::{Change, Random};

use crate::across::{self, Apart, count_ns, is_gone, is_on_counter, true_ns};
use crate::events;
use crate::harness::{on_machines, on_one};
use crate::machine::{Clocksource, Machine, Maker, pause_ps};
use crate::platform::Simulated;

/// Shortest time for one direction of a pair, in ns (docs/reference/method/offsets.md).
const MIN_DIRECTION_NS: f64 = 2e6;

/// A step of a counter that may be taken for steering, in ns: of the time in which all CPUs are
/// compared with the kernel's clock.
const UNNOTICED_NS: f64 = 40e3;

/// Time for which a machine is asked beyond the usual one, in ms.
fn longer_ms(maker: &Maker) -> f64 {
    events::longer_ms(maker, 0.02)
}

/// Asks for a few ms, mostly less than the shortest time, but for busy machines that are asked for
/// long.
fn request(seed: u64, machine: &Machine) -> OffsetsRequest {
    let mut random = Random::new(seed);
    let duration_s = machine.duration_s(if random.happens(0.1) { 0.02 } else { 0.001 });
    OffsetsRequest { duration_s, cpus: None, serial: random.happens(0.3) }
}

/// A machine whose question has to end.
fn limited(machine: Machine, seed: u64) -> Simulated {
    let limit_s = request(seed, &machine).duration_s;
    across::limited(machine, limit_s)
}

fn ask(session: &Session<'_, Simulated>, seed: u64) -> Offsets {
    let machine = &session.platform().machine;
    let request = request(seed, machine);
    let OffsetsRequest { duration_s, serial, .. } = request;
    let found = offsets(session, &request, &mut |_| {}).expect("it can be asked").found;
    let (rounds, turns) = across::turns(machine.cpus.cpus(), serial);
    let turn_ns = (duration_s * 1e9 / (2.0 * rounds * turns)).max(MIN_DIRECTION_NS);
    across::check_time(machine, 2.0 * rounds * turns, turn_ns);
    found
}

/// Findings on this pair.
fn pair(found: &Offsets, a: u32, b: u32) -> &OffsetPair {
    found.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b)).expect("every pair has an entry")
}

fn furthest(pair: &OffsetPair) -> Option<f64> {
    Some(pair.offset_ns.get()?.abs() + pair.bound_ns.get()?)
}

/// A pair whose offset did not change contains it.
fn contains(machine: &Machine, (pair, reported_step_ns): (&OffsetPair, Option<f64>), ticks: &[i64]) {
    let expected_ns = true_ns(machine, ticks, pair.a, pair.b);
    let Some((offset_ns, bound_ns)) = pair.offset_ns.get().zip(pair.bound_ns.get()) else {
        panic!("the offset is {expected_ns} ns, and unknown: {pair:?}")
    };
    assert!((offset_ns - expected_ns).abs() <= bound_ns, "the offset is {expected_ns} ns: {pair:?}");
    assert_eq!(pair.apart, Figure::Known(offset_ns.abs() > bound_ns), "{pair:?}");
    assert!(pair.apart.get() == Some(false) || expected_ns != 0.0, "the counters agree: {pair:?}");
    assert!(pair.apart.get() == Some(true) || expected_ns.abs() <= 2.0 * bound_ns, "{expected_ns}: {pair:?}");
    // Never wider than the tightest round trip, the counter's step and the uncertainty of its rate,
    // 1000 ppm, allow.
    let step_ns = reported_step_ns.expect("it was tested");
    assert!(step_ns >= machine.counter_step as f64 * count_ns(machine) * 0.999, "{step_ns}");
    let widest_ns = pair.round_trip_ns.get().expect("there was one") / 2.0
        + step_ns
        + (expected_ns.abs() + step_ns + bound_ns) * 2e-3;
    assert!(bound_ns <= widest_ns, "{widest_ns}: {pair:?}");
    assert_ne!(pair.symmetric.get(), Some(false), "{pair:?}");
}

/// The summary follows from the pairs, and is never less than the truth.
fn adds_up(machine: &Machine, found: &Offsets, ticks: &[i64]) {
    let cpus = machine.cpus.cpus();
    let largest_ns = found.pairs.iter().map(|pair| true_ns(machine, ticks, pair.a, pair.b).abs()).fold(0.0, f64::max);
    let within_ns = found.within_ns.get().expect("every pair was tested");
    assert!(within_ns >= largest_ns, "{largest_ns}: {found:?}");
    assert_eq!(found.pairs.len() as u32, cpus * (cpus - 1) / 2);
    assert_eq!(found.apart, found.pairs.iter().filter(|pair| pair.apart.get() == Some(true)).count() as u64);
    let [a, b] = found.worst_pair.get().expect("every pair was tested");
    assert_eq!(furthest(pair(found, a, b)), Some(within_ns));
    assert_eq!(found.closure_ns.is_known(), cpus > 2);
    // What three offsets are off by is no more than what their bounds allow.
    let widest = found.pairs.iter().filter_map(|pair| pair.bound_ns.get()).fold(0.0, f64::max);
    assert!(found.closure_ns.get().unwrap_or(0.0) <= 3.0 * widest, "{found:?}");
}

/// The counter of each CPU against the kernel's clock there: they differ by the offset, unless both
/// show it.
fn kernels_clock(machine: &Machine, found: &Offsets, ticks: &[i64]) {
    assert_eq!(found.vdso.len() + 1, found.cpus.len());
    for reported in &found.vdso {
        let expected_ns =
            if is_on_counter(machine) { 0.0 } else { true_ns(machine, ticks, found.cpus[0], reported.cpu) };
        let (Some(offset_ns), Some(bound_ns)) = (reported.offset_ns, reported.bound_ns) else {
            panic!("the offset is {expected_ns} ns, and unknown: {reported:?}")
        };
        assert!((offset_ns - expected_ns).abs() <= bound_ns, "the offset is {expected_ns} ns: {reported:?}");
    }
}

/// Nothing is reported where nothing could be tested.
fn is_untested(found: &Offsets, is_reason: fn(&PairsReason) -> bool) {
    assert!(matches!(&found.untestable, Some(Unknown::Pairs(reason)) if is_reason(reason)), "{found:?}");
    assert!(!found.within_ns.is_known() && !found.worst_pair.is_known() && found.apart == 0, "{found:?}");
    assert!(found.pairs.iter().all(|pair| !pair.offset_ns.is_known() && !pair.apart.is_known()), "{found:?}");
}

/// The reason is the machine's: no counter, one CPU, or threads that cannot be bound.
fn has_no_pairs(machine: &Machine, found: &Offsets) {
    if machine.counter_cost.is_none() {
        return is_untested(found, |reason| matches!(reason, PairsReason::NoCounter { .. }));
    }
    if machine.cpus.cpus() == 1 {
        return is_untested(found, |reason| matches!(reason, PairsReason::OneCpu { .. }));
    }
    let cpus = machine.cpus.cpus();
    assert_eq!(found.pairs.len() as u32, cpus * (cpus - 1) / 2, "{found:?}");
    for pair in &found.pairs {
        assert!(matches!(pair.reason, Some(Unknown::Cpus(CpusReason::BindDenied { .. }))), "{pair:?}");
        assert!(!pair.offset_ns.is_known() && !pair.apart.is_known(), "{pair:?}");
    }
    assert!(!found.within_ns.is_known() && !found.worst_pair.is_known() && found.apart == 0, "{found:?}");
    assert!(found.vdso.iter().all(|reported| reported.offset_ns.is_none() && reported.reason.is_some()), "{found:?}");
}

fn check(session: &Session<'_, Simulated>, seed: u64, ticks: &[i64]) {
    let (machine, found) = (&session.platform().machine, ask(session, seed));
    if !machine.has_pairs() || machine.counter_cost.is_none() {
        return has_no_pairs(machine, &found);
    }
    found.pairs.iter().for_each(|pair| contains(machine, (pair, found.tick_ns.get()), ticks));
    adds_up(machine, &found, ticks);
    kernels_clock(machine, &found, ticks);
}

/// However far counters are apart, however long words take and however busy the machine is.
#[test]
fn the_bound_contains_the_truth() {
    let make = |seed| across::random(seed, 0.6);
    on_machines(
        "offsets::the_bound_contains_the_truth",
        |seed| limited(make(seed).machine, seed),
        |session, seed| check(session, seed, &make(seed).ticks),
    );
}

/// A machine in which the offset of one CPU changes during the run: when, which CPU's, and the
/// offsets afterwards.
fn changing(seed: u64) -> (Apart, Vec<i64>) {
    let maker = Maker::varied(seed).answering().with_pairs();
    let (hz, longer_ms) = (maker.counter_hz, longer_ms(&maker));
    let mut apart = across::from(maker, seed, 0.3);
    let mut random = Random::new(seed ^ 0x00c4_a46e);
    let mut after = apart.ticks.clone();
    let cpu = random.below(after.len() as u64) as u32;
    after[cpu as usize] += across::offset(&mut random, hz);
    let at_ms = 3.0 + (15.0 + longer_ms) * random.fraction();
    apart.machine.at_ms(at_ms, Change::SetCounterOffset { cpu, ticks: after[cpu as usize] });
    (apart, after)
}

/// The reported offset is the one before, the one afterwards, or one between them that explains
/// both; or it is reported that it changed.
#[test]
fn a_change_is_reported_or_explained() {
    let mut reported = 0;
    on_machines(
        "offsets::a_change_is_reported_or_explained",
        |seed| limited(changing(seed).0.machine, seed),
        |session, seed| {
            let (apart, after) = changing(seed);
            let (machine, found) = (&session.platform().machine, ask(session, seed));
            for pair in &found.pairs {
                let ends = [&apart.ticks, &after].map(|ticks| true_ns(machine, ticks, pair.a, pair.b));
                let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let Some((offset_ns, bound_ns)) = pair.offset_ns.get().zip(pair.bound_ns.get()) else {
                    assert!(least != most && pair.apart.get() != Some(false), "{ends:?}: {pair:?}");
                    // The exchanges show the change, or the reference, which may be based on one of
                    // the counters.
                    let has_parted = pair.reason == Some(CpusReason::ReferenceParted.into());
                    let is_reported = pair.offset_ns == Figure::unknown(texts::NO_CONSTANT_OFFSET);
                    assert!(has_parted || is_reported, "{pair:?}");
                    assert!(!found.within_ns.is_known(), "{found:?}");
                    reported += 1;
                    continue;
                };
                assert!(offset_ns + bound_ns >= least && offset_ns - bound_ns <= most, "{ends:?}: {pair:?}");
                assert!(pair.apart.get() != Some(true) || least != 0.0 || most != 0.0, "{ends:?}: {pair:?}");
                if least == most {
                    contains(machine, (pair, found.tick_ns.get()), &after);
                }
            }
            for reported in &found.vdso {
                let Some((offset_ns, bound_ns)) = reported.offset_ns.zip(reported.bound_ns) else { continue };
                let ends = [&apart.ticks, &after].map(|ticks| {
                    if is_on_counter(machine) { 0.0 } else { true_ns(machine, ticks, found.cpus[0], reported.cpu) }
                });
                let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let is_between = offset_ns + bound_ns >= least && offset_ns - bound_ns <= most;
                assert!(is_between, "{ends:?}: {reported:?}");
            }
        },
    );
    assert!(reported > 0 || std::env::var("CLOCKSCOPE_SEED").is_ok(), "no change was seen");
}

/// After a suspend or a move to another host, bounds hold the truth, or the offset is unknown. A
/// clock that is set changes nothing.
#[test]
fn what_happens_to_a_machine_is_no_offset() {
    on_machines("offsets::what_happens", |seed| disturbed(Maker::varied(seed), seed), nothing_was_apart);
}

/// The machine moved between the pairs, where the kernel's clock drew a line over all of them: a
/// step of 0.7 ms in 0.6 s bent that by more than its bound.
#[test]
fn a_move_before_the_kernels_clock_bent_its_line() {
    for (seed, long_s) in [(241, Some(0.5844829426783005)), (686, None)] {
        let maker = Maker { long_s, ..Maker::varied(seed) };
        on_one("offsets::what_happens", seed, &disturbed(maker, seed), &mut nothing_was_apart);
    }
}

/// A machine that is suspended or moves, or whose clock is set.
fn disturbed(maker: Maker, seed: u64) -> Simulated {
    let maker = maker.answering().with_pairs();
    let at_ms = 2.0 + (15.0 + longer_ms(&maker)) * Random::new(seed ^ 0xd16).fraction();
    limited(events::disturbed(maker, seed, at_ms), seed)
}

fn nothing_was_apart(session: &Session<'_, Simulated>, seed: u64) {
    let (machine, found) = (&session.platform().machine, ask(session, seed));
    let ticks = vec![0; machine.cpus.cpus() as usize];
    let is_pause = machine.changes.iter().any(|(_, change)| pause_ps(change) > 0);
    for pair in &found.pairs {
        if pair.offset_ns.is_known() {
            contains(machine, (pair, found.tick_ns.get()), &ticks);
        } else {
            assert!(is_pause && pair.apart.get() != Some(false), "{pair:?}");
            assert!(reasons(&pair).contains_key("offset_ns") && !found.within_ns.is_known(), "{found:?}");
        }
    }
    for reported in &found.vdso {
        let Some((offset_ns, bound_ns)) = reported.offset_ns.zip(reported.bound_ns) else {
            assert!(is_pause && reported.reason.is_some(), "{reported:?}");
            continue;
        };
        // A step of the counter that steering explains is not noticed.
        let step_ns = events::displaced_ns(machine, machine.spec("tsc").expect("it is there")).abs();
        let unnoticed_ns = if step_ns < UNNOTICED_NS { step_ns } else { 0.0 };
        assert!(offset_ns.abs() <= bound_ns + unnoticed_ns, "{reported:?}");
    }
}

/// A machine that loses a CPU during the run.
fn losing(maker: Maker, seed: u64) -> Apart {
    let longer_ms = longer_ms(&maker);
    let mut apart = across::from(maker.answering().with_pairs(), seed, 0.6);
    let mut random = Random::new(seed ^ 0x0ff1);
    let cpu = random.below(apart.ticks.len() as u64) as u32;
    let at_ms = 1.0 + (15.0 + longer_ms) * random.fraction();
    apart.machine.at_ms(at_ms, Change::SetOnline { cpu, is_online: false });
    apart
}

/// Pairs that were tested contain the truth; the others say why they were not. Returns how many.
fn loses(session: &Session<'_, Simulated>, seed: u64, ticks: &[i64]) -> u32 {
    let mut lost = 0;
    let (machine, found) = (&session.platform().machine, ask(session, seed));
    if found.pairs.is_empty() {
        assert!(found.untestable.is_some(), "{found:?}");
        return 0;
    }
    for pair in &found.pairs {
        if let Some(reason) = &pair.reason {
            assert!(is_gone(reason), "{pair:?}");
            assert!(!pair.offset_ns.is_known() && !pair.apart.is_known() && !found.within_ns.is_known(), "{found:?}");
            lost += 1;
        } else {
            contains(machine, (pair, found.tick_ns.get()), ticks);
        }
    }
    for reported in found.vdso.iter().filter(|reported| reported.reason.is_none()) {
        let cpu = (reported.cpu, found.cpus[0]);
        let expected_ns = if is_on_counter(machine) { 0.0 } else { true_ns(machine, ticks, cpu.1, cpu.0) };
        let (offset_ns, bound_ns) = reported.offset_ns.zip(reported.bound_ns).expect("it has no reason");
        assert!((offset_ns - expected_ns).abs() <= bound_ns, "the offset is {expected_ns} ns: {reported:?}");
    }
    lost
}

#[test]
fn a_cpu_that_goes_offline_is_lost() {
    let mut lost = 0;
    on_machines(
        "offsets::a_cpu_that_goes_offline",
        |seed| limited(losing(Maker::varied(seed), seed).machine, seed),
        |session, seed| {
            lost += loses(session, seed, &losing(Maker::varied(seed), seed).ticks);
        },
    );
    assert!(lost > 0 || std::env::var("CLOCKSCOPE_SEED").is_ok(), "no CPU was lost");
}

/// A machine, as it was before machines varied, that lost a CPU and of which this was wrong once.
fn once(test: &str, seed: u64) {
    let Apart { machine, ticks } = losing(Maker::new(seed), seed);
    on_one(test, seed, &limited(machine, seed), &mut |session, seed| _ = loses(session, seed, &ticks));
}

/// Two threads that find themselves on one busy CPU take a slice for each message, and looked at
/// the clock only after hundreds of them: 18 s instead of 20 ms.
#[test]
fn long_turns_end_a_question_in_time() {
    once("offsets::long_turns", 48);
}

/// A thread was moved while it calibrated the counter, to a CPU whose counter was 0.3 ms ahead. By
/// that rate, a sixth too high, the counters of all other CPUs had changed theirs.
#[test]
fn a_rate_is_found_on_one_cpu() {
    once("offsets::a_rate_is_found", 1330);
}

/// A machine whose counter stands still from a time on: 0 to 20 ms, when the exchanges are over on
/// most.
fn freezing(maker: Maker, seed: u64) -> Apart {
    let mut maker = maker.answering().with_pairs();
    maker.clocksource = Clocksource::Device(10);
    let longer_ms = longer_ms(&maker);
    let mut apart = across::from(maker, seed, 0.6);
    let mut random = Random::new(seed ^ 0xf3ee);
    let at_ms = if random.happens(0.3) { 0.0 } else { (15.0 + longer_ms) * random.fraction() };
    apart.machine.at_ms(at_ms, Change::SetCounterRate { hz: 0.0 });
    apart
}

fn is_stuck(session: &Session<'_, Simulated>, seed: u64, ticks: &[i64]) {
    let (machine, found) = (&session.platform().machine, ask(session, seed));
    let frozen_ps =
        machine.changes.iter().find_map(|(ps, change)| matches!(change, Change::SetCounterRate { .. }).then_some(*ps));
    if frozen_ps == Some(0) {
        return is_untested(&found, |reason| matches!(reason, PairsReason::Stuck { .. }));
    }
    for pair in &found.pairs {
        if pair.offset_ns.is_known() {
            contains(machine, (pair, found.tick_ns.get()), ticks);
        } else {
            assert_eq!(pair.offset_ns, Figure::unknown(CpusReason::ReferenceParted), "{pair:?}");
            assert!(!found.within_ns.is_known() && frozen_ps.is_some_and(|ps| ps < machine.cpus.now_ps()), "{found:?}");
        }
        let is_fine = count_ns(machine) * (machine.counter_step as f64) < 2.0;
        assert!(!is_fine || pair.round_trip_ns.get() != Some(0.0), "{pair:?}");
    }
}

/// Equal readings of counters that stand still say nothing of counters that run.
#[test]
fn a_counter_that_stops_has_no_offset() {
    let make = |seed| freezing(Maker::varied(seed), seed);
    on_machines(
        "offsets::a_counter_that_stops",
        |seed| limited(make(seed).machine, seed),
        |session, seed| is_stuck(session, seed, &make(seed).ticks),
    );
}

/// It stopped 0.1 ms before its exchanges ended, too late for the reference to show that.
#[test]
fn a_counter_that_stops_at_the_end_has_no_offset() {
    let maker = || Maker { long_s: Some(0.13362944714419056), ..Maker::varied(88) };
    let Apart { machine, ticks } = freezing(maker(), 88);
    on_one("offsets::a_counter_that_stops", 88, &limited(machine, 88), &mut |session, seed| {
        is_stuck(session, seed, &ticks);
    });
}

/// The exchanges of a counter that had stopped took no time, and its offset was reported with a
/// bound of its step.
#[test]
fn exchanges_that_took_no_time_are_no_exchanges() {
    for seed in [0, 6] {
        let Apart { machine, ticks } = freezing(Maker::new(seed), seed);
        let platform = limited(machine, seed);
        on_one("offsets::exchanges_that_took", seed, &platform, &mut |session, seed| {
            is_stuck(session, seed, &ticks);
        });
    }
}

/// The step of the kernel's clock was not part of the bound of what is compared with it: the
/// clocksource jiffies moves once a timer tick.
#[test]
fn the_kernels_clock_is_as_coarse_as_its_device() {
    for seed in 0..20 {
        let make = || {
            let mut maker = Maker::new(seed).quiet();
            (maker.has_counter, maker.clocksource, maker.cpus) = (true, Clocksource::Device(1_000_000), 2);
            let mut apart = across::from(maker, seed, 0.6);
            let on_device = apart.machine.specs.iter_mut().filter(|spec| spec.info.basis == ClockBasis::Clocksource);
            on_device.for_each(|spec| spec.nominal_ns = spec.tick_ns);
            apart
        };
        on_one("offsets::the_kernels_clock", seed, &limited(make().machine, seed), &mut |session, seed| {
            kernels_clock(&session.platform().machine, &ask(session, seed), &make().ticks);
        });
    }
}

/// Offsets of 5 s were reported in ns to within 100 ns, by a rate that was known to 100 ppm.
#[test]
fn a_large_offset_is_as_uncertain_as_the_rate() {
    for seed in 0..10 {
        let make = || {
            let mut maker = Maker::new(seed).quiet();
            (maker.has_counter, maker.cpus) = (true, 2);
            let ticks = vec![0, 5 * maker.counter_hz as i64];
            across::with(maker.make(), &mut Random::new(seed), ticks)
        };
        on_one("offsets::a_large_offset", seed, &limited(make().machine, seed), &mut |session, seed| {
            check(session, seed, &make().ticks)
        });
    }
}
