use clockscope_records::{
    Baseline, BetweenRuns, ChangedFact, ClockBasis, ClockComparison, ClockIdentity, ClockKind, ClockRecord,
    ComparedFact, Cost, CostChange, Emulator, Events, FactValue, FastestCounter, FaultKind, Figure, Info,
    ProcessorIdentity, ReadPath, Recommendation, Run, TimerRecord, Undecided, Uses, Verdict, texts,
};
use clockscope_testing::simulation::Random;

use super::*;

/// A factor near 1.
fn factor(random: &mut Random, deviation: f64) -> f64 {
    (deviation * random.normal()).exp()
}

/// Costs of the simulated machine's clocks where nothing has changed, in ns.
const COSTS: [(&str, f64); 8] = [
    ("tsc", 9.5),
    ("rdtscp", 18.0),
    ("monotonic", 22.0),
    ("realtime", 22.5),
    ("monotonic_coarse", 4.6),
    ("boottime", 23.0),
    ("process", 540.0),
    ("thread", 500.0),
];

/// A machine whose speed moves, and clocks some of which cost more.
#[derive(Clone, Copy)]
struct Simulated {
    /// Factor by which it is slow.
    slowness: f64,
    /// Deviations of its speed from run to run, and of each clock's own cost.
    deviations: [f64; 2],
    /// A clock, and its cost divided by that above.
    slow: Option<(&'static str, f64)>,
    /// The clocks that are measured.
    clocks: &'static [(&'static str, f64)],
}

const STEADY: Simulated = Simulated { slowness: 1.0, deviations: [0.02, 0.007], slow: None, clocks: &COSTS };

impl Simulated {
    fn run(self, random: &mut Random) -> Envelope<Measurement> {
        let speed = self.slowness * factor(random, self.deviations[0]);
        let mut cost = |name: &str, ns: f64| {
            let own = self.slow.filter(|(slow, _)| *slow == name).map_or(1.0, |(_, factor)| factor);
            let median = ns * own * speed * factor(random, self.deviations[1]);
            let rounds = (0..16).map(|_| median * factor(random, 0.01)).collect();
            (median, rounds)
        };
        let clocks: Vec<ClockRecord> = self
            .clocks
            .iter()
            .map(|(name, ns)| {
                let (median, rounds) = cost(name, *ns);
                clock(name, median, rounds)
            })
            .collect();
        let baseline = Baseline {
            empty_loop_ns: Some(cost("", 0.59).0),
            fastest_counter: Some(FastestCounter { name: "tsc".to_owned(), cost_ns: cost("tsc", 9.5).0 }),
            runs: Vec::new(),
        };
        let found =
            Measurement { baseline, clocks, extended: None, synchronization: None, advice: Recommendation::default() };
        // No two runs are the same record.
        Envelope::of_run(Some(format!("2026-01-{:016x}", random.any())), Environment::default(), how(), found)
    }

    fn runs(self, random: &mut Random, count: usize) -> Vec<ComparedRecord> {
        (0..count).map(|_| record(self.run(random))).collect()
    }
}

fn how() -> Run {
    Run {
        requested_duration_s: Some(1.0),
        requested_reads: None,
        duration_s: 1.0,
        waited_s: None,
        runs: None,
        cpu: Figure::Known(1),
        timer_period_ns: None,
        timer: TimerRecord {
            name: "rdtscp_lfence".to_owned(),
            frequency_hz: 1e9,
            frequency_problem: None,
            frequency_bound_ppm: 0.1,
            reference: "monotonic_raw:syscall".to_owned(),
        },
        interrupted: false,
    }
}

