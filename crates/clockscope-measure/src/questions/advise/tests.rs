use clockscope_records::{
    Adjtimex, AfterWork, ChronyTracking, ClockIdentity, ClockKind, Emulator, Extended, Info, LanguageClock,
    LeftOutCause, Measurement, PtpClock, Rate, RatePair, ReadPath, Run, RuntimeRecord, ScaleSource, Summary,
    Synchronization, TimerRecord, texts,
};

use super::candidates::candidate;
use super::*;
use crate::questions::check::tests::healthy;

const SUMMARY: Summary = Summary {
    count: 9,
    mean: 20.0,
    std: None,
    min: 10.0,
    p25: 20.0,
    p50: 20.0,
    p75: 20.0,
    p99: 30.0,
    p999: 30.0,
    max: 40.0,
};

/// A record of a healthy clock, with this cost and a summary.
fn record(name: &str, change: impl FnOnce(&mut ClockRecord)) -> ClockRecord {
    let seen = healthy();
    let mut clock = seen.clock(name).unwrap().clone();
    (clock.tick_ns, clock.summary) = (Figure::Known(10.0), Figure::Known(SUMMARY));
    change(&mut clock);
    clock
}

fn cost(clock: &mut ClockRecord, ns: f64) {
    clock.cost_ns.known_mut().unwrap().median = ns;
}

/// The usual clock with a reading error of 60 ns, and a counter with one of 40 ns.
fn two_clocks() -> [ClockRecord; 2] {
    [record("monotonic", |clock| cost(clock, 40.0)), record("rdtscp", |clock| cost(clock, 18.0))]
}

fn measured(clocks: &[ClockRecord], synchronization: Synchronization) -> Envelope<Measurement> {
    let environment = healthy().environment;
    let advice = recommend(clocks, &environment);
    let found = Measurement {
        baseline: Default::default(),
        clocks: clocks.to_vec(),
        extended: None,
        synchronization: Some(synchronization),
        advice,
    };
    Envelope::of_run(None, environment, run(), found)
}

fn rows(clocks: &[ClockRecord], interval_ns: Option<f64>, error: f64) -> Vec<AdviceRow> {
    let measured = measured(clocks, Synchronization::default());
    let advice = advise(AdviceInput::Measurement(&measured), error, interval_ns, Work::Spin);
    advice.found.rows.result().unwrap_or_default()
}

/// A clock of a language, whose reads in a row differ by 20 ns, with these errors after a spin.
fn language_clock(name: &str, kind: ClockKind, after_spin_ns: Option<f64>) -> LanguageClock {
    let mut identity = record("monotonic", |_| ()).identity;
    (identity.name, identity.kind, identity.is_usual) = (name.to_owned(), kind, name == "usual()");
    if name == "library()" {
        identity.path = ReadPath::Library;
    }
    let spin = |p99_ns: f64| AfterWork { work: Work::Spin, work_ns: 1e4, measurements: 1000, median_ns: 9.0, p99_ns };
    let row = RuntimeRecord {
        version: Some("3.11.2".to_owned()),
        available: true,
        cost_ns: Figure::Known(20.0),
        tick_ns: Figure::Known(10.0),
        regressions: Figure::Known(0),
        reads: Some(1000),
        ..RuntimeRecord::default()
    };
    LanguageClock {
        identity,
        row,
        differences: Some(SUMMARY),
        after_work: after_spin_ns.map(spin).into_iter().collect(),
    }
}

/// Advice on an interval of 10 µs by clocks of a language.
fn language_advice(clocks: &[LanguageClock], error: f64, after: Work) -> Advice {
    let readings = LanguageReadings {
        language: Language::Python,
        clocks: clocks.to_vec(),
        info: Envelope::of_facts(None, healthy().environment, Info { windows: None }),
        synchronization: Synchronization::default(),
    };
    advise(AdviceInput::Language(&readings), error, Some(1e4), after).found
}

