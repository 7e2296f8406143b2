//! The evidence for and against a clock of the operating system.

use clockscope_records::checks::{self, CostCause, RateChange, ReferenceProblem, Suspect};
use clockscope_records::{
    ClockBasis, ClockRecord, EvidenceData, EvidenceKind, Figure, Finding, RateRecord, ReadPath, WallState,
};
use clockscope_system::clocksource;

use super::events::{self, NoRate};
use super::evidence::{ClockEvidence, STEERABLE_PPM, Severity, WeighedEvidence};
use super::observations::{CRYSTAL_PPM, Observations, TRAPPED_NS, at_most_ns, cost_ns};
use super::paths::ComparedPath;
use crate::questions::rate::base_name;

/// Shortest step, in ns, that is too coarse for a stopwatch.
const COARSE_NS: f64 = 100_000.0;
/// Time that a process takes at most, in ns, until a check begins.
const MAX_START_NS: f64 = 2e9;
/// Factor by which the bound of a coarse clock's rate is larger: the timer tick that moves it may
/// be late.
const LATE_TICKS: f64 = 2.0;
/// A larger bound, in ppm, does not show that a coarse clock follows the others.
const MAX_COARSE_BOUND_PPM: f64 = 100_000.0;
/// Cost of a read, in system calls, above which it does more than enter the kernel.
const MAX_SYSCALLS: f64 = 10.0;

/// Evidence on a clock of the system. What was judged against the counter shows nothing where there
/// is doubt about the counter. `faults` are the counter's.
pub(super) fn judge(
    seen: &Observations,
    clock: &ClockRecord,
    reference_problem: Option<ReferenceProblem>,
    faults: &[EvidenceKind],
) -> ClockEvidence {
    let label = clock.identity.label();
    let is_wall = clock.identity.is_wall;
    let mut evidence = ClockEvidence::for_clock(&label, is_wall);
    evidence.need(readable(seen, clock));
    if !clock.available {
        return evidence;
    }
    // What the usual clock for intervals shows as well is not a wall clock that was set.
    let may_be_set = is_wall && !seen.stopwatch().is_some_and(|stopwatch| went_back(seen, stopwatch));
    let paths = paths(seen, clock);
    let is_path_off = paths.as_ref().is_some_and(|found| found.finding == Finding::Against);
    let (suspect, severity) = if is_path_off {
        (Suspect::Path, Severity::Forbids)
    } else if may_be_set {
        (Suspect::Setting, Severity::Limits)
    } else {
        (Suspect::Kernel, Severity::Forbids)
    };
    paths.into_iter().for_each(|found| evidence.add(found));
    let this = [clock];
    if !clock.identity.is_cpu_time {
        cost(seen, clock).into_iter().for_each(|found| evidence.add(found));
    }
    evidence.add(resolution(clock));
    counter(seen, clock, faults).into_iter().for_each(|found| evidence.add(found));
    evidence.need(events::steps_back(&this, suspect, severity));
    evidence.add(events::stalls(seen, &this, Severity::Forbids));
    if clock.identity.is_cpu_time {
        evidence.need(seen.cpu_times.evidence(&label, step_ns(clock)));
        return evidence;
    }
    evidence.add(if seen.by_counter {
        events::jumps_against_counter(clock, reference_problem, suspect, severity)
    } else {
        events::jumps(&this, reference_problem, suspect, severity)
    });
    // A read that is not ordered may show an earlier reading on another CPU without a fault.
    if clock.identity.is_ordered {
        evidence.need(order(seen, clock, suspect, severity));
    }
    // What follows is what the kernel does, and states of it: this is not the kernel's clock.
    if is_path_off {
        return evidence;
    }
    rate(seen, clock, suspect, severity).into_iter().for_each(|found| evidence.need(found));
    if is_wall {
        evidence.need(synchronization(seen, clock));
    }
    evidence
}

