use clockscope_records::{reasons, texts};

use super::*;
use crate::probe_moved_by::{BySystem, ProbeMovedBy};

/// Readings of a clock that a loop of `cost_ns` reads, whose value is the time cut down to
/// `tick_ns`, in units of `unit_ns`.
fn readings(cost_ns: impl Fn(u64) -> f64, tick_ns: f64, unit_ns: u64) -> ProbeReadings {
    // Long enough that coarse clocks step some ten times.
    let batches = ((10.0 * tick_ns / (1000.0 * cost_ns(0))) as u64).clamp(200, 50_000);
    let batch_reads = 1000u64;
    let mut now = 12_345.6;
    let mut counts = std::collections::BTreeMap::new();
    let (mut steps, mut batch_ns) = (Vec::new(), Vec::new());
    let mut last: Option<i64> = None;
    for batch in 0..batches {
        let began = now;
        for read in 0..batch_reads {
            let value = ((now / tick_ns).floor() * tick_ns / unit_ns as f64).floor() as i64;
            let step = last.map(|last| value - last);
            if let Some(step) = step.filter(|_| read > 0) {
                *counts.entry(step).or_insert(0) += 1;
            }
            steps.extend(step.filter(|step| *step != 0 && steps.len() < 20_000));
            last = Some(value);
            now += cost_ns(batch * batch_reads + read);
        }
        if batch_ns.len() < 10_000 {
            batch_ns.push((now - began).round() as u64);
        }
        now += 7_777.7;
    }
    ProbeReadings {
        api: "f".into(),
        built_on: "CLOCK_MONOTONIC".into(),
        moved_by: Some(ProbeMovedBy::Everywhere(MovedBy::Clocksource)),
        documented_coarse: Some(unit_ns >= 1_000_000),
        units_per_second: 1_000_000_000 / unit_ns,
        nominal_hz: Some(1_000_000_000 / unit_ns),
        batch_reads,
        batches,
        batch_ns,
        differences: counts.into_iter().collect(),
        steps,
        version: None,
        kind: None,
        is_usual: false,
        around_work: Vec::new(),
    }
}

/// A cost that varies as real ones do, and is this one on average.
fn noisy(cost_ns: f64) -> impl Fn(u64) -> f64 {
    let noise = [0.0, 0.7, 1.9, 0.3, 3.1, 0.9, 2.3];
    let least = cost_ns - noise.iter().sum::<f64>() / noise.len() as f64;
    move |read| least + noise[(read.wrapping_mul(2_654_435_761) >> 7) as usize % 7]
}

fn record(readings: &ProbeReadings, clocksource: Option<&str>) -> RuntimeRecord {
    let mut record = RuntimeRecord::default();
    fill(&mut record, readings, clocksource);
    record
}

#[test]
fn ticks_and_costs_are_found() {
    for (cost, tick, unit, zeros) in [
        (22.0, 10.014_831, 1, 0.0..1.0),
        // Mono's stopwatch: its unit is its tick.
        (28.0, 100.0, 100, 65.0..75.0),
        // A browser's, not isolated and isolated.
        (220.0, 100_000.0, 1, 99.7..99.9),
        (220.0, 5_000.0, 1, 95.0..96.0),
        // Coarse clocks: whole ms of an exact and of a coarse clock.
        (20.0, 1e6, 1_000_000, 99.99..100.0),
        (4.0, 4e6, 1_000_000, 99.99..100.0),
        // Under a slow hardware timer.
        (500.0, 69.841_279, 1, 0.0..0.1),
    ] {
        let readings = readings(noisy(cost), tick, unit);
        let found = record(&readings, Some("tsc"));
        let near =
            |figure: Option<f64>, expected: f64| figure.is_some_and(|figure| (figure / expected - 1.0).abs() < 1e-3);
        assert!(near(found.tick_ns.get(), tick), "{cost} {tick}: {found:?}");
        assert!(found.cost_ns.get().is_some_and(|found| (found / cost - 1.0).abs() < 0.01), "{cost}: {found:?}");
        assert!(
            found.zeros_percent.get().is_some_and(|found| zeros.contains(&found)),
            "{tick}: {:?}",
            found.zeros_percent
        );
        assert!(near(found.nominal_resolution_ns.get(), unit as f64));
        assert_eq!((found.regressions.get(), found.reads), (Some(0), Some(readings.reads())));
        let resolution = found.observed_resolution_ns.get().unwrap();
        assert!(resolution >= tick.min(cost).floor() && resolution <= tick.max(cost) + 4.0, "{found:?}");
        assert!(found.available && reasons(&found).is_empty(), "{found:?}");
    }
}

