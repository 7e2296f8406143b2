//! The records of a healthy machine, and the parts of them that tests change.

use super::*;
use clockscope_records::texts;

/// A clock of Linux on x86: of its names only those of the simulated machines are known.
fn identity(name: &str, kind: ClockKind, path: ReadPath) -> ClockIdentity {
    let basis = match kind {
        ClockKind::Counter => ClockBasis::Counter,
        ClockKind::Monotonic | ClockKind::Wall => ClockBasis::Clocksource,
        ClockKind::CpuTime => ClockBasis::Scheduler,
        ClockKind::Cycles => ClockBasis::Other,
    };
    ClockIdentity {
        name: name.to_owned(),
        aliases: Vec::new(),
        interfaces: Vec::new(),
        kind,
        path,
        description: String::new(),
        basis,
        counter_based: Figure::of(
            (basis != ClockBasis::Scheduler).then_some(basis != ClockBasis::Other),
            texts::SCHEDULER_HIDDEN,
        ),
        is_ordered: !matches!(name, "tsc"),
        is_coarse: matches!(name, "monotonic_coarse"),
        is_wall: kind == ClockKind::Wall,
        is_cpu_time: kind == ClockKind::CpuTime,
        is_steered: basis == ClockBasis::Clocksource,
        counts_suspend: kind == ClockKind::Wall,
        is_device: false,
        is_usual: matches!(name, "monotonic" | "realtime"),
        is_wrapper: false,
    }
}

fn clock(name: &str, kind: ClockKind, path: ReadPath, cost_ns: f64, tick_ns: f64) -> ClockRecord {
    ClockRecord {
        identity: identity(name, kind, path),
        available: true,
        reason: None,
        cost_ns: Figure::Known(Cost {
            median: cost_ns,
            ci95: Figure::default(),
            rounds: Vec::new(),
            between_runs: None,
            min: cost_ns,
            p99: Figure::default(),
            histogram: Vec::new(),
            batches: 1000,
            reads_per_batch: 1000,
            batches_dropped: 0,
        }),
        ratio_to_fastest: Figure::default(),
        nominal_resolution_ns: Figure::Known(if tick_ns > 1e6 { tick_ns } else { 1.0 }),
        observed_resolution_ns: Figure::Known(tick_ns),
        tick_ns: Figure::Known(tick_ns),
        tick_evidence: None,
        after_work: Figure::default(),
        summary: Figure::default(),
        monotonic: Figure::default(),
        events: Some(Events {
            reads: 10_000_000,
            errors: 0,
            span_ns: Figure::Known(2e9),
            stuck: 0,
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
        frequency_hz: Figure::of(name.contains("tsc").then_some(2.5e9), texts::SHOWS_TIME),
        seconds: Figure::Known(1.1),
        brackets_used: 220,
        constant: Figure::Known(true),
        ..RateRecord::default()
    }
}

pub(crate) const NAMES: [&str; 4] = ["realtime", "monotonic", "monotonic_coarse", "thread"];

/// A machine with nothing wrong, whose kernel builds its clocks on the counter.
pub(crate) fn healthy() -> Observations {
    let environment = Environment {
        cpu: Cpu { architecture: "x86_64".to_owned(), online: Figure::Known(2), ..Cpu::default() },
        counter_flags: Figure::Known(CounterFlags { tsc_known_freq: Figure::Known(true), ..CounterFlags::default() }),
        clocksource: Figure::Known("tsc".to_owned()),
        hypervisor: Figure::Known(Hypervisor::None),
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
    Observations {
        environment,
        is_invariant: Some(true),
        statement: None,
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
            pairs_checked: 1,
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
        is_reference_unsteered: true,
        rates: Ok(Rate {
            reference: "monotonic_raw:syscall".to_owned(),
            clocks: vec![
                rate("rdtscp"),
                rate("realtime"),
                rate("monotonic"),
                RateRecord { bound_ppm: Figure::Known(8_000.0), ..rate("monotonic_coarse") },
            ],
            ..Rate::default()
        }),
        synchronization: Synchronization {
            adjtimex: Figure::Known(Adjtimex {
                freq_ppm: 0.0,
                tick_us: 10_000,
                offset_ns: 0,
                maxerror_us: 1000,
                esterror_us: 10,
                status: vec!["pll".to_owned(), "nano".to_owned()],
                state: Some(WallState::Synchronized),
                time_of_day_error_s: Some(0.001),
                tai_offset_s: Some(37),
            }),
            ..Synchronization::default()
        },
        cpu_times: cpu_time::tests::healthy(&["thread"]),
        paths: Vec::new(),
        elapsed_ns: 4e9,
        preloaded: Vec::new(),
        by_counter: true,
        means: [Mean::Known { hz: 2.5e9, bound_ppm: 0.3 }; 2],
        turned_from: None,
    }
}

pub(super) fn judged(seen: &Observations) -> Vec<Verdict> {
    verdicts(seen, &NAMES.map(str::to_owned), None)
}

pub(super) fn verdict_on<'a>(verdicts: &'a [Verdict], clock: &str) -> &'a Verdict {
    verdicts.iter().find(|verdict| verdict.clock == clock).unwrap()
}

/// The evidence of this check.
pub(super) fn evidence(verdict: &Verdict, check: EvidenceKind) -> &CheckEvidence {
    verdict.evidence.iter().find(|evidence| evidence.data.kind() == check).unwrap()
}

/// The verdict on a clock, and what decided that it is not trusted.
pub(super) fn decided(seen: &Observations, clock: &str) -> (Trustworthiness, Vec<EvidenceKind>) {
    let verdicts = judged(seen);
    let verdict = verdict_on(&verdicts, clock);
    let is_decisive = |evidence: &&CheckEvidence| evidence.decides && evidence.finding != Finding::For;
    let decisive = verdict.evidence.iter().filter(is_decisive);
    (verdict.verdict, decisive.map(|evidence| evidence.data.kind()).collect())
}

pub(super) fn events<'a>(seen: &'a mut Observations, label: &str) -> &'a mut Events {
    let clock = seen.clocks.iter_mut().find(|clock| clock.identity.label() == label).unwrap();
    clock.events.as_mut().unwrap()
}

