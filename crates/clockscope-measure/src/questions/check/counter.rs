//! The evidence for and against the processor's counter.

use clockscope_records::checks::{self, CostCause, RateChange, Suspect};
use clockscope_records::{
    ClockRecord, EvidenceData, Finding, Hypervisor, KernelCause, OffsetPair, RateRecord, ReadPath, Sequence, texts,
};
use clockscope_system::frequencies;

use super::events::{self, NoRate, one_cpu};
use super::evidence::{ClockEvidence, Severity, WeighedEvidence};
use super::observations::{self, Mean, Observations};

/// A nominal frequency that is further off than this, in ppm, is of no use: what NTP may steer at
/// most.
const NOMINAL_PPM: f64 = 500.0;
/// Offsets that are known to be less than this, in ns, are none.
const MAX_OFFSET_NS: f64 = 10_000.0;
/// Change of a crystal's frequency within seconds, in ppm.
const WANDER_PPM: f64 = 0.2;

/// The counter's evidence; `None` where the architecture has none that is known.
pub(super) fn judge(seen: &Observations) -> Option<ClockEvidence> {
    let counters: Vec<&ClockRecord> = seen.counters().collect();
    let counter = counters.first()?;
    let mut evidence = ClockEvidence::for_clock(&counter.identity.name, false);
    evidence.need(readable(&counters));
    evidence.need(invariance(seen));
    evidence.need(clocksource(seen));
    kernel_verdict(seen).into_iter().for_each(|found| evidence.add(found));
    evidence.add(hypervisor(seen));
    emulation(seen).into_iter().for_each(|found| evidence.add(found));
    let read: Vec<&ClockRecord> = counters.iter().copied().filter(|clock| clock.available).collect();
    if read.is_empty() {
        return Some(evidence);
    }
    evidence.need(events::steps_back(&read, Suspect::Counter, Severity::Forbids));
    evidence.add(events::stalls(seen, &read, Severity::Forbids));
    evidence.add(events::jumps(&read, seen.reference_problem(), Suspect::Counter, Severity::Forbids));
    let handed_over: Vec<&Sequence> =
        read.iter().filter_map(|clock| seen.handed_over(&clock.identity.label())).collect();
    evidence.need(events::order(seen, &handed_over, Suspect::Counter, Severity::Forbids));
    evidence.need(offsets(seen));
    evidence.need(constancy(seen));
    evidence.add(nominal_frequency(seen));
    evidence.add(cost(seen));
    Some(evidence)
}

fn readable(counters: &[&ClockRecord]) -> WeighedEvidence {
    let is_readable = counters.iter().any(|clock| clock.available);
    let refused = counters.iter().find(|_| !is_readable);
    let check = checks::Readable {
        path: ReadPath::Instruction,
        errors: 0,
        reason: refused.and_then(|clock| clock.reason.clone()),
    };
    WeighedEvidence::new(check, events::against_if(!is_readable), Severity::Forbids)
}

fn invariance(seen: &Observations) -> WeighedEvidence {
    let finding = seen.is_invariant.map_or(Finding::Unknown, |is| events::against_if(!is));
    let by_cpuid = seen.environment.counter_flags.is_known();
    WeighedEvidence::new(checks::Invariance { invariant: seen.is_invariant, by_cpuid }, finding, Severity::Limits)
}

/// Check that the kernel builds its clocks on it.
fn clocksource(seen: &Observations) -> WeighedEvidence {
    let current = seen.clocksource().map(str::to_owned);
    let former = seen.turned_from.clone().filter(|_| current.is_some());
    let finding = match &current {
        Some(_) => events::against_if(former.is_some() || seen.kernel.is_current != Some(true)),
        None => Finding::Unknown,
    };
    WeighedEvidence::new(
        checks::Clocksource { current, former, invariant: seen.is_invariant },
        finding,
        Severity::Limits,
    )
}

/// The kernel's reasons not to use it, or not to use it well. What the kernel calls a fault forbids
/// its use, but where a hypervisor corrects it: there, what the host does not offer, and what its
/// pauses do, looks like a fault.
fn kernel_verdict(seen: &Observations) -> Vec<WeighedEvidence> {
    // A program that is emulated alone sees the host's log.
    if seen.is_emulated_alone() {
        return Vec::new();
    }
    let causes = seen.kernel.reasons.iter().map(|reason| {
        let severity = match reason {
            KernelCause::Unwatched { .. } | KernelCause::Erratum { .. } => Severity::Remark,
            reason if reason.is_fault() && !seen.is_corrected() => Severity::Forbids,
            _ => Severity::Limits,
        };
        let check = checks::KernelVerdict { cause: Some(reason.clone()), log_error: None };
        WeighedEvidence::new(check, Finding::Against, severity)
    });
    let mut found: Vec<_> = causes.collect();
    if seen.kernel.is_current != Some(true) && (found.is_empty() || seen.kernel.log_error.is_some()) {
        let check = checks::KernelVerdict { cause: None, log_error: seen.kernel.log_error.clone() };
        found.push(WeighedEvidence::new(check, Finding::Unknown, Severity::Remark));
    }
    found
}

