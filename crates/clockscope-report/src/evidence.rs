//! Checks in words: the name, the sentence, the source and the advice of each.

use clockscope_records::{
    Check, CheckEvidence, CheckKind, CheckOutcome, CivilWorth, CostCause, Emulator, FrequencySource, Hypervisor,
    HypervisorStatement, Prose, RateChange, ReadFailure, ReadPath, Suspect, Trust, Unknown, Untested, Uses,
};

use crate::text::{counted, grouped};
use crate::units::time;
use crate::{demand, kernel_verdict};

mod civil_time;
mod rates;

pub(crate) use civil_time::brief as brief_of_civil_time;
pub(crate) use rates::{not_independent, offset};

const LONGER: &str = "ask again for longer (--duration), or when the CPUs are less busy";
const TWO_CPUS: &str =
    "let the program run on two CPUs or more, and start threads there (taskset, cpuset, ulimit), and ask again";
const SYNCHRONIZE: &str =
    "keep readings on one CPU, or use the system's clock; a newer firmware or hypervisor may synchronize the counters";
const REPORT: &str = "use another clock, and report it: the kernel promises that this one runs on and never goes back";
const COARSE_BY_DESIGN: &str = "measure only what is much longer by it, and the rest by monotonic";
const NO_PAIR: &str = "no pair of CPUs was tested";
/// Puts the words beside the figures of all evidence and demands.
pub(crate) fn explain(trust: &mut Trust) {
    let pieces = trust.verdicts.iter_mut().flat_map(|verdict| {
        let uses = verdict.uses;
        verdict.evidence.iter_mut().map(move |evidence| (uses, evidence))
    });
    for (uses, evidence) in pieces {
        evidence.prose = Some(prose(evidence, uses));
        if let Check::KernelVerdict { cause: Some(reason), .. } = &mut evidence.check {
            kernel_verdict::explain_reason(reason);
        }
    }
    for demand in &mut trust.demands {
        demand.prose = Some(demand::prose(demand));
    }
}

/// A check in words, beside the verdicts on its clock.
pub(crate) fn prose(evidence: &CheckEvidence, uses: Uses) -> Prose {
    Prose {
        name: name_of(&evidence.check).to_owned(),
        text: text(evidence, uses),
        source: source(&evidence.check).to_owned(),
        advice: advice(evidence),
    }
}

/// The check's name in tables.
pub(crate) fn name_of(check: &Check) -> &'static str {
    name(check.kind())
}

fn name(check: CheckKind) -> &'static str {
    match check {
        CheckKind::Readable => "readable",
        CheckKind::Invariance => "invariance",
        CheckKind::Clocksource => "clocksource",
        CheckKind::KernelVerdict => "kernel's verdict",
        CheckKind::Hypervisor => "hypervisor",
        CheckKind::Emulation => "emulation",
        CheckKind::StepsBack => "steps back on one CPU",
        CheckKind::StandingStill => "standing still",
        CheckKind::Jumps => "jumps",
        CheckKind::Order => "order across CPUs",
        CheckKind::Offsets => "offsets between CPUs",
        CheckKind::ConstantRate => "constant rate",
        CheckKind::Rate => "rate",
        CheckKind::NominalFrequency => "nominal frequency",
        CheckKind::Cost => "cost",
        CheckKind::Resolution => "resolution",
        CheckKind::Synchronization => "synchronization",
        CheckKind::Counter => "counter",
    }
}

