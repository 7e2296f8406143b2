//! *Check* of clocks that the timer tick or another coarse device moves.

use clockscope_records::{EvidenceKind, Finding, Policy, Trustworthiness};
use clockscope_testing::simulation::Change;

use crate::check::{against, ask, verdict};
use crate::harness::on_one;
use crate::machine::{Clocksource, Machine, Maker};
use crate::platform::Simulated;

/// A quiet machine with this clocksource, whose timer ticks every 4 ms.
fn quiet(clocksource: Clocksource) -> Machine {
    let mut maker = Maker::new(7);
    maker.load.competitors = 0;
    (maker.has_counter, maker.clocksource, maker.timer_tick_ns) = (true, clocksource, 4_000_000);
    maker.make()
}

/// Clocks of a 32 kHz clocksource, and others that repeat a value 400 to 4000 times within a tick
/// that is shorter than a timer's, were stuck.
#[test]
fn repeats_within_a_tick_made_a_clock_stuck() {
    for tick_ns in [10_000, 30_517, 99_000] {
        let mut machine = quiet(Clocksource::Device(tick_ns));
        machine.specs.iter_mut().filter(|spec| spec.id.is_some()).for_each(|spec| spec.cost.ps = 25_000);
        on_one("check_coarse::repeats", 7, &Simulated::within(machine, 0.5), &mut |session, _| {
            let checked = ask(session, Policy::default(), 0.3);
            for clock in ["monotonic", "monotonic_raw", "realtime", "monotonic_coarse"] {
                let evidence = &verdict(&checked.found, clock).evidence;
                let stuck = evidence.iter().find(|found| found.data.kind() == EvidenceKind::Stuck);
                assert_eq!(stuck.map(|found| found.finding), Some(Finding::For), "{clock}, {tick_ns}: {stuck:?}");
            }
        });
    }
}

/// A reference states a step of 1 ns and moves by more. Its steps were jumps of the counter.
#[test]
fn steps_of_the_reference_are_no_jumps_of_the_counter() {
    for tick_ns in [5_000, 30_517, 99_000, 1_000_000] {
        let machine = quiet(Clocksource::Device(tick_ns));
        on_one("check_coarse::steps_of_the_reference", 7, &Simulated::within(machine, 0.5), &mut |session, _| {
            let checked = ask(session, Policy::default(), 0.2);
            let counter = verdict(&checked.found, "tsc");
            let jumps = counter.evidence.iter().find(|found| found.data.kind() == EvidenceKind::Jumps);
            assert_eq!(jumps.map(|found| found.finding), Some(Finding::For), "{tick_ns}: {jumps:?}");
            assert_ne!(counter.verdict, Trustworthiness::Unfit, "{tick_ns}: {counter:?}");
        });
    }
}

/// A clock with a tick of 4 ms stands still for 200 ms.
#[test]
fn a_coarse_clock_that_stands_still_is_unfit() {
    let mut machine = quiet(Clocksource::Tsc);
    let clock = machine.spec("monotonic_coarse").and_then(|spec| spec.id).expect("it is there");
    machine.at_ms(30.0, Change::FreezeClock { clock });
    machine.at_ms(230.0, Change::ThawClock { clock });
    on_one("check_coarse::a_coarse_clock_that", 7, &Simulated::within(machine, 1.5), &mut |session, _| {
        let checked = ask(session, Policy::default(), 1.0);
        let coarse = verdict(&checked.found, "monotonic_coarse");
        assert_eq!(coarse.verdict, Trustworthiness::Unfit, "{coarse:?}");
        let decisive: Vec<_> = coarse.evidence.iter().filter(|found| found.decides).collect();
        assert_eq!(decisive.iter().map(|found| found.data.kind()).collect::<Vec<_>>(), [EvidenceKind::Stuck]);
        assert_eq!(verdict(&checked.found, "monotonic").verdict, Trustworthiness::Trusted);
    });
}

/// Clocks that the timer tick moves were trusted at any rate.
#[test]
fn a_coarse_clock_at_a_wrong_rate_is_unfit() {
    for (share, expected) in [(1.0, true), (-0.5, true), (0.0, false)] {
        let mut machine = quiet(Clocksource::Tsc);
        let clock = machine.spec("monotonic_coarse").and_then(|spec| spec.id).expect("it is there");
        machine.at_ms(0.0, Change::SlewClock { clock, share });
        on_one("check_coarse::a_coarse_clock_at", 7, &Simulated::within(machine, 0.5), &mut |session, _| {
            let checked = ask(session, Policy::default(), 0.3);
            let coarse = verdict(&checked.found, "monotonic_coarse");
            assert_eq!(coarse.verdict == Trustworthiness::Unfit, expected, "{share}: {coarse:?}");
            let is_by_rate = against(coarse).iter().any(|found| found.data.kind() == EvidenceKind::Rate);
            assert_eq!(is_by_rate, expected, "{share}: {coarse:?}");
            assert_eq!(verdict(&checked.found, "monotonic").verdict, Trustworthiness::Trusted);
        });
    }
}
