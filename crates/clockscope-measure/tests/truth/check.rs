//! *Check*: verdicts and their evidence, on machines with nothing wrong and with faults.

use std::cell::RefCell;
use std::ops::Range;

use clockscope_measure::{CheckRequest, Session, check};
use clockscope_records::{
    Check, CheckEvidence, CivilState, ClockDemands, Demand, DemandValue, EvidenceData, EvidenceKind, Finding,
    KernelCause, LogFault, Policy, Trustworthiness, Verdict, checks,
};
use clockscope_testing::simulation::{Change, Random, Refused};

use crate::harness::{are_many, on_machines, on_one, seeds};
use crate::machine::{Clocksource, Machine, Maker, Spec};
use crate::platform::Simulated;

/// Time by which a check may take longer beside a clock that fails, in s: what stands still is read
/// so often that one which works would have moved, before it is given up.
const FAILING_S: f64 = 2.0;

/// The most reads of a batch, and how long one is that has fewer, at least.
const MOST_READS: f64 = 1024.0;
const SHORTEST_BATCH_NS: f64 = 12e3;

/// The shares of a check's progress until which clocks are read one after the other, and from which
/// on rates are compared.
const READS: f64 = 0.32;
const RATES: f64 = 0.56;

/// Ratio of the time that a check as short as these takes to the one asked for: each test of it has
/// a shortest time.
const SHORT_RUN: f64 = 1.4;

/// Time that a check gets, in seconds, but for those of busy machines that are asked for long.
fn usual_s(seed: u64) -> f64 {
    let mut random = Random::new(seed ^ 0xc4ec);
    if random.happens(0.002) { 3.0 } else { 0.05 + 0.1 * random.fraction() * random.fraction() }
}

/// Findings, and the times at which the clocks were being looked at, in ps of true time.
pub(crate) struct Checked {
    pub(crate) found: Check,
    /// From the beginning of the first question to the end of the last one.
    whole: Range<u128>,
    /// Times at which readings of all clocks followed each other, and at which they were compared
    /// with the reference.
    reads: Range<u128>,
    rates: Range<u128>,
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
            let is_off = matches!(said.state, Some(CivilState::Unsynchronized | CivilState::Slewing));
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
                    let is_usable = matches!(said.state, Some(CivilState::Synchronized | CivilState::WhileNotSlewing));
                    is_usable && said.civil_error_s.is_some()
                });
                assert!(evidence.finding != Finding::For || is_known, "{evidence:?}");
                let is_theirs = said.is_some_and(|said| said.state == state && said.civil_error_s == error_s);
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
    let batch_ns = (MOST_READS * read_ns).min(SHORTEST_BATCH_NS);
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
fn once_sound(seed: u64) {
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

/// Subject whose fault it is that something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Counter,
    Monotonic,
    Raw,
    /// Of nothing: the machine paused.
    Nothing,
}

/// A machine on which one thing goes wrong at this time, or from the beginning on if there is none.
fn faulty(maker: Maker, seed: u64) -> (Machine, Fault, Option<u128>, &'static str) {
    let mut maker = maker.answering();
    maker.clocksource = Clocksource::Tsc;
    let random = &mut maker.random;
    let kind = random.below(14);
    let share_of_run = random.fraction();
    let ns = 10f64.powf(4.7 + 3.3 * random.fraction());
    let ns = if random.happens(0.5) { -ns } else { ns };
    let share = 10f64.powf(-2.7 + 2.0 * random.fraction()) * if random.happens(0.5) { -1.0 } else { 1.0 };
    let (cpu, hz) = (random.below(u64::from(maker.cpus)) as u32, maker.counter_hz);
    let glitches = 200 + random.below(2000) as usize;
    let pause_ps = (ns.abs() * 1e3) as u64;
    let mut machine = maker.make();
    let at_ms = 8.0 + machine.duration_s(usual_s(seed)) * 1e3 * SHORT_RUN * share_of_run;
    let clock = machine.monotonic();
    let raw = machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("it is there");
    let ticks = (ns * hz / 1e9) as i64;
    let is_alone = machine.cpus.cpus() == 1;
    let (fault, change, name) = match kind {
        // A single CPU is behind none.
        0 if is_alone => (Fault::Nothing, Change::SetCounterOffset { cpu, ticks }, "offset"),
        0 => (Fault::Counter, Change::SetCounterOffset { cpu, ticks }, "offset"),
        1 => (Fault::Counter, Change::SetCounterRate { hz: hz * (1.0 + share) }, "rate"),
        2 => (Fault::Counter, Change::StepCounter { ticks }, "step"),
        3 => (Fault::Counter, Change::GlitchCounter { ticks: [ticks, 0, 0].repeat(glitches) }, "glitches"),
        4 => (Fault::Counter, Change::SetCounterRate { hz: 0.0 }, "stop"),
        5 => (Fault::Counter, Change::MoveMachine { ps: pause_ps, ticks, hz }, "move"),
        6 => (Fault::Monotonic, Change::StepClock { clock, ns: ns as i64 }, "step"),
        7 => (Fault::Monotonic, Change::SlewClock { clock, share: share * 10.0 }, "slew"),
        8 => (Fault::Monotonic, Change::FreezeClock { clock }, "freeze"),
        9 => (Fault::Monotonic, Change::RefuseClock { clock, refused: Some(Refused(1)) }, "refuse"),
        10 => (Fault::Raw, Change::StepClock { clock: raw, ns: ns as i64 }, "step"),
        11 => (Fault::Raw, Change::FreezeClock { clock: raw }, "freeze"),
        12 => (Fault::Nothing, Change::Suspend { ps: pause_ps, left_out: Vec::new() }, "pause"),
        _ => (Fault::Nothing, Change::MoveMachine { ps: pause_ps, ticks: 0, hz }, "pause"),
    };
    let at_ms = if kind == 0 { 0.0 } else { at_ms };
    machine.at_ms(at_ms, change);
    (machine, fault, (kind != 0).then_some((at_ms * 1e9) as u128), name)
}