/// Under a hypervisor a counter may be scaled, trapped, or moved to another machine, without a
/// word.
fn hypervisor(seen: &Observations) -> WeighedEvidence {
    let environment = &seen.environment;
    let states_frequency = environment.frequencies.cpuid_40000010h_tsc_khz.is_known()
        || environment.counter_flags.known().is_some_and(|flags| flags.tsc_known_freq.get() == Some(true));
    let is_reliable = match seen.statement {
        Some(statement) => statement.is_reliable(),
        None => states_frequency && seen.is_invariant == Some(true),
    };
    let finding = match environment.hypervisor.known() {
        Some(Hypervisor::None) => Finding::For,
        Some(_) if is_reliable => Finding::For,
        _ => Finding::Unknown,
    };
    let check = checks::Hypervisor {
        hypervisor: environment.hypervisor.known().cloned(),
        statement: seen.statement,
        states_frequency,
        reason: environment.hypervisor.reason().cloned(),
    };
    WeighedEvidence::new(check, finding, Severity::Remark)
}

fn emulation(seen: &Observations) -> Option<WeighedEvidence> {
    let emulators = seen.environment.emulation.clone();
    (!emulators.is_empty())
        .then(|| WeighedEvidence::new(checks::Emulation { emulators }, Finding::Unknown, Severity::Remark))
}

/// Check of the distances between the CPUs' counters.
fn offsets(seen: &Observations) -> WeighedEvidence {
    let found = &seen.offsets;
    let is_checked = found.pairs.iter().any(|pair| pair.apart.is_known());
    let furthest = found
        .pairs
        .iter()
        .filter(|pair| pair.apart.get() == Some(true))
        .max_by(|one, other| apart_ns(one).total_cmp(&apart_ns(other)));
    let (reason, finding) = match (found.apart, one_cpu(seen)) {
        (_, Some(reason)) if !is_checked => (Some(reason.into()), Finding::For),
        _ if !is_checked => (Some(found.untestable.clone().unwrap_or(texts::NO_PAIR.into())), Finding::Unknown),
        // A bound that is longer than any way between CPUs was not measured, but interrupted.
        (0, _) if found.within_ns.get().is_some_and(|ns| ns <= MAX_OFFSET_NS) => (None, Finding::For),
        (0, _) => (None, Finding::Unknown),
        _ => (None, Finding::Against),
    };
    let check = checks::Offsets {
        apart: found.apart,
        within_ns: found.within_ns.get().filter(|_| is_checked),
        a: furthest.map(|pair| pair.a),
        b: furthest.map(|pair| pair.b),
        offset_ns: furthest.and_then(|pair| pair.offset_ns.get()),
        bound_ns: furthest.and_then(|pair| pair.bound_ns.get()),
        reason,
    };
    WeighedEvidence::new(check, finding, Severity::Limits)
}

/// Distance of a pair's counters, in ns: infinite if it is unknown, as where it changed during the
/// run.
fn apart_ns(pair: &OffsetPair) -> f64 {
    pair.offset_ns.get().map_or(f64::INFINITY, f64::abs)
}

/// The ordered sequence that was compared with the kernel's clock.
fn rate(seen: &Observations) -> Result<&RateRecord, NoRate<'_>> {
    let rates = seen.rates.as_ref().map_err(NoRate::Failed)?;
    let mut compared = rates.clocks.iter();
    let rate = compared.find(|rate| seen.counters().any(|clock| clock.identity.label() == rate.name));
    rate.ok_or(NoRate::NotCompared)
}

/// Check that its rate against the kernel's clock is constant.
fn constancy(seen: &Observations) -> WeighedEvidence {
    let reference_problem = seen.reference_problem();
    let judged = match reference_problem {
        Some(problem) => Err(NoRate::Reference(problem)),
        None => rate(seen),
    };
    let mut found = match judged {
        Ok(rate) => {
            let shares_hardware = seen.counters().next().and_then(|counter| seen.shares_hardware(counter));
            events::constancy(rate, shares_hardware, Suspect::Counter, Severity::Forbids)
        }
        Err(why) => events::no_rate(why, Suspect::Counter, Severity::Forbids),
    };
    if let (EvidenceData::ConstantRate(rate), Some(changed)) = (&mut found.data, changed_since(seen))
        && found.finding != Finding::Against
        && reference_problem.is_none()
    {
        (rate.change, found.finding) = (Some(changed), Finding::Against);
    }
    found
}