fn clock(name: &str, median: f64, rounds: Vec<f64>) -> ClockRecord {
    let is_counter = matches!(name, "tsc" | "rdtscp");
    ClockRecord {
        identity: ClockIdentity {
            name: name.to_owned(),
            aliases: vec![format!("{name}_alias")],
            interfaces: Vec::new(),
            kind: if is_counter { ClockKind::Counter } else { ClockKind::Monotonic },
            path: if is_counter { ReadPath::Instruction } else { ReadPath::Libc },
            description: String::new(),
            basis: if is_counter { ClockBasis::Counter } else { ClockBasis::Clocksource },
            counter_based: Figure::Known(true),
            is_ordered: true,
            is_coarse: false,
            is_wall: false,
            is_cpu_time: false,
            is_steered: false,
            counts_suspend: false,
            is_device: false,
            is_usual: false,
            is_wrapper: false,
        },
        available: true,
        reason: None,
        cost_ns: Figure::Known(Cost {
            median,
            ci95: Figure::unknown(texts::SEVERAL_RUNS),
            between_runs: None,
            rounds,
            min: median,
            p99: Figure::unknown(texts::SEVERAL_RUNS),
            histogram: Vec::new(),
            batches: 1000,
            reads_per_batch: 1000,
            batches_dropped: 0,
        }),
        ratio_to_fastest: Figure::unknown(texts::SEVERAL_RUNS),
        nominal_resolution_ns: Figure::Known(1.0),
        observed_resolution_ns: Figure::Known(1.0),
        tick_ns: Figure::Known(10.0),
        tick_evidence: None,
        after_work: Figure::default(),
        summary: Figure::unknown(texts::SEVERAL_RUNS),
        monotonic: Figure::unknown(texts::SEVERAL_RUNS),
        events: Some(events()),
    }
}

fn events() -> Events {
    Events {
        reads: 1_000_000,
        errors: 0,
        span_ns: Figure::Known(1e9),
        stuck: 0,
        stall: 0,
        warp: Figure::Known(0),
        jump: Figure::Known(0),
        gap: Figure::Known(3),
        regression: 0,
        hidden_regression: Figure::Known(0),
        threshold_ns: Figure::Known(1000.0),
        sure_ns: Figure::Known(1200.0),
        reference: Figure::Known("monotonic_raw:syscall".to_owned()),
        reference_shares_hardware: Figure::Known(true),
    }
}

fn record(measurement: Envelope<Measurement>) -> ComparedRecord {
    ComparedRecord { file: measurement.recorded_at.clone(), document: Document::Measurement(measurement) }
}

fn measurement(record: &mut ComparedRecord) -> &mut Envelope<Measurement> {
    match &mut record.document {
        Document::Measurement(measurement) => measurement,
        other => panic!("{other:?}"),
    }
}

const REQUEST: CompareRequest = CompareRequest { clocks: Vec::new(), all: true, margin: 0.02, across_machines: false };

fn compared(base: &[ComparedRecord], new: &[ComparedRecord]) -> Comparison {
    compare(base, new, &REQUEST).unwrap().found
}

fn clock_named<'a>(found: &'a Comparison, name: &str) -> &'a ClockComparison {
    found.clocks.iter().find(|clock| clock.name == name).unwrap()
}

fn changed(found: &Comparison) -> Vec<(&str, CostChange)> {
    let is_change = |clock: &&ClockComparison| matches!(clock.change, CostChange::Slower | CostChange::Faster);
    found.clocks.iter().filter(is_change).map(|clock| (clock.name.as_str(), clock.change)).collect()
}

/// Of pairs of five identical runs a side, no more raise an alarm than is stated, whether the
/// machine is steady or 5 % slower in the new ones.
#[test]
fn identical_runs_raise_no_more_alarms_than_documented() {
    let mut random = Random::new(28);
    for slowness in [1.0, 1.05] {
        const PAIRS: usize = 200;
        let moved = Simulated { slowness, ..STEADY };
        let is_alarm = |random: &mut Random| {
            let (base, new) = (STEADY.runs(random, 5), moved.runs(random, 5));
            !changed(&compared(&base, &new)).is_empty()
        };
        let alarms = (0..PAIRS).filter(|_| is_alarm(&mut random)).count();
        assert!(alarms <= 2, "{slowness}: {alarms} of {PAIRS}");
    }
}