/// The answer in a sentence.
fn text(evidence: &CheckEvidence, uses: Uses) -> String {
    let finding = evidence.finding;
    match &evidence.check {
        Check::Readable { path, failure, errors, reason } => match (failure, reason) {
            (None, _) if *path == ReadPath::Instruction => "this process can read it".to_owned(),
            (None, _) => "it answers".to_owned(),
            (Some(_), Some(reason)) => format!("it cannot be read: {}", reason),
            (Some(_), None) if *errors > 0 => {
                format!("it cannot be read reliably: {} failed while its rate was compared", counted(*errors, "read"))
            }
            (Some(_), None) => "it cannot be read".to_owned(),
        },
        Check::Invariance { invariant, .. } => match invariant {
            Some(true) => "the hardware promises a constant rate in all power states",
            Some(false) => "the hardware does not promise a constant rate",
            None => "the hardware does not state whether its rate is constant",
        }
        .to_owned(),
        Check::Clocksource { current, former, .. } => match (current, former) {
            (Some(current), Some(former)) => {
                format!("the kernel turned from {former} to {current} while it was checked")
            }
            (Some(current), None) if finding == CheckOutcome::For => {
                format!("the kernel builds its clocks on it ({current})")
            }
            (Some(current), None) => format!("the kernel builds its clocks on {current}"),
            (None, _) => "the kernel does not show its clocksource".to_owned(),
        },
        Check::KernelVerdict { cause: Some(reason), .. } => kernel_verdict::seen(&reason.cause),
        Check::KernelVerdict { cause: None, not_looked_at } => {
            or(not_looked_at.as_ref(), "neither log nor command line says why the kernel does not use it")
        }
        Check::Hypervisor { hypervisor, statement, states_frequency, reason } => match hypervisor {
            Some(Hypervisor::None) => "there is none".to_owned(),
            Some(Hypervisor::Named(name)) => {
                let frequency = states_frequency.then_some("it states the counter's frequency to the kernel");
                let says: Vec<&str> = statement.map(stated).into_iter().chain(frequency).collect();
                match says.as_slice() {
                    [] => format!("{name} says nothing about the counter"),
                    says => format!("{name} says: {}", says.join("; ")),
                }
            }
            None => or_reason(reason.as_ref(), "it is not known whether there is one"),
        },
        Check::Emulation { emulators } => {
            format!("{} emulates the counter: what is found holds for the emulator", Emulator::names(emulators))
        }
        Check::StepsBack { count: Some(0), readings, .. } if finding == CheckOutcome::Unknown => {
            format!("{} are too few", counted(*readings, "reading"))
        }
        Check::StepsBack { count: Some(count), readings, .. } => {
            format!("{} of {} readings were smaller than the one before", grouped(*count), grouped(*readings))
        }
        Check::StandingStill { unchanged_ns: Some(ns), .. } if finding == CheckOutcome::Unknown => {
            format!("it showed one value for {}: its tick may be as long", time(*ns))
        }
        Check::StandingStill { unchanged_ns: Some(ns), .. } => format!("it showed one value for {}", time(*ns)),
        Check::StandingStill { runs: Some(runs), .. } => {
            format!("{} of 200 or more readings showed one value", counted(*runs, "run"))
        }
        Check::Jumps { ahead: Some(_), .. } => rates::jumps(evidence),
        Check::StepsBack { reason, .. } | Check::StandingStill { reason, .. } | Check::Jumps { reason, .. } => {
            or_reason(reason.as_ref(), "nothing was read")
        }
        Check::Order { .. } => order(&evidence.check),
        Check::Offsets { .. } => offsets(&evidence.check),
        Check::ConstantRate { .. } => rates::constant_rate(evidence),
        Check::Rate { .. } => rates::rate(evidence),
        Check::NominalFrequency { nominal_hz, ppm, bound_ppm, .. } => match (nominal_hz, ppm.zip(*bound_ppm)) {
            (None, _) => "neither hardware nor hypervisor nor kernel state one to programs".to_owned(),
            (Some(hz), None) => {
                format!("{:.6} MHz is stated, and nothing was measured to compare it with", hz / 1e6)
            }
            (Some(hz), Some((ppm, bound))) => format!(
                "{:.6} MHz is stated, {} from what was measured against the kernel's clock",
                hz / 1e6,
                rates::offset(ppm, bound)
            ),
        },
        Check::Cost { .. } => cost(&evidence.check),
        Check::Resolution { tick_ns, at_most_ns, coarse_nominal_ns, reason } => {
            match (tick_ns, coarse_nominal_ns, at_most_ns) {
                (Some(ns), ..) => format!("its tick is {}", time(*ns)),
                (None, Some(ns), _) => format!("its nominal resolution is {}", time(*ns)),
                (None, None, Some(ns)) => format!("its tick is {} or less", time(*ns)),
                (None, None, None) => or_reason(reason.as_ref(), "it did not advance"),
            }
        }
        Check::Synchronization { .. } => civil_time::text(&evidence.check, uses),
        Check::Counter { faults } => {
            let faults: Vec<&str> = faults.iter().map(|fault| name(*fault)).collect();
            format!("the kernel computes it from the counter, which is unfit: {}", faults.join(", "))
        }
    }
}

