//! Verdicts on records: a healthy machine, and one thing wrong with it at a time.

use clockscope_machine::hypervisor::Advice;
use clockscope_records::{
    Adjtimex, Basis, Check, CheckKind, CivilWorth, ClockIdentity, ClockKind, ClockRecord, Cost, CostCause,
    CounterFlags, Cpu, Events, Evidence, Failure, Figure, Finding, KernelVerdict, OffsetPair, Offsets, Order,
    RateRecord, ReadFailure, ReadPath, Reason, Sequence, Step, Trustworthiness, Verdict,
};

use super::*;
use crate::incomparable::Incomparable;
use crate::timer::TimerError;
use crate::unreadable::Unreadable;
use clockscope_machine::clocksource;
use clockscope_machine::trial::{Outcome, signal_name};

pub(crate) mod demands;

/// A clock of Linux on x86: of its names only those of the simulated machines are known.
fn identity(name: &str, kind: ClockKind, path: ReadPath) -> ClockIdentity {
    let basis = match kind {
        ClockKind::Counter => Basis::Counter,
        ClockKind::Monotonic | ClockKind::Wall => Basis::Clocksource,
        ClockKind::CpuTime => Basis::Scheduler,
        ClockKind::Cycles => Basis::Other,
    };
    ClockIdentity {
        name: name.to_owned(),
        aliases: Vec::new(),
        kind,
        path,
        description: String::new(),
        basis,
        counter_based: Figure::of((basis != Basis::Scheduler).then_some(basis != Basis::Other), "not shown"),
        is_ordered: !matches!(name, "tsc"),
        is_coarse: matches!(name, "monotonic_coarse"),
        is_wall: kind == ClockKind::Wall,
        is_cpu_time: kind == ClockKind::CpuTime,
        is_steered: basis == Basis::Clocksource,
        counts_suspend: kind == ClockKind::Wall,
        is_device: false,
    }
}

fn clock(name: &str, kind: ClockKind, path: ReadPath, cost_ns: f64, tick_ns: f64) -> ClockRecord {
    ClockRecord {
        identity: identity(name, kind, path),
        available: true,
        reason: None,
        failure: None,
        cost_ns: Figure::Known(Cost {
            median: cost_ns,
            ci95: Figure::default(),
            rounds: Vec::new(),
            between_runs: None,
            min: cost_ns,
            p99: Figure::default(),
            batches: 1000,
            reads_per_batch: 1000,
            batches_dropped: 0,
        }),
        ratio_to_fastest: Figure::default(),
        nominal_resolution_ns: Figure::Known(if tick_ns > 1e6 { tick_ns } else { 1.0 }),
        observed_resolution_ns: Figure::Known(tick_ns),
        tick_ns: Figure::Known(tick_ns),
        tick_evidence: None,
        summary: Figure::default(),
        monotonic: Figure::default(),
        events: Some(Events {
            reads: 10_000_000,
            errors: 0,
            span_ns: Figure::Known(2e9),
            stuck: if tick_ns > 1e6 { 300 } else { 0 },
            stall: 0,
            warp: Figure::Known(0),
            jump: Figure::Known(0),
            gap: Figure::Known(100),
            regression: 0,
            hidden_regression: Figure::Known(0),
            threshold_ns: Figure::Known(1000.0),
            sure_ns: Figure::Known(1300.0),
            reference: Figure::Known("monotonic_raw:syscall".to_owned()),
            reference_shares_hardware: Figure::Known(true),
        }),
    }
}

fn sequence(name: &str, ordered: bool) -> Sequence {
    Sequence {
        name: name.to_owned(),
        ordered,
        available: true,
        reason: None,
        failure: None,
        handoffs: 500_000,
        handoffs_per_second: Figure::Known(1e7),
        regressions: Figure::Known(0),
        regressions_per_million: Figure::Known(0.0),
        worst_ns: Figure::default(),
        worst_pair: Figure::default(),
        mailbox: Figure::default(),
        lock: Figure::default(),
    }
}