/// Returns true if a clock went back, on one CPU or across CPUs.
fn went_back(seen: &Observations, clock: &ClockRecord) -> bool {
    let on_one = clock.events.as_ref().is_some_and(|events| events.regression > 0);
    let handed_over = seen.handed_over(&clock.identity.label());
    on_one || handed_over.and_then(|sequence| sequence.regressions.get()).is_some_and(|count| count > 0)
}

/// Check that the path by which it is read shows what the system call does. A fault of another path
/// is named; `None` for the system call itself, and where nothing was compared.
fn paths(seen: &Observations, clock: &ClockRecord) -> Option<WeighedEvidence> {
    let path = clock.identity.path;
    let compared: Vec<&ComparedPath> = seen.paths.iter().filter(|found| found.clock == clock.identity.name).collect();
    let own = compared.iter().find(|found| found.path == path)?;
    // The C library reads the vDSO: where both are off, that is the vDSO's fault.
    let vdso = compared.iter().find(|found| found.path == ReadPath::Vdso && found.off_ns.is_some());
    let fault = vdso.or(own.off_ns.is_some().then_some(own));
    // Where the clock runs as a daemon states that it corrects it, and by the system call it does
    // not, something stands between this process and the kernel, and it is not the path.
    let is_stated = own.off_ns.is_some_and(|off_ns| runs_as_stated(seen, clock, off_ns));
    let finding = match own.within_ns {
        None => Finding::Unknown,
        Some(_) if is_stated => Finding::Unknown,
        Some(_) => events::against_if(own.off_ns.is_some()),
    };
    let compared: Vec<&ComparedPath> = compared.iter().copied().filter(|found| found.within_ns.is_some()).collect();
    let check = checks::Paths {
        compared: compared.iter().map(|found| found.path).collect(),
        reference: own.reference,
        fault: if is_stated { Some(ReadPath::Syscall) } else { fault.map(|found| found.path) },
        offset_ns: fault.and_then(|found| found.off_ns).map(|ns| if is_stated { -ns } else { ns }),
        within_ns: compared.iter().filter_map(|found| found.within_ns).max_by(f64::total_cmp),
        preloaded: seen.preloaded.iter().filter(|_| fault.is_some()).cloned().collect(),
    };
    Some(WeighedEvidence::new(check, finding, Severity::Forbids))
}

/// Returns true if a clock runs as fast as a daemon corrects it for good, and is no further off
/// than that makes since this process was started.
fn runs_as_stated(seen: &Observations, clock: &ClockRecord, off_ns: f64) -> bool {
    let Some((lasting_ppm, _)) = seen.lasting_ppm() else { return false };
    let Some(ppm) = seen.rate(&clock.identity.label()).and_then(|rate| rate.ppm.get()) else { return false };
    let max_ns = lasting_ppm.abs() * 1e-6 * (seen.elapsed_ns + MAX_START_NS);
    (ppm - lasting_ppm).abs() <= CRYSTAL_PPM && off_ns.abs() <= max_ns
}

/// Its order across CPUs; where too few of its readings could be handed over to show it, that of
/// the clock with the most of those that the same code reads.
fn order(seen: &Observations, clock: &ClockRecord, suspect: Suspect, severity: Severity) -> WeighedEvidence {
    let own_sequence = seen.handed_over(&clock.identity.label());
    let own = events::order(seen, own_sequence.as_slice(), suspect, severity);
    // What ended its own handoffs is not known of the others.
    let is_ended = own_sequence
        .is_some_and(|sequence| sequence.reason.is_some() || sequence.handoffs > 0 && !sequence.regressions.is_known());
    if own.finding != Finding::Unknown || is_ended {
        return own;
    }
    let mut shared: Option<WeighedEvidence> = None;
    let mut max_handoffs = 0;
    for other in seen.clocks.iter().filter(|other| seen.shares_path(clock, other) && is_alike(seen, clock, other)) {
        let label = other.identity.label();
        let mut found = events::order(seen, seen.handed_over(&label).as_slice(), suspect, severity);
        match (found.finding, &mut found.data) {
            // Where one of them went back, the others do not show that this one never does.
            (Finding::Against, _) => return own,
            (Finding::For, EvidenceData::Order(order)) if order.handoffs >= max_handoffs => {
                max_handoffs = order.handoffs;
                order.shared_with = Some(label);
                shared = Some(found);
            }
            _ => {}
        }
    }
    shared.unwrap_or(own)
}