/// A clock that costs 10 % more is found, also on a machine that is 5 % slower, and no other clock
/// is named.
#[test]
fn a_slower_clock_is_found_and_named() {
    let mut random = Random::new(10);
    for slowness in [1.0, 1.05] {
        const PAIRS: usize = 100;
        let slower = Simulated { slowness, slow: Some(("monotonic", 1.1)), ..STEADY };
        let mut found = 0;
        for _ in 0..PAIRS {
            let (base, new) = (STEADY.runs(&mut random, 5), slower.runs(&mut random, 5));
            let comparison = compared(&base, &new);
            found += usize::from(changed(&comparison) == [("monotonic", CostChange::Slower)]);
        }
        assert!(found >= 80, "{slowness}: {found} of {PAIRS}");
    }
}

/// A machine of half the speed is slower, and no clock is.
#[test]
fn a_slower_machine_is_not_a_slower_clock() {
    let mut random = Random::new(2);
    let quiet = Simulated { deviations: [0.01, 0.001], ..STEADY };
    let half = Simulated { slowness: 2.0, ..quiet };
    let found = compared(&quiet.runs(&mut random, 6), &half.runs(&mut random, 6));
    let machine = found.machine.as_ref().unwrap();
    assert_eq!((machine.change, machine.counter_name.as_deref()), (CostChange::Slower, Some("tsc")));
    assert!(found.clocks.iter().all(|clock| clock.change == CostChange::Same), "{found:#?}");
    let monotonic = clock_named(&found, "monotonic");
    let (raw, own) = (monotonic.ratio.get().unwrap(), monotonic.own.get().unwrap());
    assert!((raw.estimate - 2.0).abs() < 0.1 && (own.estimate - 1.0).abs() < 0.02, "{monotonic:?}");
}

/// Reads of the counter that become slow are the counter's own doing, and the others are judged by
/// the empty loop.
#[test]
fn a_slow_counter_does_not_hide_slow_clocks() {
    let mut random = Random::new(3);
    let base = STEADY.runs(&mut random, 5);
    let mut new = Simulated { slow: Some(("tsc", 40.0)), ..STEADY }.runs(&mut random, 5);
    for record in &mut new {
        for clock in &mut measurement(record).found.clocks {
            if let ("monotonic", Some(cost)) = (clock.identity.name.as_str(), clock.cost_ns.known_mut()) {
                cost.median *= 30.0;
            }
        }
    }
    let found = compared(&base, &new);
    assert_eq!(changed(&found), [("tsc", CostChange::Slower), ("monotonic", CostChange::Slower)]);
}

/// One run a side decides only what no two runs differ by.
#[test]
fn single_runs_are_inconclusive_unless_they_are_far_apart() {
    let mut random = Random::new(4);
    let base = STEADY.runs(&mut random, 1);
    let slower = |factor: f64| Simulated { slow: Some(("monotonic", factor)), ..STEADY };
    let found = compared(&base, &slower(1.3).runs(&mut random, 1));
    assert_eq!(changed(&found), []);
    assert!(found.clocks.iter().all(|clock| clock.undecided == Some(Undecided::OneRun)), "{found:#?}");
    let far = compared(&base, &slower(8.0).runs(&mut random, 1));
    assert_eq!(changed(&far), [("monotonic", CostChange::Slower)]);
    // Without rounds, nothing is decided.
    let mut bare = slower(8.0).runs(&mut random, 1);
    for clock in &mut measurement(&mut bare[0]).found.clocks {
        clock.cost_ns.known_mut().unwrap().rounds.clear();
    }
    let found = compared(&base, &bare);
    assert!(found.clocks.iter().all(|clock| clock.undecided == Some(Undecided::NoRounds)), "{found:#?}");
    // Several runs beside one show how much runs differ.
    let found = compared(&STEADY.runs(&mut random, 12), &slower(8.0).runs(&mut random, 1));
    assert_eq!(changed(&found), [("monotonic", CostChange::Slower)]);
}