fn rate(name: &str) -> RateRecord {
    RateRecord {
        name: name.to_owned(),
        reference: "monotonic_raw:syscall".to_owned(),
        available: true,
        ppm: Figure::Known(0.01),
        bound_ppm: Figure::Known(0.3),
        frequency_hz: Figure::of(name.contains("tsc").then_some(2.5e9), "it tells time, not ticks"),
        seconds: Figure::Known(1.1),
        brackets_kept: 220,
        constant: Figure::Known(true),
        ..RateRecord::default()
    }
}

pub(crate) const NAMES: [&str; 4] = ["realtime", "monotonic", "monotonic_coarse", "thread"];

/// A machine with nothing wrong, whose kernel builds its clocks on the counter.
pub(crate) fn healthy() -> Seen {
    let environment = Environment {
        cpu: Cpu { online: Figure::Known(2), ..Cpu::default() },
        counter_flags: Figure::Known(CounterFlags { tsc_known_freq: Figure::Known(true), ..CounterFlags::default() }),
        clocksource: Figure::Known("tsc".to_owned()),
        hypervisor: Figure::Known("none".to_owned()),
        ..Environment::default()
    };
    let pair = OffsetPair {
        a: 0,
        b: 1,
        offset_ns: Figure::Known(-3.0),
        bound_ns: Figure::Known(70.0),
        offset_counts: Figure::default(),
        exchanges: 100_000,
        round_trip_ns: Figure::default(),
        asymmetry_ns: Figure::default(),
        symmetric: Figure::default(),
        apart: Figure::Known(false),
        reason: None,
    };
    let instruction = |name: &str, cost_ns: f64| clock(name, ClockKind::Counter, ReadPath::Instruction, cost_ns, 10.0);
    Seen {
        environment,
        is_invariant: Some(true),
        advice: None,
        kernel: KernelVerdict {
            name: Some("tsc".to_owned()),
            is_current: Some(true),
            is_available: Some(true),
            ..KernelVerdict::default()
        },
        clocks: vec![
            instruction("tsc", 9.5),
            instruction("rdtscp", 18.0),
            clock("realtime", ClockKind::Wall, ReadPath::Libc, 22.0, 10.0),
            clock("monotonic", ClockKind::Monotonic, ReadPath::Libc, 22.0, 10.0),
            clock("monotonic_coarse", ClockKind::Monotonic, ReadPath::Libc, 5.0, 4e6),
            clock("monotonic", ClockKind::Monotonic, ReadPath::Syscall, 230.0, 10.0),
            clock("thread", ClockKind::CpuTime, ReadPath::Libc, 500.0, 10.0),
        ],
        order: Order {
            cpus: vec![0, 1],
            pairs_tested: 1,
            sequences: vec![
                sequence("tsc", false),
                sequence("rdtscp", true),
                sequence("realtime", true),
                sequence("monotonic", true),
                sequence("monotonic_coarse", true),
            ],
            ..Order::default()
        },
        offsets: Offsets { cpus: vec![0, 1], pairs: vec![pair], within_ns: Figure::Known(73.0), ..Offsets::default() },
        rates: Ok(Rates {
            reference: "monotonic_raw:syscall".to_owned(),
            clocks: vec![rate("rdtscp"), rate("realtime"), rate("monotonic")],
            adjtimex: Figure::Known(Adjtimex {
                freq_ppm: 0.0,
                tick_us: 10_000,
                offset_ns: 0,
                maxerror_us: 1000,
                esterror_us: 10,
                status: vec!["pll".to_owned(), "nano".to_owned()],
                worth: Some(CivilWorth::Trusted),
                civil_error_s: Some(0.001),
            }),
            ..Rates::default()
        }),
        by_counter: true,
        means: [Mean::Known { hz: 2.5e9, bound_ppm: 0.3 }; 2],
        turned_from: None,
    }
}

fn judged(seen: &Seen) -> Vec<Verdict> {
    verdicts(seen, &NAMES.map(str::to_owned))
}

fn of<'a>(verdicts: &'a [Verdict], clock: &str) -> &'a Verdict {
    verdicts.iter().find(|verdict| verdict.clock == clock).unwrap()
}

/// The evidence of this check.
fn evidence(verdict: &Verdict, check: CheckKind) -> &Evidence {
    verdict.evidence.iter().find(|evidence| evidence.check.kind() == check).unwrap()
}