/// A language's clocks are weighed by the rule of all others, with what its own calls cost.
#[test]
fn a_languages_clocks_are_weighed_like_all_others() {
    let clocks = [
        language_clock("usual()", ClockKind::Monotonic, Some(200.0)),
        language_clock("library()", ClockKind::Monotonic, Some(100.0)),
        language_clock("time_of_day()", ClockKind::Wall, None),
    ];
    for (error, clock, repetitions) in [(0.05, "usual()", 1), (0.01, "library()", 2)] {
        let advice = language_advice(&clocks, error, Work::Spin);
        assert_eq!((advice.language, advice.language_version.as_deref()), (Some(Language::Python), Some("3.11.2")));
        let row = &advice.rows.known().unwrap()[0];
        assert_eq!((row.clock.as_str(), row.repetitions, row.after_work.len()), (clock, repetitions, 1));
        assert_eq!(row.scale_error, Figure::unknown(texts::NO_RATE_STATEMENT));
        let left_out: Vec<(&str, LeftOutCause)> =
            advice.left_out.iter().map(|clock| (clock.clock.as_str(), clock.cause)).collect();
        assert_eq!(left_out, [("time_of_day()", LeftOutCause::TimeOfDay)]);
    }
    let mut back = clocks[0].clone();
    back.row.regressions = Figure::Known(1);
    let advice = language_advice(&[back], 0.05, Work::Spin);
    assert_eq!(advice.left_out[0].cause, LeftOutCause::Faulty);
    // Without the package nothing is measured around work.
    let alone = [language_clock("usual()", ClockKind::Monotonic, None)];
    let advice = language_advice(&alone, 0.05, Work::Spin);
    assert!(advice.after.is_none() && advice.rows.is_known());
    let reason = language_advice(&alone, 0.05, Work::Sleep).rows.why().unwrap();
    assert!(reason.contains("no measurements of a sleep: with the package clockscope"), "{reason}");
}

/// The overhead is what two readings show, and no less than a read costs: readings of a coarse
/// clock do not differ.
#[test]
fn the_overhead_is_no_less_than_the_cost() {
    for (cost_ns, overhead_ns) in [(15.0, 20.0), (25.0, 25.0)] {
        let clock = record("monotonic", |clock| cost(clock, cost_ns));
        let (found, _) = candidate(&ClockFigures::of_record(&clock)).unwrap();
        assert_eq!((found.cost_ns, found.overhead_ns, found.jitter_ns), (cost_ns, overhead_ns, 10.0));
        assert_eq!(found.loop_error_ns(), overhead_ns + 20.0);
    }
}

/// A clock with all its figures, and without one after the other.
#[test]
fn what_is_left_out_has_its_cause() {
    let cause = |change: fn(&mut ClockRecord)| {
        let clock = record("monotonic", change);
        let (weighed, left_out) = weigh(vec![ClockFigures::of_record(&clock)], &healthy().environment);
        assert_eq!(weighed.len() + left_out.len(), 1);
        left_out.first().map(|clock| clock.cause)
    };
    fn events(clock: &mut ClockRecord) -> &mut clockscope_records::Events {
        clock.events.as_mut().unwrap()
    }
    assert_eq!(cause(|_| ()), None);
    assert_eq!(cause(|clock| clock.available = false), Some(LeftOutCause::Unreadable));
    assert_eq!(cause(|clock| clock.events = None), Some(LeftOutCause::NotJudged));
    assert_eq!(cause(|clock| events(clock).jump = Figure::Known(1)), Some(LeftOutCause::Faulty));
    assert_eq!(cause(|clock| events(clock).stuck = 1), Some(LeftOutCause::Faulty));
    assert_eq!(cause(|clock| clock.summary = Figure::default()), Some(LeftOutCause::NoDifferences));
    assert_eq!(cause(|clock| cost(clock, 0.0)), Some(LeftOutCause::NoCost));
    let stuck = |clock: &mut ClockRecord| {
        (clock.tick_ns, clock.tick_evidence, clock.observed_resolution_ns) =
            (Figure::default(), None, Figure::default());
    };
    assert_eq!(cause(stuck), Some(LeftOutCause::Stuck));
    for (kind, expected) in [
        (ClockKind::Wall, LeftOutCause::TimeOfDay),
        (ClockKind::CpuTime, LeftOutCause::ProcessorTime),
        (ClockKind::Cycles, LeftOutCause::CoreCycles),
        (ClockKind::Counter, LeftOutCause::OtherKind),
    ] {
        let clock = record("monotonic", |clock| clock.identity.kind = kind);
        let (_, left_out) = weigh(vec![ClockFigures::of_record(&clock)], &healthy().environment);
        assert_eq!(left_out.first().map(|clock| clock.cause), Some(expected));
    }
    assert_eq!(cause(|clock| clock.identity.is_device = true), Some(LeftOutCause::Device));
    assert_eq!(cause(|clock| clock.identity.is_ordered = false), Some(LeftOutCause::Unordered));
    let counter = record("rdtscp", |_| ());
    let untrusted = Environment { clocksource: Figure::Known("hpet".to_owned()), ..healthy().environment };
    let (_, left_out) = weigh(vec![ClockFigures::of_record(&counter)], &untrusted);
    assert_eq!(left_out[0].cause, LeftOutCause::UntrustedCounter);
}

