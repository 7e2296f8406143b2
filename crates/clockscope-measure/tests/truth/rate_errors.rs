//! Machines on which rates and sleeps were wrong once.

use clockscope_measure::{Paths, RateRequest, Session, SleepRequest, rate, sleep};
use clockscope_records::{Envelope, Rate, Sleep, reasons};
use clockscope_testing::simulation::{Change, Refused};

use crate::harness::on_one;
use crate::machine::{Clocksource, Machine, Maker};
use crate::platform::Simulated;

/// Time that the longest of these questions may take, in s: all kinds of sleeps, three times each.
const MAX_QUESTION_S: f64 = 10.0;

/// A quiet machine whose counter moves its clocks.
fn machine(seed: u64, clocksource: Clocksource) -> Machine {
    let mut maker = Maker::new(seed).quiet();
    (maker.clocksource, maker.has_counter, maker.counter_hz, maker.counter_step) = (clocksource, true, 2e9, 2);
    let machine = maker.make();
    machine.cpus.set_taken(0.02, 0.98);
    machine
}

fn rates_of(machine: Machine, clocks: &[&str], reference: &str, until_ppm: Option<f64>) -> (Envelope<Rate>, Simulated) {
    let clocks = clocks.iter().map(ToString::to_string).collect();
    let reference = Some(reference.to_owned());
    let request = RateRequest { clocks, paths: Paths::Libc, reference, duration_s: 0.3, until_ppm, cpu: None };
    answered(machine, |session| rate(session, &request, &mut |_| {}).expect("it is there"))
}