/// The verdict on a clock, and what decided it.
fn decided(seen: &Seen, clock: &str) -> (Trustworthiness, Vec<CheckKind>) {
    let verdicts = judged(seen);
    let verdict = of(&verdicts, clock);
    let decisive = verdict.evidence.iter().filter(|evidence| evidence.decides);
    (verdict.verdict, decisive.map(|evidence| evidence.check.kind()).collect())
}

fn events<'a>(seen: &'a mut Seen, label: &str) -> &'a mut Events {
    let clock = seen.clocks.iter_mut().find(|clock| clock.identity.label() == label).unwrap();
    clock.events.as_mut().unwrap()
}

fn rate_of<'a>(seen: &'a mut Seen, name: &str) -> &'a mut RateRecord {
    let rates = seen.rates.as_mut().unwrap();
    rates.clocks.iter_mut().find(|rate| rate.name == name).unwrap()
}

fn sequence_of<'a>(seen: &'a mut Seen, name: &str) -> &'a mut Sequence {
    seen.order.sequences.iter_mut().find(|sequence| sequence.name == name).unwrap()
}

const NOTHING: Vec<CheckKind> = Vec::new();

#[test]
fn nothing_wrong_is_trusted() {
    let seen = healthy();
    for verdict in judged(&seen) {
        assert_eq!(decided(&seen, &verdict.clock), (Trustworthiness::Trusted, NOTHING), "{verdict:#?}");
    }
    assert_eq!(judged(&seen).len(), 1 + NAMES.len());
}

/// What is done to a healthy machine, whose verdict that changes, to what, and by which evidence.
type Fault = (&'static str, fn(&mut Seen), &'static str, Trustworthiness, CheckKind);

