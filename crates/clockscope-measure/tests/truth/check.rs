//! *Check*: verdicts and their evidence, on machines with nothing wrong.

use std::cell::RefCell;
use std::ops::Range;

use clockscope_measure::{CheckRequest, Session, check};
use clockscope_records::{
    Check, CheckEvidence, ClockDemands, Demand, DemandValue, EvidenceData, EvidenceKind, Finding, KernelCause,
    LogFault, Policy, Trustworthiness, Verdict, WallState, checks,
};
use clockscope_testing::simulation::Random;

use crate::harness::{on_machines, on_one};
use crate::machine::{Clocksource, Machine, Maker, Spec};
use crate::platform::Simulated;

/// Most reads of a batch, and the shortest time of a batch of fewer, in ns.
const MAX_BATCH_READS: f64 = 1024.0;
const MIN_BATCH_NS: f64 = 12e3;

/// The shares of a check's progress until which clocks are read one after the other, and from which
/// on rates are compared.
const READS: f64 = 0.32;
const RATES: f64 = 0.56;

/// Time that a check gets, in seconds, but for those of busy machines that are asked for long.
pub(crate) fn usual_s(seed: u64) -> f64 {
    let mut random = Random::new(seed ^ 0xc4ec);
    if random.happens(0.002) { 3.0 } else { 0.05 + 0.1 * random.fraction() * random.fraction() }
}

/// Findings, and the times at which the clocks were being looked at, in ps of true time.
pub(crate) struct Checked {
    pub(crate) found: Check,
    /// From the beginning of the first question to the end of the last one.
    pub(crate) whole: Range<u128>,
    /// Times at which readings of all clocks followed each other, and at which they were compared
    /// with the reference.
    pub(crate) reads: Range<u128>,
    pub(crate) rates: Range<u128>,
}

pub(crate) fn ask(session: &Session<'_, Simulated>, policy: Policy, duration_s: f64) -> Checked {
    let cpus = &session.platform().machine.cpus;
    let times: RefCell<Vec<(f64, u128)>> = RefCell::default();
    let request = CheckRequest { clocks: Vec::new(), policy, for_use: None, duration_s, cpu: None };
    let answer = check(session, &request, &mut |share| times.borrow_mut().push((share, cpus.now_ps())));
    let times = times.into_inner();
    let between = |from: f64, until: f64| {
        let mut times = times.iter().filter(|(share, _)| (from..until).contains(share)).map(|(_, ps)| *ps);
        let first = times.next().unwrap_or(0);
        first..times.next_back().unwrap_or(first)
    };
    let found = answer.expect("it can be asked").found;
    Checked { found, whole: between(0.0, 2.0), reads: between(0.0, READS), rates: between(RATES, 2.0) }
}

pub(crate) fn verdict<'a>(found: &'a Check, clock: &str) -> &'a Verdict {
    found.verdicts.iter().find(|verdict| verdict.clock == clock).expect("it was judged")
}

pub(crate) fn against(verdict: &Verdict) -> Vec<&CheckEvidence> {
    verdict.evidence.iter().filter(|evidence| evidence.finding == Finding::Against).collect()
}

/// The ppm by which a clock runs fast against MONOTONIC_RAW.
fn true_ppm(machine: &Machine, spec: &Spec) -> f64 {
    let raw = machine.spec("monotonic_raw").expect("it is there").fast;
    ((1.0 + spec.fast) / (1.0 + raw) - 1.0) * 1e6
}

/// Evidence against clocks that do nothing wrong: what is true of such a machine, and not a fault.
fn may_be_against(machine: &Machine, verdict: &Verdict, evidence: &CheckEvidence) -> bool {
    let is_counter = verdict.clock == "tsc";
    let is_device = machine.clocksource != Clocksource::Tsc;
    match evidence.data.kind() {
        EvidenceKind::Readable => !answers(machine, verdict),
        EvidenceKind::Invariance => is_counter && machine.facts.is_invariant == Some(false),
        EvidenceKind::Clocksource => is_counter && is_device,
        EvidenceKind::KernelVerdict => is_counter && is_device && !machine.reasons.is_empty(),
        EvidenceKind::NominalFrequency => {
            is_counter && machine.nominal_hz.is_some_and(|hz| (hz as f64 / machine.counter_hz - 1.0).abs() > 300e-6)
        }
        EvidenceKind::Cost => {
            let syscall_ps = machine.spec("monotonic:syscall").expect("it is there").cost.ps;
            let spec = machine.spec(&verdict.clock);
            !is_counter && spec.is_some_and(|spec| spec.cost.ps as f64 > 0.5 * syscall_ps as f64)
        }
        EvidenceKind::Synchronization => machine.facts.adjtimex.as_ref().is_some_and(|said| {
            let is_off = matches!(said.state, Some(WallState::Unsynchronized | WallState::Slewing));
            is_off || verdict.clock == "tai" && said.tai_offset_s.is_none()
        }),
        _ => false,
    }
}