#[test]
fn the_usual_clock_is_advised_where_it_suffices_and_else_the_finest() {
    let clocks = two_clocks();
    let advice = |interval_ns: f64| rows(&clocks, Some(interval_ns), 0.01).remove(0);
    let short = advice(10.0);
    assert_eq!((short.clock.as_str(), short.reading_error), ("rdtscp", 4.0));
    assert_eq!(short.repetitions, 400);
    assert_eq!(short.cheapest_sufficient, None);
    let between = advice(4_500.0);
    assert_eq!((between.clock.as_str(), between.repetitions), ("rdtscp", 1));
    let long = advice(6_000.0);
    assert_eq!((long.clock.as_str(), long.repetitions), ("monotonic", 1));
    assert_eq!(long.cheapest_sufficient.as_deref(), Some("rdtscp"));
    assert_eq!(rows(&[], None, 0.01), []);
}

/// Of those that cost the same, whatever they are called.
#[test]
fn of_equal_clocks_the_best_known_one_is_advised() {
    let named = |name: &str, is_usual, path| {
        record("monotonic", |clock| {
            (clock.identity.name, clock.identity.is_usual, clock.identity.path) = (name.into(), is_usual, path);
        })
    };
    let others = [named("pendulum", false, ReadPath::Std), named("sandglass", false, ReadPath::Std)];
    assert_eq!(rows(&others, Some(10.0), 0.01)[0].clock, "pendulum");
    let own = [&others[..], &[named("own", false, ReadPath::Library)]].concat();
    assert_eq!(rows(&own, Some(10.0), 0.01)[0].clock, "own");
    // A library's clock within a tick of the best is named, another is not.
    for (cost_ns, expected) in [(42.0, "own"), (44.0, "pendulum")] {
        let mut clocks = own.clone();
        cost(&mut clocks[2], cost_ns);
        assert_eq!(rows(&clocks, Some(10.0), 0.01)[0].clock, expected);
        clocks[2].identity.path = ReadPath::Std;
        assert_eq!(rows(&clocks, Some(10.0), 0.01)[0].clock, "pendulum");
    }
    let usual = [&own[..], &[named("usual", true, ReadPath::Libc)]].concat();
    assert_eq!(rows(&usual, Some(10.0), 0.01)[0].clock, "usual");
}

/// The smallest number that divides the error to the one that is allowed.
#[test]
fn repetitions_are_rounded_up() {
    let clocks = &two_clocks()[1..];
    for (interval_ns, error, repetitions) in [(10.0, 0.03, 134), (30.0, 0.1, 14), (39.0, 1.0, 2), (40.0, 1.0, 1)] {
        let row = rows(clocks, Some(interval_ns), error).remove(0);
        assert_eq!(row.repetitions, repetitions, "{interval_ns} ns");
        assert!(row.reading_error / row.repetitions as f64 <= error, "{row:?}");
    }
}