/// Every kind of fault that `faulty` makes.
const FAULTS: [(Fault, &str); 12] = [
    (Fault::Counter, "rate"),
    (Fault::Monotonic, "slew"),
    (Fault::Raw, "freeze"),
    (Fault::Counter, "move"),
    (Fault::Monotonic, "step"),
    (Fault::Raw, "step"),
    (Fault::Counter, "step"),
    (Fault::Monotonic, "refuse"),
    (Fault::Counter, "offset"),
    (Fault::Counter, "glitches"),
    (Fault::Counter, "stop"),
    (Fault::Monotonic, "freeze"),
];

/// Nobody trusts what is at fault, if that showed during the measurement; and nothing else is unfit
/// for it. Returns whether there was a fault, and it showed.
fn judge(session: &Session<'_, Simulated>, seed: u64, maker: Maker) -> bool {
    let (_, fault, at_ps, name) = faulty(maker, seed);
    let checked = ask(session, Policy::default(), session.platform().machine.duration_s(usual_s(seed)));
    let Checked { whole, reads, rates, .. } = &checked;
    let windows: &[&Range<u128>] = match (fault, name) {
        // What lasts shows whenever it begins before the clocks are compared.
        (Fault::Counter, "glitches") => &[reads],
        (Fault::Counter, _) => &[whole],
        (_, "step") => &[rates],
        (Fault::Raw, _) => &[rates],
        _ => &[reads, rates],
    };
    let is_covered = at_ps.is_none_or(|at_ps| windows.iter().any(|range| range.contains(&at_ps)));
    let (counter, monotonic) = (verdict(&checked.found, "tsc"), verdict(&checked.found, "monotonic"));
    let raw = verdict(&checked.found, "monotonic_raw");
    let sound: &[&Verdict] = match fault {
        Fault::Counter => &[monotonic, raw],
        Fault::Monotonic => &[counter, raw],
        Fault::Raw => &[counter, monotonic],
        Fault::Nothing => &[counter, monotonic, raw],
    };
    for verdict in sound {
        // A kernel's clock that is computed from a counter shows that one's faults where these
        // differ by CPU or reading.
        let is_inherited = fault == Fault::Counter && name == "offset" && verdict.clock != "tsc";
        let is_unfit = verdict.verdict == Trustworthiness::Unfit;
        // Outside of that, the counter and its reference are the only ones that are compared.
        let is_ambiguous = fault == Fault::Raw && !is_covered;
        assert!(
            !is_unfit || is_inherited || is_ambiguous,
            "{fault:?} {name}: {} is unfit: {:#?}",
            verdict.clock,
            against(verdict)
        );
    }
    let at_fault = match fault {
        Fault::Counter => counter,
        Fault::Monotonic => monotonic,
        Fault::Raw => raw,
        Fault::Nothing => return false,
    };
    let is_trusted = at_fault.verdict == Trustworthiness::Trusted;
    assert!(
        !is_covered || !is_trusted,
        "{fault:?} {name} at {at_ps:?} of {whole:?}, {reads:?}, {rates:?}: {at_fault:#?}"
    );
    is_covered
}