/// Returns true if the clock of a verdict can be read.
fn answers(machine: &Machine, verdict: &Verdict) -> bool {
    machine.spec(&verdict.clock).is_some_and(|spec| machine.answers(spec))
}

/// Returns true if all is said for a counter that trust in it needs.
fn is_vouched_for(machine: &Machine) -> bool {
    machine.facts.is_invariant == Some(true)
        && machine.clocksource == Clocksource::Tsc
        && (machine.cpus.cpus() == 1 || machine.facts.can_bind)
}

/// Nothing is wrong with these clocks: none is unfit, and each piece of evidence is right or
/// unknown.
fn nothing_is_wrong(machine: &Machine, found: &Check) {
    for verdict in &found.verdicts {
        for evidence in against(verdict) {
            assert!(may_be_against(machine, verdict, evidence), "{}: {evidence:?}", verdict.clock);
        }
        let is_rejected = verdict.clock == "tsc" && machine.reasons.iter().any(|reason| reason.is_fault());
        let is_unfit = is_rejected || !answers(machine, verdict);
        assert_eq!(verdict.verdict == Trustworthiness::Unfit, is_unfit, "{verdict:?}");
        if verdict.clock == "tsc" && !is_vouched_for(machine) {
            assert_ne!(verdict.verdict, Trustworthiness::Trusted, "{verdict:?}");
        }
        figures(machine, verdict);
    }
}

/// The quantiles that a record gives lie between the neighbors of their rank in the histogram, each
/// as the middle of its bin, within half a bin. Ranks of a histogram that represents more batches
/// are off by one at most.
fn holds_the_quantiles(histogram: &[(i64, u64)], [p50, p99]: [Option<f64>; 2]) {
    let middles: Vec<f64> = histogram
        .iter()
        .flat_map(|(bin, count)| std::iter::repeat_n(((*bin as f64 + 0.5) / 32.0).exp2(), *count as usize))
        .collect();
    let last = middles.len() as f64 - 1.0;
    for (quantile, share) in [(p50, 0.5), (p99, 0.99)] {
        let Some(quantile) = quantile else { continue };
        let rank = share * last;
        let low = middles[(rank - 1.0).floor().max(0.0) as usize];
        let high = middles[(rank + 1.0).ceil().min(last) as usize];
        assert!(low * 0.985 <= quantile && quantile <= high * 1.015, "{share}: {quantile} ns, {histogram:?}");
    }
}

/// The figures that evidence gives lie where the truth is.
fn figures(machine: &Machine, verdict: &Verdict) {
    for evidence in &verdict.evidence {
        let spec = machine.spec(&verdict.clock).expect("it is there");
        match evidence.data {
            EvidenceData::Cost(checks::Cost { cost_ns: Some(ns), p99_ns, ref histogram, .. }) => {
                holds_the_quantiles(histogram, [Some(ns), p99_ns]);
                let spec =
                    if verdict.clock == "tsc" { machine.spec("lfence_tsc_lfence").expect("it is there") } else { spec };
                let true_ns = true_cost_ns(machine, spec);
                let is_right = (true_ns[0] * 0.97..true_ns[1] * 1.1 + 1.0).contains(&ns);
                assert!(is_right, "{}: {true_ns:?} ns, {evidence:?}", verdict.clock);
            }
            EvidenceData::Rate(checks::Rate { ppm: Some(ppm), bound_ppm, .. }) => {
                let bound = bound_ppm.expect("it has a bound");
                let true_ppm = true_ppm(machine, spec);
                assert!((ppm - true_ppm).abs() <= bound, "{}: {true_ppm} ppm, {evidence:?}", verdict.clock);
            }
            EvidenceData::Offsets(checks::Offsets { within_ns: Some(ns), .. }) => assert!(ns >= 0.0, "{evidence:?}"),
            EvidenceData::NominalFrequency(checks::NominalFrequency {
                measured_hz: Some(hz), ppm, bound_ppm, ..
            }) => {
                let bound = bound_ppm.expect("it has a bound");
                // What was measured is in units of the reference.
                let raw = machine.spec("monotonic_raw").expect("it is there").fast;
                let true_hz = machine.counter_hz / (1.0 + raw);
                assert!((hz / true_hz - 1.0).abs() * 1e6 <= bound, "{true_hz} Hz, {evidence:?}");
                if let Some(ppm) = ppm {
                    let true_ppm = (machine.nominal_hz.expect("it was stated") as f64 / true_hz - 1.0) * 1e6;
                    assert!((ppm - true_ppm).abs() <= bound, "{true_ppm} ppm, {evidence:?}");
                }
            }
            EvidenceData::StepsBack(checks::StepsBack { count, .. }) => {
                assert_eq!(count.unwrap_or(0), 0, "{}: {evidence:?}", verdict.clock)
            }
            EvidenceData::Order(checks::Order { regressions, .. }) => {
                assert_eq!(regressions.unwrap_or(0), 0, "{}: {evidence:?}", verdict.clock);
            }
            EvidenceData::Jumps(checks::Jumps { ahead, behind, .. }) => {
                let jumps = ahead.unwrap_or(0) + behind.unwrap_or(0);
                assert_eq!(jumps, 0, "{}: {evidence:?}", verdict.clock);
            }
            EvidenceData::Stuck(checks::Stuck { runs, unchanged_ns: None, .. }) => {
                assert_eq!(runs.unwrap_or(0), 0, "{}: {evidence:?}", verdict.clock);
            }
            EvidenceData::Invariance(checks::Invariance { invariant, .. }) => {
                assert_eq!(invariant, machine.facts.is_invariant)
            }
            EvidenceData::Hypervisor(checks::Hypervisor { statement, .. }) => {
                assert_eq!(statement, machine.facts.statement);
                let is_doubtful = statement.is_some_and(|statement| !statement.is_reliable());
                assert!(!is_doubtful || evidence.finding == Finding::Unknown, "{evidence:?}");
            }
            EvidenceData::Synchronization(checks::Synchronization { answered, state, error_s, .. }) => {
                let said = machine.facts.adjtimex.as_ref();
                assert!(!answered || said.is_some(), "{evidence:?}");
                let is_known = said.is_some_and(|said| {
                    let is_usable = matches!(said.state, Some(WallState::Synchronized | WallState::WhileNotSlewing));
                    is_usable && said.time_of_day_error_s.is_some()
                });
                assert!(evidence.finding != Finding::For || is_known, "{evidence:?}");
                let is_theirs = said.is_some_and(|said| said.state == state && said.time_of_day_error_s == error_s);
                assert!(!answered || is_theirs, "{evidence:?}: {said:?}");
            }
            _ => {}
        }
    }
}