/// Returns true if both clocks enter the kernel, or neither does, and none of them is read by
/// something that takes the kernel's place.
fn is_alike(seen: &Observations, one: &ClockRecord, other: &ClockRecord) -> bool {
    let [one_enters, other_enters] =
        [one, other].map(|clock| Some(CostCause::is_like_system_call(cost_ns(clock)?, seen.syscall_ns()?)));
    let is_any_off = seen.paths.iter().filter(|found| found.off_ns.is_some()).any(|found| {
        [one, other].iter().any(|clock| found.clock == clock.identity.name && found.path == clock.identity.path)
    });
    !is_any_off && one_enters.is_some() && one_enters == other_enters
}

fn readable(seen: &Observations, clock: &ClockRecord) -> WeighedEvidence {
    let errors = seen.rate(&clock.identity.label()).map_or(0, |rate| rate.errors);
    let path = clock.identity.path;
    let has_failed = !clock.available || clock.reason.is_some() || errors > 0;
    let check = checks::Readable { path, errors, reason: clock.reason.clone() };
    WeighedEvidence::new(check, events::against_if(has_failed), Severity::Forbids)
}

/// A clock that the kernel computes from a counter that is at fault is no better, whether or not
/// that showed; but where a hypervisor corrects the counter, its own tests decide.
fn counter(seen: &Observations, clock: &ClockRecord, faults: &[EvidenceKind]) -> Option<WeighedEvidence> {
    let is_computed = clock.identity.basis == ClockBasis::Clocksource
        && clock.identity.path.is_usual()
        && !clock.identity.is_coarse
        && seen.kernel.is_current == Some(true);
    // That this process cannot read it says nothing of how the kernel reads it.
    let mut faults: Vec<EvidenceKind> =
        faults.iter().copied().filter(|fault| *fault != EvidenceKind::Readable).collect();
    faults.dedup();
    if !is_computed || faults.is_empty() {
        return None;
    }
    Some(WeighedEvidence::new(checks::Counter { faults }, Finding::Against, Severity::Limits))
}

/// Returns its step by the lattice of its readings: found, or no larger than this, or the smallest
/// difference that was seen.
fn step_ns(clock: &ClockRecord) -> Option<f64> {
    clock.tick_ns.get().or_else(|| at_most_ns(clock)).or(clock.observed_resolution_ns.get())
}

/// A clock that is coarse by design is what it states to be.
fn resolution(clock: &ClockRecord) -> WeighedEvidence {
    let is_meant = clock.identity.is_coarse;
    let coarse_nominal_ns = clock.nominal_resolution_ns.get().filter(|ns| *ns >= COARSE_NS && !is_meant);
    let finding = match (clock.tick_ns.get(), step_ns(clock)) {
        (Some(ns), _) => events::against_if(ns >= COARSE_NS && !is_meant),
        (None, _) if coarse_nominal_ns.is_some() => Finding::Against,
        // What only bounds the step says nothing about a coarse one.
        (None, Some(ns)) if ns >= COARSE_NS && !is_meant => Finding::Unknown,
        (None, Some(_)) => Finding::For,
        (None, None) => Finding::Unknown,
    };
    let check = checks::Resolution {
        tick_ns: clock.tick_ns.get(),
        at_most_ns: step_ns(clock).filter(|_| !clock.tick_ns.is_known()),
        coarse_nominal_ns,
        reason: clock.tick_ns.reason().filter(|_| step_ns(clock).is_none()).cloned(),
    };
    WeighedEvidence::new(check, finding, Severity::Limits)
}

