//! *Measure*: what a read costs, its tick, and the events in the same pass.

use clockscope_measure::{Catalog, MeasureRequest, Paths, Session, measure};
use clockscope_records::{ClockRecord, Figure, Measurement, texts};
use clockscope_testing::simulation::{Load, Random};

use crate::harness::{Coverage, are_many, on_machines, on_one};
use crate::machine::{Machine, Maker, Spec};
use crate::platform::Simulated;
use crate::varied::check_unreadable;
use crate::{steps, ticks};

/// The longest measurement, in s, but for those of busy machines that are asked for long.
const MAX_MEASUREMENT_S: f64 = 0.16;

/// A random machine whose measurement has to end.
fn limited(seed: u64) -> Simulated {
    within(Maker::varied(seed).make())
}

fn within(machine: Machine) -> Simulated {
    let longest_s = machine.duration_s(MAX_MEASUREMENT_S);
    Simulated::within(machine, longest_s)
}

/// Measures three of the clocks.
fn ask(session: &Session<'_, Simulated>, seed: u64) -> Measurement {
    let mut random = Random::new(seed);
    let all: Vec<String> = session.platform().machine.specs.iter().map(Spec::label).collect();
    let names: Vec<String> = (0..3).map(|_| all[random.below(all.len() as u64) as usize].clone()).collect();
    let catalog = Catalog::new(session.platform()).select(&names, Paths::Libc).expect("they are there");
    let duration_s = session.platform().machine.duration_s(0.06 + 0.1 * random.fraction());
    let request = MeasureRequest { duration_s, cpu: None, extended: false, ticks: true, synchronization: false };
    measure(session, catalog, &request, &mut |_| {}).expect("it can be asked").found
}

/// True cost of a read in ns of the reference: the median over batches of `reads` reads, each
/// followed by a wait that is exponential, and one read of the timer. Interrupted batches are
/// longer than most others, so the median of all is a later one of those that were not.
pub(crate) fn true_cost_ns(machine: &Machine, spec: &Spec, reads: u64) -> f64 {
    let (reads, jitter) = (reads as f64, machine.jitter);
    let timer = machine.counter_cost.or(machine.spec("monotonic_raw:syscall").map(|spec| spec.cost));
    let (read_ps, timer_ps) = (spec.cost.ps as f64, timer.map_or(0, |cost| cost.ps) as f64);
    let (waits, deviation) = (jitter * (read_ps + timer_ps / reads), jitter * read_ps / reads.sqrt());
    let skewed = jitter * read_ps / (3.0 * reads);
    let load = &machine.loads[0];
    let often = |every_ns: u64| if every_ns == 0 { 0.0 } else { 1e-3 / every_ns as f64 };
    let lost_a_ps = often(load.interrupts_every_ns) + often(load.stolen_every_ns);
    let interrupted = 1.0 - (-lost_a_ps * (read_ps * reads + timer_ps)).exp();
    let later = deviation * (std::f64::consts::PI / 2.0).sqrt() * interrupted / (1.0 - interrupted);
    let fast = machine.spec("monotonic_raw").map_or(0.0, |spec| spec.fast);
    (read_ps + timer_ps / reads + waits - skewed + later) * (1.0 + fast) / 1e3
}

/// Part of that which is the timer's own, in ns: a system call, where no counter may be read.
fn timer_share_ns(machine: &Machine, jitter: f64, reads: u64) -> f64 {
    let timer = machine.spec("monotonic_raw:syscall").filter(|_| machine.counter_cost.is_none());
    timer.map_or(0.0, |timer| timer.cost.ps as f64 * (1.0 + jitter) / reads as f64 / 1e3)
}

/// A figure that depends on the timer's rate, and the frequency that the record gives, are by one
/// comparison of timer and reference: what changes between two would make them contradict.
#[test]
fn figures_and_frequency_are_by_one_rate() {
    let mut checked = 0;
    on_machines("measure::figures_and_frequency", limited, |session, _| {
        let count = ["tsc".to_owned()];
        let Ok(catalog) = Catalog::new(session.platform()).select(&count, Paths::Libc) else { return };
        let request =
            MeasureRequest { duration_s: 0.01, cpu: None, extended: false, ticks: true, synchronization: false };
        let answer = measure(session, catalog, &request, &mut |_| {}).expect("it can be asked");
        let resolution_ns = answer.found.clocks[0].nominal_resolution_ns.get();
        let timer = &answer.run.as_ref().expect("it is a run").timer;
        let Some(ns) = resolution_ns else { return };
        checked += 1;
        // One count has a length where counts are timed, and not where a reference times in their
        // place.
        assert!(timer.name.contains("tsc"), "{timer:?}: {ns} ns a count");
        assert!((ns * timer.frequency_hz / 1e9 - 1.0).abs() < 1e-14, "{timer:?}: {ns} ns a count");
    });
    assert!(checked > 0 || !are_many());
}