/// The runs that `measure --repeat` has put into one record are as good as a record each.
#[test]
fn one_record_of_several_runs_is_several() {
    let mut random = Random::new(5);
    let apart = STEADY.runs(&mut random, 5);
    let new = Simulated { slow: Some(("process", 1.2)), ..STEADY }.runs(&mut random, 5);
    let runs = apart.iter().cloned().map(|mut record| measurement(&mut record).clone());
    let whole = crate::between_runs(runs.collect()).unwrap();
    assert_eq!(whole.found.baseline.runs.len(), 5);
    let together = [record(whole)];
    let (one, other) = (compared(&apart, &new), compared(&together, &new));
    assert_eq!(one.clocks, other.clocks);
    assert_eq!((one.machine, other.base.runs), (other.machine, 5));
    // Records without the runs' medians count as one run, without rounds.
    let mut without = together;
    measurement(&mut without[0]).found.baseline.runs.clear();
    for clock in &mut measurement(&mut without[0]).found.clocks {
        clock.cost_ns.known_mut().unwrap().between_runs.as_mut().unwrap().medians.clear();
    }
    assert!(compared(&without, &new).clocks.iter().all(|clock| clock.runs == [1, 5]));
}

#[test]
fn costs_of_emulators_and_of_other_builds_decide_nothing() {
    let mut random = Random::new(6);
    let base = STEADY.runs(&mut random, 5);
    let slower = Simulated { slow: Some(("monotonic", 3.0)), ..STEADY }.runs(&mut random, 5);
    let with = |change: fn(&mut Environment)| {
        let mut new = slower.clone();
        new.iter_mut().for_each(|record| change(&mut measurement(record).environment));
        clock_named(&compared(&base, &new), "monotonic").undecided
    };
    assert_eq!(with(|_| ()), None);
    let emulated = |environment: &mut Environment| environment.emulation = vec![Emulator::Other("box64".to_owned())];
    assert_eq!(with(emulated), Some(Undecided::Emulated));
    assert_eq!(with(|environment| environment.program.debug_build = true), Some(Undecided::DebugBuild));
}

/// The errors are divided among the clocks that are compared.
#[test]
fn fewer_clocks_have_narrower_bounds() {
    let mut random = Random::new(7);
    let (base, new) = (STEADY.runs(&mut random, 5), STEADY.runs(&mut random, 5));
    let one = CompareRequest { clocks: vec!["monotonic_alias".to_owned()], ..REQUEST };
    let alone = compare(&base, &new, &one).unwrap().found;
    let among = compared(&base, &new);
    let width =
        |found: &Comparison| clock_named(found, "monotonic").ratio.get().map(|ratio| ratio.high - ratio.low).unwrap();
    assert!(alone.clocks.len() == 1 && width(&alone) < width(&among), "{} {}", width(&alone), width(&among));
    let unknown = CompareRequest { clocks: vec!["sundial".to_owned()], ..REQUEST };
    assert_eq!(compare(&base, &new, &unknown).unwrap_err(), CompareError::UnknownClock("sundial".to_owned()));
}

/// Of many clocks, those that programs usually read are compared, and the others are listed.
#[test]
fn many_clocks_are_not_all_compared() {
    let mut random = Random::new(7);
    let mut runs = || {
        let mut runs: Vec<Envelope<Measurement>> = (0..12).map(|_| STEADY.run(&mut random)).collect();
        for found in runs.iter_mut().map(|run| &mut run.found) {
            for identity in found.clocks.iter_mut().map(|clock| &mut clock.identity) {
                identity.is_usual = matches!(identity.name.as_str(), "monotonic" | "realtime");
                identity.is_ordered = identity.name != "tsc";
            }
            let mut now = found.clocks.iter().find(|clock| clock.identity.name == "monotonic").unwrap().clone();
            (now.identity.name, now.identity.path) = ("clockscope.now".to_owned(), ReadPath::Library);
            now.identity.is_usual = false;
            found.clocks.push(now);
        }
        runs.into_iter().map(record).collect::<Vec<_>>()
    };
    let (base, new) = (runs(), runs());
    let ask = |request: CompareRequest| compare(&base, &new, &request).unwrap().found.clocks;
    let with_ratio = |clocks: &[ClockComparison]| {
        let compared = clocks.iter().filter(|clock| clock.ratio.is_known());
        compared.map(|clock| clock.name.clone()).collect::<Vec<_>>()
    };
    let usual = ask(CompareRequest { all: false, ..REQUEST });
    assert_eq!(with_ratio(&usual), ["rdtscp", "monotonic", "realtime", "process", "clockscope.now"]);
    let others = usual.iter().filter(|clock| clock.undecided == Some(Undecided::NotCompared));
    assert_eq!(
        others.map(|clock| clock.name.as_str()).collect::<Vec<_>>(),
        ["tsc", "monotonic_coarse", "boottime", "thread"]
    );
    assert_eq!(with_ratio(&ask(REQUEST)).len(), 9);
    let few = CompareRequest { clocks: vec!["tsc".to_owned(), "thread".to_owned()], all: false, ..REQUEST };
    assert_eq!(with_ratio(&ask(few)), ["tsc", "thread"]);
}

