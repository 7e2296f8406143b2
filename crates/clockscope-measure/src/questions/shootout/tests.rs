//! Metrics of records.

use clockscope_records::{Emulator, TickReason, reasons, texts};

use super::*;
use crate::instrument::timer::TimerError;
use crate::questions::check::tests::demands::at_most;
use crate::questions::check::tests::{NAMES, healthy};

fn compared(seen: &Observations, a: &str, b: &str) -> Shootout {
    assert!(NAMES.contains(&b), "{b}");
    compare(seen, &[a.to_owned(), b.to_owned()])
}

fn winners(found: &Shootout) -> [Option<Winner>; 4] {
    let names: Vec<&str> = found.metrics.iter().map(|metric| metric.metric.as_str()).collect();
    assert_eq!(names, ["resolution", "accuracy", "cost", "reliability"]);
    for metric in &found.metrics {
        let reasons = reasons(&metric);
        assert_eq!(!metric.winner.is_known(), reasons.contains_key("winner"), "{metric:?}");
        assert_eq!(!metric.a.is_known(), reasons.contains_key("a"), "{metric:?}");
    }
    [0, 1, 2, 3].map(|index| found.metrics[index].winner.get())
}

fn reliability(unordered: &[&str], trusted_more: Option<&str>) -> MetricKind {
    MetricKind::Reliability {
        unordered: unordered.iter().copied().map(str::to_owned).collect(),
        trusted_more: trusted_more.map(str::to_owned),
    }
}

const TIE: Option<Winner> = Some(Winner::Tie);
const A: Option<Winner> = Some(Winner::A);
const B: Option<Winner> = Some(Winner::B);

#[test]
fn two_sound_clocks_on_one_hardware_differ_in_cost() {
    let found = compared(&healthy(), "rdtscp", "monotonic");
    assert_eq!(winners(&found), [TIE, TIE, A, TIE]);
    // 18 against 22 ns, two reads, one percent.
    assert!(found.negligible_beyond_us.is_some_and(|us| (us - 0.8).abs() < 1e-9), "{found:?}");
    assert_eq!(found.metrics[1].metric, MetricKind::Accuracy { reference: Some("monotonic_raw:syscall".to_owned()) });
    assert_eq!(found.metrics[3].metric, reliability(&[], None));
    assert_eq!(found.unreadable, None);
}

#[test]
fn a_finer_tick_wins_and_a_hair_does_not() {
    let mut seen = healthy();
    seen.clocks[1].tick_ns = Figure::Known(9.95);
    assert_eq!(winners(&compared(&seen, "rdtscp", "monotonic"))[0], TIE);
    seen.clocks[1].tick_ns = Figure::Known(1.0);
    assert_eq!(winners(&compared(&seen, "rdtscp", "monotonic"))[0], A);
}

/// A step that is only bounded may be as short as any other.
#[test]
fn a_bound_of_a_tick_wins_only_over_what_is_longer() {
    let mut seen = healthy();
    let clock = &mut seen.clocks[3];
    clock.tick_ns = Figure::unknown(TickReason::TooFine { at_most_ns: 3.0 });
    clock.tick_evidence = Some(at_most(3.0));
    for (tick_ns, winner) in [(0.4, None), (1.0, None), (3.0, None), (3.05, None), (10.0, B)] {
        seen.clocks[1].tick_ns = Figure::Known(tick_ns);
        let found = compared(&seen, "rdtscp", "monotonic");
        assert_eq!(winners(&found)[0], winner, "{tick_ns}");
        assert_eq!(found.metrics[0].b, Figure::unknown(TickReason::TooFine { at_most_ns: 3.0 }));
    }
}

#[test]
fn neither_is_more_accurate_for_being_different() {
    let mut seen = healthy();
    let rates = seen.rates.as_mut().unwrap();
    rates.clocks.iter_mut().find(|rate| rate.name == "monotonic").unwrap().ppm = Figure::Known(30.0);
    let found = compared(&seen, "rdtscp", "monotonic");
    assert_eq!(winners(&found)[1], None);
    assert_eq!((found.metrics[1].a.get(), found.metrics[1].b.get()), (Some(0.0), Some(30.0)));
}

