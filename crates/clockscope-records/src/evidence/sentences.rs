//! The answer of a check in a sentence.

mod civil_time;
mod rates;

pub(crate) use civil_time::brief as brief_of_civil_time;
pub(crate) use civil_time::remedy as remedy_of_civil_time;

use clockscope_core::evidence::{self, FrequencyOffset, KernelClocksource, NominalFrequency};

use super::*;
use crate::units::{tick_time, time};
use crate::{counted, grouped};

const NO_PAIR: &str = "no pair of CPUs was tested";

impl EvidenceKind {
    /// Returns its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Readable => "readable",
            Self::Invariance => evidence::INVARIANCE,
            Self::Clocksource => evidence::CLOCKSOURCE,
            Self::KernelVerdict => "kernel's verdict",
            Self::Hypervisor => "hypervisor",
            Self::Emulation => "emulation",
            Self::StepsBack => "steps back on one CPU",
            Self::Stuck => "stuck",
            Self::Jumps => "jumps",
            Self::Order => evidence::ORDER,
            Self::Offsets => evidence::OFFSETS,
            Self::ConstantRate => "constant rate",
            Self::Rate => "rate",
            Self::NominalFrequency => evidence::NOMINAL_FREQUENCY,
            Self::Cost => "cost",
            Self::Resolution => "resolution",
            Self::Synchronization => "synchronization",
            Self::Paths => "paths",
            Self::Counter => "counter",
        }
    }
}

impl CheckEvidence {
    /// Returns the answer in a sentence; where it is unknown, why.
    #[must_use]
    pub fn text(&self) -> String {
        let finding = self.finding;
        match &self.data {
            EvidenceData::Readable { .. } => readable(&self.data),
            EvidenceData::Invariance { invariant, .. } => evidence::invariance(*invariant).to_owned(),
            EvidenceData::Clocksource { current, former, .. } => match (current, former) {
                (Some(current), Some(former)) => {
                    format!("the kernel turned from {former} to {current} while it was checked")
                }
                _ => KernelClocksource { name: current.as_deref(), is_it: finding == Finding::For }.to_string(),
            },
            EvidenceData::KernelVerdict { cause: Some(cause), .. } => cause.to_string(),
            EvidenceData::KernelVerdict { cause: None, log_error } => {
                or(log_error.as_ref(), "neither log nor command line says why the kernel does not use it")
            }
            EvidenceData::Hypervisor { .. } => hypervisor(&self.data),
            EvidenceData::Emulation { emulators } => {
                format!("{} emulates the counter: what is found holds for the emulator", Emulator::names(emulators))
            }
            EvidenceData::StepsBack { count: Some(0), readings, .. } if finding == Finding::Unknown => {
                format!("{} are too few", counted(*readings, "reading"))
            }
            EvidenceData::StepsBack { count: Some(count), readings, .. } => {
                format!("{} of {} readings were smaller than the one before", grouped(*count), grouped(*readings))
            }
            EvidenceData::Stuck { unchanged_ns: Some(ns), .. } if finding == Finding::Unknown => {
                format!("it showed one value for {}: its tick may be as long", time(*ns))
            }
            EvidenceData::Stuck { unchanged_ns: Some(ns), .. } => format!("it showed one value for {}", time(*ns)),
            EvidenceData::Stuck { runs: Some(runs), .. } => {
                format!("{} of readings showed one value for longer than its tick explains", counted(*runs, "run"))
            }
            EvidenceData::Jumps { ahead: Some(_), .. } => rates::jumps(self),
            EvidenceData::StepsBack { reason, .. }
            | EvidenceData::Stuck { reason, .. }
            | EvidenceData::Jumps { reason, .. } => or_reason(reason.as_ref(), "nothing was read"),
            EvidenceData::Order { .. } => order(&self.data),
            EvidenceData::Offsets { .. } => offsets(&self.data),
            EvidenceData::ConstantRate { .. } => rates::constant_rate(self),
            EvidenceData::Rate { .. } => rates::rate(self),
            EvidenceData::NominalFrequency { lasting_ppm: Some(lasting), .. } => {
                rates::wrong_frequency(&self.data, *lasting)
            }
            EvidenceData::NominalFrequency { nominal_hz, ppm, bound_ppm, .. } => {
                let offset = ppm.zip(*bound_ppm).map(|(ppm, bound_ppm)| FrequencyOffset { ppm, bound_ppm });
                NominalFrequency { hz: *nominal_hz, offset }.to_string()
            }
            EvidenceData::Cost { .. } => cost(&self.data),
            EvidenceData::Resolution { tick_ns, at_most_ns, coarse_nominal_ns, reason } => {
                match (tick_ns, coarse_nominal_ns, at_most_ns) {
                    (Some(ns), ..) => format!("its tick is {}", tick_time(*ns)),
                    (None, Some(ns), _) => format!("its nominal resolution is {}", time(*ns)),
                    (None, None, Some(ns)) => format!("its tick is {} or less", time(*ns)),
                    (None, None, None) => or_reason(reason.as_ref(), "it did not advance"),
                }
            }
            EvidenceData::Synchronization { .. } => civil_time::text(&self.data),
            EvidenceData::Paths { .. } => paths(&self.data, finding),
            EvidenceData::Counter { faults } => {
                let faults: Vec<&str> = faults.iter().map(|fault| fault.name()).collect();
                format!("the kernel computes it from the counter, which is unfit: {}", faults.join(", "))
            }
        }
    }
}

