//! Reasons of unknown figures in words: a sentence each.

use clockscope_records::{
    AdviceReason, ClockReason, ClocksourceReason, ComparisonReason, CpuLimit, CpusReason, Emulator, ErrorCause, Figure,
    LeftOutCause, MachineReason, PairsReason, RatePairFailure, RateReason, RateRecord, Rates, ReadingsReason,
    SignalMeaning, SleepRow, SynchronizationReason, SystemError, ThreadReason, TickReason, Unknown, UnknownReason,
    Unnamed, UnreadableClock, WindowsReason, show_cpus,
};
use clockscope_statistics::NoTick;

use crate::text::{counted, grouped};
use crate::units::time;

/// What a question about sleeps or threads finds in a recording.
const NOT_RECORDED: &str = "not recorded";

/// Puts the sentence beside a reason.
pub(crate) fn worded(unknown: Unknown) -> Unknown {
    Unknown { text: Some(text(&unknown)), ..unknown }
}

/// Returns why a figure is unknown; `None` if it is known.
pub(crate) fn why<T>(figure: &Figure<T>) -> Option<String> {
    figure.reason().map(text)
}

/// Returns a reason in words; those of the program that wrote it where this one does not know it.
pub(crate) fn text(unknown: &Unknown) -> String {
    match &unknown.reason {
        UnknownReason::Clock(reason) => clock(reason),
        UnknownReason::Readings(reason) => readings(reason),
        UnknownReason::Tick(reason) => tick(reason),
        UnknownReason::Rate(reason) => rate(reason),
        UnknownReason::Comparison(reason) => comparison(reason),
        UnknownReason::Pairs(reason) => pairs(reason),
        UnknownReason::Cpus(reason) => cpus(reason),
        UnknownReason::Thread(reason) => thread(reason),
        UnknownReason::Machine(reason) => machine(reason),
        UnknownReason::Clocksource(reason) => clocksource(reason),
        UnknownReason::Windows(reason) => windows(reason),
        UnknownReason::Synchronization(reason) => synchronization(reason),
        UnknownReason::Advice(reason) => advice(reason),
        UnknownReason::Sentence(text) => text.clone().into_owned(),
        UnknownReason::Unnamed(unnamed) => unnamed.text("text").unwrap_or(Unnamed::NAME).to_owned(),
    }
}

fn clock(reason: &ClockReason) -> String {
    let words = match reason {
        ClockReason::NoInstruction { instruction } => {
            return format!("this processor has no {instruction} instruction");
        }
        ClockReason::CallRefused { call, error } => return format!("{call}: {}", error.words),
        ClockReason::NoLibraryFunction { function } => return format!("the C library has no {function}"),
        ClockReason::NoSuchClock { words } => words,
        ClockReason::TrialFailed { error } => return format!("the read failed: {}", with_hint(error)),
        ClockReason::RecordedTrialFailed { words } => return format!("the read failed: {words}"),
        ClockReason::TrialEnded => "the read failed: the process that tried it ended without an answer",
        ClockReason::TrialSilent { after_ms } => return format!("the read did not return within {after_ms} ms"),
        ClockReason::CounterDisabled => {
            "a read raises SIGSEGV: the time-stamp counter is disabled for this process by prctl(PR_SET_TSC)"
        }
        ClockReason::TrialKilled { signal, meaning } => return killed(signal, *meaning),
        ClockReason::NotReached => "not read: the run was interrupted before its turn",
        ClockReason::ProcessorTime => "it counts processor time, which stands still while the thread does not run",
        ClockReason::ThreadsTime => "it counts processor time, which goes on in several threads at once",
        ClockReason::CoreCycles => "it counts the cycles of one core for one thread",
        ClockReason::NoStepSeen { .. } => "it did not step while it was looked at: how late it may be is unknown",
        ClockReason::ReadFailed { error } => return format!("a read failed: {}", error.words),
        ClockReason::ReadingsEnded { error } => {
            return format!("a read failed and ended its readings: {}", error.words);
        }
        ClockReason::StandsStill => "it stood still during the run: its readings did not change any more",
        ClockReason::SomeReadsFailed { errors, reads, first, error } => {
            return format!(
                "{} of {} reads failed; the first, read {}: {}",
                grouped(*errors),
                grouped(*reads),
                grouped(*first),
                error.words
            );
        }
        ClockReason::WholeUnits { unit } => return format!("it takes whole {unit} only"),
        ClockReason::UnknownCall => "clockscope does not know this call on this system",
        ClockReason::SleepsNotRecorded => NOT_RECORDED,
    };
    words.to_owned()
}

