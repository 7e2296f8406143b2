//! Statements of time daemons, and their meaning for the clocks that they steer and for the others.

use super::*;
use crate::questions::check::paths::ComparedPath;

const TRACKING: ChronyTracking = ChronyTracking {
    stratum: 3,
    correction_s: 0.0001,
    error_s: 0.011,
    freq_ppm: -12.0,
    skew_ppm: 0.05,
    update_interval_s: 64.0,
};

/// A daemon knows better than the kernel, whose flag it may have left as it was (chronyd without
/// rtcsync). One that works off an offset knows too little.
#[test]
fn what_a_daemon_states_wins_over_the_kernels_flag() {
    let tracking = |correction_s, error_s| ChronyTracking { correction_s, error_s, ..TRACKING };
    for state in [WallState::Unsynchronized, WallState::Slewing, WallState::Worthless, WallState::Synchronized] {
        let mut seen = healthy();
        seen.synchronization.adjtimex.known_mut().unwrap().state = Some(state);
        let without = decided(&seen, "realtime").0;
        seen.synchronization.chrony = Figure::Known(tracking(-0.001, 0.010));
        let verdicts = verdicts(&seen, &["realtime".to_owned()], None);
        let verdict = verdict_on(&verdicts, "realtime");
        assert_eq!(verdict.uses.time_of_day, Some(Trustworthiness::Trusted), "{state:?}");
        let text = evidence(verdict, EvidenceKind::Synchronization).text();
        assert!(
            text.starts_with("the time of day is right within 0.011000 s, as chronyd states; the kernel"),
            "{text}"
        );
        // It works off an hour, or states nothing.
        for nothing in [tracking(3600.0, 0.010), tracking(0.0, f64::NAN)] {
            seen.synchronization.chrony = Figure::Known(nothing);
            assert_eq!(decided(&seen, "realtime").0, without, "{state:?}");
        }
    }
}

/// A machine whose kernel takes a wrong frequency, by `ppm` against true time: its clocks that are
/// steered run faster by that than those that are not.
fn corrected_by(ppm: f64) -> Observations {
    let mut seen = healthy();
    for name in ["monotonic", "realtime"] {
        rate_of(&mut seen, name).ppm = Figure::Known(ppm);
    }
    let raw = ClockRecord { identity: raw_identity(&seen), ..seen.clock("monotonic").unwrap().clone() };
    seen.clocks.push(raw);
    let rates = seen.rates.as_mut().unwrap();
    let raw = RateRecord { name: "monotonic_raw".to_owned(), ppm: Figure::Known(0.01), ..rates.clocks[2].clone() };
    rates.clocks.push(raw);
    let handed_over = seen.handed_over("monotonic").unwrap().clone();
    seen.order.sequences.push(Sequence { name: "monotonic_raw".to_owned(), ..handed_over });
    seen
}

fn raw_identity(seen: &Observations) -> ClockIdentity {
    let identity = seen.clock("monotonic").unwrap().identity.clone();
    ClockIdentity { name: "monotonic_raw".to_owned(), is_usual: false, is_steered: false, ..identity }
}

/// The verdicts for intervals on the counter, the usual clock and the one that nobody corrects.
fn of_three(seen: &Observations) -> [Trustworthiness; 3] {
    let names = ["monotonic".to_owned(), "monotonic_raw".to_owned()];
    let verdicts = verdicts(seen, &names, Some(Use::Interval));
    ["tsc", "monotonic", "monotonic_raw"].map(|name| verdict_on(&verdicts, name).verdict)
}

