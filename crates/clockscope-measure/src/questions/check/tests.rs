//! Verdicts on records: what is known of a machine, and what each piece makes of a clock.

use clockscope_records::checks::{self, CostCause, HypervisorStatement};
use clockscope_records::{
    Adjtimex, CheckEvidence, ChronyTracking, ClockBasis, ClockIdentity, ClockKind, ClockReason, ClockRecord, Cost,
    CounterFlags, Cpu, Emulator, Events, EvidenceData, EvidenceKind, Figure, Finding, Hypervisor, KernelCause,
    KernelVerdict, LogFault, OffsetPair, Offsets, Order, PairsReason, RateRecord, ReadPath, Sequence, Step,
    Synchronization, Trustworthiness, Use, Uses, Verdict, WallState,
};

use super::*;
use crate::instrument::timer::TimerError;
use crate::platform::failure_reason::{refused, unreadable};
use clockscope_system::child_read::{Outcome, signal_name};
use clockscope_system::failure::system_error;
use clockscope_system::{Errno, clocksource};

mod daemons;
pub(crate) mod demands;
mod faults;
mod machine;
mod paths;

use machine::*;
pub(crate) use machine::{NAMES, healthy};

#[test]
fn a_sound_counter_that_the_kernel_does_not_use_is_limited_and_its_own_clocks_are_dear() {
    for (clocksource, is_dear) in [("hpet", true), ("acpi_pm", true), ("jiffies", true), ("kvm-clock", false)] {
        let seen = other_clocksource(clocksource, false);
        let (verdict, decisive) = decided(&seen, "tsc");
        assert_eq!(verdict, Trustworthiness::Limited);
        assert_eq!(decisive[..2], [EvidenceKind::Clocksource, EvidenceKind::KernelVerdict], "{clocksource}");
        let (verdict, decisive) = decided(&seen, "monotonic");
        let expected = if is_dear {
            (Trustworthiness::Limited, vec![EvidenceKind::Cost])
        } else {
            (Trustworthiness::Trusted, NOTHING)
        };
        assert_eq!((verdict, decisive), expected, "{clocksource}");
    }
    assert_eq!(
        decided(&other_clocksource("hpet", true), "tsc"),
        (Trustworthiness::Unfit, vec![EvidenceKind::KernelVerdict])
    );
}

/// The kernel's verdict on the counter concerns no clock that the hypervisor corrects, and what
/// tests find of the counter does not either: such a clock has its own.
#[test]
fn a_clock_that_the_hypervisor_corrects_has_its_own_verdict() {
    for clocksource in ["kvm-clock", "hyperv_clocksource_tsc_page", "xen"] {
        let mut seen = other_clocksource(clocksource, true);
        assert_eq!(decided(&seen, "tsc").0, Trustworthiness::Limited, "{clocksource}");
        assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Trusted, NOTHING), "{clocksource}");
        sequence_of(&mut seen, "rdtscp").regressions = Figure::Known(7);
        assert_eq!(decided(&seen, "tsc").0, Trustworthiness::Unfit, "{clocksource}");
        assert_ne!(decided(&seen, "monotonic").0, Trustworthiness::Unfit, "{clocksource}");
        // Evidence against itself counts in full.
        sequence_of(&mut seen, "monotonic").regressions = Figure::Known(7);
        assert_eq!(decided(&seen, "monotonic").0, Trustworthiness::Unfit, "{clocksource}");
    }
}

/// Options and errata are reported, and forbid nothing; a trapped read is the erratum's.
#[test]
fn what_makes_a_counter_in_use_worth_less_is_a_remark() {
    let mut seen = healthy();
    let line = "arch_timer: CPU0: Trapping CNTVCT access".to_owned();
    seen.kernel.reasons =
        vec![KernelCause::Unwatched { option: "tsc=reliable".to_owned() }, KernelCause::Erratum { line }];
    assert_eq!(decided(&seen, "tsc").0, Trustworthiness::Trusted);
    for clock in &mut seen.clocks {
        if let Some(cost) = clock.cost_ns.known_mut() {
            cost.median = 5_000.0;
        }
    }
    let verdicts = judged(&seen);
    let cost = evidence(verdict_on(&verdicts, "tsc"), EvidenceKind::Cost);
    assert!(
        matches!(cost.data, EvidenceData::Cost(checks::Cost { cause: Some(CostCause::Erratum), .. })),
        "{:?}",
        cost.data
    );
}