#[test]
fn facts_that_differ_are_listed() {
    let mut random = Random::new(8);
    let base = STEADY.runs(&mut random, 2);
    let mut new = STEADY.runs(&mut random, 2);
    assert_eq!(compared(&base, &new).changes, []);
    for record in &mut new {
        let measurement = measurement(record);
        measurement.environment.clocksource = Figure::Known("hpet".to_owned());
        measurement.environment.kernel.release = Figure::Known("6.13".to_owned());
        measurement.found.clocks[2].tick_ns = Figure::Known(70.0);
        measurement.found.clocks[3].available = false;
        // Within the error of a tick.
        measurement.found.clocks[4].tick_ns = Figure::Known(10.08);
    }
    // A run on one of the CPUs that the base was measured on changes nothing.
    measurement(&mut new[0]).run.as_mut().unwrap().cpu = Figure::Known(0);
    let found = compared(&base, &new);
    let facts: Vec<(ComparedFact, Option<&str>)> =
        found.changes.iter().map(|change| (change.fact, change.clock.as_deref())).collect();
    let expected = [
        (ComparedFact::Clocksource, None),
        (ComparedFact::Readable, Some("realtime")),
        (ComparedFact::Tick, Some("monotonic")),
        (ComparedFact::Kernel, None),
    ];
    assert_eq!(facts, expected);
    assert_eq!(
        (found.changes[0].base.len(), found.changes[0].new.as_slice()),
        (0, &[FactValue::Name("hpet".to_owned())][..])
    );
    measurement(&mut new[1]).run.as_mut().unwrap().cpu = Figure::Known(0);
    assert_eq!(compared(&base, &new).changes.last().map(|change| change.fact), Some(ComparedFact::MeasuredCpu));
}

#[test]
fn faults_that_appear_are_counted() {
    let mut random = Random::new(9);
    let mut base = STEADY.runs(&mut random, 2);
    let mut new = STEADY.runs(&mut random, 2);
    let events = |record: &mut ComparedRecord, clock: usize, change: fn(&mut Events)| {
        change(measurement(record).found.clocks[clock].events.as_mut().unwrap());
    };
    events(&mut new[0], 2, |events| events.regression = 3);
    events(&mut new[1], 2, |events| events.jump = Figure::Known(1));
    // What was there before is not new, and what was not counted before may have been there.
    events(&mut new[0], 3, |events| events.stuck = 5);
    events(&mut base[1], 3, |events| events.stuck = 1);
    events(&mut new[0], 4, |events| events.jump = Figure::Known(1));
    events(&mut base[1], 4, |events| events.jump = Figure::unknown(texts::SEVERAL_RUNS));
    measurement(&mut base[0]).found.clocks[5].events = None;
    measurement(&mut base[1]).found.clocks[5].events = None;
    let found = compared(&base, &new);
    let appeared = clock_named(&found, "monotonic").appeared.as_ref().unwrap();
    let counts: Vec<(FaultKind, u64)> = appeared.iter().map(|events| (events.event, events.count)).collect();
    assert_eq!(counts, [(FaultKind::Regression, 3), (FaultKind::Jump, 1)]);
    assert_eq!((appeared[0].reads, appeared[0].base_reads), (2_000_000, 2_000_000));
    for name in ["tsc", "realtime", "monotonic_coarse"] {
        assert_eq!(clock_named(&found, name).appeared.as_deref(), Some(&[][..]), "{name}");
    }
    assert_eq!(clock_named(&found, "boottime").appeared, None);
}

