//! Every check is worded, and read back.

use serde_json::Value;

use super::*;
use crate::{Check, DOCUMENT_SCHEMA, LogFault, Trustworthiness, Uses, Verdict, WatchdogIntervals};

/// Each check at least once, with its figures known, and each of its reasons.
fn checks() -> Vec<EvidenceData> {
    let some = |text: &str| Some(text.to_owned());
    let mut checks = vec![
        EvidenceData::Invariance { invariant: Some(false), by_cpuid: true },
        EvidenceData::Clocksource { current: some("hpet"), former: some("tsc"), invariant: Some(true) },
        EvidenceData::KernelVerdict { cause: None, log_error: some("not permitted") },
        EvidenceData::Hypervisor {
            hypervisor: Some(Hypervisor::Named("KVM".to_owned())),
            statement: None,
            states_frequency: true,
            reason: None,
        },
        EvidenceData::Emulation { emulators: vec![Emulator::QemuTcg] },
        EvidenceData::Stuck { runs: Some(3), unchanged_ns: Some(2e9), reason: None },
        EvidenceData::Rate {
            ppm: Some(-500.0),
            bound_ppm: Some(0.5),
            reference: some("monotonic_raw"),
            lasting_ppm: None,
            constant: Some(false),
            steerable: true,
            reference_shares_hardware: Some(false),
            reason: None,
        },
        EvidenceData::Resolution { tick_ns: Some(4e6), at_most_ns: None, coarse_nominal_ns: None, reason: None },
        EvidenceData::Counter { faults: vec![EvidenceKind::Jumps, EvidenceKind::Order] },
    ];
    for (compared, reference, fault, offset_ns) in [
        (vec![ReadPath::Libc, ReadPath::Vdso], ReadPath::Syscall, None, None),
        (vec![ReadPath::Libc, ReadPath::Vdso], ReadPath::Syscall, Some(ReadPath::Vdso), Some(-3.6e12)),
        (vec![ReadPath::Libc], ReadPath::Syscall, Some(ReadPath::Libc), Some(2000.0)),
        (vec![ReadPath::Libc], ReadPath::Vdso, Some(ReadPath::Libc), Some(2000.0)),
        (Vec::new(), ReadPath::Syscall, None, None),
    ] {
        let (within_ns, preloaded) = (Some(300.0), vec!["libfaketime.so.1".to_owned()]);
        checks.push(EvidenceData::Paths { compared, reference, fault, offset_ns, within_ns, preloaded });
    }
    let text = |text: &str| text.to_owned();
    for cause in [
        KernelCause::LogLine {
            line: text("tsc: Marking TSC unstable"),
            fault: LogFault::Unstated,
            intervals: Some(WatchdogIntervals {
                watchdog: text("hpet"),
                watchdog_ns: Some(504_000_000),
                clocksource: text("tsc"),
                clocksource_ns: Some(612_000_000),
                went_back: false,
                in_use: None,
            }),
            corrected: None,
            unwatched: None,
        },
        KernelCause::log_line("TSC warp between CPUs", LogFault::CpuSkew),
        KernelCause::Unexplained,
        KernelCause::Emulated { emulators: vec![Emulator::Fex] },
        KernelCause::Unwatched { option: text("tsc=reliable") },
        KernelCause::Erratum { line: text("CPU0: Trapping CNTVCT access") },
        KernelCause::ClocksourceOption { clocksource: text("hpet") },
        KernelCause::NotscOption,
        KernelCause::UnstableOption,
        KernelCause::NotOffered,
        KernelCause::PrefersScaled { clocksource: text("kvm-clock") },
        KernelCause::MissingFlags { flags: vec![text("constant_tsc")] },
    ] {
        checks.push(EvidenceData::KernelVerdict { cause: Some(cause), log_error: None });
    }
    for statement in [
        HypervisorStatement::StableClocksource,
        HypervisorStatement::InvariantCounter,
        HypervisorStatement::ReferencePage,
        HypervisorStatement::EmulatedReads,
        HypervisorStatement::ReliableHost,
    ] {
        let (hypervisor, statement) = (Some(Hypervisor::Named("Xen".to_owned())), Some(statement));
        checks.push(EvidenceData::Hypervisor { hypervisor, statement, states_frequency: false, reason: None });
    }
    for failure in [ReadFailure::Instruction, ReadFailure::CounterDisabled, ReadFailure::Call, ReadFailure::DuringRun] {
        checks.push(EvidenceData::Readable { path: ReadPath::Libc, failure: Some(failure), errors: 2, reason: None });
    }
    for suspect in [Suspect::Counter, Suspect::Kernel, Suspect::Setting, Suspect::Path] {
        checks.push(EvidenceData::StepsBack { count: Some(1), readings: 9, suspect, reason: None });
    }
    for reference_problem in [
        ReferenceProblem::TimerTick,
        ReferenceProblem::ReferenceChanged,
        ReferenceProblem::CounterUnfit,
        ReferenceProblem::SeenOnce,
    ] {
        let (ahead, behind, reference) = (Some(1), None, some("monotonic"));
        let suspect = Suspect::Kernel;
        checks.push(EvidenceData::Jumps {
            ahead,
            behind,
            readings: 9,
            reference,
            suspect,
            reference_problem: Some(reference_problem),
            reference_shares_hardware: None,
            reason: None,
        });
    }
    for untested in
        [None, Some(Untested::OneCpu), Some(Untested::NoPair), Some(Untested::NoHandoff), Some(Untested::FewHandoffs)]
    {
        checks.push(EvidenceData::Order {
            regressions: Some(2),
            handoffs: 5000,
            pairs: 3,
            shared_with: None,
            worst_ns: Some(71.5),
            suspect: Suspect::Counter,
            untested,
            reason: None,
        });
        checks.push(EvidenceData::Offsets {
            apart: 1,
            within_ns: Some(800.0),
            a: Some(0),
            b: Some(3),
            offset_ns: Some(700.0),
            bound_ns: Some(60.0),
            untested,
            reason: None,
        });
    }
    for change in [
        RateChange::Step { at_s: 0.5, step_ns: 1e6 },
        RateChange::Once { from_s: 0.5, until_s: 0.75 },
        RateChange::Unexplained,
        RateChange::OtherMean { measured_hz: 2.5e9, mean_hz: 2.6e9 },
        RateChange::WentBack,
        RateChange::AgainstAll,
    ] {
        checks.push(EvidenceData::ConstantRate {
            reference: some("monotonic_raw"),
            brackets: 220,
            seconds: Some(1.25),
            change: Some(change),
            suspect: Suspect::Kernel,
            reference_problem: None,
            reference_shares_hardware: Some(true),
            reason: None,
        });
    }
    let silent = EvidenceData::Synchronization {
        answered: false,
        state: None,
        error_s: None,
        daemon_error_s: None,
        reported_error_s: None,
        shows_utc: false,
    };
    checks.push(silent);
    for state in [
        CivilState::Synchronized,
        CivilState::WhileNotSlewing,
        CivilState::Slewing,
        CivilState::Worthless,
        CivilState::Unsynchronized,
    ] {
        let (error_s, reported_error_s) = (Some(0.002), Some(16.0));
        let check = EvidenceData::Synchronization {
            answered: true,
            state: Some(state),
            error_s,
            daemon_error_s: None,
            reported_error_s,
            shows_utc: false,
        };
        checks.push(check);
    }
    for by in
        [FrequencySource::Hypervisor, FrequencySource::Processor, FrequencySource::Firmware, FrequencySource::Kernel]
    {
        let (nominal_hz, ppm, bound_ppm) = (Some(2.5e9), Some(600.0), Some(0.25));
        let measured_hz = Some(2.4985e9);
        checks.push(EvidenceData::NominalFrequency {
            nominal_hz,
            reported_by: Some(by),
            measured_hz,
            ppm,
            lasting_ppm: None,
            bound_ppm,
        });
    }
    for cause in [
        CostCause::Emulation,
        CostCause::Trap,
        CostCause::Erratum,
        CostCause::TrappedCounter,
        CostCause::Clocksource,
        CostCause::LikeSystemCall,
        CostCause::AboveSystemCall,
    ] {
        checks.push(EvidenceData::Cost {
            cost_ns: Some(250.0),
            p99_ns: Some(260.0),
            histogram: vec![(254, 120), (256, 2)],
            sequence: None,
            monotonic_ns: None,
            syscall_ns: Some(230.0),
            cause: Some(cause),
            clocksource: some("hpet"),
            emulators: vec![Emulator::QemuTcg],
        });
    }
    checks
}