#[test]
fn what_was_not_checked_is_unknown_and_not_against() {
    let mut seen = healthy();
    for sequence in &mut seen.order.sequences {
        (sequence.handoffs, sequence.regressions) = Default::default();
    }
    seen.order.untestable = Some(PairsReason::OneCpu { cpu: 0, limit: None }.into());
    seen.offsets.pairs.clear();
    seen.rates = Err(TimerError::NoReference(Vec::new()).into());
    let verdicts = judged(&seen);
    let counter = verdict_on(&verdicts, "tsc");
    // Nothing contradicts it, and not enough supports it.
    let because = [EvidenceKind::Order, EvidenceKind::Offsets, EvidenceKind::ConstantRate];
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Undecided, because.to_vec()));
    let because = [EvidenceKind::Order, EvidenceKind::ConstantRate];
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Undecided, because.to_vec()));
    assert_eq!(decided(&seen, "monotonic_coarse"), (Trustworthiness::Undecided, because.to_vec()));
    // No order is asked of the time of a thread.
    assert_eq!(decided(&seen, "thread"), (Trustworthiness::Trusted, NOTHING));
    for check in
        [EvidenceKind::Order, EvidenceKind::Offsets, EvidenceKind::ConstantRate, EvidenceKind::NominalFrequency]
    {
        let evidence = evidence(counter, check);
        assert_eq!(evidence.finding, Finding::Unknown, "{evidence:?}");
    }
    // Where there is one CPU, there is nothing to be tested.
    seen.environment.cpu.online = Figure::Known(1);
    let verdicts = judged(&seen);
    let order = evidence(verdict_on(&verdicts, "tsc"), EvidenceKind::Order);
    assert_eq!(order.finding, Finding::For);
}

/// Evidence against a clock wins over a test without a result.
#[test]
fn what_is_against_a_clock_counts_more_than_what_is_unknown() {
    let mut seen = healthy();
    sequence_of(&mut seen, "rdtscp").handoffs = 12;
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Undecided, vec![EvidenceKind::Order]));
    seen.is_invariant = Some(false);
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Limited, vec![EvidenceKind::Invariance]));
    events(&mut seen, "tsc").regression = 1;
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Unfit, vec![EvidenceKind::StepsBack]));
}

/// A handful of readings show no clock's soundness.
#[test]
fn a_few_readings_decide_nothing() {
    for name in ["tsc", "monotonic", "thread"] {
        let mut seen = healthy();
        for clock in seen.clocks.iter_mut().filter(|clock| clock.identity.name == name || name == "tsc") {
            clock.events.as_mut().unwrap().reads = 300;
        }
        assert_eq!(decided(&seen, name), (Trustworthiness::Undecided, vec![EvidenceKind::StepsBack]), "{name}");
    }
}

/// Trust has evidence, which a clock of the same counter cannot give.
#[test]
fn a_trusted_clock_names_its_tests() {
    let reasons = |seen: &Observations, clock: &str| -> Vec<EvidenceKind> {
        let verdicts = judged(seen);
        let decisive = verdict_on(&verdicts, clock).evidence.iter().filter(|evidence| evidence.decides);
        decisive.map(|evidence| evidence.data.kind()).collect()
    };
    let mut seen = healthy();
    assert_eq!(reasons(&seen, "tsc"), [EvidenceKind::StepsBack, EvidenceKind::Order, EvidenceKind::Offsets]);
    assert_eq!(reasons(&seen, "monotonic"), [EvidenceKind::StepsBack, EvidenceKind::Order]);
    let realtime = [EvidenceKind::StepsBack, EvidenceKind::Order, EvidenceKind::Synchronization];
    assert_eq!(reasons(&seen, "realtime"), realtime);
    assert_eq!(reasons(&seen, "thread"), [EvidenceKind::StepsBack]);
    // On one CPU there is no order to be tested.
    let mut alone = healthy();
    alone.environment.cpu.online = Figure::Known(1);
    alone.order.sequences.clear();
    alone.offsets.pairs.clear();
    assert_eq!(reasons(&alone, "tsc"), [EvidenceKind::StepsBack]);
    // A counter of its own.
    seen.clocks[3].identity.basis = ClockBasis::Other;
    assert_eq!(reasons(&seen, "monotonic"), [EvidenceKind::StepsBack, EvidenceKind::Order, EvidenceKind::Rate]);
}