/// A record of `check` with these verdicts.
fn checked(verdicts: &[(&str, Trustworthiness)]) -> ComparedRecord {
    let verdict = |(clock, verdict): &(&str, Trustworthiness)| Verdict {
        clock: (*clock).to_owned(),
        verdict: *verdict,
        uses: Uses::default(),
        evidence: Vec::new(),
    };
    let check = Check { verdicts: verdicts.iter().map(verdict).collect(), ..Check::default() };
    let document = Document::Check(Envelope::of_run(None, Environment::default(), how(), check));
    ComparedRecord { file: Some(format!("{verdicts:?}")), document }
}

#[test]
fn verdicts_are_compared_by_the_worst() {
    use Trustworthiness::{Limited, Trusted, Unfit};
    let base = [checked(&[("tsc", Trusted), ("monotonic", Limited), ("old", Trusted)])];
    let new = [
        checked(&[("monotonic", Limited), ("tsc", Unfit), ("new", Trusted)]),
        checked(&[("monotonic", Trusted), ("tsc", Limited)]),
    ];
    let found = compared(&base, &new);
    let verdicts: Vec<_> = found.verdicts.iter().map(|of| (of.clock.as_str(), of.base, of.new)).collect();
    assert_eq!(verdicts, [("monotonic", Limited, Limited), ("tsc", Trusted, Unfit)]);
    assert!(found.machine.is_none() && found.clocks.is_empty());
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let mut random = Random::new(11);
    let [base, new] = [STEADY.runs(&mut random, 2), STEADY.runs(&mut random, 2)];
    let refused = |base: &[ComparedRecord], new: &[ComparedRecord]| compare(base, new, &REQUEST).unwrap_err();
    assert!(matches!(refused(&[], &new), CompareError::NoRecord { side: "BASE" }));
    assert!(matches!(refused(&base, &[]), CompareError::NoRecord { side: "NEW" }));
    // One record, on both sides and on one, under another name.
    let mut copy = base[1].clone();
    copy.file = Some("copy".to_owned());
    let same = |found: CompareError| matches!(found, CompareError::SameRecord { second, .. } if second == "copy");
    assert!(same(refused(&base, &[new[0].clone(), copy.clone()])));
    assert!(same(refused(&[base[0].clone(), base[1].clone(), copy], &new)));
    let check = checked(&[("tsc", Trustworthiness::Trusted)]);
    assert!(matches!(refused(&base, &[check]), CompareError::MixedDocuments { .. }));
    let info = Envelope::of_facts(None, Environment::default(), Info::default());
    let info = ComparedRecord { file: Some("info".to_owned()), document: Document::Info(info) };
    let other = refused(&base, &[info]);
    assert!(matches!(&other, CompareError::OtherDocument { schema, .. } if schema == "clockscope.info"), "{other}");
}

#[test]
fn machines_are_not_mixed_unless_that_is_requested() {
    let mut random = Random::new(12);
    let base = STEADY.runs(&mut random, 2);
    let mut new = STEADY.runs(&mut random, 2);
    let model = |record: &mut ComparedRecord| {
        measurement(record).environment.cpu.model = Figure::Known("Other CPU".to_owned());
    };
    model(&mut new[1]);
    let across = CompareRequest { across_machines: true, ..REQUEST };
    // Within a side, not even then.
    for request in [&REQUEST, &across] {
        let mixed = compare(&base, &new, request).unwrap_err();
        assert!(matches!(mixed, CompareError::MixedMachines { side: "NEW", .. }), "{mixed}");
    }
    model(&mut new[0]);
    let other = compare(&base, &new, &REQUEST).unwrap_err();
    assert!(other.to_string().contains("processor \"unknown\" and \"Other CPU\""), "{other}");
    let found = compare(&base, &new, &across).unwrap().found;
    assert!(found.is_other_machine && !compared(&base, &STEADY.runs(&mut random, 1)).is_other_machine);
}

/// One name on both sides, as hypervisors give it to different processors.
const HIDDEN_NAME: &str = "Intel(R) Xeon(R) Processor";