#[test]
fn one_thing_wrong_is_found_and_decides() {
    use Trustworthiness::{Limited, Unfit};
    let faults: [Fault; 32] = [
        ("a reset after the last look", |seen| seen.means[1] = Mean::WentBack, "tsc", Unfit, CheckKind::ConstantRate),
        (
            "a jump after the last look",
            |seen| seen.means[1] = Mean::Known { hz: 2.6e9, bound_ppm: 0.3 },
            "tsc",
            Unfit,
            CheckKind::ConstantRate,
        ),
        (
            "a kernel that turns away",
            |seen| seen.turned_from = Some("tsc-early".to_owned()),
            "tsc",
            Limited,
            CheckKind::Clocksource,
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
            CheckKind::ConstantRate,
        ),
        ("a reset while nobody looked", |seen| seen.means[0] = Mean::WentBack, "tsc", Unfit, CheckKind::ConstantRate),
        (
            "monotonic stands still",
            |seen| rate_of(seen, "monotonic").ppm = Figure::Known(-1e6),
            "monotonic",
            Unfit,
            CheckKind::Rate,
        ),
        (
            "realtime is set while it is handed on",
            |seen| sequence_of(seen, "realtime").regressions = Figure::Known(2),
            "realtime",
            Limited,
            CheckKind::Order,
        ),
        ("no invariance", |seen| seen.is_invariant = Some(false), "tsc", Limited, CheckKind::Invariance),
        ("a step back on one CPU", |seen| events(seen, "rdtscp").regression = 1, "tsc", Unfit, CheckKind::StepsBack),
        ("a jump", |seen| events(seen, "tsc").jump = Figure::Known(1), "tsc", Unfit, CheckKind::Jumps),
        (
            "a hidden loss",
            |seen| events(seen, "tsc").hidden_regression = Figure::Known(2),
            "tsc",
            Unfit,
            CheckKind::Jumps,
        ),
        ("a freeze", |seen| events(seen, "tsc").stuck = 1, "tsc", Unfit, CheckKind::StandingStill),
        (
            "out of order",
            |seen| sequence_of(seen, "rdtscp").regressions = Figure::Known(3),
            "tsc",
            Unfit,
            CheckKind::Order,
        ),
        (
            "a rate that changed",
            |seen| rate_of(seen, "rdtscp").constant = Figure::Known(false),
            "tsc",
            Unfit,
            CheckKind::ConstantRate,
        ),
        (
            "a step",
            |seen| rate_of(seen, "rdtscp").step = Figure::Known(Step { at_s: 0.5, ns: 1e6 }),
            "tsc",
            Unfit,
            CheckKind::ConstantRate,
        ),
        (
            "a rate that was another",
            |seen| seen.means[0] = Mean::Known { hz: 2.500_01e9, bound_ppm: 0.3 },
            "tsc",
            Unfit,
            CheckKind::ConstantRate,
        ),
        (
            "a CPU apart",
            |seen| (seen.offsets.apart, seen.offsets.pairs[0].apart) = (1, Figure::Known(true)),
            "tsc",
            Limited,
            CheckKind::Offsets,
        ),
        (
            "a wrong claim",
            |seen| seen.environment.frequencies.cpuid_15h_hz = Figure::Known(2_510_000_000),
            "tsc",
            Limited,
            CheckKind::NominalFrequency,
        ),
        (
            "a trap",
            |seen| seen.clocks.iter_mut().take(2).for_each(|clock| clock.cost_ns.known_mut().unwrap().median = 1500.0),
            "tsc",
            Limited,
            CheckKind::Cost,
        ),
        (
            "no sysfs",
            |seen| (seen.environment.clocksource, seen.kernel.is_current) = Default::default(),
            "tsc",
            Limited,
            CheckKind::Clocksource,
        ),
        (
            "disabled",
            |seen| seen.clocks.iter_mut().take(2).for_each(|clock| (clock.available, clock.events) = (false, None)),
            "tsc",
            Unfit,
            CheckKind::Readable,
        ),
        (
            "monotonic goes back",
            |seen| events(seen, "monotonic").regression = 1,
            "monotonic",
            Unfit,
            CheckKind::StepsBack,
        ),
        (
            "monotonic jumps",
            |seen| events(seen, "monotonic").jump = Figure::Known(2),
            "monotonic",
            Unfit,
            CheckKind::Jumps,
        ),
        (
            "monotonic out of order",
            |seen| sequence_of(seen, "monotonic").regressions = Figure::Known(1),
            "monotonic",
            Unfit,
            CheckKind::Order,
        ),
        (
            "a slew",
            |seen| rate_of(seen, "monotonic").ppm = Figure::Known(-500.0),
            "monotonic",
            Limited,
            CheckKind::Rate,
        ),
        (
            "monotonic steps",
            |seen| rate_of(seen, "monotonic").step = Figure::Known(Step { at_s: 0.5, ns: -1e6 }),
            "monotonic",
            Unfit,
            CheckKind::ConstantRate,
        ),
        (
            "no vDSO",
            |seen| seen.clocks[3].cost_ns.known_mut().unwrap().median = 225.0,
            "monotonic",
            Limited,
            CheckKind::Cost,
        ),
        (
            "a coarse kernel",
            |seen| seen.clocks[3].tick_ns = Figure::Known(4e6),
            "monotonic",
            Limited,
            CheckKind::Resolution,
        ),
        (
            "frozen",
            |seen| seen.clocks[3].observed_resolution_ns = Figure::default(),
            "monotonic",
            Unfit,
            CheckKind::StandingStill,
        ),
        (
            "somebody sets the clock",
            |seen| events(seen, "realtime").regression = 1,
            "realtime",
            Limited,
            CheckKind::StepsBack,
        ),
        (
            "a clock that fails",
            |seen| (seen.clocks[3].failure, seen.clocks[3].available) = (Some(Failure::Denied), false),
            "monotonic",
            Unfit,
            CheckKind::Readable,
        ),
        (
            "a coarse clock goes back",
            |seen| events(seen, "monotonic_coarse").regression = 1,
            "monotonic_coarse",
            Unfit,
            CheckKind::StepsBack,
        ),
    ];
    for (what, plant, clock, verdict, decisive) in faults {
        let mut seen = healthy();
        plant(&mut seen);
        let found = decided(&seen, clock);
        assert_eq!(found.0, verdict, "{what}: {found:?}");
        assert_eq!(found.1, [decisive], "{what}");
        // What the kernel computes from an unfit counter is limited; all others are as they were. That this process cannot read
        // the counter is no fault of the counter's.
        let is_base = (clock, verdict) == ("tsc", Unfit) && decisive != CheckKind::Readable;
        for other in judged(&seen).into_iter().filter(|verdict| verdict.clock != clock) {
            let expected = match other.clock.as_str() {
                "monotonic" | "realtime" if is_base => (Limited, vec![CheckKind::Counter]),
                _ => (Trustworthiness::Trusted, NOTHING),
            };
            assert_eq!(decided(&seen, &other.clock), expected, "{what}: {:#?}", other.evidence);
        }
    }
}