/// Returns an error with the cause that it usually has where a clock is refused.
fn with_hint(error: &SystemError) -> String {
    let SystemError { cause, words, .. } = error;
    match cause {
        ErrorCause::Denied => format!("{words}; does a seccomp filter deny the call?"),
        ErrorCause::Unsupported => format!("{words}; the kernel lacks the call, or a seccomp filter hides it"),
        ErrorCause::Other => words.clone(),
    }
}

fn killed(signal: &str, meaning: SignalMeaning) -> String {
    let cause = match meaning {
        SignalMeaning::IllegalInstruction => ": the instruction is not permitted here",
        SignalMeaning::DeniedCall => ": a seccomp filter denies the call",
        SignalMeaning::Fault | SignalMeaning::Other => "",
    };
    format!("a read raises {signal}{cause}")
}

/// Returns why a measurement was not made: its own words, and why clocks that it needs cannot be
/// read.
pub fn with_unreadable(words: &str, clocks: &[UnreadableClock]) -> String {
    if clocks.is_empty() {
        return words.to_owned();
    }
    let reasons: Vec<String> =
        clocks.iter().map(|lacking| format!("{}: {}", lacking.clock, text(&lacking.reason))).collect();
    format!("{words}: {}", reasons.join("; "))
}

fn readings(reason: &ReadingsReason) -> String {
    let words = match reason {
        ReadingsReason::ClockFailed { because, .. } => return text(because),
        ReadingsReason::NoNominalResolution { words } => words,
        ReadingsReason::NoBatch => "no batch of reads was completed",
        ReadingsReason::NoCost { fewest } => {
            return format!("fewer than {fewest} batches were completed: interruptions would count as cost");
        }
        ReadingsReason::FewBatches { fewest } => return format!("fewer than {fewest} batches: give it more time"),
        ReadingsReason::CoarseTimer => "batches of reads took no time on the timer",
        ReadingsReason::CoarseRuntimeTimer => {
            "the runtime's own timer is too coarse: most batches of reads took no time on it"
        }
        ReadingsReason::NoCounterMeasured => "no counter could be measured to compare with",
        ReadingsReason::NoForwardStep => "no two successive readings differed by a positive step",
        ReadingsReason::NoForwardStepInBatch => "it never stepped forward within a batch of reads: give it more time",
        ReadingsReason::NoLength => "it counts core cycles, whose length changes",
        ReadingsReason::NoDifferences => "no two readings followed one another",
        ReadingsReason::NoAdvance => "all differences are 0: the clock did not advance",
        ReadingsReason::FewReadings => "fewer than two readings",
        ReadingsReason::CpuTime => "a CPU-time clock rightly stands still while the thread does not run",
        ReadingsReason::CountsWork => "it counts work, not time",
        ReadingsReason::LongTick => "the clock's tick is longer than a batch of reads",
        ReadingsReason::NoChange => "its value changed between no two batches of reads",
        ReadingsReason::ClocksourceUnknown => "the kernel's clocksource is not known",
        ReadingsReason::ClocksourceHidden => "the kernel does not show its clocksource",
        ReadingsReason::ClocksourceUnfamiliar { clocksource } => {
            return format!("this program does not know the clocksource {clocksource}");
        }
        ReadingsReason::SchedulerHidden => "the kernel does not show what the scheduler's clock is based on",
        ReadingsReason::OneCount => "one count, whose length has to be measured",
        ReadingsReason::NoNominalInApi => {
            "the API states neither a frequency nor a resolution, and gives a floating-point number"
        }
        ReadingsReason::NotStatedByProbe => "the probe does not state it",
        ReadingsReason::SeveralRuns => "there were several runs: see between_runs",
        ReadingsReason::FewRuns { fewest } => return format!("fewer than {fewest} runs"),
        ReadingsReason::DifferentTicks => "the runs found different ticks",
        ReadingsReason::NotEveryRun => "not every run found it",
        ReadingsReason::NoEvents => "it was not found",
    };
    words.to_owned()
}