/// Cost of a read by the batch, in ns: without what else the batch holds, and with it. Reads take
/// longer than their cost by the jitter, and the timer is read once.
fn true_cost_ns(machine: &Machine, spec: &Spec) -> [f64; 2] {
    let read_ns = spec.cost.ps as f64 / 1e3;
    let timer = machine.counter_cost.or(machine.spec("monotonic_raw:syscall").map(|spec| spec.cost));
    let timer_ns = timer.expect("it is there").ps as f64 / 1e3;
    let batch_ns = (MAX_BATCH_READS * read_ns).min(MIN_BATCH_NS);
    [read_ns, read_ns * (1.0 + machine.jitter) * (1.0 + timer_ns / batch_ns)]
}

/// Demands that are near what is true, on either side.
fn policy(seed: u64, machine: &Machine) -> Policy {
    let mut random = Random::new(seed ^ 0x90_11c7);
    let mut factor = || 10f64.powf(2.0 * random.fraction() - 1.0);
    let spec = machine.spec("monotonic").expect("it is there");
    let ordered = machine.spec("lfence_tsc_lfence").expect("it is there");
    let demands = |spec: &Spec, factor: &mut dyn FnMut() -> f64, max_rate_ppm, max_offset_ns| ClockDemands {
        verdict: Some(Trustworthiness::Trusted),
        for_use: None,
        max_cost_ns: Some(spec.cost.ps as f64 / 1e3 * factor()),
        max_tick_ns: Some(spec.tick_ns * factor()),
        max_regressions: Some(0),
        max_rate_ppm,
        max_offset_ns,
        invariant: max_offset_ns.is_some().then_some(true),
    };
    let (rate, offset) = (true_ppm(machine, spec).abs() * factor(), 100.0 * factor());
    Policy {
        clocksource: Some(vec!["tsc".to_owned(), "kvm-clock".to_owned()]),
        counter: Some(demands(ordered, &mut factor, Some(300.0), Some(offset))),
        clocks: [("monotonic".to_owned(), demands(spec, &mut factor, Some(rate), None))].into_iter().collect(),
    }
}