/// Every kind of check, in the order of its declaration.
fn kinds() -> Vec<EvidenceKind> {
    let mut kinds: Vec<EvidenceKind> = checks().iter().map(EvidenceData::kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn judged(check: EvidenceData, finding: Finding) -> CheckEvidence {
    CheckEvidence { data: check, finding, decides: false }
}

/// The schema lists all kinds.
#[test]
fn every_check_is_worded_and_has_its_own_name() {
    let schema: Value = serde_json::from_str(DOCUMENT_SCHEMA).expect("JSON");
    let all: Vec<EvidenceKind> = kinds().into_iter().collect();
    assert_eq!(serde_json::json!(all), schema["$defs"]["EvidenceKind"]["enum"]);
    let mut names: Vec<&str> = kinds().into_iter().map(EvidenceKind::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), kinds().len());
    for check in checks() {
        let is_never_against = matches!(check, EvidenceData::Hypervisor { .. } | EvidenceData::Emulation { .. });
        let has_no_remedy = is_never_against || matches!(check, EvidenceData::KernelVerdict { cause: None, .. });
        for finding in [Finding::For, Finding::Against, Finding::Unknown] {
            let evidence = judged(check.clone(), finding);
            let advice = evidence.advice();
            assert!(!evidence.text().is_empty() && !check.source().is_empty(), "{check:?}");
            let is_advised = finding == Finding::Against && !has_no_remedy;
            assert!(finding == Finding::Unknown || advice.is_some() == is_advised, "{check:?}: {advice:?}");
        }
    }
}

/// Reasons that differ are worded differently.
#[test]
fn no_two_checks_read_alike() {
    let mut lines: Vec<String> = Vec::new();
    for check in checks() {
        let evidence = judged(check, Finding::Against);
        let (name, source) = (evidence.data.name(), evidence.data.source());
        lines.push(format!("{name}: {} [{source}] {:?}", evidence.text(), evidence.advice()));
    }
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    // Offsets need no handoffs: none, or too few, reads as no pair.
    assert_eq!(lines.len(), all - 2);
}

#[test]
fn every_check_is_read_back_and_its_words_are_ignored() {
    let evidence: Vec<CheckEvidence> = checks().into_iter().map(|check| judged(check, Finding::Against)).collect();
    let uses = Uses { interval: Some(Trustworthiness::Unfit), civil: None };
    let verdict = Verdict { clock: "tsc".to_owned(), verdict: Trustworthiness::Unfit, uses, evidence };
    let check = Check { verdicts: vec![verdict], ..Check::default() };
    let mut json = serde_json::to_value(&check).expect("it is written");
    let pieces = json["verdicts"][0]["evidence"].as_array_mut().expect("a list");
    assert!(pieces.iter().all(|piece| piece["text"].is_string() && piece["check"].is_string()));
    let of_causes: Vec<&Value> = pieces.iter().filter(|piece| piece["cause"].is_object()).collect();
    assert!(!of_causes.is_empty() && of_causes.iter().all(|piece| piece["cause"]["seen"] == piece["text"]));
    assert_eq!(serde_json::from_value::<Check>(json.clone()).expect("it is read"), check);
    assert_eq!(serde_json::from_str::<Check>(&json.to_string()).expect("it is read"), check);
    // Nor does anything depend on them.
    let pieces = json["verdicts"][0]["evidence"].as_array_mut().expect("a list");
    for word in ["name", "text", "source", "advice"] {
        pieces.iter_mut().filter_map(|piece| piece.as_object_mut()).for_each(|piece| drop(piece.remove(word)));
    }
    for cause in pieces.iter_mut().filter_map(|piece| piece.get_mut("cause")?.as_object_mut()) {
        let is_named = cause.contains_key("cause");
        cause.retain(|word, _| !(is_named && ["seen", "source", "is_fault", "advice"].contains(&word.as_str())));
    }
    assert_eq!(serde_json::from_value::<Check>(json).expect("it is read"), check);
}

/// The sentence on a clock that nobody synchronizes has what its reader needs.
#[test]
fn a_clock_that_nobody_synchronizes_is_worded_for_both_uses() {
    let unsynchronized = |shows_utc| EvidenceData::Synchronization {
        answered: true,
        state: Some(CivilState::Unsynchronized),
        error_s: None,
        daemon_error_s: None,
        reported_error_s: Some(16.0),
        shows_utc,
    };
    let evidence = |shows_utc| judged(unsynchronized(shows_utc), Finding::Against);
    assert_eq!(
        evidence(false).text(),
        "civil time unknown: no daemon synchronizes it (off by up to 16 s by the kernel's own statement)"
    );
    let advice = evidence(false).advice().unwrap();
    assert!(advice.starts_with("for durations use monotonic, because this clock can be set"));
    assert!(evidence(true).text().contains("shows UTC"));
}

/// A machine that has a daemon is not advised to install one.
#[test]
fn the_remedy_of_civil_time_is_that_of_its_fault() {
    let advice = |state, shows_utc| {
        let check = EvidenceData::Synchronization {
            answered: true,
            state: Some(state),
            error_s: None,
            daemon_error_s: None,
            reported_error_s: None,
            shows_utc,
        };
        judged(check, Finding::Against).advice().unwrap()
    };
    assert!(advice(CivilState::Synchronized, true).contains("TAI - UTC"));
    assert!(advice(CivilState::Slewing, true).contains("wait until"));
    assert!(advice(CivilState::Unsynchronized, true).contains("have a daemon keep it"));
}

/// A fast slew looks like jumps, and is no fault of the kernel.
#[test]
fn jumps_of_a_clock_that_was_not_set_may_be_a_slew() {
    let is_kernels = |check: &EvidenceData| matches!(check, EvidenceData::Jumps { suspect: Suspect::Kernel, .. });
    let check = checks().into_iter().find(is_kernels).expect("it is among them");
    assert!(judged(check, Finding::Against).advice().is_some_and(|advice| advice.contains("if nothing slews it")));
}

/// Agreement with a clock of the same counter claims nothing about the oscillator.
#[test]
fn a_reference_on_the_same_counter_is_named() {
    let text = |shares: Option<bool>, finding| {
        let check = EvidenceData::ConstantRate {
            reference: Some("monotonic_raw".to_owned()),
            brackets: 220,
            seconds: Some(1.25),
            change: None,
            suspect: Suspect::Counter,
            reference_problem: None,
            reference_shares_hardware: shares,
            reason: None,
        };
        judged(check, finding).text()
    };
    assert!(text(Some(true), Finding::For).starts_with("consistent (same counter): one rate explains"));
    for independent in [Some(false), None] {
        assert!(text(independent, Finding::For).starts_with("one rate explains"));
    }
}
