//! Policies against records, and policies that are none.

use clockscope_records::{ClockDemands, DemandValue, Strength, TickEvidence};

use super::*;

/// Evidence of a tick of which nothing but a bound is known.
pub(crate) fn at_most(ns: f64) -> TickEvidence {
    TickEvidence {
        strength: Strength::None,
        steps: 1000,
        at_most_ns: Some(ns),
        frequency_hz: None,
        error_ppm: None,
        spread_ns: None,
        agreement: None,
        exact_tick: None,
        recognized: None,
    }
}

fn demands(seen: &Observations, policy: &Policy) -> Vec<(String, Option<bool>)> {
    let found = policy::compare(policy, seen, &judged(seen), None);
    for demand in &found {
        assert!(demand.found.is_some() || demand.met.is_none(), "{demand:?}");
    }
    found.into_iter().map(|demand| (demand.demand.to_string(), demand.met)).collect()
}

/// One that this healthy machine meets, wherever it demands something.
fn policy() -> Policy {
    let mut policy = Policy { clocksource: Some(vec!["tsc".to_owned()]), ..Policy::default() };
    policy.counter = Some(ClockDemands {
        verdict: Some(Trustworthiness::Trusted),
        for_use: None,
        max_cost_ns: Some(20.0),
        max_tick_ns: Some(10.0),
        max_regressions: Some(0),
        max_rate_ppm: Some(50.0),
        max_offset_ns: Some(100.0),
        invariant: Some(true),
    });
    let monotonic = ClockDemands {
        max_cost_ns: Some(50.0),
        max_regressions: Some(0),
        max_rate_ppm: Some(50.0),
        ..ClockDemands::default()
    };
    policy.clocks.insert("monotonic".to_owned(), monotonic);
    policy
}

#[test]
fn demands_are_met_or_not_or_unknown() {
    let mut seen = healthy();
    seen.environment.frequencies.cpuid_15h_hz = Figure::Known(2_500_010_000);
    let met = demands(&seen, &policy());
    assert_eq!(met.len(), 11);
    assert!(met.iter().all(|(_, met)| *met == Some(true)), "{met:?}");
    seen.environment.clocksource = Figure::default();
    seen.environment.frequencies.cpuid_15h_hz = Figure::default();
    seen.is_invariant = None;
    seen.clocks[3].cost_ns = Figure::default();
    sequence_of(&mut seen, "monotonic").handoffs = 0;
    seen.offsets.within_ns = Figure::default();
    let unknown: Vec<String> =
        demands(&seen, &policy()).into_iter().filter(|(_, met)| met.is_none()).map(|(demand, _)| demand).collect();
    assert_eq!(
        unknown,
        [
            "clocksource",
            "counter.verdict",
            "counter.max_rate_ppm",
            "counter.max_offset_ns",
            "counter.invariant",
            "clocks.monotonic.max_cost_ns",
            "clocks.monotonic.max_regressions"
        ]
    );
    let mut seen = other_clocksource("hpet", true);
    seen.is_invariant = Some(false);
    seen.offsets.pairs[0].offset_ns = Figure::Known(1e6);
    seen.environment.frequencies.cpuid_15h_hz = Figure::Known(2_600_000_000);
    seen.offsets.within_ns = Figure::Known(1e6);
    seen.clocks.iter_mut().for_each(|clock| {
        clock.cost_ns.known_mut().unwrap().median *= 50.0;
        clock.tick_ns = Figure::Known(1e3);
    });
    sequence_of(&mut seen, "rdtscp").regressions = Figure::Known(1);
    events(&mut seen, "monotonic").regression = 1;
    rate_of(&mut seen, "monotonic").ppm = Figure::Known(-60.0);
    let unmet = demands(&seen, &policy());
    assert!(unmet.iter().all(|(_, met)| *met == Some(false)), "{unmet:?}");
}

/// A verdict is demanded for the use that the policy states, else for the one that was asked about.
#[test]
fn a_verdict_is_demanded_for_a_use() {
    let mut seen = healthy();
    seen.synchronization.adjtimex.known_mut().unwrap().state = Some(WallState::Unsynchronized);
    let met = |verdict, for_use: Option<Use>, requested: Option<Use>| {
        let realtime = ClockDemands { verdict: Some(verdict), for_use, ..ClockDemands::default() };
        let policy = Policy { clocks: [("realtime".to_owned(), realtime)].into(), ..Policy::default() };
        let found = policy::compare(&policy, &seen, &judged(&seen), requested);
        assert_eq!(found[0].for_use, for_use.or(requested));
        found[0].met
    };
    use Trustworthiness::{Limited, Trusted};
    use Use::{Interval, TimeOfDay};
    assert_eq!([met(Trusted, None, None), met(Limited, None, None)], [Some(false), Some(true)]);
    assert_eq!([met(Trusted, Some(Interval), None), met(Trusted, Some(TimeOfDay), None)], [Some(true), Some(false)]);
    assert_eq!(
        [met(Trusted, None, Some(Interval)), met(Trusted, Some(TimeOfDay), Some(Interval))],
        [Some(true), Some(false)]
    );
}

