//! *Gaps* on machines whose clocks fail: it ends, and reports that.

use clockscope_measure::{GapsRequest, MeasureError, Session, gaps};
use clockscope_records::{CpusReason, Unknown};
use clockscope_testing::simulation::{Change, Refused};

use crate::harness::{on_machines, on_one};
use crate::machine::{Machine, Maker};
use crate::platform::Simulated;

/// Latest end of these questions, in ps.
const LIMIT_PS: u128 = 1_500_000_000_000;

/// A machine on which a clock or the counter goes wrong while it is asked.
fn failing(mut maker: Maker, seed: u64) -> Machine {
    let (at_ms, kind) = (1.0 + 25.0 * maker.random.fraction(), maker.random.below(9));
    let size = 10f64.powf(3.0 + 6.0 * maker.random.fraction()) as i64;
    let hz = maker.counter_hz;
    let mut machine = maker.make();
    let raw = machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("it is there");
    let change = match kind {
        0 => Change::FreezeClock { clock: raw },
        1 => Change::StepClock { clock: raw, ns: -size },
        2 => Change::StepClock { clock: raw, ns: size },
        3 => Change::RefuseClock { clock: raw, refused: Some(Refused(1)) },
        4 => Change::SetCounterRate { hz: 0.0 },
        5 => Change::SetCounterRate { hz: -hz },
        6 => Change::StepCounter { ticks: -size },
        7 => Change::StepCounter { ticks: size },
        _ => Change::Suspend { ps: size as u64 * 1000, left_out: vec![raw] },
    };
    machine.at_ms(at_ms, change.clone());
    if seed.is_multiple_of(4) {
        // No clock is left.
        machine.at_ms(at_ms + 1.0, Change::SetCounterRate { hz: 0.0 });
        machine.at_ms(at_ms + 1.0, Change::FreezeClock { clock: raw });
    }
    machine
}

/// Asks a machine whose clocks fail.
fn ask_failing(session: &Session<'_, Simulated>, seed: u64) {
    let cpus = session.platform().machine.cpus.cpus();
    let on_all = seed.is_multiple_of(3);
    let cpus = on_all.then(|| (0..cpus).collect());
    let machine = &session.platform().machine;
    let answer = match gaps(session, &GapsRequest { threshold_s: 1e-6, duration_s: 0.02, cpus }, &mut |_| {}) {
        Ok(answer) => answer,
        // A clock that stops at the start is an error.
        Err(error) => {
            let is_timer = matches!(error, MeasureError::Timer(_));
            return assert!(is_timer && stops(machine), "{error}");
        }
    };
    for of_cpu in &answer.found.gaps {
        match of_cpu.reason {
            None => {}
            Some(Unknown::Cpus(CpusReason::TimerStopped)) => assert!(stops(machine), "no clock failed: {of_cpu:?}"),
            Some(Unknown::Cpus(CpusReason::BindDenied { .. })) => {
                assert!(on_all && !machine.facts.can_bind, "{of_cpu:?}");
            }
            Some(_) => panic!("{of_cpu:?}"),
        }
        let is_time = |ns: f64| ns.is_finite() && ns >= 0.0;
        assert!(is_time(of_cpu.seconds) && is_time(of_cpu.unwatched_seconds) && is_time(of_cpu.lost_ns), "{of_cpu:?}");
        assert!(of_cpu.lost_percent.get().is_none_or(|percent| (0.0..=100.0).contains(&percent)), "{of_cpu:?}");
    }
}

/// Returns whether something stops a clock by which time is measured, or sets it back.
fn stops(machine: &Machine) -> bool {
    machine.changes.iter().any(|(_, change)| match change {
        Change::StepClock { ns, .. } => *ns < 0,
        Change::StepCounter { ticks } => *ticks < 0,
        Change::SetCounterRate { .. } | Change::FreezeClock { .. } | Change::RefuseClock { .. } => true,
        _ => false,
    })
}

fn limited(maker: Maker, seed: u64) -> Simulated {
    Simulated::limited(failing(maker, seed), LIMIT_PS)
}

/// Whatever a clock does, the question ends before [`LIMIT_PS`].
#[test]
fn a_clock_that_fails_ends_it() {
    on_machines("gaps_failing::a_clock_that_fails", |seed| limited(Maker::varied(seed), seed), ask_failing);
}

/// The reference stood still while it calibrated the timer. Reads of it took 1.6 µs, seven threads
/// competed, and 100,000 readings in a row showed the same.
#[test]
fn a_reference_that_is_stuck_at_the_start_is_not_waited_for() {
    for seed in [954, 1110] {
        on_one("gaps_failing::a_clock_that_fails", seed, &limited(Maker::new(seed), seed), &mut ask_failing);
    }
}

/// The only clock stood still. A read of it takes 1 µs and seven threads compete, so that a quarter
/// of a million turns took 2 s.
#[test]
fn a_slow_clock_that_is_stuck_ends_it() {
    on_one("gaps_failing::a_clock_that_fails", 160, &limited(Maker::new(160), 160), &mut ask_failing);
}

/// The timer went back during the run, and so did the time that was looked at, but not the gaps in
/// it: more than all of it was lost.
#[test]
fn a_timer_that_goes_back_took_observed_time() {
    for seed in [981, 1041, 1501, 1647, 1663, 1880] {
        on_one("gaps_failing::a_clock_that_fails", seed, &limited(Maker::varied(seed), seed), &mut ask_failing);
    }
}
