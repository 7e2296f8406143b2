//! Advice that follows from a check.

use clockscope_core::evidence;

use super::sentences::remedy_of_civil_time;
use super::*;

const LONGER: &str = "ask again for longer (--duration), or when the CPUs are less busy";
const TWO_CPUS: &str =
    "let the program run on two CPUs or more, and start threads there (taskset, cpuset, ulimit), and ask again";
const SYNCHRONIZE: &str =
    "keep readings on one CPU, or use the system's clock; a newer firmware or hypervisor may synchronize the counters";
const REPORT: &str = "use another clock, and report it: the kernel promises that this one runs on and never goes back";
const SLEWED: &str = "use another clock; if nothing slews it (chrony, adjtime), report it: the kernel promises that this \
                      one runs on and never jumps";
const WRONG_FREQUENCY: &str = "measure by monotonic, which the daemon corrects; correct the stated frequency (device tree, firmware, \
                               tsc=recalibrate): `clockscope help wrong-rate`";
const PATH: &str = "run the program without the library that answers in the kernel's place (LD_PRELOAD, /etc/ld.so.preload), or \
                    read by the system call, which shows the kernel's time";
const COARSE_BY_DESIGN: &str = "use it only for much longer intervals, and monotonic for others";

impl CheckEvidence {
    /// Advises what to do about it; `None` where nothing is needed.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let check = &self.data;
        match (self.finding, check) {
            (Finding::For, _) => None,
            (Finding::Against, EvidenceData::KernelVerdict { cause: Some(reason), .. }) => Some(reason.advice()),
            (Finding::Against, _) => Some(remedy(check).to_owned()).filter(|remedy| !remedy.is_empty()),
            (Finding::Unknown, _) => to_know_more(check).map(str::to_owned),
        }
    }
}

/// Remedy of evidence against a clock; empty of a check that never is, and of the kernel's
/// verdict, whose cause has its own.
fn remedy(check: &EvidenceData) -> &'static str {
    match check {
        EvidenceData::Readable { failure, .. } => of_failure(*failure),
        EvidenceData::Invariance { .. } => evidence::NOT_INVARIANT_ADVICE,
        EvidenceData::Clocksource { former: Some(_), .. } => {
            "find the cause: see `clockscope clocksource`, the kernel's log, and programs that switch the clocksource"
        }
        EvidenceData::Clocksource { invariant: Some(true), .. } => {
            "see why with `clockscope clocksource`; where the counter is sound, clockscope::revalidate() takes it into use"
        }
        EvidenceData::Clocksource { .. } => {
            "see why with `clockscope clocksource`; until then the system's clock is the safe one"
        }
        EvidenceData::Stuck { .. } => "do not wait by this clock: it may never reach the time waited for",
        EvidenceData::Order { suspect: Suspect::Counter, .. } | EvidenceData::Offsets { .. } => SYNCHRONIZE,
        EvidenceData::Jumps { suspect: Suspect::Kernel, .. } => SLEWED,
        EvidenceData::StepsBack { suspect, .. }
        | EvidenceData::Jumps { suspect, .. }
        | EvidenceData::Order { suspect, .. }
        | EvidenceData::ConstantRate { suspect, .. } => instead(*suspect),
        EvidenceData::Rate { steerable: false, .. } => REPORT,
        // One that follows the daemon's correction at all is slewed besides.
        EvidenceData::Rate { lasting_ppm: Some(lasting), ppm: Some(ppm), .. } if (ppm - lasting).abs() >= ppm.abs() => {
            WRONG_FREQUENCY
        }
        EvidenceData::NominalFrequency { lasting_ppm: Some(_), .. } => WRONG_FREQUENCY,
        EvidenceData::Rate { .. } => {
            "it is being slewed (adjtime, chrony, ntpd): measure short durations by monotonic_raw until it has caught up"
        }
        EvidenceData::NominalFrequency { .. } => {
            "measure the frequency against the system's clock, as clockscope does, and do not use the stated one; or the kernel's \
             own clock is off: compare it with NTP (chronyc tracking)"
        }
        EvidenceData::Cost { cause, .. } => of_cost(*cause),
        EvidenceData::Resolution { coarse_nominal_ns: Some(_), .. } => COARSE_BY_DESIGN,
        EvidenceData::Resolution { .. } => {
            "the kernel has no fine clocksource (boot without clocksource=jiffies, with HPET or ACPI timer enabled), or a \
             preloaded library rounds it; until then measure only much longer intervals"
        }
        EvidenceData::Counter { .. } => {
            "have the kernel use another clocksource (clocksource=hpet or acpi_pm on its command line) until the counter is \
             sound"
        }
        EvidenceData::Synchronization { .. } => remedy_of_civil_time(check),
        EvidenceData::Paths { .. } => PATH,
        EvidenceData::KernelVerdict { .. } | EvidenceData::Hypervisor { .. } | EvidenceData::Emulation { .. } => "",
    }
}