/// Returns a mean rate that differs from the measured one by more than both bounds, and than a
/// crystal wanders.
fn changed_since(seen: &Observations) -> Option<RateChange> {
    let found = rate(seen).ok().and_then(|found| found.frequency_hz.get().zip(found.bound_ppm.get()));
    seen.means.iter().find_map(|mean| match (*mean, found) {
        (Mean::WentBack, _) => Some(RateChange::WentBack),
        (Mean::Known { hz: mean_hz, bound_ppm }, Some((measured_hz, bound))) => {
            let moved = (measured_hz / mean_hz - 1.0) * 1e6;
            (moved.abs() > bound_ppm + bound + WANDER_PPM).then_some(RateChange::OtherMean { measured_hz, mean_hz })
        }
        _ => None,
    })
}

/// Error of the nominal frequency, and the bound of that, in ppm.
pub(super) fn nominal_error_ppm(seen: &Observations) -> Option<(f64, f64)> {
    let (lasting_ppm, skew_ppm) = seen.lasting_ppm().unwrap_or_default();
    let nominal = frequencies::nominal_hz(&seen.environment.frequencies);
    let Some((hz, _)) = nominal else {
        // The kernel's own, which it does not show.
        return seen.lasting_ppm();
    };
    let rate = rate(seen).ok()?;
    let hz_of_reference = rate.frequency_hz.get()?;
    Some(((hz / hz_of_reference * (1.0 + lasting_ppm * 1e-6) - 1.0) * 1e6, rate.bound_ppm.get()? + skew_ppm))
}

/// A wrong nominal frequency misleads whoever uses it.
fn nominal_frequency(seen: &Observations) -> WeighedEvidence {
    let nominal = frequencies::nominal_hz(&seen.environment.frequencies);
    let error = nominal_error_ppm(seen);
    let measured = rate(seen).ok().and_then(|rate| rate.frequency_hz.get().zip(rate.bound_ppm.get()));
    let check = checks::NominalFrequency {
        nominal_hz: nominal.map(|(hz, _)| hz),
        reported_by: nominal.map(|(_, by)| by),
        measured_hz: measured.map(|(hz, _)| hz),
        ppm: error.map(|(ppm, _)| ppm),
        lasting_ppm: seen.lasting_ppm().map(|(ppm, _)| ppm),
        bound_ppm: error.or(measured).map(|(_, bound_ppm)| bound_ppm),
    };
    let finding = error.map_or(Finding::Unknown, |(ppm, bound)| events::within(ppm, bound, NOMINAL_PPM));
    WeighedEvidence::new(check, finding, Severity::Limits)
}

/// Cost of the cheapest ordered read, which may be trapped.
fn cost(seen: &Observations) -> WeighedEvidence {
    let (sequence, cost) = seen.cheapest_ordered().unzip();
    let is_trapped = seen.is_trapped();
    let is_emulated = !seen.environment.emulation.is_empty();
    let (cause, finding) = match cost {
        None => (None, Finding::Unknown),
        Some(_) if is_emulated => (Some(CostCause::Emulation), Finding::Unknown),
        Some(_) => (is_trapped.then(|| trap(seen)), events::against_if(is_trapped)),
    };
    let check = checks::Cost {
        cost_ns: cost.map(|cost| cost.median),
        p99_ns: cost.and_then(|cost| cost.p99.get()),
        histogram: cost.map(|cost| cost.histogram.clone()).unwrap_or_default(),
        sequence: sequence.map(str::to_owned),
        monotonic_ns: seen.stopwatch().and_then(observations::cost_ns),
        syscall_ns: seen.syscall_ns(),
        cause,
        clocksource: None,
        emulators: seen.environment.emulation.clone(),
    };
    WeighedEvidence::new(check, finding, Severity::Limits)
}

/// Returns the cause of a trap: the kernel, where it works around an erratum.
fn trap(seen: &Observations) -> CostCause {
    let has_erratum = seen.kernel.reasons.iter().any(|reason| matches!(reason, KernelCause::Erratum { .. }));
    if has_erratum { CostCause::Erratum } else { CostCause::Trap }
}