#[test]
fn a_clock_of_the_same_counter_is_no_independent_reference() {
    let shares = |seen: &Observations, clock: &str, kind: EvidenceKind| {
        let verdicts = judged(seen);
        match evidence(verdict_on(&verdicts, clock), kind).data {
            EvidenceData::ConstantRate(checks::ConstantRate { reference_shares_hardware, .. })
            | EvidenceData::Rate(checks::Rate { reference_shares_hardware, .. }) => reference_shares_hardware,
            ref check => panic!("{check:?}"),
        }
    };
    let mut seen = healthy();
    for (clocksource, expected) in [("tsc", true), ("kvm-clock", true), ("hpet", false), ("acpi_pm", false)] {
        seen.environment.clocksource = Figure::Known(clocksource.to_owned());
        assert_eq!(shares(&seen, "tsc", EvidenceKind::ConstantRate), Some(expected), "{clocksource}");
        assert_eq!(shares(&seen, "monotonic", EvidenceKind::Rate), Some(true), "{clocksource}");
    }
    seen.environment.clocksource = Figure::default();
    assert_eq!(shares(&seen, "tsc", EvidenceKind::ConstantRate), None);
}

/// A clock that stepped at first and not any more when it was to be compared has stopped.
#[test]
fn a_clock_that_stopped_meanwhile_is_found() {
    let mut seen = healthy();
    rate_of(&mut seen, "monotonic").unchanged_ns = Figure::Known(5e8);
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Unfit, vec![EvidenceKind::Stuck]));
    // What it was to be compared with has no rate of its own.
    let mut seen = healthy();
    let stuck = unreadable("monotonic:syscall".to_owned(), ClockReason::NoStepSeen { observed_ns: 5e8 });
    seen.rates = Err(MeasureError::Reference(stuck.into()));
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Unfit, vec![EvidenceKind::Stuck]));
}

fn cause(evidence: &CheckEvidence) -> Option<CostCause> {
    let EvidenceData::Cost(checks::Cost { cause, .. }) = evidence.data else { panic!("{evidence:?}") };
    cause
}

/// A cost that is far above a system call is not explained by one.
#[test]
fn the_reason_of_a_cost_is_what_is_known_of_it() {
    for (cost_ns, expected) in [(225.0, CostCause::LikeSystemCall), (15_000.0, CostCause::AboveSystemCall)] {
        let mut seen = healthy();
        seen.clocks[3].cost_ns.known_mut().unwrap().median = cost_ns;
        let verdicts = judged(&seen);
        let cost = evidence(verdict_on(&verdicts, "monotonic"), EvidenceKind::Cost);
        assert_eq!((cost.finding, cause(cost)), (Finding::Against, Some(expected)));
    }
}

/// A clock that steps by a second is looked at for less, whatever step it claims; one that has
/// stopped for a second is frozen.
#[test]
fn a_step_that_was_not_seen_is_unknown() {
    use Trustworthiness::Unfit;

    for (nominal_ns, span_ns, finding) in [
        (1.0, 100e6, Finding::Unknown),
        (1.0, 2e9, Finding::Against),
        (1e9, 2e9, Finding::Unknown),
        (1e9, 25e9, Finding::Against),
    ] {
        let mut seen = healthy();
        let clock = &mut seen.clocks[3];
        (clock.observed_resolution_ns, clock.tick_ns, clock.tick_evidence) = Default::default();
        clock.nominal_resolution_ns = Figure::Known(nominal_ns);
        let events = clock.events.as_mut().unwrap();
        (events.span_ns, events.stuck) = (Figure::Known(span_ns), 1);
        let verdicts = judged(&seen);
        let stuck = evidence(verdict_on(&verdicts, "monotonic"), EvidenceKind::Stuck);
        assert_eq!(stuck.finding, finding, "{nominal_ns} {span_ns} {stuck:?}");
        assert_eq!(verdict_on(&verdicts, "monotonic").verdict == Unfit, finding == Finding::Against);
    }
}