fn stated(statement: HypervisorStatement) -> &'static str {
    match statement {
        HypervisorStatement::StableClocksource => "its clocks agree on all CPUs (stable clocksource)",
        HypervisorStatement::InvariantCounter => "the counter can be made invariant",
        HypervisorStatement::ReferencePage => "a reference page scales the counter",
        HypervisorStatement::EmulatedReads => "it emulates every read of the counter",
        HypervisorStatement::ReliableHost => "the host's counter is reliable",
    }
}

/// A reason that was recorded, or what is said without one.
fn or(reason: Option<&String>, otherwise: &str) -> String {
    reason.map_or(otherwise, String::as_str).to_owned()
}

/// The same of a reason that has a code.
fn or_reason(reason: Option<&Unknown>, otherwise: &str) -> String {
    reason.map_or_else(|| otherwise.to_owned(), ToString::to_string)
}

fn order(check: &Check) -> String {
    let Check::Order { regressions, handoffs, pairs, worst_ns, untested, reason, .. } = check else {
        return String::new();
    };
    match untested {
        Some(Untested::OneCpu) => "there is one CPU, so that no other can disagree".to_owned(),
        Some(Untested::NoPair) => or_reason(reason.as_ref(), NO_PAIR),
        Some(Untested::NoHandoff) => or_reason(reason.as_ref(), "nothing was handed over"),
        Some(Untested::FewHandoffs) => format!("{} are too few", counted(*handoffs, "handoff")),
        None => {
            let far = worst_ns.map_or_else(String::new, |ns| format!(", by up to {}", time(ns)));
            let back = grouped(regressions.unwrap_or_default());
            let handoffs = grouped(*handoffs);
            format!("{back} of {handoffs} readings went back between {} of CPUs{far}", counted(*pairs, "pair"))
        }
    }
}

fn offsets(check: &Check) -> String {
    let Check::Offsets { apart, within_ns, a, b, offset_ns, bound_ns, untested, reason } = check else {
        return String::new();
    };
    match (untested, apart, a.zip(*b), offset_ns.zip(*bound_ns)) {
        (Some(Untested::OneCpu), ..) => "there is one CPU".to_owned(),
        (Some(_), ..) => or_reason(reason.as_ref(), NO_PAIR),
        (None, 0, ..) => {
            let within = within_ns.map_or_else(String::new, |ns| format!(": they agree within {}", time(ns)));
            format!("no CPU's counter is certainly apart{within}")
        }
        (None, _, Some((a, b)), Some((offset, bound))) => {
            format!("the counter of CPU {b} is {} ± {} ahead of that of CPU {a}", time(offset), time(bound))
        }
        (None, _, Some((a, b)), None) => format!("the counters of CPUs {a} and {b} drifted apart during the run"),
        (None, pairs, None, _) => format!("{} of CPUs are apart", counted(*pairs, "pair")),
    }
}

