//! The question *check*: which clocks can be trusted, by the evidence of all other questions that
//! matter, within a few seconds.
//!
//! Measuring is here; `counter` and `os_clock` weigh what was measured, `policy` compares it with
//! demands. These know no clock: records of any machine are judged alike.

mod counter;
mod cpu_time;
mod events;
mod evidence;
mod observations;
mod os_clock;
mod paths;
mod policy;

use clockscope_records::checks::ReferenceProblem;
use clockscope_records::{Check, Envelope, Environment, Policy, Rate, Use, Verdict};
use clockscope_system::ReadPath;

use crate::instrument::bench::{Progress, Setup};
use crate::instrument::catalog::{Catalog, Paths};
use crate::instrument::default_clocks;
use crate::instrument::default_clocks::ReferenceKind;
use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::instrument::timer::{Timer, TimerCalibration};
use crate::platform::{Platform, ReferenceClock};
use crate::questions::across::{offsets, order};
use crate::questions::{across, measure, rate};
use observations::Mean;
pub(crate) use observations::{Observations, at_most_ns, is_counter, unreadable};

/// The references of rates, the best first. Not the vDSO, which reads the counter in this very
/// process: what bends the counter here would bend both.
pub(crate) const CHECK_REFERENCES: [ReferenceKind; 3] = [
    ReferenceKind::Unsteered(ReadPath::Syscall),
    ReferenceKind::Stopwatch(ReadPath::Syscall),
    ReferenceKind::Unsteered(ReadPath::Vdso),
];

/// Shares of the time; the rest is for setting up.
const COST_SHARE: f64 = 0.32;
const ORDER_SHARE: f64 = 0.16;
/// Share that order may take on CPUs that are busy, and as long as it shows nothing of a clock.
const MAX_ORDER_SHARE: f64 = 0.2;
const MAX_MISSING_ORDER_SHARE: f64 = 0.4;
const OFFSETS_SHARE: f64 = 0.08;
const RATE_SHARE: f64 = 0.22;
/// Share that CPU-time clocks take at most, on busy CPUs; what they take is not left for rates.
const CPU_TIME_SHARE: f64 = 0.06;
/// The share by which all has to be over, and the least of it that is left for rates.
const TOTAL_SHARE: f64 = 0.96;
const MIN_RATE_SHARE: f64 = 0.1;

/// Request for a check: what to check, and how.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// Clocks to judge, by their names; those of the system and the counter if there are none. What
    /// the policy names is judged besides.
    pub clocks: Vec<String>,
    /// Demands to check.
    pub policy: Policy,
    /// The use to judge the clocks for; `None` for each of their own.
    pub for_use: Option<Use>,
    /// Time for everything, in seconds.
    pub duration_s: f64,
    /// CPU to measure on, where one is enough; `None` for the current one.
    pub cpu: Option<u32>,
}