#[test]
fn a_few_handoffs_show_a_regression_but_no_order() {
    let mut seen = healthy();
    sequence_of(&mut seen, "rdtscp").handoffs = 12;
    let order = |seen: &Observations| {
        let verdicts = judged(seen);
        evidence(verdict_on(&verdicts, "tsc"), EvidenceKind::Order).finding
    };
    assert_eq!(order(&seen), Finding::Unknown);
    // Nor does one whose reads failed there after many.
    let sequence = sequence_of(&mut seen, "rdtscp");
    sequence.handoffs = 100_000;
    sequence.reason = Some(ClockReason::ReadingsEnded { error: system_error(Errno::new(1)) }.into());
    assert_eq!(order(&seen), Finding::Unknown);
    sequence_of(&mut seen, "rdtscp").regressions = Figure::Known(1);
    assert_eq!(order(&seen), Finding::Against);
}

/// Order that too few handoffs of a clock show is shown by a clock that is read in the same way,
/// and says so; what contradicts one of them is not shared.
#[test]
fn clocks_that_are_read_in_the_same_way_share_their_order() {
    let shared = |seen: &Observations, clock: &str| {
        let verdicts = judged(seen);
        let CheckEvidence { data, finding, .. } = evidence(verdict_on(&verdicts, clock), EvidenceKind::Order);
        let EvidenceData::Order(checks::Order { shared_with, .. }) = data else { panic!("{data:?}") };
        (*finding, shared_with.clone())
    };
    let mut seen = healthy();
    assert_eq!(shared(&seen, "monotonic"), (Finding::For, None));
    for few in [0, 999] {
        let sequence = sequence_of(&mut seen, "monotonic");
        (sequence.handoffs, sequence.regressions) = (few, Figure::Known(0));
        assert_eq!(shared(&seen, "monotonic"), (Finding::For, Some("realtime".to_owned())));
        assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Trusted, NOTHING));
        let verdicts = judged(&seen);
        let because = verdict_on(&verdicts, "monotonic").because();
        assert!(because.contains("handoffs of realtime went back"), "{because}");
    }
    // Its own step back counts, however few handoffs there were.
    sequence_of(&mut seen, "monotonic").regressions = Figure::Known(1);
    assert_eq!(shared(&seen, "monotonic"), (Finding::Against, None));
    sequence_of(&mut seen, "monotonic").regressions = Figure::Known(0);
    // The other's step back says nothing of this one.
    sequence_of(&mut seen, "realtime").regressions = Figure::Known(1);
    assert_eq!(shared(&seen, "monotonic"), (Finding::Unknown, None));
    sequence_of(&mut seen, "realtime").regressions = Figure::Known(0);
    // One that is off, or costs as much as a system call, is read by other code.
    cost_of(&mut seen, "realtime", 230.0);
    assert_eq!(shared(&seen, "monotonic"), (Finding::Unknown, None));
    cost_of(&mut seen, "realtime", 22.0);
    assert_eq!(shared(&seen, "monotonic").0, Finding::For);
    // What ended its own handoffs is not known of the other.
    sequence_of(&mut seen, "monotonic").reason = Some(ClockReason::StoodStill.into());
    assert_eq!(shared(&seen, "monotonic"), (Finding::Unknown, None));
    sequence_of(&mut seen, "monotonic").reason = None;
    // By a system call it is read by other code.
    let other = seen.clocks.iter_mut().find(|clock| clock.identity.name == "realtime").unwrap();
    other.identity.path = ReadPath::Vdso;
    assert_eq!(shared(&seen, "monotonic"), (Finding::Unknown, None));
}

#[test]
fn gaps_and_unordered_reads_are_no_evidence() {
    let mut seen = healthy();
    sequence_of(&mut seen, "tsc").regressions = Figure::Known(12_345);
    for clock in &mut seen.clocks {
        clock.events.as_mut().unwrap().gap = Figure::Known(1_000_000);
    }
    assert!(judged(&seen).iter().all(|verdict| verdict.verdict == Trustworthiness::Trusted));
}

#[test]
fn a_clock_is_not_blamed_by_a_counter_that_is_unfit() {
    let mut seen = healthy();
    events(&mut seen, "tsc").jump = Figure::Known(1);
    events(&mut seen, "monotonic").hidden_regression = Figure::Known(1);
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Limited, vec![EvidenceKind::Counter]));
    assert_eq!(decided(&seen, "tsc").0, Trustworthiness::Unfit);
}

#[test]
fn a_wall_clock_that_goes_back_with_monotonic_was_not_set() {
    let mut seen = healthy();
    sequence_of(&mut seen, "realtime").regressions = Figure::Known(2000);
    sequence_of(&mut seen, "monotonic").regressions = Figure::Known(2000);
    assert_eq!(decided(&seen, "realtime"), (Trustworthiness::Unfit, vec![EvidenceKind::Order]));
}