/// Check that reading it does not enter the kernel where that could be avoided. The clocksource and
/// the cost show it.
fn cost(seen: &Observations, clock: &ClockRecord) -> Option<WeighedEvidence> {
    let cost = clock.cost_ns.known()?;
    let cause = cost_cause(seen, clock, cost.median);
    let finding = match cause {
        None => Finding::For,
        Some(CostCause::Emulation) => Finding::Unknown,
        Some(_) => Finding::Against,
    };
    let check = checks::Cost {
        cost_ns: Some(cost.median),
        p99_ns: cost.p99.get(),
        histogram: cost.histogram.clone(),
        sequence: None,
        monotonic_ns: None,
        syscall_ns: seen.syscall_ns(),
        cause,
        clocksource: seen.clocksource().filter(|_| cause == Some(CostCause::Clocksource)).map(str::to_owned),
        emulators: seen.environment.emulation.clone(),
    };
    Some(WeighedEvidence::new(check, finding, Severity::Limits))
}

/// Cause of a cost that is higher than it has to be, or is not the machine's.
fn cost_cause(seen: &Observations, clock: &ClockRecord, ns: f64) -> Option<CostCause> {
    let syscall_ns = seen.syscall_ns();
    // A clock that the timer tick moves needs no counter; devices and calls by number are system
    // calls by nature.
    let may_avoid = clock.identity.path.is_usual() && !clock.identity.is_coarse;
    let has_no_vdso = seen.clocksource().and_then(clocksource::known).is_some_and(|known| known.vdso == Some(false));
    let is_emulated = !seen.environment.emulation.is_empty();
    let costs_as_much = syscall_ns.is_some_and(|syscall| CostCause::is_like_system_call(ns, syscall));
    if may_avoid && has_no_vdso && (costs_as_much || is_emulated) {
        Some(CostCause::Clocksource)
    } else if is_emulated {
        Some(CostCause::Emulation)
    } else if may_avoid && seen.is_trapped() && (ns > TRAPPED_NS || costs_as_much) {
        Some(CostCause::TrappedCounter)
    } else if may_avoid && syscall_ns.is_some_and(|syscall| ns > MAX_SYSCALLS * syscall) {
        Some(CostCause::AboveSystemCall)
    } else if may_avoid && costs_as_much {
        Some(CostCause::LikeSystemCall)
    } else {
        None
    }
}

/// Check of its rate against the clock that is not steered. NTP steers slowly: that is what it is
/// for.
fn rate(seen: &Observations, clock: &ClockRecord, suspect: Suspect, severity: Severity) -> Option<WeighedEvidence> {
    let rates = match &seen.rates {
        Ok(rates) => rates,
        Err(why) => return Some(events::no_rate(NoRate::Failed(why), suspect, severity)),
    };
    let label = clock.identity.label();
    if rates.reference_suspected {
        return Some(beside_suspected(&label, &rates.reference, suspect, severity));
    }
    let found = rates.clocks.iter().find(|rate| rate.name == label)?;
    // A step is no rate.
    let shares_hardware = seen.shares_hardware(clock);
    Some(if found.step.is_known() {
        events::constancy(found, shares_hardware, suspect, severity)
    } else if clock.identity.is_coarse {
        follows(found, shares_hardware, seen.lasting_ppm())
    } else {
        steered(found, shares_hardware, seen.lasting_ppm())
    })
}

/// The reference changed against all other clocks, and these not against each other.
fn beside_suspected(label: &str, reference: &str, suspect: Suspect, severity: Severity) -> WeighedEvidence {
    let mut found = events::no_rate(NoRate::Reference(ReferenceProblem::ReferenceChanged), suspect, severity);
    if let EvidenceData::ConstantRate(rate) = &mut found.data
        && base_name(label) == base_name(reference)
    {
        (rate.change, rate.reference_problem) = (Some(RateChange::AgainstAll), None);
        found.finding = Finding::Against;
    }
    found
}