/// A clock that does not show the time of day has no verdict for it: the demand is not met, and not
/// broken.
#[test]
fn a_demand_for_time_of_day_on_another_clock_is_unknown() {
    let monotonic = ClockDemands {
        verdict: Some(Trustworthiness::Limited),
        for_use: Some(Use::TimeOfDay),
        ..ClockDemands::default()
    };
    let policy = Policy { clocks: [("monotonic".to_owned(), monotonic)].into(), ..Policy::default() };
    assert_eq!(demands(&healthy(), &policy)[0].1, None);
}

/// Of two demands that no machine meets together, one is broken.
#[test]
fn a_policy_that_contradicts_itself_is_not_met() {
    let counter = ClockDemands { verdict: Some(Trustworthiness::Trusted), ..ClockDemands::default() };
    let clocksource = Some(vec!["hpet".to_owned()]);
    let policy = Policy { clocksource, counter: Some(counter), ..Policy::default() };
    for seen in [healthy(), other_clocksource("hpet", true)] {
        assert!(demands(&seen, &policy).iter().any(|(_, met)| *met == Some(false)));
    }
}

/// Two names of one clock, whose demands differ, are judged each.
#[test]
#[cfg(target_os = "linux")]
fn two_names_of_one_clock_are_judged_each() {
    let most = |most: f64| ClockDemands { max_cost_ns: Some(most), ..ClockDemands::default() };
    let clocks = [("monotonic", 1.0), ("CLOCK_MONOTONIC", 1e9)].map(|(name, ns)| (name.to_owned(), most(ns)));
    let policy = Policy { clocks: clocks.into(), ..Policy::default() };
    let met: Vec<_> = demands(&healthy(), &policy).into_iter().map(|(_, met)| met).collect();
    assert_eq!(met, [Some(true), Some(false)], "in the order of the names");
}

/// A clock that does not show the time of day has one verdict, whatever use was asked about.
#[test]
fn a_demand_on_a_clock_without_time_of_day_is_for_intervals() {
    let monotonic = ClockDemands { verdict: Some(Trustworthiness::Trusted), ..ClockDemands::default() };
    let policy = Policy { clocks: [("monotonic".to_owned(), monotonic)].into(), ..Policy::default() };
    let seen = healthy();
    assert_eq!(policy::compare(&policy, &seen, &judged(&seen), Some(Use::TimeOfDay))[0].met, Some(true));
}

/// A verdict that is undecided may become any.
#[test]
fn whether_an_undecided_verdict_is_enough_is_not_known() {
    let mut seen = healthy();
    // Nor does a clock show its order that is read in the same way.
    for name in ["monotonic", "realtime"] {
        sequence_of(&mut seen, name).handoffs = 12;
    }
    let met = |verdict| {
        let monotonic = ClockDemands { verdict: Some(verdict), ..ClockDemands::default() };
        let policy = Policy { clocks: [("monotonic".to_owned(), monotonic)].into(), ..Policy::default() };
        policy::compare(&policy, &seen, &judged(&seen), None)[0].met
    };
    use Trustworthiness::{Limited, Trusted, Unfit};
    assert_eq!([Trusted, Limited, Unfit].map(met), [None, None, Some(true)]);
}

fn refused(policy: &Policy) -> String {
    let Err(MeasureError::Policy(error)) = policy::names(&crate::platform::ThisMachine, policy, &[], None) else {
        return String::new();
    };
    error.to_string()
}