/// The kernel uses another clocksource: booted so, or because it found the counter bad.
fn elsewhere(clocksource: &str, is_fault: bool) -> Seen {
    let mut seen = healthy();
    seen.environment.clocksource = Figure::Known(clocksource.to_owned());
    seen.kernel.is_current = Some(false);
    if clocksource::known(clocksource).is_some_and(|known| known.vdso == Some(false)) {
        seen.clocks[2..4].iter_mut().for_each(|clock| clock.cost_ns.known_mut().unwrap().median = 225.0);
    }
    seen.kernel.reasons = vec![Reason {
        seen: "the kernel said so".to_owned(),
        source: "its log".to_owned(),
        is_fault,
        advice: "do something".to_owned(),
    }];
    seen
}

#[test]
fn a_sound_counter_that_the_kernel_does_not_use_is_limited_and_its_own_clocks_are_dear() {
    for (clocksource, is_dear) in [("hpet", true), ("acpi_pm", true), ("jiffies", true), ("kvm-clock", false)] {
        let seen = elsewhere(clocksource, false);
        let (verdict, decisive) = decided(&seen, "tsc");
        assert_eq!(verdict, Trustworthiness::Limited);
        assert_eq!(decisive[..2], [CheckKind::Clocksource, CheckKind::KernelVerdict], "{clocksource}");
        let (verdict, decisive) = decided(&seen, "monotonic");
        let expected = if is_dear {
            (Trustworthiness::Limited, vec![CheckKind::Cost])
        } else {
            (Trustworthiness::Trusted, NOTHING)
        };
        assert_eq!((verdict, decisive), expected, "{clocksource}");
    }
    assert_eq!(decided(&elsewhere("hpet", true), "tsc"), (Trustworthiness::Unfit, vec![CheckKind::KernelVerdict]));
}

#[test]
fn what_was_not_tested_is_unknown_and_not_against() {
    let mut seen = healthy();
    for sequence in &mut seen.order.sequences {
        (sequence.handoffs, sequence.regressions) = Default::default();
    }
    seen.order.untestable = Some("only CPU 0 takes part".to_owned());
    seen.offsets.pairs.clear();
    seen.rates = Err(TimerError::NoReference(Vec::new()).into());
    let verdicts = judged(&seen);
    let counter = of(&verdicts, "tsc");
    // Nothing speaks against it, and not enough for it.
    assert_eq!(counter.verdict, Trustworthiness::Limited);
    let because = [CheckKind::Order, CheckKind::ConstantRate];
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Limited, because.to_vec()));
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Trusted, NOTHING));
    for check in [CheckKind::Order, CheckKind::Offsets, CheckKind::ConstantRate, CheckKind::NominalFrequency] {
        let evidence = evidence(counter, check);
        assert_eq!(evidence.finding, Finding::Unknown, "{evidence:?}");
    }
    // Where there is one CPU, there is nothing to be tested.
    seen.environment.cpu.online = Figure::Known(1);
    let verdicts = judged(&seen);
    let order = evidence(of(&verdicts, "tsc"), CheckKind::Order);
    assert_eq!(order.finding, Finding::For);
}

/// A clock that stepped at first and not any more when it was to be compared has stopped.
#[test]
fn a_clock_that_stopped_meanwhile_is_found() {
    let mut seen = healthy();
    rate_of(&mut seen, "monotonic").stood_still_ns = Figure::Known(5e8);
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Unfit, vec![CheckKind::StandingStill]));
    // What it was to be compared with has no rate of its own.
    let mut seen = healthy();
    let reason = Incomparable::NoStep { ns: 5e8 };
    seen.rates = Err(MeasureError::Reference { name: "monotonic:syscall".to_owned(), reason });
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Unfit, vec![CheckKind::StandingStill]));
}