pub(super) fn rate_of<'a>(seen: &'a mut Observations, name: &str) -> &'a mut RateRecord {
    let rates = seen.rates.as_mut().unwrap();
    rates.clocks.iter_mut().find(|rate| rate.name == name).unwrap()
}

pub(super) fn sequence_of<'a>(seen: &'a mut Observations, name: &str) -> &'a mut Sequence {
    seen.order.sequences.iter_mut().find(|sequence| sequence.name == name).unwrap()
}

pub(super) const NOTHING: Vec<EvidenceKind> = Vec::new();

/// The kernel uses another clocksource: booted so, or because it found the counter bad.
pub(super) fn other_clocksource(clocksource: &str, is_fault: bool) -> Observations {
    let mut seen = healthy();
    seen.environment.clocksource = Figure::Known(clocksource.to_owned());
    seen.kernel.is_current = Some(false);
    if clocksource::known(clocksource).is_some_and(|known| known.vdso == Some(false)) {
        seen.clocks[2..4].iter_mut().for_each(|clock| clock.cost_ns.known_mut().unwrap().median = 225.0);
    }
    let cause = match is_fault {
        true => KernelCause::log_line("tsc: Marking TSC unstable", LogFault::Unstated),
        false => KernelCause::ClocksourceOption { clocksource: clocksource.to_owned() },
    };
    seen.kernel.reasons = vec![cause];
    seen
}

/// Lets a read of this clock cost `ns` nanoseconds.
pub(super) fn cost_of(seen: &mut Observations, name: &str, ns: f64) {
    let clock = seen.clocks.iter_mut().find(|clock| clock.identity.name == name).unwrap();
    clock.cost_ns.known_mut().unwrap().median = ns;
}