/// A daemon that has found the frequency and has next to nothing left to correct does not slew: the
/// clocks that it does not correct are wrong.
#[test]
fn a_correction_that_stays_is_no_slew() {
    use Trustworthiness::{Limited, Trusted, Undecided};
    let mut seen = corrected_by(1065.0);
    let chrony = |tracking| Figure::Known(ChronyTracking { freq_ppm: -1065.2, ..tracking });
    seen.synchronization.chrony = chrony(TRACKING);
    assert_eq!(of_three(&seen), [Limited, Trusted, Limited]);
    let names = ["monotonic".to_owned(), "monotonic_raw".to_owned()];
    for verdict in verdicts(&seen, &names, Some(Use::Interval)).iter().filter(|verdict| verdict.clock != "monotonic") {
        let deciding: Vec<String> = verdict
            .evidence
            .iter()
            .filter(|one| one.decides)
            .map(|one| format!("{} {:?}", one.text(), one.advice()))
            .collect();
        assert!(deciding.len() == 1 && deciding[0].contains("corrects"), "{deciding:?}");
        assert!(deciding[0].contains("measure by monotonic, which"), "{deciding:?}");
    }
    // It is slewed beside that, or works off an offset, or is not sure of the frequency.
    for slewed in [700.0, 1365.0] {
        rate_of(&mut seen, "monotonic").ppm = Figure::Known(slewed);
        assert_eq!(of_three(&seen)[1], Limited, "{slewed}");
    }
    // What a daemon states and no clock shows accuses nobody.
    rate_of(&mut seen, "monotonic").ppm = Figure::Known(0.1);
    assert_eq!(of_three(&seen), [Trusted; 3]);
    let mut seen = corrected_by(1065.0);
    for (tracking, expected) in [
        (ChronyTracking { correction_s: 0.5, ..TRACKING }, [Trusted, Limited, Trusted]),
        (ChronyTracking { skew_ppm: 300.0, ..TRACKING }, [Limited, Undecided, Limited]),
    ] {
        seen.synchronization.chrony = chrony(tracking.clone());
        assert_eq!(of_three(&seen)[1..], expected[1..], "{tracking:?}");
    }
    // Without a daemon that states it, it may be a slew; and no crystal's error is a fault.
    seen.synchronization.chrony = Figure::default();
    assert_eq!(of_three(&seen), [Trusted, Limited, Trusted]);
    let mut usual = corrected_by(150.0);
    usual.synchronization.chrony = Figure::Known(ChronyTracking { freq_ppm: -150.0, ..TRACKING });
    assert_eq!(of_three(&usual), [Trusted; 3]);
    // A daemon that steers by the kernel's loop leaves offsets to it, beside the frequency.
    let mut by_loop = corrected_by(400.0);
    by_loop.synchronization.adjtimex.known_mut().unwrap().freq_ppm = 400.0;
    assert_eq!(of_three(&by_loop)[1..], [Trusted, Limited]);
}

/// A nominal frequency is compared with what the counter does in true time.
#[test]
fn a_frequency_that_the_kernel_took_over_is_wrong_with_it() {
    let mut seen = corrected_by(1065.0);
    seen.synchronization.chrony = Figure::Known(ChronyTracking { freq_ppm: -1065.0, ..TRACKING });
    let nominal = |seen: &Observations| {
        let verdicts = judged(seen);
        let found = evidence(verdict_on(&verdicts, "tsc"), EvidenceKind::NominalFrequency).clone();
        let EvidenceData::NominalFrequency(checks::NominalFrequency { ppm, .. }) = found.data else {
            panic!("{found:?}")
        };
        (found.finding, ppm.unwrap().round())
    };
    assert_eq!(nominal(&seen), (Finding::Against, 1065.0));
    // The frequency that the kernel measured by another timer is stated as the kernel has it.
    seen.environment.frequencies.cpuid_15h_hz = Figure::Known(2_500_000_000);
    assert_eq!(nominal(&seen), (Finding::Against, 1065.0));
    seen.environment.frequencies.cpuid_15h_hz = Figure::Known((2.5e9 / (1.0 + 1065e-6)) as u64);
    assert_eq!(nominal(&seen), (Finding::For, 0.0));
}

/// A path that differs from the system call is not at fault where it runs as the daemon states; it
/// is where the daemon states nothing of it.
#[test]
fn a_path_that_runs_as_a_daemon_states_is_not_off() {
    let mut seen = corrected_by(1065.0);
    let off_ns = Some(870_000.0);
    let path = ReadPath::Libc;
    seen.paths = vec![ComparedPath {
        clock: "monotonic".to_owned(),
        path,
        reference: ReadPath::Syscall,
        off_ns,
        within_ns: Some(300.0),
    }];
    assert_eq!(of_three(&seen)[1], Trustworthiness::Unfit);
    seen.synchronization.chrony = Figure::Known(ChronyTracking { freq_ppm: -1065.2, ..TRACKING });
    assert_eq!(of_three(&seen)[1], Trustworthiness::Trusted);
    // A daemon's correction explains no more than it makes in the time of a check.
    seen.paths[0].off_ns = Some(3.6e12);
    assert_eq!(of_three(&seen)[1], Trustworthiness::Unfit);
    seen.paths[0].off_ns = off_ns;
    let verdicts = judged(&seen);
    let CheckEvidence { data, finding, .. } = evidence(verdict_on(&verdicts, "monotonic"), EvidenceKind::Paths);
    let EvidenceData::Paths(checks::Paths { fault, offset_ns, .. }) = data else { panic!("{data:?}") };
    assert_eq!((*finding, *fault, *offset_ns), (Finding::Unknown, Some(ReadPath::Syscall), Some(-870_000.0)));
}