/// Those that the Python package words as well, without this crate, are worded where both find
/// them.
fn tick(reason: &TickReason) -> String {
    let at_most = |why: &str, ns: f64| format!("{why}: at most {ns:.3} ns");
    let words = match reason {
        TickReason::FewSteps => NoTick::TooFewSteps.reason(),
        TickReason::FewDifferences => NoTick::TooFewReadings.reason(),
        TickReason::ConstantCost => NoTick::ConstantCost.reason(),
        TickReason::SeveralTicks => NoTick::Ambiguous.reason(),
        TickReason::SlowReads => NoTick::TooSlow.reason(),
        TickReason::RateChanged => NoTick::RateChanged.reason(),
        TickReason::StepsBack => NoTick::StepsBack.reason(),
        TickReason::NoLattice => NoTick::NoLattice.reason(),
        TickReason::TooFine { at_most_ns } => {
            return at_most("too fine to be separated from the clock's unit", *at_most_ns);
        }
        TickReason::TooFineForApi { at_most_ns } => {
            return at_most("too fine to be separated from the API's unit", *at_most_ns);
        }
        TickReason::LikeCost { at_most_ns } => {
            return at_most("too few readings to separate a tick from the read's own cost", *at_most_ns);
        }
        TickReason::MultiplesOf { counts, at_most_ns } => {
            let counts = counted(*counts, "count");
            let why = format!("each difference is a multiple of {counts}, by its tick or by the read's own cost");
            return at_most(&why, *at_most_ns);
        }
        TickReason::FewEqualSteps { at_most_ns } => {
            return at_most("it moved fewer than eight times: give it more time", *at_most_ns);
        }
    };
    words.to_owned()
}

fn rate(reason: &RateReason) -> String {
    let words = match reason {
        RateReason::NotCompared => "it was not compared",
        RateReason::FewBrackets => "it took too few brackets, or too little time passed between them",
        RateReason::FewWholeBrackets => "fewer than three brackets were not interrupted",
        RateReason::Ticked => {
            "one of the two is moved by the timer tick, which may come late: the bound takes for granted that it does \
             not, and what looks like a step may be a late tick"
        }
        RateReason::OneRate => "one rate explains all brackets",
        RateReason::NoStep => "none was seen",
        RateReason::DidStep => "it stepped",
        RateReason::NoNominalFrequency => {
            "neither hardware nor hypervisor state a frequency that it could be compared with"
        }
        RateReason::ShowsTime => "it shows time, not counts",
        RateReason::NoBound => "no bound was asked for",
        RateReason::NotAskedFor => "not asked for",
        RateReason::ReadsFailed { failed, error } => {
            return format!("{} failed; the first: {}", counted(*failed, "read"), error.words);
        }
        RateReason::RateOfStart => {
            "the timer or its reference stood still, stepped or changed its rate during the run: this is the timer's \
             frequency at the start"
        }
        RateReason::NotMeasured { words, unreadable } => return with_unreadable(words, unreadable),
        RateReason::SteeringHidden { words } => words,
    };
    words.to_owned()
}