/// Demands are met if they truly are, or unknown.
fn demands(machine: &Machine, found: &Check) {
    for Demand { demand, required, met, .. } in &found.demands {
        let Some(met) = *met else { continue };
        let limit = if let DemandValue::Number(limit) = required { *limit } else { 0.0 };
        let demand = demand.to_string();
        let (section, field) = demand.rsplit_once('.').unwrap_or(("", &demand));
        let is_counter = section == "counter";
        let spec = machine.spec(if is_counter { "lfence_tsc_lfence" } else { "monotonic" }).expect("it is there");
        let near = |truth: f64, share: f64| (limit / truth - 1.0).abs() < share;
        let is_right = match field {
            "clocksource" => met == (machine.clocksource == Clocksource::Tsc),
            "verdict" => {
                let name = if is_counter { "tsc" } else { "monotonic" };
                met == (verdict(found, name).verdict == Trustworthiness::Trusted)
            }
            "max_cost_ns" => met == (limit >= spec.cost.ps as f64 / 1e3) || near(spec.cost.ps as f64 / 1e3, 0.25),
            // Of what is shown in whole ns.
            "max_tick_ns" => {
                let truth = if spec.id.is_some() { spec.tick_ns.max(1.0) } else { spec.tick_ns };
                met == (limit >= truth) || near(truth, 1e-3)
            }
            "max_regressions" => met,
            "max_rate_ppm" if is_counter => {
                let raw = machine.spec("monotonic_raw").expect("it is there").fast;
                let hz = machine.nominal_hz.expect("something was stated") as f64;
                met == ((hz * (1.0 + raw) / machine.counter_hz - 1.0).abs() * 1e6 <= limit)
            }
            "max_rate_ppm" => met == (true_ppm(machine, spec).abs() <= limit),
            "max_offset_ns" => met,
            "invariant" => machine.facts.is_invariant == Some(met),
            _ => panic!("{demand}"),
        };
        assert!(is_right, "{demand}: {required:?} is met: {met}, {:?}", found.demands);
    }
}

/// A machine with nothing wrong, though it may be busy, state a wrong frequency, or have another
/// clocksource for a reason.
fn sound(mut maker: Maker) -> Machine {
    let (has_nominal, off) = (maker.random.happens(0.4), (maker.random.fraction() - 0.5) * 2e-3);
    let has_reason = maker.random.happens(0.5);
    let is_fault = maker.random.happens(0.5);
    let is_far = maker.random.happens(0.5);
    let mut machine = maker.make();
    machine.nominal_hz =
        has_nominal.then(|| (machine.counter_hz * (1.0 + if is_far { off } else { off / 100.0 })) as u64);
    if machine.clocksource != Clocksource::Tsc && has_reason {
        let cause = match is_fault {
            true => KernelCause::log_line("Marking TSC unstable", LogFault::Unstated),
            false => KernelCause::ClocksourceOption { clocksource: "hpet".to_owned() },
        };
        machine.reasons = vec![cause];
    }
    machine
}

/// Asks of a machine with nothing wrong, and finds nothing wrong.
fn ask_sound(session: &Session<'_, Simulated>, seed: u64) -> Checked {
    let machine = &session.platform().machine;
    let checked = ask(session, policy(seed, machine), machine.duration_s(usual_s(seed)));
    nothing_is_wrong(machine, &checked.found);
    demands(machine, &checked.found);
    checked
}

/// A machine whose check has to end, at most `more_s` after the time that it was asked for.
pub(crate) fn limited(machine: Machine, seed: u64, more_s: f64) -> Simulated {
    let duration_s = machine.duration_s(usual_s(seed));
    Simulated::across(machine, duration_s + more_s)
}

/// Nothing is held against clocks that do nothing wrong, however busy the machine is; and demands
/// are met as they truly are.
#[test]
fn what_is_sound_is_never_unfit() {
    let (mut trusted, mut could) = (0, 0);
    let make = |seed| limited(sound(Maker::varied(seed)), seed, 0.0);
    on_machines("check::what_is_sound", make, |session, seed| {
        let machine = &session.platform().machine;
        let checked = ask_sound(session, seed);
        let can_be = is_vouched_for(machine) && machine.counter_cost.is_some() && machine.loads[0].competitors == 0;
        if can_be && machine.nominal_hz.is_none() {
            could += 1;
            trusted += u32::from(verdict(&checked.found, "tsc").verdict == Trustworthiness::Trusted);
        }
    });
    eprintln!("{trusted} of {could} counters of quiet machines were trusted");
    assert!(could < 10 || trusted * 10 >= could * 8, "{trusted} of {could}");
}

/// A machine, as it was before machines varied, of which this was wrong once.
pub(crate) fn once_sound(seed: u64) {
    let platform = limited(sound(Maker::new(seed)), seed, 0.0);
    on_one("check::what_is_sound", seed, &platform, &mut |session, seed| drop(ask_sound(session, seed)));
}

/// The time of a check was over after two batches of each clock. The median of such two was the
/// mean of a read's cost and of the time that another thread had.
#[test]
fn an_interruption_was_a_cost() {
    once_sound(328);
}

/// The timer was a system call of a device, and reads took 10 % longer than they cost: both are
/// part of a batch, and the test took neither for it.
#[test]
fn what_a_batch_holds_is_part_of_the_cost() {
    once_sound(423);
}