#[test]
fn demands_that_nothing_can_answer_are_refused() {
    assert_eq!(refused(&policy()), "");
    let with = |change: fn(&mut Policy)| {
        let mut policy = policy();
        change(&mut policy);
        refused(&policy)
    };
    assert!(with(|policy| policy.clocksource = Some(Vec::new())).contains("empty"));
    // No machine meets both, as the findings will show.
    assert_eq!(with(|policy| policy.clocksource = Some(vec!["hpet".to_owned()])), "");
    assert!(
        with(|policy| policy.counter.as_mut().unwrap().max_cost_ns = Some(-1.0))
            .contains("counter.max_cost_ns: invalid limit -1")
    );
    assert!(
        with(|policy| policy.counter.as_mut().unwrap().max_rate_ppm = Some(f64::NAN)).contains("invalid limit NaN")
    );
    let of_clock = |change: fn(&mut ClockDemands)| {
        let mut policy = Policy::default();
        let mut demands = ClockDemands::default();
        change(&mut demands);
        policy.clocks.insert("monotonic".to_owned(), demands);
        refused(&policy)
    };
    assert!(of_clock(|demands| demands.max_offset_ns = Some(1.0)).contains("[counter]"));
    assert!(of_clock(|demands| demands.for_use = Some(Use::Interval)).contains("add verdict"));
    assert!(of_clock(|demands| demands.invariant = Some(true)).contains("[counter]"));
    assert_eq!(of_clock(|demands| demands.max_cost_ns = Some(0.0)), "");
    // All of its sequences have one verdict, and one cost: that of the cheapest ordered one.
    let mut sequence = Policy::default();
    sequence.clocks.insert("counter".to_owned(), ClockDemands::default());
    assert!(refused(&sequence).contains("clocks.counter: this is the counter"), "{}", refused(&sequence));
}

#[test]
fn what_was_not_measured_closely_enough_is_unknown() {
    let mut seen = healthy();
    let counter = ClockDemands { max_offset_ns: Some(50.0), max_regressions: Some(0), ..ClockDemands::default() };
    let mut policy = Policy { counter: Some(counter), ..Policy::default() };
    policy.clocks.insert("monotonic".to_owned(), ClockDemands { max_rate_ppm: Some(0.2), ..ClockDemands::default() });
    let met = |seen: &Observations| demands(seen, &policy).into_iter().map(|(_, met)| met).collect::<Vec<_>>();
    // 3 ± 70 ns, and 0.01 ± 0.3 ppm.
    assert_eq!(met(&seen), [Some(true), None, None]);
    seen.offsets.pairs[0].offset_ns = Figure::Known(130.0);
    seen.offsets.within_ns = Figure::Known(200.0);
    rate_of(&mut seen, "monotonic").ppm = Figure::Known(-0.6);
    sequence_of(&mut seen, "rdtscp").handoffs = 7;
    assert_eq!(met(&seen), [None, Some(false), Some(false)]);
    // They drift: no offset explains it, and order saw how far at least.
    (seen.offsets.pairs[0].offset_ns, seen.offsets.within_ns) = Default::default();
    seen.offsets.pairs[0].apart = Figure::Known(true);
    let rdtscp = sequence_of(&mut seen, "rdtscp");
    (rdtscp.handoffs, rdtscp.regressions, rdtscp.worst_ns) = (5000, Figure::Known(9), Figure::Known(800.0));
    assert_eq!(met(&seen), [Some(false); 3]);
}

/// A step that is only bounded may be shorter than what is demanded.
#[test]
fn a_bound_of_a_tick_does_not_break_a_demand() {
    let mut seen = healthy();
    (seen.clocks[3].tick_ns, seen.clocks[3].tick_evidence) = (Figure::default(), Some(at_most(30.0)));
    for (most, expected) in [(20.0, None), (30.0, Some(true))] {
        let mut policy = Policy::default();
        let limits = ClockDemands { max_tick_ns: Some(most), ..ClockDemands::default() };
        policy.clocks.insert("monotonic".to_owned(), limits);
        assert_eq!(demands(&seen, &policy)[0].1, expected, "{most}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_policy_names_only_clocks_that_there_are() {
    let two = |names: [&str; 2], limits: [f64; 2]| {
        let mut policy = Policy::default();
        for (name, limit) in names.into_iter().zip(limits) {
            let demands = ClockDemands { max_cost_ns: Some(limit), ..ClockDemands::default() };
            policy.clocks.insert(name.to_owned(), demands);
        }
        policy
    };
    assert_eq!(refused(&two(["monotonic_coarse", "monotonic_crs"], [1.0, 2.0])), "");
    let unknown = two(["monotonic", "sundial"], [1.0, 1.0]);
    assert_eq!(refused(&unknown), "clocks.sundial: unknown clock: sundial");
}

#[test]
fn verdicts_are_words_and_limits_are_numbers() {
    let mut seen = healthy();
    seen.environment.frequencies.cpuid_15h_hz = Figure::Known(2_500_000_000);
    let found = policy::compare(&policy(), &seen, &judged(&seen), None);
    assert_eq!(found[0].required, DemandValue::Word("tsc".to_owned()));
    assert_eq!(found[1].found, Some(DemandValue::Word("trusted".to_owned())));
    assert_eq!(found[2].found, Some(DemandValue::Number(18.0)));
}