/// A container without /sys may still read the kernel's log.
#[test]
fn what_the_log_says_counts_without_sysfs() {
    let mut seen = other_clocksource("hpet", true);
    (seen.environment.clocksource, seen.kernel.is_current) = Default::default();
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Unfit, vec![EvidenceKind::KernelVerdict]));
}

#[test]
fn a_trapped_counter_makes_the_clocks_dear_that_read_it() {
    let mut seen = healthy();
    for (clock, ns) in [(0, 11e3), (1, 11e3), (3, 11.1e3), (4, 5.0)] {
        seen.clocks[clock].cost_ns.known_mut().unwrap().median = ns;
    }
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Limited, vec![EvidenceKind::Cost]));
    let verdicts = judged(&seen);
    let cost = evidence(verdict_on(&verdicts, "monotonic"), EvidenceKind::Cost);
    assert_eq!(cause(cost), Some(CostCause::TrappedCounter));
    assert_eq!(decided(&seen, "monotonic_coarse").0, Trustworthiness::Trusted);
}

/// A CPU whose kernel is entered in less than any read that is called slow by its ns alone.
#[test]
fn a_trap_that_costs_as_much_as_a_cheap_system_call_is_one() {
    for (counter_ns, monotonic_ns, verdict) in
        [(40.0, 45.0, Trustworthiness::Trusted), (115.0, 124.0, Trustworthiness::Limited)]
    {
        let mut seen = healthy();
        for clock in &mut seen.clocks {
            let is_syscall = clock.identity.path == ReadPath::Syscall;
            let ns = if clock.identity.is_counter() { counter_ns } else { monotonic_ns };
            if let Some(cost) = clock.cost_ns.known_mut() {
                cost.median = if is_syscall { 120.0 } else { ns };
            }
        }
        assert_eq!([decided(&seen, "tsc").0, decided(&seen, "monotonic").0], [verdict; 2]);
    }
}

/// An emulated machine that does not say so: all of it is slow, and nothing is trapped.
#[test]
fn a_machine_that_is_slow_in_everything_traps_nothing() {
    let mut seen = healthy();
    for (clock, ns) in [(0, 237.0), (1, 237.0), (3, 368.0), (5, 12_136.0)] {
        seen.clocks[clock].cost_ns.known_mut().unwrap().median = ns;
    }
    assert_eq!(decided(&seen, "tsc").0, Trustworthiness::Trusted);
    assert_eq!(decided(&seen, "monotonic").0, Trustworthiness::Trusted);
    seen.clocks[5].cost_ns.known_mut().unwrap().median = 500.0;
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Limited, vec![EvidenceKind::Cost]));
}

#[test]
fn a_hypervisor_is_judged_by_its_statement() {
    let hypervisor = |statement: Option<HypervisorStatement>, is_known: bool| {
        let mut seen = healthy();
        seen.environment.hypervisor = Figure::Known(Hypervisor::Named("Xen".to_owned()));
        seen.environment.counter_flags.known_mut().unwrap().tsc_known_freq = Figure::Known(is_known);
        seen.statement = statement;
        let verdicts = judged(&seen);
        let counter = verdict_on(&verdicts, "tsc");
        assert_eq!(counter.verdict, Trustworthiness::Trusted);
        evidence(counter, EvidenceKind::Hypervisor).finding
    };
    assert_eq!(hypervisor(None, true), Finding::For);
    assert_eq!(hypervisor(None, false), Finding::Unknown);
    assert_eq!(hypervisor(Some(HypervisorStatement::ReliableHost), false), Finding::For);
    assert_eq!(hypervisor(Some(HypervisorStatement::EmulatedReads), true), Finding::Unknown);
}

#[test]
fn a_clock_of_the_timer_tick_blames_nobody() {
    let mut seen = other_clocksource("jiffies", false);
    events(&mut seen, "tsc").jump = Figure::Known(1);
    events(&mut seen, "monotonic").hidden_regression = Figure::Known(1);
    rate_of(&mut seen, "rdtscp").constant = Figure::Known(false);
    assert_eq!(decided(&seen, "tsc").0, Trustworthiness::Limited);
    assert_eq!(decided(&seen, "monotonic").0, Trustworthiness::Limited);
}