#[test]
fn what_is_unknown_has_its_reason() {
    let mut frozen = readings(noisy(20.0), 1e6, 1);
    frozen.steps.clear();
    frozen.differences = vec![(0, frozen.differences.iter().map(|(_, count)| count).sum())];
    frozen.nominal_hz = None;
    frozen.batch_ns.fill(0);
    let found = record(&frozen, None);
    for field in
        ["nominal_resolution_ns", "cost_ns", "observed_resolution_ns", "largest_step_ns", "tick_ns", "hardware_timer"]
    {
        assert!(reasons(&found).contains_key(field), "{field}: {found:?}");
    }
    assert_eq!(found.zeros_percent, Figure::Known(100.0));
}

#[test]
fn the_cost_of_a_read_is_the_median_of_the_batches() {
    let mut uneven = readings(noisy(22.0), 10.014_831, 1);
    // 1 to 201 ns a read, in no order.
    uneven.batch_ns = (0..201).map(|batch| (batch * 77 % 201 + 1) * uneven.batch_reads).collect();
    let cost = record(&uneven, Some("tsc")).cost.result().unwrap();
    assert_eq!((cost.median, cost.min, cost.batches, cost.reads_per_batch), (101.0, 1.0, 201, 1000));
    assert!(cost.p99.get().is_some_and(|p99| (p99 - 199.0).abs() <= 1.0), "{cost:?}");
    assert!(
        cost.ci95.get().is_some_and(|[low, high]| low > 80.0 && low < 101.0 && high > 101.0 && high < 122.0),
        "{cost:?}"
    );
}

#[test]
fn steps_back_between_batches_are_counted_as_far_as_steps_show() {
    let with = |differences: &[(i64, u64)], steps: &[i64]| {
        let mut odd = readings(noisy(22.0), 10.014_831, 1);
        (odd.differences, odd.steps) = (differences.to_vec(), steps.to_vec());
        record(&odd, Some("tsc")).regressions
    };
    // None within a batch: all of them were between.
    assert_eq!(with(&[(0, 5), (20, 100)], &[20, -7, 20, -7, 20, -9]), Figure::Known(3));
    // Two within: one more was between, and one of another size.
    assert_eq!(with(&[(-7, 2), (20, 100)], &[20, -7, -7, 20, -7, -1]), Figure::Known(4));
    // More within than steps show.
    assert_eq!(with(&[(-7, 9), (20, 100)], &[20, -7, 20]), Figure::Known(9));
    assert_eq!(with(&[(20, 100)], &[20, 30]), Figure::Known(0));
}

#[test]
fn steps_back_are_counted_and_do_not_spoil_the_others() {
    let mut odd = readings(noisy(22.0), 10.014_831, 1);
    odd.differences.insert(0, (-500, 3));
    odd.steps[100] = -500;
    let found = record(&odd, Some("tsc"));
    assert_eq!(found.regressions, Figure::Known(3));
    assert!(found.tick_ns.get().is_some_and(|ns| (ns - 10.014_831).abs() < 0.01), "{found:?}");
    assert!(found.observed_resolution_ns.get().is_some_and(|ns| ns > 0.0));
}

/// A read that always takes the same and now and then repeats the one before is no tick: of the
/// steps that are kept, as few repeated as of all.
#[test]
fn rare_repeats_among_many_readings_prove_no_tick() {
    let mut even = readings(noisy(22.0), 10.014_831, 1);
    even.steps = vec![22; 20_000];
    even.differences = vec![(0, 2_000), (22, 1_997_000)];
    let found = record(&even, Some("tsc"));
    assert!(reasons(&found).contains_key("tick_ns"), "{found:?}");
    // Where half of them do, it is one.
    even.differences = vec![(0, 1_000_000), (22, 1_000_000)];
    assert_eq!(record(&even, Some("tsc")).tick_ns, Figure::Known(22.0));
}