fn cost(check: &Check) -> String {
    let Check::Cost { cost_ns, sequence, monotonic_ns, syscall_ns, cause, clocksource, emulators } = check else {
        return String::new();
    };
    let Some(ns) = cost_ns else { return "no batch was completed".to_owned() };
    let figures = match sequence {
        Some(sequence) => {
            let beside = monotonic_ns.map_or_else(String::new, |ns| format!("; monotonic costs {ns:.1} ns"));
            format!("{sequence} costs {ns:.1} ns{beside}")
        }
        None => {
            let beside =
                syscall_ns.map_or_else(String::new, |ns| format!("; a system call of its kind costs {ns:.0} ns"));
            format!("a read costs {ns:.1} ns{beside}")
        }
    };
    match cause {
        None | Some(CostCause::Trap) => figures,
        Some(CostCause::Emulation) => format!("{figures}: of {}, not of the machine", Emulator::names(emulators)),
        Some(CostCause::TrappedCounter) => format!("it reads the counter, and each read is trapped: {figures}"),
        Some(CostCause::Clocksource) => {
            let current = clocksource.as_deref().unwrap_or_default();
            format!("with the clocksource {current} every read enters the kernel: {figures}")
        }
        Some(CostCause::LikeSystemCall) => format!("a read costs as much as entering the kernel: {figures}"),
        Some(CostCause::AboveSystemCall) => format!("it costs far more than entering the kernel does: {figures}"),
    }
}

/// Where the answer comes from.
fn source(check: &Check) -> &str {
    match check {
        Check::Readable { .. } => "a trial read",
        Check::Invariance { by_cpuid: true, .. } => "CPUID 80000007h",
        Check::Invariance { by_cpuid: false, .. } => "the architecture",
        Check::Clocksource { .. } => "sysfs, current_clocksource",
        Check::KernelVerdict { cause, .. } => {
            cause.as_ref().map_or("the kernel's log", |reason| kernel_verdict::source(&reason.cause))
        }
        Check::Hypervisor { .. } => "CPUID",
        Check::Emulation { .. } => "CPUID and /proc",
        Check::StepsBack { .. } | Check::StandingStill { .. } | Check::Jumps { .. } => "successive readings",
        Check::Order { untested: Some(Untested::OneCpu), .. }
        | Check::Offsets { untested: Some(Untested::OneCpu), .. } => "the system",
        Check::Order { .. } => "handoffs",
        Check::Offsets { .. } => "exchanges",
        Check::ConstantRate { .. } | Check::Rate { .. } => "brackets",
        Check::NominalFrequency { stated_by, .. } => stated_by.map_or("CPUID and perf", FrequencySource::name),
        Check::Cost { .. } => "batches of reads",
        Check::Resolution { tick_ns: None, coarse_nominal_ns: Some(_), .. } => "the interface",
        Check::Resolution { .. } => "its readings",
        Check::Synchronization { .. } => "adjtimex",
        Check::Counter { .. } => "the counter's verdict",
    }
}

/// What to do about it.
fn advice(evidence: &CheckEvidence) -> Option<String> {
    let check = &evidence.check;
    match (evidence.finding, check) {
        (CheckOutcome::For, _) => None,
        (CheckOutcome::Against, Check::KernelVerdict { cause: Some(reason), .. }) => {
            Some(kernel_verdict::advice(&reason.cause))
        }
        (CheckOutcome::Against, _) => Some(remedy(check).to_owned()).filter(|remedy| !remedy.is_empty()),
        (CheckOutcome::Unknown, _) => to_know_more(check).map(str::to_owned),
    }
}