impl EvidenceData {
    /// Returns where the answer comes from.
    #[must_use]
    pub fn source(&self) -> &'static str {
        match self {
            Self::Readable { .. } => "a trial read",
            Self::Invariance { by_cpuid: true, .. } => "CPUID 80000007h",
            Self::Invariance { by_cpuid: false, .. } => "the architecture",
            Self::Clocksource { .. } => "sysfs, current_clocksource",
            Self::KernelVerdict { cause, .. } => cause.as_ref().map_or("the kernel's log", KernelCause::source),
            Self::Hypervisor { .. } => "CPUID",
            Self::Emulation { .. } => "CPUID and /proc",
            Self::StepsBack { .. } | Self::Stuck { .. } | Self::Jumps { .. } => "successive readings",
            Self::Order { untested: Some(Untested::OneCpu), .. }
            | Self::Offsets { untested: Some(Untested::OneCpu), .. } => "the system",
            Self::Order { .. } => "handoffs",
            Self::Offsets { .. } => "exchanges",
            Self::Rate { lasting_ppm: Some(_), .. } => "brackets and the daemon's statement",
            Self::ConstantRate { .. } | Self::Rate { .. } => "brackets",
            Self::NominalFrequency { lasting_ppm: Some(_), .. } => "brackets and the daemon's statement",
            Self::NominalFrequency { reported_by, .. } => reported_by.map_or("CPUID and perf", FrequencySource::name),
            Self::Cost { .. } => "batches of reads",
            Self::Resolution { tick_ns: None, coarse_nominal_ns: Some(_), .. } => "the interface",
            Self::Resolution { .. } => "its readings",
            Self::Synchronization { daemon_error_s: Some(_), .. } => "chronyd and adjtimex",
            Self::Synchronization { .. } => "adjtimex",
            Self::Paths { .. } => "readings by each path",
            Self::Counter { .. } => "the counter's verdict",
        }
    }
}

impl HypervisorStatement {
    const fn text(self) -> &'static str {
        match self {
            Self::StableClocksource => "its clocks agree on all CPUs (stable clocksource)",
            Self::InvariantCounter => "the counter can be made invariant",
            Self::ReferencePage => "a reference page scales the counter",
            Self::EmulatedReads => "it emulates every read of the counter",
            Self::ReliableHost => "the host's counter is reliable",
        }
    }
}

/// A reason that was recorded, or what is said without one.
fn or(reason: Option<&String>, otherwise: &str) -> String {
    reason.map_or(otherwise, String::as_str).to_owned()
}