/// Returns what limits a comparison of a clock's rate, or prevented it; `None` if nothing did.
pub(crate) fn limit(rate: &RateRecord) -> Option<Unknown> {
    rate.reason.clone().or_else(|| rate.constant.reason().filter(|_| rate.is_ticked()).cloned())
}

/// Puts the sentences beside the words for what limits comparisons.
pub(crate) fn explain_rates(rates: &mut Rates) {
    for rate in &mut rates.clocks {
        rate.reason = limit(rate).map(worded);
    }
    for pair in &mut rates.pairs {
        pair.reason = pair.failure.map(pair_failure).or_else(|| pair.reason.take());
    }
}

fn pair_failure(failure: RatePairFailure) -> String {
    match failure {
        RatePairFailure::NoUnit => {
            "one of the two has no rate against the reference by which its unit would have a length".to_owned()
        }
        RatePairFailure::TooFew => rate(&RateReason::FewBrackets),
        RatePairFailure::Ticked => rate(&RateReason::Ticked),
        RatePairFailure::Interrupted => rate(&RateReason::FewWholeBrackets),
    }
}

/// Returns why a call did not sleep, or which of its sleeps are left out; `None` if none is.
pub(crate) fn not_slept(row: &SleepRow) -> Option<Unknown> {
    let left_out = row.left_out.filter(|left_out| *left_out > 0);
    row.reason.clone().or_else(|| left_out.map(|left_out| ThreadReason::SleepsLeftOut { left_out }.into()))
}

/// Returns why a clock is not weighed.
pub(crate) const fn left_out(cause: LeftOutCause) -> &'static str {
    match cause {
        LeftOutCause::CivilTime => "civil time, which may be set",
        LeftOutCause::ProcessorTime => "it counts processor time",
        LeftOutCause::CoreCycles => "it counts a core's cycles",
        LeftOutCause::Device => "a device of its own, which few programs may read",
        LeftOutCause::Unordered => "a read may take effect before what precedes it",
        LeftOutCause::UntrustedCounter => "the kernel does not build its clock on this counter",
        LeftOutCause::OtherKind => "what it counts is not known to be time",
        LeftOutCause::Unreadable => "it cannot be read here",
        LeftOutCause::NotJudged => "its readings were not judged",
        LeftOutCause::Faulty => "it went back, jumped, stood still, or failed to answer",
        LeftOutCause::NoDifferences => "the differences of its readings are not in the record: measure again",
        LeftOutCause::NoCost => "what it costs is not known",
        LeftOutCause::StoodStill => "it never advanced while it was read",
    }
}

fn advice(reason: &AdviceReason) -> String {
    let words = match reason {
        AdviceReason::Emulated => "costs under emulation are the emulator's",
        AdviceReason::NothingFit => "no clock that was measured is fit for intervals (see their events)",
        AdviceReason::NoDifferencesKept => {
            "the record lacks the differences of readings, which --repeat does not keep: advise from a single run"
        }
        AdviceReason::NothingMeasured => "no clock that intervals can be measured with was measured",
        AdviceReason::KeeperNotRecorded => {
            "the record does not state what keeps the clocks' rates: record it by measure --thorough"
        }
        AdviceReason::NotSynchronized => "no daemon synchronizes this machine",
        AdviceReason::NoRateStatement => "no daemon states the error of the clocks' rates",
        AdviceReason::OffsetWorkedOff { correction_s, error_s } => {
            return format!(
                "chronyd works off an offset of {}, above its error of {}, by a rate that it does not state",
                time(correction_s.abs() * 1e9),
                time(error_s * 1e9)
            );
        }
    };
    words.to_owned()
}