/// The first screen and `advise` name the same clock for every interval, and so does a clock alone.
#[test]
fn the_recommendation_agrees_with_the_advice() {
    let both = two_clocks();
    for clocks in [&both[..], &both[..1], &both[1..]] {
        let found = recommend(clocks, &healthy().environment);
        let (clock, from_ns) = (found.clock.known().unwrap(), found.interval_ns.unwrap());
        let shorter = found.shorter.as_ref().unwrap_or(clock);
        let nearby = [from_ns * 0.999, from_ns * 1.001];
        for row in INTERVALS.into_iter().chain(nearby).flat_map(|ns| rows(clocks, Some(ns), DEFAULT_ERROR)) {
            assert_eq!(&row.clock, if row.interval_ns < from_ns { shorter } else { clock }, "{row:?}");
            assert_eq!(row.interval_ns >= from_ns, row.repetitions == 1 && row.clock == *clock);
        }
    }
    let found = recommend(&both, &healthy().environment);
    assert_eq!((found.interval_ns, found.reading_error_ns, found.cost_ns), (Some(6_000.0), Some(60.0), Some(40.0)));
    assert_eq!(found.reads, both[0].events.as_ref().map(|events| events.reads));
    assert_eq!(found.shorter.as_deref(), Some("rdtscp"));
}

#[test]
fn where_no_clock_is_advised_the_reason_is_the_same() {
    let none = |clocks: &[ClockRecord], environment: &Environment| {
        let found = recommend(clocks, environment);
        let reason = found.clock.reason().unwrap().clone();
        let clock = Figure::Unknown(reason.clone());
        assert_eq!(found, Recommendation { error: DEFAULT_ERROR, clock, ..Recommendation::default() });
        let measured = Envelope { environment: environment.clone(), ..measured(clocks, Synchronization::default()) };
        let advice = advise(AdviceInput::Measurement(&measured), 0.01, None, Work::Spin);
        assert_eq!(advice.found.rows.reason(), Some(&reason));
        reason
    };
    let clocks = two_clocks();
    let here = healthy().environment;
    let emulated = Environment { emulation: vec![Emulator::QemuUser], ..here.clone() };
    assert_eq!(none(&clocks, &emulated), texts::EMULATED.into());
    let mut faulty = clocks;
    faulty.iter_mut().filter_map(|clock| clock.events.as_mut()).for_each(|events| events.regression = 1);
    assert_eq!(none(&faulty, &here), texts::NOTHING_FIT.into());
    assert_eq!(none(&[], &here), texts::NOTHING_MEASURED.into());
    let unordered = [record("rdtscp", |clock| clock.identity.is_ordered = false)];
    let reason = none(&unordered, &here).to_string();
    assert!(reason.starts_with("rdtscp: a read may take effect before"), "{reason}");
    assert!(reason.contains("measure counter"), "{reason}");
    let mut without = two_clocks();
    without.iter_mut().for_each(|clock| clock.summary = Figure::default());
    assert_eq!(none(&without, &here), texts::DIFFERENCES_NOT_RECORDED.into());
}

const CHRONY: ChronyTracking = ChronyTracking {
    stratum: 2,
    correction_s: 1e-6,
    error_s: 1e-3,
    freq_ppm: -12.0,
    skew_ppm: 0.25,
    update_interval_s: 64.0,
};

/// A run whose counter was calibrated to 2 ppm.
fn run() -> Run {
    let timer = TimerRecord {
        name: "rdtscp_lfence".to_owned(),
        frequency_hz: 1e9,
        frequency_problem: None,
        frequency_bound_ppm: 2.0,
        reference: "monotonic_raw:syscall".to_owned(),
    };
    Run {
        requested_duration_s: None,
        requested_reads: None,
        duration_s: 1.0,
        waited_s: None,
        runs: None,
        cpu: Figure::Known(0),
        timer_period_ns: None,
        timer,
        interrupted: false,
    }
}