/// The answer of the trial read.
fn readable(check: &EvidenceData) -> String {
    let EvidenceData::Readable { path, failure, errors, reason } = check else { return String::new() };
    match (failure, reason) {
        (None, _) if *path == ReadPath::Instruction => "this process can read it".to_owned(),
        (None, _) => "it answers".to_owned(),
        (Some(_), Some(reason)) => format!("it cannot be read: {}", reason),
        (Some(_), None) if *errors > 0 => {
            format!("it cannot be read reliably: {} failed while its rate was compared", counted(*errors, "read"))
        }
        (Some(_), None) => "it cannot be read".to_owned(),
    }
}

/// Says whether all paths show one time, which one does not, and what is preloaded then.
fn paths(check: &EvidenceData, finding: Finding) -> String {
    let EvidenceData::Paths { compared, reference, fault, offset_ns, within_ns, preloaded } = check else {
        return String::new();
    };
    let Some(fault) = fault else {
        let agree = within_ns.map_or_else(String::new, |ns| format!(" within {}", time(ns)));
        let paths: Vec<&str> = compared.iter().map(|path| spoken(*path)).collect();
        return match paths.as_slice() {
            [] => "it could not be read by another path to compare".to_owned(),
            paths => format!("{} and {} agree{agree}", paths.join(", "), spoken(*reference)),
        };
    };
    let direction = if offset_ns.is_some_and(|ns| ns < 0.0) { "behind" } else { "ahead of" };
    let off = offset_ns.map_or_else(String::new, |ns| format!("{} {direction} ", time(ns.abs())));
    let preloaded = if preloaded.is_empty() { String::new() } else { format!("; preloaded: {}", preloaded.join(", ")) };
    let whom = match fault {
        ReadPath::Syscall => "this path, which runs as a time daemon states",
        _ => spoken(*reference),
    };
    let others = if finding == Finding::For { ", with which this path agrees" } else { "" };
    format!("by {} it is {off}{whom}{others}{preloaded}", spoken(*fault))
}

/// Names a path in a sentence.
fn spoken(path: ReadPath) -> &'static str {
    match path {
        ReadPath::Libc => "the C library",
        ReadPath::Vdso => "the vDSO",
        ReadPath::Syscall => "the system call",
        ReadPath::Std => "Rust's library",
        other => other.as_str(),
    }
}

/// The statement of a hypervisor on the counter.
fn hypervisor(check: &EvidenceData) -> String {
    let EvidenceData::Hypervisor { hypervisor, statement, states_frequency, reason } = check else {
        return String::new();
    };
    match hypervisor {
        Some(Hypervisor::None) => "there is none".to_owned(),
        Some(Hypervisor::Named(name)) => {
            let frequency = states_frequency.then_some("it states the counter's frequency to the kernel");
            let says: Vec<&str> = statement.map(HypervisorStatement::text).into_iter().chain(frequency).collect();
            match says.as_slice() {
                [] => format!("{name} says nothing about the counter"),
                says => format!("{name} says: {}", says.join("; ")),
            }
        }
        None => or_reason(reason.as_ref(), "it is not known whether there is one"),
    }
}

/// The same of a reason that has a code.
fn or_reason(reason: Option<&Unknown>, otherwise: &str) -> String {
    reason.map_or_else(|| otherwise.to_owned(), ToString::to_string)
}

fn order(check: &EvidenceData) -> String {
    let EvidenceData::Order { regressions, handoffs, pairs, shared_with, worst_ns, untested, reason, .. } = check
    else {
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
            let whose =
                shared_with.as_ref().map_or_else(String::new, |clock| format!(" of {clock}, read in the same way,"));
            format!("{back} of {handoffs} readings{whose} went back between {} of CPUs{far}", counted(*pairs, "pair"))
        }
    }
}

fn offsets(check: &EvidenceData) -> String {
    let EvidenceData::Offsets { apart, within_ns, a, b, offset_ns, bound_ns, untested, reason } = check else {
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

fn cost(check: &EvidenceData) -> String {
    let EvidenceData::Cost { cost_ns, sequence, monotonic_ns, syscall_ns, cause, clocksource, emulators, .. } = check
    else {
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
        Some(CostCause::Erratum) => format!("the kernel works around an erratum of the counter: {figures}"),
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

#[cfg(test)]
mod tests;
