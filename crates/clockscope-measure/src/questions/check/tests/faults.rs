//! A healthy machine, and one thing wrong with it at a time.

use super::*;

#[test]
fn nothing_wrong_is_trusted() {
    let seen = healthy();
    for verdict in judged(&seen) {
        assert_eq!(decided(&seen, &verdict.clock), (Trustworthiness::Trusted, NOTHING), "{verdict:#?}");
    }
    assert_eq!(judged(&seen).len(), 1 + NAMES.len());
}

/// Fault of a healthy machine: its name, what is done, whose verdict that changes, to what, and by
/// which evidence.
type Fault = (&'static str, fn(&mut Observations), &'static str, Trustworthiness, EvidenceKind);

#[test]
fn one_thing_wrong_is_found_and_decides() {
    use Trustworthiness::{Limited, Undecided, Unfit};
    let faults: [Fault; 36] = [
        (
            "a reset after the last look",
            |seen| seen.means[1] = Mean::WentBack,
            "tsc",
            Unfit,
            EvidenceKind::ConstantRate,
        ),
        (
            "a jump after the last look",
            |seen| seen.means[1] = Mean::Known { hz: 2.6e9, bound_ppm: 0.3 },
            "tsc",
            Unfit,
            EvidenceKind::ConstantRate,
        ),
        (
            "a kernel that turns away",
            |seen| seen.turned_from = Some("tsc-early".to_owned()),
            "tsc",
            Limited,
            EvidenceKind::Clocksource,
        ),
        (
            "realtime is set while rates are compared",
            |seen| {
                let rate = rate_of(seen, "realtime");
                rate.ppm = Figure::Known(5e9);
                rate.step = Figure::Known(Step { at_s: 0.5, ns: 3.6e12 });
            },
            "realtime",
            Limited,
            EvidenceKind::ConstantRate,
        ),
        (
            "a reset while nobody looked",
            |seen| seen.means[0] = Mean::WentBack,
            "tsc",
            Unfit,
            EvidenceKind::ConstantRate,
        ),
        (
            "monotonic stands still",
            |seen| rate_of(seen, "monotonic").ppm = Figure::Known(-1e6),
            "monotonic",
            Unfit,
            EvidenceKind::Rate,
        ),
        (
            "realtime is set while it is handed on",
            |seen| sequence_of(seen, "realtime").regressions = Figure::Known(2),
            "realtime",
            Limited,
            EvidenceKind::Order,
        ),
        ("no invariance", |seen| seen.is_invariant = Some(false), "tsc", Limited, EvidenceKind::Invariance),
        ("a step back on one CPU", |seen| events(seen, "rdtscp").regression = 1, "tsc", Unfit, EvidenceKind::StepsBack),
        ("a jump", |seen| events(seen, "tsc").jump = Figure::Known(1), "tsc", Unfit, EvidenceKind::Jumps),
        (
            "a hidden loss",
            |seen| events(seen, "tsc").hidden_regression = Figure::Known(2),
            "tsc",
            Unfit,
            EvidenceKind::Jumps,
        ),
        ("a freeze", |seen| events(seen, "tsc").stuck = 1, "tsc", Unfit, EvidenceKind::Stuck),
        (
            "out of order",
            |seen| sequence_of(seen, "rdtscp").regressions = Figure::Known(3),
            "tsc",
            Unfit,
            EvidenceKind::Order,
        ),
        (
            "a rate that changed",
            |seen| rate_of(seen, "rdtscp").constant = Figure::Known(false),
            "tsc",
            Unfit,
            EvidenceKind::ConstantRate,
        ),
        (
            "a step",
            |seen| rate_of(seen, "rdtscp").step = Figure::Known(Step { at_s: 0.5, ns: 1e6 }),
            "tsc",
            Unfit,
            EvidenceKind::ConstantRate,
        ),
        (
            "a rate that was another",
            |seen| seen.means[0] = Mean::Known { hz: 2.500_01e9, bound_ppm: 0.3 },
            "tsc",
            Unfit,
            EvidenceKind::ConstantRate,
        ),
        (
            "a CPU apart",
            |seen| (seen.offsets.apart, seen.offsets.pairs[0].apart) = (1, Figure::Known(true)),
            "tsc",
            Limited,
            EvidenceKind::Offsets,
        ),
        (
            "a wrong claim",
            |seen| seen.environment.frequencies.cpuid_15h_hz = Figure::Known(2_510_000_000),
            "tsc",
            Limited,
            EvidenceKind::NominalFrequency,
        ),
        (
            "a trap",
            |seen| seen.clocks.iter_mut().take(2).for_each(|clock| clock.cost_ns.known_mut().unwrap().median = 1500.0),
            "tsc",
            Limited,
            EvidenceKind::Cost,
        ),
        (
            "no sysfs",
            |seen| (seen.environment.clocksource, seen.kernel.is_current) = Default::default(),
            "tsc",
            Undecided,
            EvidenceKind::Clocksource,
        ),
        (
            "disabled",
            |seen| seen.clocks.iter_mut().take(2).for_each(|clock| (clock.available, clock.events) = (false, None)),
            "tsc",
            Unfit,
            EvidenceKind::Readable,
        ),
        (
            "monotonic goes back",
            |seen| events(seen, "monotonic").regression = 1,
            "monotonic",
            Unfit,
            EvidenceKind::StepsBack,
        ),
        (
            "monotonic jumps",
            |seen| events(seen, "monotonic").jump = Figure::Known(2),
            "monotonic",
            Unfit,
            EvidenceKind::Jumps,
        ),
        (
            "monotonic or the counter jumps once",
            |seen| events(seen, "monotonic").jump = Figure::Known(1),
            "monotonic",
            Limited,
            EvidenceKind::Jumps,
        ),
        (
            "monotonic jumps once, by a system call",
            |seen| (seen.by_counter, events(seen, "monotonic").jump) = (false, Figure::Known(1)),
            "monotonic",
            Unfit,
            EvidenceKind::Jumps,
        ),
        (
            "monotonic jumps once, and has stepped against another clock",
            |seen| {
                events(seen, "monotonic").hidden_regression = Figure::Known(1);
                rate_of(seen, "monotonic").step = Figure::Known(Step { at_s: 0.5, ns: 1e6 });
            },
            "monotonic",
            Unfit,
            EvidenceKind::ConstantRate,
        ),
        (
            "monotonic out of order",
            |seen| sequence_of(seen, "monotonic").regressions = Figure::Known(1),
            "monotonic",
            Unfit,
            EvidenceKind::Order,
        ),
        (
            "a slew",
            |seen| rate_of(seen, "monotonic").ppm = Figure::Known(-500.0),
            "monotonic",
            Limited,
            EvidenceKind::Rate,
        ),
        (
            "monotonic steps",
            |seen| rate_of(seen, "monotonic").step = Figure::Known(Step { at_s: 0.5, ns: -1e6 }),
            "monotonic",
            Unfit,
            EvidenceKind::ConstantRate,
        ),
        (
            "no vDSO",
            |seen| seen.clocks[3].cost_ns.known_mut().unwrap().median = 225.0,
            "monotonic",
            Limited,
            EvidenceKind::Cost,
        ),
        (
            "a coarse kernel",
            |seen| seen.clocks[3].tick_ns = Figure::Known(4e6),
            "monotonic",
            Limited,
            EvidenceKind::Resolution,
        ),
        (
            "frozen",
            |seen| seen.clocks[3].observed_resolution_ns = Figure::default(),
            "monotonic",
            Unfit,
            EvidenceKind::Stuck,
        ),
        (
            "somebody sets the clock",
            |seen| events(seen, "realtime").regression = 1,
            "realtime",
            Limited,
            EvidenceKind::StepsBack,
        ),
        ("a clock that fails", |seen| seen.clocks[3].available = false, "monotonic", Unfit, EvidenceKind::Readable),
        (
            "a coarse clock stands still",
            |seen| events(seen, "monotonic_coarse").stuck = 1,
            "monotonic_coarse",
            Unfit,
            EvidenceKind::Stuck,
        ),
        (
            "a coarse clock goes back",
            |seen| events(seen, "monotonic_coarse").regression = 1,
            "monotonic_coarse",
            Unfit,
            EvidenceKind::StepsBack,
        ),
    ];
    for (what, plant, clock, verdict, decisive) in faults {
        let mut seen = healthy();
        plant(&mut seen);
        let found = decided(&seen, clock);
        assert_eq!(found.0, verdict, "{what}: {found:?}");
        assert_eq!(found.1, [decisive], "{what}");
        // What the kernel computes from an unfit counter is limited; all others are as they were.
        // That this process cannot read the counter is no fault of the counter's.
        let is_base = (clock, verdict) == ("tsc", Unfit) && decisive != EvidenceKind::Readable;
        for other in judged(&seen).into_iter().filter(|verdict| verdict.clock != clock) {
            let expected = match other.clock.as_str() {
                "monotonic" | "realtime" if is_base => (Limited, vec![EvidenceKind::Counter]),
                _ => (Trustworthiness::Trusted, NOTHING),
            };
            assert_eq!(decided(&seen, &other.clock), expected, "{what}: {:#?}", other.evidence);
        }
    }
}