/// What to do about evidence against a clock; empty of a check that never is, and of the kernel's
/// verdict, whose cause has its own.
fn remedy(check: &Check) -> &'static str {
    match check {
        Check::Readable { failure, .. } => match failure {
            Some(ReadFailure::Instruction) => {
                "find out who disabled it for this process (prctl PR_SET_TSC in a parent, a sandbox, a hypervisor); programs \
                 that read it, and the vDSO, die there"
            }
            Some(ReadFailure::CounterDisabled) => {
                "the vDSO reads the counter: find out who disabled it, or read by the bare system call"
            }
            Some(ReadFailure::Call) | None => {
                "look for a seccomp filter, a sandbox or an old kernel that denies the call"
            }
            Some(ReadFailure::DuringRun) => {
                "look for what disturbed it (a seccomp filter that was installed during the run?), and ask again"
            }
        },
        Check::Invariance { .. } => {
            "on a virtual machine pass the promise on (QEMU: -cpu host,+invtsc); on old hardware use the system's clock"
        }
        Check::Clocksource { former: Some(_), .. } => {
            "find out why: `clockscope clocksource`, the kernel's log, or who switched it"
        }
        Check::Clocksource { invariant: Some(true), .. } => {
            "see why with `clockscope clocksource`; where the counter is sound, clockscope::revalidate() takes it into use"
        }
        Check::Clocksource { .. } => {
            "see why with `clockscope clocksource`; until then the system's clock is the safe one"
        }
        Check::StandingStill { .. } => "do not wait by this clock: it may never reach the time waited for",
        Check::Order { suspect: Suspect::Counter, .. } | Check::Offsets { .. } => SYNCHRONIZE,
        Check::StepsBack { suspect, .. }
        | Check::Jumps { suspect, .. }
        | Check::Order { suspect, .. }
        | Check::ConstantRate { suspect, .. } => instead(*suspect),
        Check::Rate { steerable: false, .. } => REPORT,
        Check::Rate { .. } => {
            "it is being slewed (adjtime, chrony, ntpd): measure short durations by monotonic_raw until it has caught up"
        }
        Check::NominalFrequency { .. } => {
            "measure the frequency against the system's clock, as clockscope does, and do not use the stated one; or the kernel's \
             own clock is off: compare it with NTP (chronyc tracking)"
        }
        Check::Cost { cause, .. } => match cause {
            Some(CostCause::Clocksource) => {
                "have the kernel use the counter (see `clockscope clocksource`), or read less often; rdtscp or \
                 clockscope::now() are cheaper where the counter's verdict permits them"
            }
            Some(CostCause::TrappedCounter) => "see the advice on the counter's cost",
            Some(CostCause::AboveSystemCall) => {
                "look what slows it down: a hypervisor that traps, a debugger or ptrace, a preloaded library"
            }
            Some(CostCause::LikeSystemCall) => {
                "look why the vDSO is not used: a C library that does not know it, a preloaded one that wraps it, vdso=0 on \
                 the kernel's command line, gVisor, ptrace, or a time namespace on an old kernel"
            }
            Some(CostCause::Trap | CostCause::Emulation) | None => {
                "every read is trapped, by a hypervisor (TSC scaling or offsetting without hardware support) or a debugger: \
                 read seldom, and look for the hypervisor's setting (Xen: tsc_mode=native; VirtualBox: TSCTiedToExecution off)"
            }
        },
        Check::Resolution { coarse_nominal_ns: Some(_), .. } => COARSE_BY_DESIGN,
        Check::Resolution { .. } => {
            "the kernel has no fine clocksource (boot without clocksource=jiffies, with HPET or ACPI timer enabled), or a \
             preloaded library rounds it; until then measure only what is much longer"
        }
        Check::Counter { .. } => {
            "have the kernel use another clocksource (clocksource=hpet or acpi_pm on its command line) until the counter is \
             sound"
        }
        Check::Synchronization { .. } => civil_time::remedy(check),
        Check::KernelVerdict { .. } | Check::Hypervisor { .. } | Check::Emulation { .. } => "",
    }
}

/// What to use, or to look for, where a clock steps.
fn instead(suspect: Suspect) -> &'static str {
    match suspect {
        Suspect::Counter => {
            "use the system's monotonic clock by system call, or clockscope's, which gives the counter up by itself"
        }
        Suspect::Kernel => REPORT,
        Suspect::Setting => "measure durations by monotonic; this clock was set: look for NTP steps and settimeofday",
    }
}