fn comparison(reason: &ComparisonReason) -> String {
    let words = match reason {
        ComparisonReason::Absent => "it was not measured",
        ComparisonReason::IsReference => "it is the reference itself",
        ComparisonReason::NoOtherClock => "it was not compared with another clock",
        ComparisonReason::NoJudge => "they differ, and no clock here shows which of them is right",
        ComparisonReason::EmulatorsCosts { emulators } => {
            return format!("these are the costs of {}, not of the machine", Emulator::names(emulators));
        }
        ComparisonReason::OneSided => "one side or both have no cost of it",
        ComparisonReason::NoCostOfSide => "it has no cost on this side",
        ComparisonReason::NoCommonCounter => "no counter was read in all runs",
        ComparisonReason::NoCommonLoop => "not every run has measured it",
        ComparisonReason::NoSpeed => "no run shows the machine's speed",
        ComparisonReason::OneRunPerSide => "each side is one run",
    };
    words.to_owned()
}

fn pairs(reason: &PairsReason) -> String {
    match reason {
        PairsReason::UnknownCpus => "the system does not show which CPUs this process may run on".to_owned(),
        PairsReason::OneCpu { cpu, limit } => match limit {
            Some(CpuLimit::Machine) => {
                format!("CPU {cpu} is the only one that is online, so that no other can disagree")
            }
            Some(CpuLimit::Process) => {
                format!("this process may run on CPU {cpu} alone (taskset, cpuset), and two CPUs are needed")
            }
            Some(CpuLimit::Request) => format!("only CPU {cpu} was asked for, and two are needed: name two by --cpus"),
            None => format!("only CPU {cpu} takes part, and two are needed"),
        },
        PairsReason::NoClock => "no clock whose order could be tested".to_owned(),
        PairsReason::NoCounter { because, .. } | PairsReason::AllLost { because, .. } => text(because),
        PairsReason::StoodStill { reference } => {
            format!("the counter stood still while it was compared with {reference}")
        }
    }
}

fn cpus(reason: &CpusReason) -> String {
    let words = match reason {
        CpusReason::PairFailed { because, .. } => return text(because),
        CpusReason::ThreadNotStarted { error } => return format!("no thread can be started: {}", error.words),
        CpusReason::ThreadPanicked => "its thread ended by a panic",
        CpusReason::CpuMissing { words } => return format!("no thread can be bound: {words}"),
        CpusReason::BindDenied { cpu, words } => {
            return not_bound(*cpu, words, "does a seccomp filter or a container forbid it?");
        }
        CpusReason::NotBound { cpu, words } => return not_bound(*cpu, words, "is it online, and in the cpuset?"),
        CpusReason::MovedAway { from, to } => return moved("its thread", *from, *to),
        CpusReason::PeerMissing => "the thread on the other CPU did not come",
        CpusReason::NotRecorded => NOT_RECORDED,
        CpusReason::VdsoRefused { error } => return format!("the vDSO refused: {}", error.words),
        CpusReason::KernelClockStill => "the kernel's clock stood still",
        CpusReason::CounterParted => "the first CPU's counter did not advance as the kernel's clock did",
        CpusReason::ReferenceParted => {
            "the counter did not advance as the reference did: one of them stood still, stepped or changed its rate"
        }
        CpusReason::TimerFailed => "the timer stood still, or went back",
        CpusReason::OfPair { a, b, because } => return format!("CPUs {a} and {b}: {}", text(because)),
        CpusReason::NoConstantOffset => "no constant offset explains all exchanges: it changed during the run",
        CpusReason::NoExchange => "no exchange was completed",
        CpusReason::FewExchanges => "other programs left too little time for exchanges in both directions",
        CpusReason::InterruptedDirection => "other programs interrupted every exchange of one direction",
        CpusReason::OneDirection => "one direction alone was measured, or its offset changed",
        CpusReason::NoPairTested => "no pair of CPUs was tested",
        CpusReason::NoPairOffset => "no pair of CPUs has an offset",
        CpusReason::FewCpus => "it takes three CPUs whose offsets are known",
        CpusReason::NoHandoffInTime => "interrupted before anything was handed over",
        CpusReason::Untimed => {
            "the reference failed, or did not advance as the counter did: one of them stood still, stepped or changed \
             its rate"
        }
        CpusReason::Interrupted => "interrupted before its turn",
        CpusReason::OutOfTime => "the time was over before its turn",
        CpusReason::NoHandoff => "nothing was handed over",
        CpusReason::SameReadings => "all of its readings were the same",
        CpusReason::NoRegression => "no reading went back",
    };
    words.to_owned()
}