/// A clock of the healthy machine, or one of the kernel's that nobody steers.
fn identity(name: &str) -> ClockIdentity {
    let is_unsteered = name == "unsteered";
    let known = if is_unsteered { "monotonic" } else { name };
    let identity = healthy().clock(known).unwrap().identity.clone();
    ClockIdentity { is_steered: identity.is_steered && !is_unsteered, ..identity }
}

#[test]
fn the_scale_is_what_the_daemon_states() {
    let scale_ppm = |synchronization: Synchronization, name: &str| {
        let measured = measured(&two_clocks(), synchronization);
        let (share, source) = RateStatements::from_measurement(&measured).scale_error(&identity(name));
        assert_eq!(share.is_known(), source.is_some());
        share.result().map(|share| (share * 1e9).round() / 1e3)
    };
    let state = |status: &[&str], freq_ppm, tick_us| Adjtimex {
        freq_ppm,
        tick_us,
        offset_ns: 0,
        maxerror_us: 16_000_000,
        esterror_us: 0,
        tai_offset_s: None,
        status: status.iter().map(ToString::to_string).collect(),
        state: None,
        time_of_day_error_s: None,
    };
    let steered = |chrony: ChronyTracking, freq_ppm, tick_us| Synchronization {
        adjtimex: Figure::Known(state(&[], freq_ppm, tick_us)),
        chrony: Figure::Known(chrony),
        ptp: Vec::new(),
    };
    let by = |chrony: ChronyTracking| steered(chrony, 12.0, 10_000);
    assert_eq!(scale_ppm(by(CHRONY), "monotonic"), Ok(0.25));
    // A small offset that is worked off moves the rate, by the frequency or by the tick.
    assert_eq!(scale_ppm(steered(CHRONY, 15.0, 10_000), "monotonic"), Ok(3.25));
    assert_eq!(scale_ppm(steered(CHRONY, 12.0, 10_001), "monotonic"), Ok(100.25));
    assert_eq!(scale_ppm(steered(CHRONY, 15.0, 10_000), "unsteered"), Ok(12.25));
    // What no daemon steers is off by what it corrects, and a counter by its conversion as well.
    assert_eq!(scale_ppm(by(CHRONY), "unsteered"), Ok(12.25));
    assert_eq!(scale_ppm(by(CHRONY), "rdtscp"), Ok(14.25));
    let correction_s = -3e-3;
    let reason =
        "chronyd works off an offset of 3 ms, above its error of 1 ms, by a rate that it does not state".to_owned();
    assert_eq!(scale_ppm(by(ChronyTracking { correction_s, ..CHRONY }), "monotonic"), Err(reason.into()));

    for (status, reason) in [(&["unsync"][..], texts::NOT_SYNCHRONIZED), (&["pll"], texts::NO_RATE_STATEMENT)] {
        let synchronization = Synchronization {
            adjtimex: Figure::Known(state(status, 0.0, 10_000)),
            chrony: Figure::unknown(texts::NO_CHRONY),
            ptp: Vec::new(),
        };
        assert_eq!(scale_ppm(synchronization, "monotonic"), Err(reason.into()));
    }
    let (unknown, _) = RateStatements::default().scale_error(&identity("monotonic"));
    assert_eq!(unknown, Figure::unknown(texts::KEEPER_NOT_RECORDED));
}

