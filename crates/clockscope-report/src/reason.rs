//! Reasons of unknown figures in words: a sentence each.

use clockscope_records::{
    ClocksourceReason, ComparisonReason, CpusReason, Emulator, Figure, MachineReason, PairsReason, RatePairFailure,
    RateReason, RateRecord, Rates, ReadingsReason, SleepRow, SynchronizationReason, ThreadReason, TickReason, Unfit,
    UnfitFailure, Unknown, UnknownReason, Unnamed, WindowsReason, show_cpus,
};
use clockscope_statistics::NoTick;

/// Returns why a figure is unknown; `None` if it is known.
pub(crate) fn why<T>(figure: &Figure<T>) -> Option<String> {
    figure.reason().map(text)
}

/// Returns a reason in words; those of the program that wrote it where this one does not know it.
pub(crate) fn text(unknown: &Unknown) -> String {
    match &unknown.reason {
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
        UnknownReason::Sentence(text) => text.clone().into_owned(),
        UnknownReason::Unnamed(unnamed) => unnamed.text("text").unwrap_or(Unnamed::NAME).to_owned(),
    }
}

fn readings(reason: &ReadingsReason) -> String {
    let words = match reason {
        ReadingsReason::ClockFailed { words, .. } | ReadingsReason::NoNominalResolution { words } => words,
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
        ReadingsReason::NothingFit => "no monotonic clock or trusted counter was measured that is fit for intervals",
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
        RateReason::ReadsFailed { failed, words } => return format!("{failed} reads failed; the first: {words}"),
        RateReason::RateOfStart => {
            "the timer or its reference stood still, stepped or changed its rate during the run: this is the timer's \
             frequency at the start"
        }
        RateReason::NotMeasured { words } | RateReason::SteeringHidden { words } => words,
    };
    words.to_owned()
}

/// Returns what limits a comparison of a clock's rate, or prevented it; `None` if nothing did.
pub(crate) fn limit(rate: &RateRecord) -> Option<String> {
    rate.reason.clone().or_else(|| why(&rate.constant).filter(|_| rate.is_ticked()))
}

/// Puts the sentences beside the words for what limits comparisons.
pub(crate) fn explain_rates(rates: &mut Rates) {
    for rate in &mut rates.clocks {
        rate.reason = limit(rate);
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
pub(crate) fn not_slept(row: &SleepRow) -> Option<String> {
    let left_out = row.left_out.filter(|left_out| *left_out > 0);
    row.reason.clone().or_else(|| left_out.map(|left_out| thread(&ThreadReason::SleepsLeftOut { left_out })))
}

/// Returns why a clock is not weighed.
pub(crate) fn not_weighed(unfit: &Unfit) -> String {
    let words = unfit.failure.map(|failure| match failure {
        UnfitFailure::Unreadable => "it cannot be read here",
        UnfitFailure::NotJudged => "its readings were not judged",
        UnfitFailure::Faulty => "it went back, jumped, or failed to answer",
        UnfitFailure::NoDifferences => "the differences of its readings are not in the record: measure again",
        UnfitFailure::NoCost => "what it costs is not known",
        UnfitFailure::StoodStill => "it never advanced while it was read",
    });
    words.or(unfit.reason.as_deref()).unwrap_or(Unnamed::NAME).to_owned()
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
        PairsReason::OneCpu { cpu } => format!(
            "only CPU {cpu} takes part, and two are needed: widen the affinity mask with taskset if the machine has more"
        ),
        PairsReason::NoClock => "no clock whose order could be tested".to_owned(),
        PairsReason::NoCounter { words, .. } | PairsReason::AllLost { words, .. } => words.clone(),
        PairsReason::StoodStill { reference } => {
            format!("the counter stood still while it was compared with {reference}")
        }
    }
}

fn cpus(reason: &CpusReason) -> String {
    let words = match reason {
        CpusReason::PairFailed { words, .. } => words,
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
        ThreadReason::ThreadMoved { from, to } => format!(
            "not pinned: the thread was moved from CPU {from} to {to}: did the CPU go offline, or leave the cpuset?"
        ),
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
        ClocksourceReason::Unmeasured { words } => words,
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
        SynchronizationReason::KernelFiguresHidden { words } | SynchronizationReason::PtpUnreadable { words } => words,
        SynchronizationReason::PtpNameHidden => "the kernel does not show the device's name",
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_reason_are_in_its_sentence() {
        let because = Box::new(CpusReason::PairFailed { failure: None, words: "it left".to_owned() }.into());
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

    #[test]
    fn words_of_other_programs_are_shown() {
        let shown = |json: &str| serde_json::from_str::<Unknown>(json).map(|unknown| text(&unknown)).unwrap();
        assert_eq!(shown(r#""it was cloudy""#), "it was cloudy");
        assert_eq!(shown(r#"{ "code": "eclipse", "text": "the sun was hidden" }"#), "the sun was hidden");
        assert_eq!(shown(r#"{ "code": "eclipse" }"#), Unnamed::NAME);
        assert_eq!(why(&Figure::Known(1)), None);
    }
}