fn set_processor(record: &mut ComparedRecord, eax: u32, microcode: &str) {
    let cpu = &mut measurement(record).environment.cpu;
    cpu.model = Figure::Known(HIDDEN_NAME.to_owned());
    cpu.identity = Figure::Known(ProcessorIdentity::from_cpuid(eax));
    cpu.microcode = Figure::Known(microcode.to_owned());
}

/// Family 6, models 167 and 207.
const EAX_167: u32 = 0xa_0671;
const EAX_207: u32 = 0xc_06f2;

#[test]
fn machines_of_one_name_differ_by_the_model() {
    let mut random = Random::new(15);
    let [mut base, mut new] = [STEADY.runs(&mut random, 2), STEADY.runs(&mut random, 2)];
    base.iter_mut().for_each(|record| set_processor(record, EAX_167, "0x1"));
    new.iter_mut().for_each(|record| set_processor(record, EAX_207, "0x1"));
    let other = compare(&base, &new, &REQUEST).unwrap_err().to_string();
    let names = "processor \"Intel(R) Xeon(R) Processor (family 6, model 167, stepping 1)\" and \
        \"Intel(R) Xeon(R) Processor (family 6, model 207, stepping 2)\"";
    assert!(other.contains(names), "{other}");
    let across = CompareRequest { across_machines: true, ..REQUEST };
    let found = compare(&base, &new, &across).unwrap().found;
    let changed: Vec<ComparedFact> = found.changes.iter().map(|change| change.fact).collect();
    assert!(found.is_other_machine && changed == [ComparedFact::ProcessorIdentity], "{changed:?}");
    // A record of an earlier version hides no difference between others.
    let cpu = &mut measurement(&mut base[0]).environment.cpu;
    (cpu.identity, cpu.microcode) = (Figure::default(), Figure::default());
    assert!(matches!(compare(&base, &new, &REQUEST), Err(CompareError::OtherMachine { .. })));
    let mixed = [base[0].clone(), base[1].clone(), new[0].clone()];
    assert!(matches!(compare(&mixed, &new[1..], &REQUEST), Err(CompareError::MixedMachines { side: "BASE", .. })));
    // Alone, it may be of the same machine, and nothing is known to have changed.
    let found = compared(&base[..1], &new);
    assert!(!found.is_other_machine && found.changes.is_empty(), "{:?}", found.changes);
}

#[test]
fn other_microcode_is_a_change_of_one_machine() {
    let mut random = Random::new(16);
    let [mut base, mut new] = [STEADY.runs(&mut random, 1), STEADY.runs(&mut random, 1)];
    set_processor(&mut base[0], EAX_207, "0x2b000111");
    set_processor(&mut new[0], EAX_207, "0x2b0004b1");
    let found = compared(&base, &new);
    let name = |text: &str| vec![FactValue::Name(text.to_owned())];
    let (base, new) = (name("0x2b000111"), name("0x2b0004b1"));
    assert_eq!(found.changes, [ChangedFact { fact: ComparedFact::Microcode, clock: None, base, new }]);
    assert!(!found.is_other_machine);
}

#[test]
fn a_run_of_several_without_a_cost_leaves_a_gap() {
    let mut random = Random::new(13);
    let mut runs: Vec<Envelope<Measurement>> = (0..3).map(|_| STEADY.run(&mut random)).collect();
    runs[1].found.clocks[2].cost_ns = Figure::unknown(texts::SEVERAL_RUNS);
    let whole = crate::between_runs(runs).unwrap();
    let cost = whole.found.clocks[2].cost_ns.known().unwrap();
    let between: &BetweenRuns = cost.between_runs.as_ref().unwrap();
    assert_eq!(between.medians.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
    let baselines: &[Baseline] = &whole.found.baseline.runs;
    assert_eq!(baselines.len(), 3);
    let found = compared(&[record(whole)], &STEADY.runs(&mut random, 3));
    assert_eq!((clock_named(&found, "monotonic").runs, clock_named(&found, "process").runs), ([2, 3], [3, 3]));
}