/// What to do where something is unknown.
fn to_know_more(check: &Check) -> Option<&'static str> {
    match check {
        Check::Invariance { .. } => {
            Some("use the system's clock, or compare rates over a long time: clockscope rate --until 0.01ppm")
        }
        Check::Clocksource { .. } => {
            Some("mount /sys into the container, and ask again; clockscope::revalidate() tests the counter without it")
        }
        Check::KernelVerdict { not_looked_at: Some(_), .. } => {
            Some("ask again as root: the log says why the kernel gave the counter up")
        }
        Check::Hypervisor { hypervisor: Some(_), .. } => {
            Some("check again after a migration or a restored snapshot: value and rate may be another machine's")
        }
        Check::StandingStill { unchanged_ns: Some(_), .. }
        | Check::StepsBack { count: Some(_), .. }
        | Check::Order { untested: Some(Untested::NoHandoff | Untested::FewHandoffs), .. }
        | Check::Rate { ppm: Some(_), .. }
        | Check::NominalFrequency { ppm: Some(_), .. } => Some(LONGER),
        Check::Order { untested: Some(Untested::NoPair), .. }
        | Check::Offsets { untested: Some(Untested::NoPair), .. } => Some(TWO_CPUS),
        Check::Synchronization { worth: Some(CivilWorth::Worthless), .. } => Some(civil_time::remedy(check)),
        _ => None,
    }
}

/// The figure of a check with its unit, or a word; the unit of a count is empty.
pub(crate) fn figure(evidence: &CheckEvidence) -> (String, &'static str) {
    let number = |number: Option<f64>, unit| (number.map(shown).unwrap_or_default(), unit);
    let count = |count: Option<u64>| number(count.map(|count| count as f64), "");
    let is_unknown = evidence.finding == CheckOutcome::Unknown;
    match &evidence.check {
        Check::Invariance { invariant, .. } => {
            (invariant.map_or("", |is| if is { "yes" } else { "no" }).to_owned(), "")
        }
        Check::Clocksource { current, .. } => (current.clone().unwrap_or_default(), ""),
        Check::Hypervisor { hypervisor, .. } => (hypervisor.as_ref().map(ToString::to_string).unwrap_or_default(), ""),
        Check::Emulation { emulators } => (Emulator::names(emulators), ""),
        Check::StepsBack { count: found, .. } => count(*found),
        Check::StandingStill { runs, .. } => count(runs.filter(|_| !is_unknown)),
        Check::Jumps { ahead, behind, .. } => count(ahead.map(|ahead| ahead.saturating_add(behind.unwrap_or(0)))),
        Check::Order { regressions, untested, .. } => count(regressions.filter(|_| untested.is_none())),
        Check::Offsets { offset_ns: Some(ns), .. } | Check::Offsets { apart: 0, within_ns: Some(ns), .. } => {
            number(Some(*ns), "ns")
        }
        Check::ConstantRate { change: Some(RateChange::Step { step_ns, .. }), .. } => number(Some(*step_ns), "ns"),
        Check::Rate { ppm: Some(ppm), .. } | Check::NominalFrequency { ppm: Some(ppm), .. } => {
            number(Some(*ppm), "ppm")
        }
        Check::Cost { cost_ns: Some(ns), .. } => number(Some(*ns), "ns"),
        Check::Resolution { tick_ns, at_most_ns, coarse_nominal_ns, .. } => {
            let ns = tick_ns.or(*coarse_nominal_ns).or(*at_most_ns);
            number(ns, if ns.is_some() { "ns" } else { "" })
        }
        Check::Synchronization { error_s: Some(s), .. } if !is_unknown => number(Some(*s), "s"),
        _ => (String::new(), ""),
    }
}

/// A number as JSON has it.
fn shown(number: f64) -> String {
    serde_json::Value::from(number).to_string()
}

#[cfg(test)]
mod tests;