fn cause(evidence: &Evidence) -> Option<CostCause> {
    let Check::Cost { cause, .. } = evidence.check else { panic!("{evidence:?}") };
    cause
}

/// What is far above a system call is not explained by one.
#[test]
fn the_reason_of_a_cost_is_what_is_known_of_it() {
    for (cost_ns, expected) in [(225.0, CostCause::LikeSystemCall), (15_000.0, CostCause::AboveSystemCall)] {
        let mut seen = healthy();
        seen.clocks[3].cost_ns.known_mut().unwrap().median = cost_ns;
        let verdicts = judged(&seen);
        let cost = evidence(of(&verdicts, "monotonic"), CheckKind::Cost);
        assert_eq!((cost.finding, cause(cost)), (Finding::Against, Some(expected)));
    }
}

/// A clock that steps by a second is looked at for less, whatever step it claims; one that has stopped for a second is frozen.
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
        let standing = evidence(of(&verdicts, "monotonic"), CheckKind::StandingStill);
        assert_eq!(standing.finding, finding, "{nominal_ns} {span_ns} {standing:?}");
        assert_eq!(of(&verdicts, "monotonic").verdict == Unfit, finding == Finding::Against);
    }
}

#[test]
fn a_few_hand_overs_show_a_regression_but_no_order() {
    let mut seen = healthy();
    sequence_of(&mut seen, "rdtscp").handoffs = 12;
    let order = |seen: &Seen| {
        let verdicts = judged(seen);
        evidence(of(&verdicts, "tsc"), CheckKind::Order).finding
    };
    assert_eq!(order(&seen), Finding::Unknown);
    sequence_of(&mut seen, "rdtscp").regressions = Figure::Known(1);
    assert_eq!(order(&seen), Finding::Against);
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
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Limited, vec![CheckKind::Counter]));
    assert_eq!(decided(&seen, "tsc").0, Trustworthiness::Unfit);
}

#[test]
fn a_wall_clock_that_goes_back_with_monotonic_was_not_set() {
    let mut seen = healthy();
    sequence_of(&mut seen, "realtime").regressions = Figure::Known(2000);
    sequence_of(&mut seen, "monotonic").regressions = Figure::Known(2000);
    assert_eq!(decided(&seen, "realtime"), (Trustworthiness::Unfit, vec![CheckKind::Order]));
}

/// A container without /sys may still read the kernel's log.
#[test]
fn what_the_log_says_counts_without_sysfs() {
    let mut seen = elsewhere("hpet", true);
    (seen.environment.clocksource, seen.kernel.is_current) = Default::default();
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Unfit, vec![CheckKind::KernelVerdict]));
}

#[test]
fn a_trapped_counter_makes_the_clocks_dear_that_read_it() {
    let mut seen = healthy();
    for (clock, ns) in [(0, 11e3), (1, 11e3), (3, 11.1e3), (4, 5.0)] {
        seen.clocks[clock].cost_ns.known_mut().unwrap().median = ns;
    }
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Limited, vec![CheckKind::Cost]));
    let verdicts = judged(&seen);
    let cost = evidence(of(&verdicts, "monotonic"), CheckKind::Cost);
    assert_eq!(cause(cost), Some(CostCause::TrappedCounter));
    assert_eq!(decided(&seen, "monotonic_coarse").0, Trustworthiness::Trusted);
}

#[test]
fn a_hypervisor_is_told_by_what_it_says() {
    let hypervisor = |advice: Option<Advice>, is_known: bool| {
        let mut seen = healthy();
        seen.environment.hypervisor = Figure::Known("Xen".to_owned());
        seen.environment.counter_flags.known_mut().unwrap().tsc_known_freq = Figure::Known(is_known);
        seen.advice = advice;
        let verdicts = judged(&seen);
        let counter = of(&verdicts, "tsc");
        assert_eq!(counter.verdict, Trustworthiness::Trusted);
        evidence(counter, CheckKind::Hypervisor).finding
    };
    assert_eq!(hypervisor(None, true), Finding::For);
    assert_eq!(hypervisor(None, false), Finding::Unknown);
    assert_eq!(hypervisor(Some(Advice { is_reliable: true, says: "it is" }), false), Finding::For);
    assert_eq!(hypervisor(Some(Advice { is_reliable: false, says: "it is not" }), true), Finding::Unknown);
}