#[test]
fn what_goes_back_is_less_reliable_and_an_unordered_read_is_excused() {
    let mut seen = healthy();
    seen.order.sequences[0].regressions = Figure::Known(9000);
    let found = compared(&seen, "tsc", "monotonic");
    assert_eq!(winners(&found)[3], B);
    assert_eq!(found.metrics[3].a, Figure::Known(9000.0));
    // Who goes back has lost, whatever `check` says.
    assert_eq!(found.metrics[3].metric, reliability(&["tsc"], None));
    // One that is ordered has no excuse.
    seen.order.sequences[0].ordered = true;
    assert_eq!(compared(&seen, "tsc", "monotonic").metrics[3].metric, reliability(&[], None));
}

/// Equal costs are no reason to choose, and neither is a cost that is unknown.
#[test]
fn costs_that_are_equal_or_unknown_have_no_length() {
    let mut seen = healthy();
    let cost_ns = seen.clocks[1].cost_ns.clone();
    seen.clocks[3].cost_ns = cost_ns;
    let found = compared(&seen, "rdtscp", "monotonic");
    assert_eq!((winners(&found)[2], found.negligible_beyond_us), (TIE, None));
    seen.clocks[3].cost_ns = Figure::unknown(texts::NO_BATCH);
    let found = compared(&seen, "rdtscp", "monotonic");
    assert_eq!((winners(&found)[2], found.negligible_beyond_us), (None, None));
}

#[test]
fn verdicts_decide_between_clocks_that_did_nothing_wrong() {
    let mut seen = healthy();
    seen.is_invariant = Some(false);
    let found = compared(&seen, "rdtscp", "monotonic");
    assert_eq!(winners(&found)[3], B);
    assert_eq!(found.metrics[3].metric, reliability(&[], Some("monotonic")));
}

/// A clock that is limited by its cost alone is trusted more only if its order was tested.
#[test]
fn an_untested_clock_is_not_trusted_more() {
    let mut seen = healthy();
    seen.is_invariant = Some(false);
    seen.clocks[3].cost_ns.known_mut().unwrap().median = 225.0;
    assert_eq!(winners(&compared(&seen, "rdtscp", "monotonic"))[3], B);
    // Nor was the order of one that is read in the same way.
    seen.order.sequences.iter_mut().filter(|sequence| sequence.ordered).for_each(|sequence| sequence.handoffs = 12);
    assert_eq!(winners(&compared(&seen, "rdtscp", "monotonic"))[3], TIE);
}

/// A coarse clock is limited by its resolution, which is compared already, and one whose step was
/// not seen is not less reliable.
#[test]
fn a_coarse_clock_is_not_less_reliable() {
    let mut seen = healthy();
    seen.clocks[3].tick_ns = Figure::Known(4e6);
    assert_eq!(winners(&compared(&seen, "rdtscp", "monotonic"))[3], TIE);
    let clock = &mut seen.clocks[3];
    clock.tick_ns = Figure::unknown(texts::NO_FORWARD_STEP);
    clock.observed_resolution_ns = Figure::unknown(texts::NO_FORWARD_STEP);
    clock.nominal_resolution_ns = Figure::Known(1e9);
    clock.events.as_mut().unwrap().stuck = 1;
    assert_eq!(winners(&compared(&seen, "rdtscp", "monotonic"))[3], TIE);
}

#[test]
fn what_was_not_measured_is_unknown() {
    let mut seen = healthy();
    seen.order.sequences.iter_mut().for_each(|sequence| sequence.regressions = Figure::unknown(texts::NO_HANDOFF));
    seen.rates = Err(TimerError::NoReference(Vec::new()).into());
    seen.environment.emulation = vec![Emulator::QemuTcg];
    let found = compared(&seen, "rdtscp", "monotonic");
    assert_eq!(winners(&found), [TIE, None, None, None]);
    assert_eq!(found.metrics[1].metric, MetricKind::Accuracy { reference: None });
    // Costs of an emulator.
    assert_eq!(found.negligible_beyond_us, None);
    // Of one thread alone there is no order.
    assert_eq!(winners(&compared(&seen, "rdtscp", "thread"))[3], None);
}

#[test]
fn a_clock_that_cannot_be_read_leaves_nothing() {
    let mut seen = healthy();
    (seen.clocks[3].available, seen.clocks[3].reason) = (false, Some(texts::CORE_CYCLES.into()));
    let found = compared(&seen, "rdtscp", "monotonic");
    assert_eq!(winners(&found), [None; 4]);
    let unreadable = UnreadableClock { clock: "monotonic".to_owned(), reason: texts::CORE_CYCLES.into() };
    assert_eq!((found.unreadable, found.negligible_beyond_us), (Some(unreadable), None));
}