fn not_bound(cpu: u32, words: &str, hint: &str) -> String {
    format!("no thread can be bound to CPU {cpu} ({words}): {hint}")
}

fn moved(thread: &str, from: u32, to: u32) -> String {
    format!("{thread} was moved from CPU {from} to {to}: did the CPU go offline, or leave the cpuset?")
}

fn thread(reason: &ThreadReason) -> String {
    match reason {
        ThreadReason::NoGap => "there was no gap".to_owned(),
        ThreadReason::NotLookedAt => "nothing was looked at".to_owned(),
        ThreadReason::FewGaps { fewest } => format!("fewer than {fewest} gaps"),
        ThreadReason::Unbound => "the thread could not be pinned".to_owned(),
        ThreadReason::NoAccount => "the kernel keeps no account of it, or nothing was looked at".to_owned(),
        ThreadReason::TimerSlackHidden => "the system does not show it".to_owned(),
        ThreadReason::FewSleeps { fewest } => format!("fewer than {fewest} sleeps"),
        ThreadReason::SleepersClockUnreadable => "CLOCK_MONOTONIC, by which the calls sleep, cannot be read".to_owned(),
        ThreadReason::SleepsLeftOut { left_out } => {
            format!("{left_out} sleeps are left out: the clock refused, stood still, went back or jumped meanwhile")
        }
        ThreadReason::OnEachCpu { cpus } => format!("a thread on each of CPUs {}", show_cpus(cpus)),
        ThreadReason::NotPinned { words } => format!("not pinned: {words}"),
        ThreadReason::CpuHidden => "not pinned: the system does not show which CPU the thread runs on".to_owned(),
        ThreadReason::ThreadMoved { from, to } => moved("not pinned: the thread", *from, *to),
    }
}

fn machine(reason: &MachineReason) -> String {
    let words = match reason {
        MachineReason::OnlyLinux => "only Linux shows it in a file",
        MachineReason::DevicesOnlyLinux => "only Linux shows which devices the firmware offers",
        MachineReason::DevicesHidden => "the kernel does not show which devices the firmware offers",
        MachineReason::ProcessorSilent => "the processor does not state it",
        MachineReason::HypervisorSilent => "no hypervisor states it",
        MachineReason::NoArmFrequency => "not an aarch64 processor, or its firmware states 0",
        MachineReason::NoPerfPage { words } | MachineReason::NoAffinity { words } => words,
        MachineReason::HypervisorHidden => "the system does not show whether there is one",
        MachineReason::NoUname => "the system has no uname",
        MachineReason::UnreadableFile { path } => return format!("{path} cannot be read"),
        MachineReason::UnreadableSysfs { path } => return format!("{path} cannot be read: is /sys mounted?"),
        MachineReason::NoClocksourceName { path, content } => {
            return format!("{path} holds no name of a clocksource: {content:?}");
        }
        MachineReason::AllowedCpusHidden => "the system does not show which CPUs this process may use",
        MachineReason::NoCpufreq => "the system does not control the CPU's frequency (no cpufreq)",
        MachineReason::NoVdso => "only Linux has a vDSO",
        MachineReason::CounterAccessHidden => "the system does not show it; a read does",
        MachineReason::CpuinfoUnreadable => "the kernel's judgment is in /proc/cpuinfo, which cannot be read",
        MachineReason::NoTimeStampCounter => "this architecture has no time-stamp counter of x86's kind",
        MachineReason::NoName => "neither the processor nor /proc/cpuinfo names it",
    };
    words.to_owned()
}