/// Asks the questions that matter, and judges: what was found, if it is ended early; the rest is
/// unknown. Pins the calling thread meanwhile.
///
/// # Errors
/// No such clock, a CPU that cannot be used, a policy that cannot be used, or no clock that
/// measures time. Or the process has more than one thread: clocks are first tried in a forked
/// child.
pub fn check<P: Platform>(
    session: &Session<'_, P>,
    request: &CheckRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Check>, MeasureError> {
    let CheckRequest { clocks, policy, for_use, duration_s, cpu } = request;
    let platform = session.platform;
    let names = policy::names(platform, policy, clocks, *for_use)?;
    // Before this thread is pinned. Where the system does not show them, what needs them says that
    // it could not be tested.
    let cpus = across::cpus(platform, None).unwrap_or_default();
    let mut setup = Setup::new(session, measured(platform, &names)?, *cpu)?;
    let sampling = setup.bench.calibrate();
    let seen = observe(&mut setup, &names, cpus, *duration_s, progress)?;
    let synchronization = Some(seen.synchronization.clone());
    let found = Check { synchronization, ..judge(&seen, clocks, &names, policy, *for_use) };
    Ok(Envelope { environment: seen.environment, ..setup.answer((*duration_s, &sampling), None, found) })
}

/// Checks that a policy can be used on a machine: it names clocks that there are, and its limits
/// and sections are those that a finding can answer.
///
/// # Errors
/// The policy names a clock that there is not, has a limit below 0 or without end, or a demand that
/// no finding can answer.
pub fn accepted<P: Platform>(platform: &P, policy: &Policy) -> Result<(), MeasureError> {
    policy::names(platform, policy, &[], None).map(drop)
}

/// Clocks that are measured: the counter in all its sequences, these clocks, and the stopwatch as
/// programs read it and by a system call: what daemons state is seen in its rate.
pub(crate) fn measured<P: Platform>(platform: &P, names: &[String]) -> Result<Catalog<P>, MeasureError> {
    let mut all = with_counter(platform, names);
    let catalog = Catalog::new(platform);
    all.extend(default_clocks::stopwatch_by(&catalog, |path| path == ReadPath::Syscall));
    all.extend(default_clocks::stopwatch_by(&catalog, ReadPath::is_usual));
    Ok(Catalog::new(platform).select(&all, Paths::Libc)?)
}

/// Returns these names, and those of the counter's sequences.
fn with_counter<P: Platform>(platform: &P, names: &[String]) -> Vec<String> {
    Catalog::counters(platform).names().into_iter().chain(names.iter().cloned()).collect()
}

/// Asks all questions, one after the other.
pub(crate) fn observe<P: Platform>(
    setup: &mut Setup<'_, P>,
    names: &[String],
    cpus: Vec<u32>,
    duration_s: f64,
    progress: &mut Progress<'_>,
) -> Result<Observations, MeasureError> {
    let start = setup.bench.calibrate();
    let (session, platform) = (setup.session, setup.session.platform);
    let counters = Catalog::counters(platform).tried(session)?;
    let ordered = Catalog::new(platform).select(&with_counter(platform, names), Paths::Libc)?.tried(session)?;
    let since = since(setup, &counters);
    let measure::CostResult { clocks, .. } =
        measure::find(setup, duration_s * COST_SHARE, true, &mut |share| progress(share * COST_SHARE));
    let plan = order::OrderSettings {
        cpus: cpus.clone(),
        serial: false,
        handoffs: &order::Handoff::ALL,
        duration_ns: duration_s * ORDER_SHARE * 1e9,
        longest_ns: duration_s * MAX_ORDER_SHARE * 1e9,
        longest_missing_ns: duration_s * MAX_MISSING_ORDER_SHARE * 1e9,
    };
    let order = order::find(setup, &ordered.entries, &plan, &mut |share| progress(COST_SHARE + share * ORDER_SHARE));
    let plan = offsets::OffsetsSettings { cpus, serial: false, duration_ns: duration_s * OFFSETS_SHARE * 1e9 };
    let offsets =
        offsets::find(setup, &counters, &plan, &mut |share| progress(COST_SHARE + ORDER_SHARE + share * OFFSETS_SHARE));
    let done = COST_SHARE + ORDER_SHARE + OFFSETS_SHARE;
    let earlier = mean(since.as_ref());
    let cpu_times = cpu_time::find(setup, names, duration_s * CPU_TIME_SHARE * 1e9)?;
    // On busy CPUs what came before took longer.
    let left_s = duration_s * TOTAL_SHARE - setup.bench.elapsed_ns(&start) / 1e9;
    let rate_s = left_s.clamp(duration_s * MIN_RATE_SHARE, duration_s * RATE_SHARE);
    let rates = rates(setup, names, rate_s, &mut |share| progress(done + share * RATE_SHARE));
    let is_reference_unsteered =
        rates.as_ref().is_ok_and(|rates| default_clocks::is_unsteered(&Catalog::new(platform), &rates.reference));
    // A path that runs at a rate of its own is furthest off by now.
    let (paths, elapsed_ns) = (paths::find(setup, names).unwrap_or_default(), setup.bench.elapsed_ns(&start));
    let preloaded = platform.preloaded();
    let means = [earlier, mean(since.as_ref())];
    // The kernel may have given the counter up meanwhile.
    let (environment, after) = (session.environment.clone(), platform.environment());
    let kernel = platform.kernel_verdict(&after);
    let turned_from = environment.clocksource.known().filter(|name| after.clocksource.known() != Some(name)).cloned();
    let environment = Environment { clocksource: after.clocksource, ..environment };
    let (is_invariant, statement) = (platform.is_invariant(), platform.hypervisor_statement());
    let synchronization = platform.synchronization();
    let by_counter = matches!(setup.bench.timer, Timer::Counter(_));
    Ok(Observations {
        is_invariant,
        statement,
        environment,
        kernel,
        clocks,
        order,
        offsets,
        rates,
        is_reference_unsteered,
        cpu_times,
        paths,
        elapsed_ns,
        preloaded,
        synchronization,
        by_counter,
        means,
        turned_from,
    })
}

/// A calibration of the counter, whatever the timer is, by the reference of rates.
fn since<P: Platform>(setup: &Setup<'_, P>, counters: &Catalog<P>) -> Option<TimerCalibration<P>> {
    let is_readable = counters.entries.iter().any(|row| row.sampler.is_ok());
    let platform = setup.session.platform;
    let references = default_clocks::references(&Catalog::new(platform), &CHECK_REFERENCES);
    let is_same = references.first().is_some_and(|name| name == setup.bench.reference.name());
    let counter = platform.ordered_counter().ok().filter(|_| is_readable && is_same)?;
    Some(TimerCalibration::start(Timer::Counter(counter), setup.bench.reference.clone()))
}

fn mean<P: Platform>(since: Option<&TimerCalibration<P>>) -> Mean {
    match since.map(TimerCalibration::rate) {
        Some(Ok(rate)) => Mean::Known { hz: 1e9 / rate.ns_per_unit, bound_ppm: rate.bound_ppm },
        Some(Err(_)) => Mean::WentBack,
        None => Mean::Unknown,
    }
}

/// The rates of the counter and of the system's clocks.
fn rates<P: Platform>(
    setup: &Setup<'_, P>,
    names: &[String],
    duration_s: f64,
    progress: &mut dyn FnMut(f64),
) -> Result<Rate, MeasureError> {
    let all = Catalog::new(setup.session.platform);
    let stopwatch = default_clocks::stopwatch_by(&all, ReadPath::is_usual);
    let mut compared: Vec<&str> = names.iter().map(String::as_str).collect();
    compared.extend(stopwatch.as_deref().filter(|stopwatch| !names.iter().any(|name| name == stopwatch)));
    let (clocks, reference) = rate::against(setup.session, &CHECK_REFERENCES, &compared)?;
    let plan = rate::RateSettings { reference, duration_s, until_ppm: None };
    rate::find(setup, &clocks, &plan, &mut |live| progress(live.share))
}

/// The verdicts on the counter and on these clocks, and what the policy says about them. `wanted`
/// are those to be shown: all, if there are none.
fn judge(seen: &Observations, wanted: &[String], names: &[String], policy: &Policy, for_use: Option<Use>) -> Check {
    let demands = policy::compare(policy, seen, &verdicts(seen, names, None), for_use);
    let mut verdicts = verdicts(seen, names, for_use);
    let demanded = policy::clocks(policy);
    let named: Vec<&String> = wanted.iter().chain(&demanded).collect();
    if !wanted.is_empty() {
        verdicts.retain(|verdict| named.iter().any(|name| policy::is_same(seen, &verdict.clock, name)));
    }
    let absent = names.iter().filter_map(|name| seen.clock(name)).filter(|clock| observations::is_absent(clock));
    let unreadable = absent.filter_map(unreadable);
    let unavailable =
        unreadable.filter(|clock| named.iter().any(|name| policy::is_same(seen, &clock.clock, name))).collect();
    Check { verdicts, unavailable, demands, ..Check::default() }
}

/// The verdicts on the counter and on those of these clocks that there are, for one use or for all.
pub(crate) fn verdicts(seen: &Observations, names: &[String], for_use: Option<Use>) -> Vec<Verdict> {
    let counter = counter::judge(seen);
    let is_counter_unfit = counter.as_ref().is_some_and(evidence::ClockEvidence::is_unfit);
    let faults = counter.as_ref().map(evidence::ClockEvidence::faults).unwrap_or_default();
    let is_judge_unfit = is_counter_unfit && seen.by_counter;
    let reference_problem = seen.reference_problem().or(is_judge_unfit.then_some(ReferenceProblem::CounterUnfit));
    let mut verdicts: Vec<_> = counter.and_then(|evidence| evidence.verdict(for_use)).into_iter().collect();
    for name in names {
        if let Some(clock) = seen.clock(name)
            && !is_counter(clock)
            && !observations::is_absent(clock)
        {
            verdicts.extend(os_clock::judge(seen, clock, reference_problem, &faults).verdict(for_use));
        }
    }
    verdicts
}

#[cfg(test)]
pub(crate) mod tests;