/// A coarse clock shows a rate that no late tick explains; where none would show, it is undecided.
#[test]
fn a_coarse_clock_that_does_not_follow_the_others_is_found() {
    use Trustworthiness::{Limited, Trusted, Undecided, Unfit};
    for (ppm, bound_ppm, verdict) in [
        (0.0, 8e3, Trusted),
        (12e3, 8e3, Trusted),
        (-12e3, 8e3, Trusted),
        (100e3, 8e3, Limited),
        (-100e3, 8e3, Limited),
        (300e3, 8e3, Unfit),
        (-500e3, 8e3, Unfit),
        (1e6, 8e3, Unfit),
        (0.0, 60e3, Undecided),
        (1e6, 60e3, Unfit),
    ] {
        let mut seen = healthy();
        let rate = rate_of(&mut seen, "monotonic_coarse");
        (rate.ppm, rate.bound_ppm) = (Figure::Known(ppm), Figure::Known(bound_ppm));
        let because = if verdict == Trusted { NOTHING } else { vec![EvidenceKind::Rate] };
        assert_eq!(decided(&seen, "monotonic_coarse"), (verdict, because), "{ppm} {bound_ppm}");
    }
    let mut seen = healthy();
    rate_of(&mut seen, "monotonic_coarse").ppm = Figure::unknown(clockscope_records::texts::NOT_MEASURED);
    assert_eq!(decided(&seen, "monotonic_coarse").0, Undecided);
}