/// A clock or counter whose fault falls into what is tested is never trusted, and no other is unfit
/// for it; and the question ends.
#[test]
fn a_fault_is_never_trusted() {
    let maker = |seed| Maker::varied(seed ^ 0xfa17);
    let (mut covered, mut faults) = (0, 0);
    on_machines(
        "check::a_fault_is_never_trusted",
        |seed| limited(faulty(maker(seed), seed).0, seed, FAILING_S),
        |session, seed| {
            let (_, fault, _, name) = faulty(maker(seed), seed);
            assert!(FAULTS.contains(&(fault, name)) || fault == Fault::Nothing, "{fault:?} {name} is not listed");
            faults += u32::from(fault != Fault::Nothing);
            covered += u32::from(judge(session, seed, maker(seed)));
        },
    );
    eprintln!("{covered} of {faults} faults were tested");
    // Of few machines no share is known.
    assert!(!are_many() || covered * 5 >= faults * 2, "{covered} of {faults}");
}

/// Of every kind of fault one shows while it is looked at, and is not trusted: no kind is left out
/// because it never falls into what is tested. The quick tier asks of every fourth kind.
#[test]
fn every_kind_of_fault_is_covered() {
    let maker = |seed| {
        let mut maker = Maker::new(seed ^ 0xfa17);
        maker.load.competitors = 0;
        maker
    };
    // One machine alone, to repeat it.
    if seeds().count() == 1 {
        for seed in seeds() {
            on_one(
                "check::every_kind",
                seed,
                &limited(faulty(maker(seed), seed).0, seed, FAILING_S),
                &mut |session, seed| {
                    _ = judge(session, seed, maker(seed));
                },
            );
        }
        return;
    }
    for kind in FAULTS.into_iter().step_by(if are_many() { 1 } else { 4 }) {
        let of_kind =
            (0..500).map(|seed| (seed, faulty(maker(seed), seed))).filter(|(_, made)| (made.1, made.3) == kind);
        // A fault may fall between what is tested: not twenty times.
        let is_covered = of_kind.take(20).any(|(seed, (machine, ..))| {
            let mut is_covered = false;
            on_one("check::every_kind", seed, &limited(machine, seed, FAILING_S), &mut |session, seed| {
                is_covered = judge(session, seed, maker(seed));
            });
            is_covered
        });
        assert!(is_covered, "{kind:?} was never tested");
    }
}

/// Machines, as they were before machines varied, of which this was wrong once.
fn once(seeds: &[u64]) {
    let maker = |seed| {
        let mut maker = Maker::new(seed ^ 0xfa17);
        maker.load.competitors = maker.load.competitors.min(3);
        maker
    };
    for seed in seeds.iter().copied() {
        let platform = limited(faulty(maker(seed), seed).0, seed, FAILING_S);
        let judge = &mut |session: &Session<'_, Simulated>, seed| _ = judge(session, seed, maker(seed));
        on_one("check::a_fault_is_never_trusted", seed, &platform, judge);
    }
}

/// A machine whose check has to end, at most `more_s` after the time that it was asked for.
fn limited(machine: Machine, seed: u64, more_s: f64) -> Simulated {
    let duration_s = machine.duration_s(usual_s(seed));
    Simulated::across(machine, duration_s + more_s)
}

/// Seeds of an earlier list of errors, of either question.
#[test]
fn busy_machines_are_judged_as_quiet_ones() {
    once(&[21, 31, 43]);
    [21, 31, 43].into_iter().for_each(once_sound);
}

/// The counter stopped while another thread ran. The counter itself gave the time when it was
/// looked at, so that it stood still for no time, and the clocks that ran on had jumped.
#[test]
fn clocks_jumped_beside_a_counter_that_stopped() {
    once(&[228, 269, 369]);
}

/// The counter's readings were off for microseconds, while one of the kernel's clocks was compared
/// with it: once only, and that clock was unfit.
#[test]
fn a_single_jump_may_be_the_counters() {
    once(&[543, 727, 1070, 1738]);
}

/// The counter's rate changed, and the simulated kernel reckoned a clock back by a part of the
/// counter's step.
#[test]
fn a_counter_that_slows_down_turns_no_clock_back() {
    once(&[662]);
}

/// The reference stands still from some time on: the check went on for ever.
#[test]
fn a_reference_that_freezes_ends_a_check() {
    let moments = if are_many() { &[40.0, 10.0][..] } else { &[40.0] };
    for &at_ms in moments {
        let mut maker = Maker::new(7);
        maker.load.competitors = 0;
        (maker.has_counter, maker.clocksource) = (true, Clocksource::Tsc);
        let mut machine = maker.make();
        let raw = machine.spec("monotonic_raw").and_then(|spec| spec.id).expect("it is there");
        machine.at_ms(at_ms, Change::FreezeClock { clock: raw });
        let platform = Simulated::across(machine, 0.06 + FAILING_S);
        on_one("check::a_reference", 7, &platform, &mut |session, _| {
            let checked = ask(session, Policy::default(), 0.06);
            assert_ne!(verdict(&checked.found, "monotonic_raw").verdict, Trustworthiness::Trusted);
        });
    }
}