#[test]
fn emulation_says_nothing_of_cost_and_user_emulation_nothing_of_the_kernel() {
    let mut seen = healthy();
    seen.environment.emulation = vec![Emulator::QemuTcg];
    seen.clocks[3].cost_ns.known_mut().unwrap().median = 225.0;
    assert_eq!(decided(&seen, "monotonic").0, Trustworthiness::Trusted);
    // The clocksource is known whoever emulates: with this one the kernel is entered.
    seen.environment.clocksource = Figure::Known("hpet".to_owned());
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Limited, vec![EvidenceKind::Cost]));
    seen.environment.emulation = vec![Emulator::QemuUser];
    assert_eq!(decided(&seen, "monotonic").0, Trustworthiness::Trusted);
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Undecided, vec![EvidenceKind::Clocksource]));
}

/// A clock that shows the time of day has two uses, and its verdict is the worse one.
#[test]
fn time_of_day_is_known_as_well_as_its_daemon_states_it() {
    use Trustworthiness::{Limited, Trusted, Undecided};

    let found = |state, time_of_day_error_s, tai_offset_s: Option<i64>, clock: &str| {
        let mut seen = healthy();
        let kernel = seen.synchronization.adjtimex.known_mut().unwrap();
        (kernel.state, kernel.time_of_day_error_s, kernel.tai_offset_s) = (state, time_of_day_error_s, tai_offset_s);
        kernel.maxerror_us = 16_000_000;
        seen.clocks[2].identity.name = clock.to_owned();
        sequence_of(&mut seen, "realtime").name = clock.to_owned();
        rate_of(&mut seen, "realtime").name = clock.to_owned();
        let verdicts = verdicts(&seen, &[clock.to_owned()], None);
        let verdict = verdict_on(&verdicts, clock);
        let evidence = evidence(verdict, EvidenceKind::Synchronization);
        let shows_utc = clock == "tai" && tai_offset_s.is_none();
        let reported_error_s = Some(16.0);
        let check = EvidenceData::Synchronization(checks::Synchronization {
            answered: true,
            state,
            error_s: time_of_day_error_s,
            daemon_error_s: None,
            reported_error_s,
            shows_utc,
        });
        assert_eq!(evidence.data, check);
        assert_eq!(verdict.uses.interval, Some(Trusted));
        assert_eq!(Some(verdict.verdict), verdict.uses.time_of_day);
        verdict.verdict
    };
    for (state, expected) in [
        (WallState::Synchronized, Trusted),
        (WallState::WhileNotSlewing, Trusted),
        (WallState::Slewing, Limited),
        (WallState::Worthless, Undecided),
        (WallState::Unsynchronized, Limited),
    ] {
        for clock in ["realtime", "tai"] {
            assert_eq!(found(Some(state), Some(0.002), Some(37), clock), expected, "{state:?}");
            assert_eq!(found(Some(state), None, Some(37), clock), expected.min(Undecided), "{state:?}");
        }
        assert_eq!(found(Some(state), Some(0.002), None, "realtime"), expected, "{state:?}");
        assert_eq!(found(Some(state), Some(0.002), None, "tai"), Limited, "{state:?}");
    }
    assert_eq!(found(None, None, None, "realtime"), Undecided);
    // Where the kernel does not answer, nothing is known.
    let silent = Observations { synchronization: Synchronization::default(), ..healthy() };
    assert_eq!(decided(&silent, "realtime"), (Undecided, vec![EvidenceKind::Synchronization]));
}