/// Advice where a clock cannot be read.
fn of_failure(failure: Option<ReadFailure>) -> &'static str {
    match failure {
        Some(ReadFailure::Instruction) => evidence::NOT_PERMITTED_ADVICE,
        Some(ReadFailure::CounterDisabled) => {
            "the vDSO reads the counter: find the program that disabled it, or read by the bare system call"
        }
        Some(ReadFailure::Call) | None => "look for a seccomp filter, a sandbox or an old kernel that denies the call",
        Some(ReadFailure::DuringRun) => {
            "look for what disturbed it (a seccomp filter that was installed during the run?), and ask again"
        }
    }
}

/// Advice where a read costs more than it should.
fn of_cost(cause: Option<CostCause>) -> &'static str {
    match cause {
        Some(CostCause::Clocksource) => {
            "have the kernel use the counter (see `clockscope clocksource`), or read less often; rdtscp or \
             clockscope::now() are cheaper where the counter's verdict permits them"
        }
        Some(CostCause::TrappedCounter) => "see the advice on the counter's cost",
        Some(CostCause::AboveSystemCall) => {
            "find the cause: a hypervisor that traps, a debugger or ptrace, a preloaded library"
        }
        Some(CostCause::LikeSystemCall) => {
            "find the reason why the vDSO is not used: a C library that does not know it, a preloaded one that wraps it, vdso=0 on \
             the kernel's command line, gVisor, ptrace, or a time namespace on an old kernel"
        }
        Some(CostCause::Erratum) => {
            "read seldom, or by a coarse clock: the kernel traps reads, because the processor's counter has an erratum, and \
             no setting of a hypervisor changes that"
        }
        Some(CostCause::Trap | CostCause::Emulation) | None => {
            "every read is trapped, by a hypervisor (TSC scaling or offsetting without hardware support), a debugger, or on \
             Arm a kernel that works around an erratum: read seldom, and look for the hypervisor's setting (Xen: \
             tsc_mode=native; VirtualBox: TSCTiedToExecution off)"
        }
    }
}

/// Advice where a clock steps.
fn instead(suspect: Suspect) -> &'static str {
    match suspect {
        Suspect::Counter => {
            "use the system's monotonic clock by system call, or clockscope's, which stops using the counter automatically"
        }
        Suspect::Kernel => REPORT,
        Suspect::Path => PATH,
        Suspect::Setting => "measure durations by monotonic; this clock was set: look for NTP steps and settimeofday",
    }
}

/// Advice where something is unknown.
fn to_know_more(check: &EvidenceData) -> Option<&'static str> {
    match check {
        EvidenceData::Invariance { .. } => {
            Some("use the system's clock, or compare rates over a long time: clockscope rate --until 0.01ppm")
        }
        EvidenceData::Clocksource { .. } => {
            Some("mount /sys into the container, and ask again; clockscope::revalidate() tests the counter without it")
        }
        EvidenceData::KernelVerdict { log_error: Some(_), .. } => {
            Some("ask again as root: the log says why the kernel rejected the counter")
        }
        EvidenceData::Hypervisor { hypervisor: Some(_), .. } => {
            Some("check again after a migration or a restored snapshot: value and rate may be another machine's")
        }
        EvidenceData::Stuck { unchanged_ns: Some(_), .. }
        | EvidenceData::StepsBack { count: Some(_), .. }
        | EvidenceData::Order { untested: Some(Untested::NoHandoff | Untested::FewHandoffs), .. }
        | EvidenceData::Rate { ppm: Some(_), .. }
        | EvidenceData::NominalFrequency { ppm: Some(_), .. } => Some(LONGER),
        EvidenceData::Order { untested: Some(Untested::NoPair), .. }
        | EvidenceData::Offsets { untested: Some(Untested::NoPair), .. } => Some(TWO_CPUS),
        EvidenceData::Synchronization { state: Some(CivilState::Worthless), .. } => Some(remedy_of_civil_time(check)),
        _ => None,
    }
}