/// A clock that runs by more than a crystal is off, against the one that nobody steers, is being
/// slewed; but where a daemon corrects that one's frequency for good, it is the clocks that are not
/// corrected which are wrong.
fn steered(
    found: &RateRecord,
    reference_shares_hardware: Option<bool>,
    lasting: Option<(f64, f64)>,
) -> WeighedEvidence {
    let known = found.ppm.get().zip(found.bound_ppm.get());
    let steerable = known.is_none_or(|(ppm, bound)| ppm.abs() - bound <= STEERABLE_PPM);
    let check = checks::Rate {
        ppm: known.map(|(ppm, _)| ppm),
        bound_ppm: known.map(|(_, bound)| bound),
        reference: Some(found.reference.clone()),
        lasting_ppm: lasting.map(|(ppm, _)| ppm),
        constant: found.constant.get(),
        steerable,
        reference_shares_hardware,
        reason: found.ppm.reason().filter(|_| known.is_none()).cloned(),
    };
    let (lasting_ppm, skew_ppm) = lasting.unwrap_or_default();
    let finding =
        known.map_or(Finding::Unknown, |(ppm, bound)| events::within(ppm - lasting_ppm, bound + skew_ppm, CRYSTAL_PPM));
    WeighedEvidence::new(check, finding, if steerable { Severity::Limits } else { Severity::Forbids })
}

/// A clock that the timer tick moves shows in a second only that it runs as the others do.
fn follows(
    found: &RateRecord,
    reference_shares_hardware: Option<bool>,
    lasting: Option<(f64, f64)>,
) -> WeighedEvidence {
    let late = RateRecord {
        bound_ppm: found.bound_ppm.get().map_or_else(|| found.bound_ppm.clone(), |ppm| Figure::Known(LATE_TICKS * ppm)),
        ..found.clone()
    };
    let mut evidence = steered(&late, reference_shares_hardware, lasting);
    if let EvidenceData::Rate(checks::Rate { ppm: Some(ppm), bound_ppm: Some(bound_ppm), .. }) = evidence.data {
        let is_off = (ppm - lasting.unwrap_or_default().0).abs() - bound_ppm > CRYSTAL_PPM;
        evidence.finding = match bound_ppm <= MAX_COARSE_BOUND_PPM {
            false if !is_off => Finding::Unknown,
            _ => events::against_if(is_off),
        };
    }
    evidence
}

/// Evidence on the time of day, by what the error is worth that a daemon has stated. Of a clock
/// that nobody synchronizes, and of one that is being corrected, the error is unknown, and may be
/// anything; a daemon that states no error leaves the question open. One that answers by itself
/// knows better than the kernel, whose flag it may have left as it was.
fn synchronization(seen: &Observations, clock: &ClockRecord) -> WeighedEvidence {
    let (kernel, daemon_error_s) = (seen.kernel_time(), seen.daemon_error_s());
    let (state, error_s) = kernel.map_or((None, None), |kernel| (kernel.state, kernel.time_of_day_error_s));
    let shows_utc = clock.identity.name == "tai" && kernel.is_some_and(|kernel| kernel.tai_offset_s.is_none());
    let finding = match state {
        _ if shows_utc => Finding::Against,
        _ if daemon_error_s.is_some() => Finding::For,
        Some(WallState::Unsynchronized | WallState::Slewing) => Finding::Against,
        Some(WallState::Synchronized | WallState::WhileNotSlewing) if error_s.is_some() => Finding::For,
        _ => Finding::Unknown,
    };
    let reported_error_s = kernel.map(|kernel| kernel.maxerror_us as f64 / 1e6);
    let check = checks::Synchronization {
        answered: kernel.is_some(),
        state,
        error_s: daemon_error_s.or(error_s),
        daemon_error_s,
        reported_error_s,
        shows_utc,
    };
    WeighedEvidence::new(check, finding, Severity::Limits)
}