/// A clock that no tick was looked for of is not said to have stood still.
#[test]
fn a_run_that_looks_for_no_ticks_says_so() {
    on_machines("measure::looks_for_no_ticks", limited, |session, _| {
        let catalog = Catalog::new(session.platform());
        let request =
            MeasureRequest { duration_s: 0.01, cpu: None, extended: false, ticks: false, synchronization: false };
        let answer = measure(session, catalog, &request, &mut |_| {}).expect("it can be asked");
        for clock in answer.found.clocks.iter().filter(|clock| clock.available) {
            assert_eq!(clock.tick_ns.why().as_deref(), Some(texts::NO_TICK_SEARCH), "{}", clock.identity.label());
        }
    });
}

/// Costs hold the truth in 93 of 100 intervals that should do so in 95, with the timer's own
/// calls and without them, and medians are near it, on machines that are quiet and on busy ones.
#[test]
fn what_a_read_costs_is_reported_with_its_interval() {
    let (mut whole, mut alone) = (Coverage::default(), Coverage::default());
    on_machines("measure::what_a_read_costs", limited, |session, seed| {
        let machine = &session.platform().machine;
        for record in ask(session, seed).clocks {
            let spec = machine.spec(&record.identity.label()).expect("it is there");
            if let Figure::Known(cost) = &record.cost_ns {
                let true_ns = true_cost_ns(machine, spec, cost.reads_per_batch);
                assert!(cost.min <= cost.median && cost.median <= cost.p99.get().unwrap_or(f64::INFINITY), "{cost:?}");
                let off = cost.median / true_ns - 1.0;
                assert!(off.abs() < 0.05, "{}: it costs {true_ns} ns: {cost:?}", spec.label());
                if let Figure::Known([low, high]) = cost.ci95 {
                    whole.count(low <= true_ns && true_ns <= high);
                    let timer_ns = timer_share_ns(machine, machine.jitter, cost.reads_per_batch);
                    if timer_ns > 0.0 {
                        alone.count(low <= true_ns - timer_ns && true_ns - timer_ns <= high);
                    }
                }
            }
        }
    });
    whole.check(0.93, 2);
    alone.check(0.93, 20);
}

/// Nothing is held against a clock that did nothing wrong, and its tick is right, or unknown. Half
/// of the machines have a narrow counter that begins anew while it is read.
#[test]
fn a_right_clock_is_right() {
    let make = |seed: u64| match seed % 2 {
        0 => limited(seed),
        _ => limited(seed).with_narrow_counter(MAX_MEASUREMENT_S / 4.0),
    };
    on_machines("measure::a_right_clock", make, all_is_right);
}

/// The thread ran in every second timer tick. The reference was slower than the coarse clock, so
/// that a little less than half of each step seemed to pass: two ticks were taken for one.
#[test]
fn two_ticks_are_not_one_by_a_slower_reference() {
    on_one("measure::a_right_clock", 275, &within(Maker::new(275).make()), &mut all_is_right);
}

fn all_is_right(session: &Session<'_, Simulated>, seed: u64) {
    let machine = &session.platform().machine;
    for record in &ask(session, seed).clocks {
        let spec = machine.spec(&record.identity.label()).expect("it is there");
        if !record.available {
            check_unreadable(machine, spec, record.reason.as_ref());
        } else {
            ticks::check(machine, spec, record.tick_ns.get(), record.tick_evidence.as_ref());
            steps::nothing_is_wrong(&spec.label(), record.events.as_ref().expect("it was judged"));
            is_monotonic(record);
        }
    }
}

fn is_monotonic(record: &ClockRecord) {
    assert!(record.monotonic.get().is_none_or(|monotonic| monotonic.weak), "{record:?}");
}

/// The time that competing threads had is that for which the measuring one waited.
#[test]
fn time_of_other_threads_is_counted() {
    for (competitors, share) in [(0, 0.0..=0.0), (1, 0.3..=0.7), (3, 0.6..=0.9)] {
        let mut maker = Maker::new(7);
        maker.load = Load { competitors, slice_ns: 4_000_000, ..Load::NONE };
        let machine = maker.make();
        let duration_s = machine.duration_s(0.1);
        on_one("measure::waited", 7, &within(machine), &mut |session, _| {
            let catalog = Catalog::new(session.platform()).select(&["monotonic".to_owned()], Paths::Libc);
            let request =
                MeasureRequest { duration_s, cpu: None, extended: false, ticks: true, synchronization: false };
            let answer = measure(session, catalog.expect("it is there"), &request, &mut |_| {});
            let run = answer.expect("it can be asked").run.expect("it is a run");
            let waited = run.waited_s.expect("it is counted") / run.duration_s;
            assert!(share.contains(&waited), "{competitors} competitors: {waited}");
        });
    }
}