/// A PTP clock of the host is none of other hardware.
#[test]
fn a_comparison_with_other_hardware_bounds_the_scale() {
    let scale_with = |driver: &str| {
        let name = Figure::Known(driver.to_owned());
        let ptp = PtpClock { device: "ptp0".into(), name, offset_s: Figure::default(), bound_s: Figure::default() };
        let synchronization = Synchronization { ptp: vec![ptp], ..Synchronization::default() };
        let pair = |a: &str, b: &str, ppm| RatePair {
            a: a.to_owned(),
            b: b.to_owned(),
            ppm: Figure::Known(ppm),
            bound_ppm: Figure::Known(0.5),
            constant: Figure::Known(true),
        };
        let pairs =
            vec![pair("monotonic", "rust_instant", 0.0), pair("ptp0", "monotonic", -7.0), pair("rdtscp", "ptp0", 1.0)];
        let mut measured = measured(&two_clocks(), synchronization);
        let rate = Figure::Known(Rate { pairs, ..Rate::default() });
        measured.found.extended = Some(Extended { order: Default::default(), offsets: Default::default(), rate });
        let statements = RateStatements::from_measurement(&measured);
        assert!(!statements.scale_error(&identity("rdtscp")).0.is_known());
        statements.scale_error(&identity("monotonic"))
    };
    let (share, source) = scale_with("ena-ptp");
    assert_eq!(share.get().map(|share| (share * 1e9).round()), Some(7_500.0));
    assert_eq!(source, Some(ScaleSource::Comparison("ptp0".to_owned())));
    assert!(!scale_with("KVM virtual PTP").0.is_known());
}

/// Errors after work decide where there are any, and clocks without them are left out; what was not
/// tried has no advice.
#[test]
fn errors_after_work_are_those_advised() {
    let after = |work: Work, work_ns: f64, p99_ns: f64| AfterWork {
        work,
        work_ns,
        measurements: 10_000,
        median_ns: p99_ns,
        p99_ns: p99_ns / 1.11,
    };
    let clocks = [
        record("monotonic", |clock| {
            cost(clock, 40.0);
            let spins = [after(Work::Spin, 1e4, 100.0), after(Work::Spin, 1e6, 1000.0)];
            clock.after_work = Figure::Known([&spins[..], &[after(Work::Sleep, 1e7, 5000.0)]].concat());
        }),
        record("rdtscp", |clock| {
            cost(clock, 18.0);
            clock.after_work = Figure::Known(vec![after(Work::Spin, 1e4, 30.0)]);
        }),
        record("monotonic", |clock| {
            cost(clock, 1.0);
            (clock.identity.name, clock.identity.is_usual) = ("monotonic_raw".to_owned(), false);
        }),
    ];
    let recommended = recommend(&clocks, &healthy().environment);
    assert_eq!((recommended.clock.as_deref(), recommended.after), (Some("monotonic"), Some(Work::Spin)));
    assert_eq!((recommended.interval_ns.map(f64::round), recommended.shorter.as_deref()), (Some(1e4), Some("rdtscp")));
    let measured = measured(&clocks, Synchronization::default());
    let advised =
        |interval_ns: f64, work: Work| advise(AdviceInput::Measurement(&measured), 0.01, Some(interval_ns), work).found;
    let error_ns = |interval_ns: f64, work: Work| {
        advised(interval_ns, work).rows.result().map(|rows| (rows[0].reading_error * interval_ns).round())
    };
    assert_eq!([error_ns(1e3, Work::Spin), error_ns(1e5, Work::Spin)], [Ok(30.0), Ok(316.0)]);
    assert_eq!(error_ns(1e3, Work::Sleep), Ok(5000.0));
    let unknown = error_ns(1e3, Work::Touch4M).unwrap_err().to_string();
    assert!(unknown.contains("no measurements of touching 4 MB"), "{unknown}");
    let left_out = advised(1e3, Work::Spin).left_out;
    assert_eq!(left_out.last().map(|clock| clock.cause), Some(LeftOutCause::NotAfterWork));
    // Without any, the errors are those of reads in a loop, and that is said.
    let advice = advise(
        AdviceInput::Measurement(&self::measured(&two_clocks(), Synchronization::default())),
        0.01,
        None,
        Work::Spin,
    );
    assert_eq!(advice.found.after, None);
}