#[test]
fn a_clock_of_the_timer_tick_blames_nobody() {
    let mut seen = elsewhere("jiffies", false);
    events(&mut seen, "tsc").jump = Figure::Known(1);
    events(&mut seen, "monotonic").hidden_regression = Figure::Known(1);
    rate_of(&mut seen, "rdtscp").constant = Figure::Known(false);
    assert_eq!(decided(&seen, "tsc").0, Trustworthiness::Limited);
    assert_eq!(decided(&seen, "monotonic").0, Trustworthiness::Limited);
}

#[test]
fn emulation_makes_no_claim_about_cost_and_user_emulation_none_about_the_kernel() {
    let mut seen = healthy();
    seen.environment.emulation = vec!["qemu-tcg".to_owned()];
    seen.clocks[3].cost_ns.known_mut().unwrap().median = 225.0;
    assert_eq!(decided(&seen, "monotonic").0, Trustworthiness::Trusted);
    // The clocksource is known whoever emulates: with this one the kernel is entered.
    seen.environment.clocksource = Figure::Known("hpet".to_owned());
    assert_eq!(decided(&seen, "monotonic"), (Trustworthiness::Limited, vec![CheckKind::Cost]));
    seen.environment.emulation = vec!["qemu-user".to_owned()];
    assert_eq!(decided(&seen, "monotonic").0, Trustworthiness::Trusted);
    assert_eq!(decided(&seen, "tsc"), (Trustworthiness::Limited, vec![CheckKind::Clocksource]));
}

#[test]
fn civil_time_is_known_as_well_as_its_daemon_states_it() {
    let found = |worth, civil_error_s| {
        let mut seen = healthy();
        let kernel = seen.rates.as_mut().unwrap().adjtimex.known_mut().unwrap();
        (kernel.worth, kernel.civil_error_s) = (worth, civil_error_s);
        let verdicts = judged(&seen);
        let found = evidence(of(&verdicts, "realtime"), CheckKind::Synchronization);
        assert_eq!(found.check, Check::Synchronization { answered: true, worth, error_s: civil_error_s });
        found.finding
    };
    for (worth, expected) in [
        (CivilWorth::Trusted, Finding::For),
        (CivilWorth::WhileNotSlewing, Finding::For),
        (CivilWorth::Slewing, Finding::Unknown),
        (CivilWorth::Worthless, Finding::Unknown),
        (CivilWorth::Unsynchronized, Finding::Unknown),
    ] {
        assert_eq!(found(Some(worth), Some(0.002)), expected, "{worth:?}");
        assert_eq!(found(Some(worth), None), Finding::Unknown, "{worth:?}");
    }
    assert_eq!(found(None, None), Finding::Unknown);
}

/// A call that is denied is no sign of a disabled counter, even where that is disabled as well.
#[test]
fn a_disabled_counter_explains_only_what_reads_it() {
    let failure = |is_available: bool, failure: Failure| {
        let mut seen = healthy();
        seen.environment.counter_readable = Figure::Known(false);
        (seen.clocks[3].available, seen.clocks[3].failure) = (is_available, Some(failure));
        let verdicts = judged(&seen);
        let Check::Readable { failure, .. } = evidence(of(&verdicts, "monotonic"), CheckKind::Readable).check else {
            panic!("{verdicts:#?}")
        };
        failure
    };
    let refused = |name: &str| {
        let signal = (1..65).find(|signal| signal_name(*signal) == name).expect("it is known");
        Unreadable::of(Outcome::Killed(signal), Some(false))
            .and_then(|unreadable| unreadable.failure())
            .expect("it was killed")
    };
    assert_eq!(failure(false, refused("SIGSEGV")), Some(ReadFailure::CounterDisabled));
    assert_eq!(failure(false, refused("SIGSYS")), Some(ReadFailure::Call));
    assert_eq!(failure(true, refused("SIGSEGV")), Some(ReadFailure::DuringRun));
}