fn clocksource(reason: &ClocksourceReason) -> String {
    let words = match reason {
        ClocksourceReason::Unfamiliar => "this program has never heard of it",
        ClocksourceReason::DependsOnHardware => "it depends on the hardware, which does not show it",
        ClocksourceReason::NotInRegisters => "its registers do not show it",
        ClocksourceReason::KernelsHz => "it is the kernel's HZ, which nothing shows",
        ClocksourceReason::NotShown => "nothing shows it",
        ClocksourceReason::NoHardware => "there is none",
        ClocksourceReason::Unmeasured { words, unreadable } => return with_unreadable(words, unreadable),
    };
    words.to_owned()
}

fn windows(reason: &WindowsReason) -> String {
    match reason {
        WindowsReason::CallFailed { call } => format!("{call} failed"),
        WindowsReason::CallStatus { call, status } => format!("{call}: status {status:#010x}"),
        WindowsReason::NoFunction { function } => format!("this Windows has no {function}"),
        WindowsReason::NoBuildText => "Windows states no text of its build".to_owned(),
        WindowsReason::BeforeWindows8 => "Windows shows it since version 6.2".to_owned(),
        WindowsReason::VersionUnknown => "the version of Windows, on which its place depends, is unknown".to_owned(),
        WindowsReason::NotStated => "this Windows does not state it".to_owned(),
        WindowsReason::ZeroFrequency => "the performance counter's frequency is 0".to_owned(),
        WindowsReason::NoPerformanceCounter => {
            "QueryPerformanceFrequency states 0 counts per second: this Windows has no performance counter".to_owned()
        }
        WindowsReason::OfWine => {
            "Wine makes it of the host's monotonic clock: run `clockscope clocksource` on the host".to_owned()
        }
        WindowsReason::AmbiguousFrequency { frequency_hz } => format!(
            "{frequency_hz} Hz is both the processor's counter's and the hypervisor's, and nothing shows which one is read"
        ),
        WindowsReason::ContradictoryFrequency { frequency_hz } => format!(
            "{frequency_hz} Hz is a frequency of hardware outside of the processor, but programs read the processor's \
             counter"
        ),
        WindowsReason::UnfamiliarFrequency { frequency_hz } => {
            format!("no hardware is known to count at {frequency_hz} Hz")
        }
    }
}