/// Asks a machine. One that does not answer in time is shown, with what it did.
fn answered<T>(machine: Machine, question: impl Fn(&Session<'_, Simulated>) -> T) -> (T, Simulated) {
    let (platform, mut answer) = (Simulated::within(machine, MAX_QUESTION_S), None);
    on_one("rate_errors", 0, &platform, &mut |session, _| answer = Some(question(session)));
    (answer.expect("it was asked"), platform)
}

fn slept(machine: Machine) -> Sleep {
    let request = SleepRequest { duration_s: 0.3, ..SleepRequest::default() };
    answered(machine, |session| sleep(session, &request, &mut |_| {}).expect("it is there").found).0
}

fn raw(machine: &Machine) -> usize {
    machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("it is there")
}

/// Seed 58: a constant rate that is a third from the nominal one was a step in each round.
#[test]
fn a_nominal_frequency_that_is_wrong_was_a_step() {
    let mut machine = machine(58, Clocksource::Tsc);
    machine.nominal_hz = Some(1_500_000_000);
    let (answer, _) = rates_of(machine, &["lfence_tsc_lfence"], "monotonic_raw", None);
    let record = &answer.found.clocks[0];
    assert_eq!((record.constant.get(), record.step.known()), (Some(true), None), "{record:?}");
}

/// Seed 46: the run waited for ever for a reference that stood still, or refused.
#[test]
fn a_run_did_not_end_beside_a_reference_that_was_stuck() {
    for is_frozen in [true, false] {
        let mut machine = machine(46, Clocksource::Tsc);
        let clock = raw(&machine);
        let refused = Change::RefuseClock { clock, refused: Some(Refused(22)) };
        machine.at_ms(60.0, if is_frozen { Change::FreezeClock { clock } } else { refused });
        let (_, platform) = rates_of(machine, &["monotonic", "realtime"], "monotonic_raw:vdso", None);
        assert!(platform.machine.cpus.now_ps() < 800_000_000_000, "{}", platform.machine.cpus.now_ps());
    }
}

/// Seed 131: a counter that jumped by 0.6 s was reported as one of 0.06 s: by its mean rate,
/// of which the jump was nine tenths.
#[test]
fn a_jump_of_a_counter_was_reported_in_units_that_it_made_itself() {
    let mut machine = machine(131, Clocksource::Tsc);
    machine.at_ms(150.0, Change::StepCounter { ticks: 1_200_000_000 });
    let (answer, _) = rates_of(machine, &["lfence_tsc_lfence"], "monotonic_raw:vdso", None);
    let step = answer.found.clocks[0].step.known().expect("it stepped");
    assert!((step.ns / 6e8 - 1.0).abs() < 1e-3, "{step:?}");
}

/// Seed 50, once a hundred machines were asked: a counter without a nominal frequency stopped after
/// a quarter of the run, and seemed to step before that: by its mean rate, a quarter of the true
/// one.
#[test]
fn a_counter_that_stopped_had_stepped_in_units_of_its_mean_rate() {
    let mut machine = machine(50, Clocksource::Device(10));
    machine.at_ms(100.0, Change::SetCounterRate { hz: 0.0 });
    let (answer, _) = rates_of(machine, &["lfence_tsc_lfence"], "monotonic_raw", None);
    let record = &answer.found.clocks[0];
    assert_eq!(record.constant.get(), Some(false), "{record:?}");
    // In the round in which it stopped, of 5 ms, it lost a part of that.
    assert!(record.step.known().is_none_or(|step| step.ns.abs() < 5.1e6), "{record:?}");
}

/// Seed 367: a reference that stood still for half of the rounds made a usual rate that nobody had,
/// and steps too large by it.
#[test]
fn a_rate_that_nobody_had_was_usual() {
    let mut machine = machine(367, Clocksource::Tsc);
    let clock = machine.monotonic();
    machine.at_ms(100.0, Change::FreezeClock { clock });
    machine.at_ms(180.0, Change::ThawClock { clock });
    let (answer, _) = rates_of(machine, &["realtime"], "monotonic:vdso", None);
    let step = answer.found.clocks[0].step.known().expect("it stood still");
    assert!((step.ns / 80e6).abs() < 1.01, "{step:?}");
}

/// Seed 159: a counter that went back had a negative frequency, and others were compared in its
/// negative units.
#[test]
fn a_counter_that_went_back_was_the_length_of_time() {
    let mut machine = machine(159, Clocksource::Tsc);
    machine.at_ms(150.0, Change::StepCounter { ticks: -1_200_000_000_000 });
    let (answer, _) = rates_of(machine, &["lfence_tsc_lfence", "monotonic"], "monotonic_raw:vdso", None);
    let between = answer
        .found
        .pairs
        .iter()
        .find(|pair| pair.a == "lfence_tsc_lfence" && pair.b == "monotonic")
        .expect("it is there");
    assert!(!between.ppm.is_known() && reasons(between).contains_key("ppm"), "{between:?}");
    let step = answer.found.clocks[0].step.known().expect("it stepped");
    assert!((step.ns / -6e11 - 1.0).abs() < 1e-3, "{step:?}");
}

/// Seed 110: after a suspend, MONOTONIC and MONOTONIC_RAW, which both left it out, made REALTIME
/// suspected.
#[test]
fn a_suspend_made_a_reference_suspected() {
    let mut machine = machine(110, Clocksource::Tsc);
    let left_out = vec![machine.monotonic(), raw(&machine)];
    machine.at_ms(150.0, Change::Suspend { ps: 50_000_000_000, left_out });
    let (answer, _) = rates_of(machine, &["monotonic", "monotonic_raw"], "realtime", None);
    assert!(
        answer.found.clocks.iter().all(|record| record.constant.get() == Some(false))
            && !answer.found.reference_suspected
    );
}

/// Clocks that are steered together, or one clock by several paths, made what they are compared
/// with suspected.
#[test]
fn clocks_that_are_steered_together_made_a_reference_suspected() {
    let change = |machine: &mut Machine, clocks: Vec<usize>| {
        clocks.into_iter().for_each(|clock| machine.at_ms(150.0, Change::SlewClock { clock, share: 1e-3 }));
    };
    // Seed 343: the reference's own clock by another path was taken for one that is steered
    // otherwise than these.
    let with_its_own = ["monotonic", "monotonic_raw:syscall", "realtime"];
    for clocks in [["monotonic", "monotonic:vdso", "realtime"], with_its_own] {
        let mut steered = machine(7, Clocksource::Tsc);
        let ids = vec![steered.monotonic(), steered.spec("realtime").and_then(|spec| spec.id).expect("it is there")];
        change(&mut steered, ids);
        let (answer, _) = rates_of(steered, &clocks, "monotonic_raw", None);
        assert!(!answer.found.reference_suspected, "{:?}", answer.found.pairs);
    }
    // The counter is none of them.
    let mut other = machine(7, Clocksource::Tsc);
    let clock = raw(&other);
    change(&mut other, vec![clock]);
    let (answer, _) = rates_of(other, &["monotonic", "lfence_tsc_lfence"], "monotonic_raw", None);
    assert!(answer.found.reference_suspected);
}

/// The timer's bound left out the steps of counter and reference, whose nominal resolution is 1 ns.
#[test]
fn the_timers_bound_left_out_the_steps_of_a_device() {
    let (answer, platform) = rates_of(machine(3, Clocksource::Device(280)), &["monotonic"], "monotonic_raw:vdso", None);
    let run = answer.run.as_ref().expect("it is a run");
    let least_ppm = 280.0 / (run.duration_s * 1e9) * 1e6;
    let cost_ns = platform.machine.spec("monotonic_raw:syscall").expect("it is there").cost.ps as f64 / 1e3;
    let width_ppm = 0.05 * cost_ns / (run.duration_s * 1e9) * 1e6;
    assert!(run.timer.frequency_bound_ppm > least_ppm + width_ppm, "{:?}", run.timer);
}

/// Seed 1 and others: where CLOCK_MONOTONIC refused or stood still, sleeps of -10^15 ns and of 0 ns
/// were reported, and all were early.
#[test]
fn sleeps_were_early_where_the_clock_refused_or_was_stuck() {
    for is_frozen in [true, false] {
        let mut machine = machine(1, Clocksource::Tsc);
        let clock = machine.monotonic();
        let refused = Change::RefuseClock { clock, refused: Some(Refused(22)) };
        machine.at_ms(60.0, if is_frozen { Change::FreezeClock { clock } } else { refused });
        for row in slept(machine).rows {
            assert!(row.early.get().is_none_or(|early| early == 0), "{row:?}");
            assert!(row.min_ns.get().is_none_or(|least| least > row.requested_ns as f64 * 0.9 - 200.0), "{row:?}");
        }
    }
}

/// A thousand sleeps of 4 ms were made where the time was enough for a tenth of them.
#[test]
fn late_wakes_made_a_run_longer_than_requested() {
    let late = machine(2, Clocksource::Tsc);
    late.cpus.set_lateness_ps(3_900_000_000, 4_000_000_000);
    let found = slept(late);
    assert!(found.rows.iter().all(|row| row.sleeps <= 13), "{:?}", found.rows);
}

/// Seed 935: the share of a time was never over by a clock that stood still.
#[test]
fn a_run_took_longer_beside_a_reference_that_was_stuck() {
    let mut machine = machine(935, Clocksource::Tsc);
    machine.cpus.set_lateness_ps(3_900_000_000, 4_000_000_000);
    let clock = raw(&machine);
    machine.at_ms(14.0, Change::FreezeClock { clock });
    let found = slept(machine);
    assert!(found.rows.iter().all(|row| row.sleeps <= 13), "{:?}", found.rows);
}