#[test]
fn what_moves_a_clock_is_what_its_probe_states() {
    let with = |moved_by: Option<MovedBy>, built_on: &str, clocksource: Option<&str>| {
        let declared = moved_by.map(ProbeMovedBy::Everywhere);
        let readings =
            ProbeReadings { moved_by: declared, built_on: built_on.to_owned(), ..readings(noisy(22.0), 10.0, 1) };
        let found = record(&readings, clocksource);
        assert_eq!(found.moved_by.get(), moved_by);
        found.hardware_timer
    };
    // The words of `built_on` decide nothing.
    for built_on in ["CLOCK_MONOTONIC", "CLOCK_MONOTONIC_COARSE, in whole ms", "a sundial"] {
        for (moved_by, name) in [
            (MovedBy::Clocksource, "hpet"),
            (MovedBy::PerformanceCounter, "QueryPerformanceCounter"),
            (MovedBy::TimerTick, "timer tick"),
            (MovedBy::Scheduler, "scheduler"),
            (MovedBy::Other, built_on),
        ] {
            assert_eq!(with(Some(moved_by), built_on, Some("hpet")), Figure::Known(name.to_owned()));
        }
        let hidden = with(Some(MovedBy::Clocksource), built_on, None);
        assert_eq!(hidden, Figure::unknown(texts::CLOCKSOURCE_HIDDEN));
        assert_eq!(with(None, built_on, Some("hpet")), Figure::unknown(texts::NOT_REPORTED_BY_PROBE));
    }
}

/// The timer tick moves Windows' cheap system time; elsewhere the clocksource moves wall clocks.
#[test]
fn a_clock_is_moved_by_what_its_system_declares() {
    let declared = ProbeMovedBy::BySystem(BySystem {
        macos: Some(MovedBy::Scheduler),
        windows: Some(MovedBy::TimerTick),
        others: Some(MovedBy::Clocksource),
        ..BySystem::default()
    });
    let readings = ProbeReadings { moved_by: Some(declared), ..readings(noisy(22.0), 10.0, 1) };
    let on = |system| {
        let mut record = RuntimeRecord::default();
        fill_on(system, &mut record, &readings, Some("tsc"));
        (record.moved_by.get(), record.hardware_timer.known().cloned())
    };
    let is = |moved_by, timer: &str| (Some(moved_by), Some(timer.to_owned()));
    assert_eq!(on(System::Linux), is(MovedBy::Clocksource, "tsc"));
    assert_eq!(on(System::Macos), is(MovedBy::Scheduler, "scheduler"));
    assert_eq!(on(System::Windows), is(MovedBy::TimerTick, "timer tick"));
    assert_eq!(on(System::Other), is(MovedBy::Clocksource, "tsc"));
    // What is compiled for this system has its word.
    let here = record(&readings, Some("tsc")).moved_by.get();
    assert_eq!(here, declared.on(System::HERE));
    assert_eq!(System::HERE == System::Windows, cfg!(windows));
}

#[test]
fn what_is_documented_as_coarse_is_what_the_probe_states() {
    for declared in [Some(true), Some(false), None] {
        let readings = ProbeReadings { documented_coarse: declared, ..readings(noisy(20.0), 1e6, 1_000_000) };
        assert_eq!(
            record(&readings, Some("tsc")).documented_coarse,
            Figure::of(declared, texts::NOT_REPORTED_BY_PROBE)
        );
    }
}

#[test]
fn a_99th_percentile_needs_a_hundred_batches() {
    let p99 = |batches: usize| {
        let readings = ProbeReadings { batch_ns: vec![70_000; batches], ..readings(|_| 70.0, 10.0, 1) };
        cost(&readings).unwrap().p99.get()
    };
    assert_eq!([p99(99), p99(100)], [None, Some(70.0)]);
}