fn synchronization(reason: &SynchronizationReason) -> String {
    let words = match reason {
        SynchronizationReason::NoChrony => "no chronyd answers on the loopback",
        SynchronizationReason::ChronyUnsynchronized => "chronyd answers that it is not synchronized",
        SynchronizationReason::KernelFiguresHidden { words } => words,
        SynchronizationReason::PtpUnopened { path, words } => return format!("open of {path}: {words}"),
        SynchronizationReason::PtpUnreadable { path, words } => return format!("clock_gettime of {path}: {words}"),
        SynchronizationReason::CivilTimeWasSet => "civil time was set during each comparison",
        SynchronizationReason::PtpNameHidden => "the kernel does not show the device's name",
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_reason_are_in_its_sentence() {
        let because = Box::new(Unknown::sentence("it left"));
        let because = Box::new(CpusReason::PairFailed { failure: None, because }.into());
        for (unknown, sentence) in [
            (ReadingsReason::FewBatches { fewest: 48 }.into(), "fewer than 48 batches: give it more time"),
            (
                TickReason::LikeCost { at_most_ns: 31.2 }.into(),
                "too few readings to separate a tick from the read's own cost: at most 31.200 ns",
            ),
            (CpusReason::OfPair { a: 0, b: 3, because }.into(), "CPUs 0 and 3: it left"),
            (ThreadReason::OnEachCpu { cpus: vec![0, 1, 4] }.into(), "a thread on each of CPUs 0-1,4"),
            (
                WindowsReason::CallStatus { call: "NtQueryTimerResolution".to_owned(), status: 0xc000_0003 }.into(),
                "NtQueryTimerResolution: status 0xc0000003",
            ),
            (
                ComparisonReason::EmulatorsCosts { emulators: vec![Emulator::Valgrind, Emulator::Wine] }.into(),
                "these are the costs of valgrind, wine, not of the machine",
            ),
        ] {
            assert_eq!(text(&unknown), sentence);
        }
    }

    /// What failed is data of the system; the sentence adds the usual cause.
    #[test]
    fn failures_are_worded_with_their_usual_cause() {
        let error = |cause| SystemError { number: 1, cause, words: "no".to_owned() };
        let failed = |cause| ClockReason::TrialFailed { error: error(cause) };
        let killed = |meaning| ClockReason::TrialKilled { signal: "SIGSYS".to_owned(), meaning };
        let words = || "sched_setaffinity: no".to_owned();
        let because = Box::new(failed(ErrorCause::Other).into());
        let unreadable =
            |clock: &str, reason: Unknown| UnreadableClock { clock: clock.to_owned(), reason, failure: None };
        let several = vec![
            unreadable("tai", failed(ErrorCause::Other).into()),
            unreadable("boottime", ClockReason::TrialSilent { after_ms: 200 }.into()),
        ];
        for (unknown, sentence) in [
            (failed(ErrorCause::Denied).into(), "the read failed: no; does a seccomp filter deny the call?"),
            (
                failed(ErrorCause::Unsupported).into(),
                "the read failed: no; the kernel lacks the call, or a seccomp filter hides it",
            ),
            (ReadingsReason::ClockFailed { failure: None, because }.into(), "the read failed: no"),
            (ClockReason::CallRefused { call: "poll".to_owned(), error: error(ErrorCause::Denied) }.into(), "poll: no"),
            (killed(SignalMeaning::DeniedCall).into(), "a read raises SIGSYS: a seccomp filter denies the call"),
            (killed(SignalMeaning::Fault).into(), "a read raises SIGSYS"),
            (
                ClockReason::SomeReadsFailed { errors: 3, reads: 9, first: 2, error: error(ErrorCause::Other) }.into(),
                "3 of 9 reads failed; the first, read 2: no",
            ),
            (
                RateReason::ReadsFailed { failed: 3, error: error(ErrorCause::Other) }.into(),
                "3 reads failed; the first: no",
            ),
            (
                CpusReason::BindDenied { cpu: 7, words: words() }.into(),
                "no thread can be bound to CPU 7 (sched_setaffinity: no): does a seccomp filter or a container forbid it?",
            ),
            (
                CpusReason::NotBound { cpu: 7, words: words() }.into(),
                "no thread can be bound to CPU 7 (sched_setaffinity: no): is it online, and in the cpuset?",
            ),
            (
                CpusReason::MovedAway { from: 1, to: 0 }.into(),
                "its thread was moved from CPU 1 to 0: did the CPU go offline, or leave the cpuset?",
            ),
            (
                RateReason::NotMeasured { words: "none answers".to_owned(), unreadable: several }.into(),
                "none answers: tai: the read failed: no; boottime: the read did not return within 200 ms",
            ),
        ] {
            assert_eq!(text(&unknown), sentence);
        }
    }

    #[test]
    fn words_of_other_programs_are_shown() {
        let shown = |json: &str| serde_json::from_str::<Unknown>(json).map(|unknown| text(&unknown)).unwrap();
        assert_eq!(shown(r#""it was cloudy""#), "it was cloudy");
        assert_eq!(shown(r#"{ "code": "eclipse", "text": "the sun was hidden" }"#), "the sun was hidden");
        assert_eq!(shown(r#"{ "code": "eclipse" }"#), Unnamed::NAME);
        assert_eq!(why(&Figure::Known(1)), None);
    }
}