/// Evidence that matters to one use alone does not change the verdict for the other.
#[test]
fn each_use_is_judged_by_what_matters_to_it() {
    use Trustworthiness::{Limited, Trusted, Unfit};

    let mut seen = healthy();
    rate_of(&mut seen, "realtime").ppm = Figure::Known(500.0);
    let judged = |seen: &Observations, for_use| verdicts(seen, &NAMES.map(str::to_owned), for_use);
    let all = judged(&seen, None);
    let realtime = verdict_on(&all, "realtime");
    // It is being slewed, which is how the time of day is corrected.
    assert_eq!(realtime.uses, Uses { interval: Some(Limited), time_of_day: Some(Trusted) });
    assert_eq!(realtime.verdict, Limited);
    assert_eq!(verdict_on(&all, "monotonic").uses, Uses { interval: Some(Trusted), time_of_day: None });
    // No steering explains this.
    rate_of(&mut seen, "realtime").ppm = Figure::Known(150_000.0);
    assert_eq!(
        verdict_on(&judged(&seen, None), "realtime").uses,
        Uses { interval: Some(Unfit), time_of_day: Some(Unfit) }
    );
    seen.synchronization.adjtimex.known_mut().unwrap().state = Some(WallState::Unsynchronized);
    rate_of(&mut seen, "realtime").ppm = Figure::Known(0.0);
    let [all, intervals, time_of_day] =
        [None, Some(Use::Interval), Some(Use::TimeOfDay)].map(|for_use| judged(&seen, for_use));
    assert_eq!(verdict_on(&all, "realtime").uses, Uses { interval: Some(Trusted), time_of_day: Some(Limited) });
    let alone = verdict_on(&intervals, "realtime");
    assert_eq!((alone.verdict, alone.uses), (Trusted, Uses { interval: Some(Trusted), time_of_day: None }));
    assert!(alone.evidence.iter().all(|evidence| evidence.data.kind() != EvidenceKind::Synchronization));
    // Only clocks that show the time of day are judged for it.
    let names: Vec<&str> = time_of_day.iter().map(|verdict| verdict.clock.as_str()).collect();
    assert_eq!(names, ["realtime"]);
    assert_eq!(time_of_day[0].uses, Uses { interval: None, time_of_day: Some(Limited) });
    assert!(time_of_day[0].evidence.iter().all(|evidence| evidence.data.kind() != EvidenceKind::Rate));
}

/// A call that is denied is no sign of a disabled counter, even where that is disabled as well.
#[test]
fn a_disabled_counter_explains_only_what_reads_it() {
    let by_signal = |name: &str| {
        let signal = (1..65).find(|signal| signal_name(*signal) == name).expect("it is known");
        refused(Outcome::Killed(signal), Some(false)).expect("it was killed")
    };
    assert_eq!(by_signal("SIGSEGV"), ClockReason::CounterDisabled);
    assert!(matches!(by_signal("SIGSYS"), ClockReason::ChildReadKilled { .. }));
}

/// A clock that was asked for and that the machine lacks is not judged; one that is denied is
/// judged, but for a device, which others may read.
#[test]
fn a_clock_that_the_machine_lacks_has_no_verdict() {
    let names = ["monotonic".to_owned(), "realtime".to_owned()];
    let found = |reason: &ClockReason, path| {
        let mut seen = healthy();
        let clock = seen.clocks.iter_mut().find(|clock| clock.identity.name == "monotonic").unwrap();
        (clock.available, clock.reason) = (false, Some(reason.clone().into()));
        clock.identity.path = path;
        let label = clock.identity.label();
        let wanted = [label.clone(), "realtime".to_owned()];
        let names = [label.clone(), names[1].clone()];
        let judged = judge(&seen, &wanted, &names, &Policy::default(), None);
        let unasked = judge(&seen, &[], &names, &Policy::default(), None);
        assert!(unasked.unavailable.is_empty(), "nobody asked for it");
        let verdicts: Vec<Trustworthiness> = judged.verdicts.iter().map(|verdict| verdict.verdict).collect();
        (verdicts, judged.unavailable.iter().map(|missing| missing.clock == label).collect::<Vec<_>>())
    };
    let (trusted, unfit) = (Trustworthiness::Trusted, Trustworthiness::Unfit);
    let missing = || ClockReason::Missing { words: "there is none".to_owned() };
    // EPERM.
    let denied = || ClockReason::ChildReadFailed { error: system_error(Errno::new(1)) };
    let no_instruction = ClockReason::NoInstruction { instruction: "RDTSCP".to_owned() };
    for (reason, path, expected) in [
        (missing(), ReadPath::Libc, (vec![trusted], vec![true])),
        (missing(), ReadPath::Mmap, (vec![trusted], vec![true])),
        (no_instruction, ReadPath::Instruction, (vec![trusted], vec![true])),
        (denied(), ReadPath::Mmap, (vec![trusted], vec![true])),
        (denied(), ReadPath::Libc, (vec![unfit, trusted], Vec::new())),
        (ClockReason::ChildReadEnded, ReadPath::Libc, (vec![unfit, trusted], Vec::new())),
    ] {
        assert_eq!(found(&reason, path), expected, "{reason:?} {path:?}");
    }
}
