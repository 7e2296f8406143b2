//! Why the kernel does not use the counter, in words.

use clockscope_records::{KernelCause, KernelVerdict, LogFault, Reason, ReasonProse, WatchdogIntervals};

/// Puts the words beside the causes of all reasons.
pub(crate) fn explain(verdict: &mut KernelVerdict) {
    verdict.reasons.iter_mut().for_each(explain_reason);
}

/// Puts the words beside the cause of a reason, unless it consists of words.
pub(crate) fn explain_reason(reason: &mut Reason) {
    reason.prose = Some(prose(&reason.cause));
}

/// Words a cause.
pub(crate) fn prose(cause: &KernelCause) -> ReasonProse {
    ReasonProse {
        seen: seen(cause),
        source: source(cause).to_owned(),
        is_fault: cause.is_fault(),
        advice: advice(cause),
    }
}

/// What was found.
pub(crate) fn seen(cause: &KernelCause) -> String {
    match cause {
        KernelCause::LogLine { line, intervals: None, .. } => format!("the kernel said: {line}"),
        KernelCause::LogLine { line, intervals: Some(intervals), .. } => {
            format!("the kernel said: {}; {}", line.trim_end_matches(':'), counted(intervals))
        }
        KernelCause::ClocksourceOption { clocksource } => {
            format!("the kernel was booted with clocksource={clocksource}")
        }
        KernelCause::NotscOption => "the kernel was booted with notsc, so it does not use it".to_owned(),
        KernelCause::UnstableOption => "the kernel was booted with tsc=unstable, which marks it unstable".to_owned(),
        KernelCause::NotOffered => {
            "the kernel does not offer it: it was judged unstable at boot, or by the watchdog since then".to_owned()
        }
        KernelCause::PrefersScaled { clocksource } => {
            format!("the kernel prefers {clocksource}, by which the hypervisor corrects the counter")
        }
        KernelCause::LackingFlags { flags } => format!("the kernel does not see {}", flags.join(" and ")),
        KernelCause::NoTimecounter => "the kernel has no timecounter that is the counter".to_owned(),
        KernelCause::NegativeQuality { timecounter, quality } => {
            format!("the kernel gives {timecounter} the quality {quality}: below 0, it never chooses it by itself")
        }
        KernelCause::PrefersTimecounter { timecounter, quality, chosen, chosen_quality } => {
            format!("the kernel prefers {chosen}, of quality {chosen_quality}, to {timecounter}, of quality {quality}")
        }
        KernelCause::ChosenTimecounter { timecounter, chosen } => {
            format!("{chosen} was chosen, although the kernel gives {timecounter} a higher quality")
        }
    }
}

/// Words the intervals of two clocks, and the one of them that these accuse.
fn counted(intervals: &WatchdogIntervals) -> String {
    let WatchdogIntervals { watchdog, watchdog_ns, clocksource, clocksource_ns, in_use } = intervals;
    let [watchdog_s, clocksource_s] = [watchdog_ns, clocksource_ns].map(|ns| *ns as f64 / 1e9);
    let meaning = match (intervals.accused(), in_use) {
        (Some(accused), Some(_)) => format!("which accuses {accused}"),
        (Some(accused), None) => {
            let other = if accused == watchdog { clocksource } else { watchdog };
            format!("which accuses {accused}, unless {other} drove the timer")
        }
        (None, Some(in_use)) if [watchdog, clocksource].contains(&in_use) => {
            format!("which accuses neither, because {in_use} drove the timer")
        }
        (None, _) => "which accuses neither".to_owned(),
    };
    format!(
        "{watchdog} counted {watchdog_s:.3} s and {clocksource} {clocksource_s:.3} s where a timer waits half a second, \
         {meaning}"
    )
}

/// Where that was found.
pub(crate) fn source(cause: &KernelCause) -> &str {
    match cause {
        KernelCause::LogLine { .. } => "the kernel's log",
        KernelCause::ClocksourceOption { .. } | KernelCause::NotscOption | KernelCause::UnstableOption => {
            "/proc/cmdline"
        }
        KernelCause::NotOffered => "sysfs, available_clocksource",
        KernelCause::PrefersScaled { .. } => "sysfs, current_clocksource",
        KernelCause::LackingFlags { .. } => "/proc/cpuinfo",
        KernelCause::NoTimecounter
        | KernelCause::NegativeQuality { .. }
        | KernelCause::PrefersTimecounter { .. }
        | KernelCause::ChosenTimecounter { .. } => "kern.timecounter.choice",
    }
}

/// What to do about it.
pub(crate) fn advice(cause: &KernelCause) -> String {
    let remove = |option: &str| format!("remove {option} from the kernel's command line");
    match cause {
        KernelCause::ClocksourceOption { clocksource } => remove(&format!("clocksource={clocksource}")),
        KernelCause::NotscOption => remove("notsc"),
        KernelCause::UnstableOption => remove("tsc=unstable"),
        KernelCause::LogLine { fault: LogFault::CpuSkew, .. } => {
            "the CPUs' counters are apart: update firmware and hypervisor, which set them".to_owned()
        }
        KernelCause::LogLine { intervals: Some(intervals), .. }
            if intervals.accused() == Some(intervals.watchdog.as_str()) =>
        {
            format!(
                "the watchdog {} may be the bad one: compare the counter with a third clock, a PTP clock or a time server \
                 over hours; if that agrees, tsc=reliable on the kernel's command line stops the watchdog",
                intervals.watchdog
            )
        }
        KernelCause::LogLine { fault: LogFault::SlowRead, .. } => {
            "the kernel could not compare the counter in time, which says nothing against it; tsc=reliable on the \
             kernel's command line stops its watchdog, and newer kernels leave such a comparison out"
                .to_owned()
        }
        KernelCause::LogLine { .. } => {
            "update firmware and hypervisor, which set the counters; if CPUs are synchronized nevertheless, tsc=reliable on \
             the kernel's command line stops its watchdog"
                .to_owned()
        }
        KernelCause::NotOffered => "read why with: dmesg | grep -iE 'tsc|clocksource'".to_owned(),
        KernelCause::PrefersScaled { .. } => {
            "have the hypervisor pass an invariant counter on (QEMU: -cpu host,+invtsc), or boot with clocksource=tsc"
                .to_owned()
        }
        KernelCause::LackingFlags { .. } => {
            "on a virtual machine have the hypervisor pass them on; on old hardware use another clocksource".to_owned()
        }
        KernelCause::NoTimecounter => {
            "look for a setting that disables it (FreeBSD: machdep.disable_tsc in loader.conf)".to_owned()
        }
        KernelCause::NegativeQuality { .. } => {
            "leave it unused: it is not invariant, or the CPUs' counters are apart; on a virtual machine have the \
             hypervisor pass an invariant counter on"
                .to_owned()
        }
        KernelCause::PrefersTimecounter { .. } => "leave the choice to the kernel".to_owned(),
        KernelCause::ChosenTimecounter { timecounter, .. } => {
            format!("set kern.timecounter.hardware={timecounter}, and remove the other from sysctl.conf")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_worded_with_what_to_do() {
        let text = |text: &str| text.to_owned();
        let line = text("TSC warp between CPUs");
        let log = |fault| KernelCause::LogLine { line: line.clone(), fault, intervals: None };
        let counted = |watchdog_ns, clocksource_ns, in_use: Option<&str>| KernelCause::LogLine {
            line: text("Marking TSC unstable:"),
            fault: LogFault::FrequencySkew,
            intervals: Some(WatchdogIntervals {
                watchdog: text("hpet"),
                watchdog_ns,
                clocksource: text("tsc"),
                clocksource_ns,
                in_use: in_use.map(str::to_owned),
            }),
        };
        let flags = ["constant_tsc", "nonstop_tsc"].map(str::to_owned).to_vec();
        for (cause, found, place, remedy, is_fault) in [
            (log(LogFault::CpuSkew), "the kernel said: TSC warp between CPUs", "log", "counters are apart", true),
            (log(LogFault::SlowRead), "the kernel said: TSC warp between CPUs", "log", "nothing against it", false),
            (log(LogFault::Unstated), "the kernel said: TSC warp between CPUs", "log", "tsc=reliable", true),
            (
                counted(431_000_000, 504_000_000, Some("acpi_pm")),
                "unstable; hpet counted 0.431 s and tsc 0.504 s where a timer waits half a second, which accuses hpet",
                "log",
                "the watchdog hpet may be the bad one",
                false,
            ),
            (
                counted(431_000_000, 504_000_000, None),
                "accuses hpet, unless tsc drove the timer",
                "log",
                "the watchdog hpet may be the bad one",
                true,
            ),
            (
                counted(504_000_000, 1_894_000_000, None),
                "accuses tsc, unless hpet drove the timer",
                "log",
                "update firmware",
                true,
            ),
            (
                counted(431_000_000, 504_000_000, Some("tsc")),
                "accuses neither, because tsc drove the timer",
                "log",
                "update firmware",
                true,
            ),
            (counted(504_000_000, 504_000_900, None), "which accuses neither", "log", "update firmware", true),
            (
                KernelCause::ClocksourceOption { clocksource: text("hpet") },
                "was booted with clocksource=hpet",
                "cmdline",
                "remove clocksource=hpet from",
                false,
            ),
            (KernelCause::NotscOption, "was booted with notsc", "cmdline", "remove notsc from", false),
            (KernelCause::UnstableOption, "was booted with tsc=unstable", "cmdline", "remove tsc=unstable from", true),
            (KernelCause::NotOffered, "does not offer it", "available_clocksource", "dmesg", true),
            (
                KernelCause::PrefersScaled { clocksource: text("kvm-clock") },
                "prefers kvm-clock,",
                "current_clocksource",
                "invtsc",
                false,
            ),
            (KernelCause::LackingFlags { flags }, "see constant_tsc and nonstop_tsc", "cpuinfo", "pass them on", false),
            (KernelCause::NoTimecounter, "no timecounter", "kern.timecounter.choice", "machdep.disable_tsc", false),
            (
                KernelCause::NegativeQuality { timecounter: text("TSC-low"), quality: -100 },
                "gives TSC-low the quality -100: below 0,",
                "kern.timecounter.choice",
                "leave it unused",
                true,
            ),
            (
                KernelCause::PrefersTimecounter {
                    timecounter: text("TSC-low"),
                    quality: 800,
                    chosen: text("HPET"),
                    chosen_quality: 950,
                },
                "prefers HPET, of quality 950, to TSC-low, of quality 800",
                "kern.timecounter.choice",
                "leave the choice",
                false,
            ),
            (
                KernelCause::ChosenTimecounter { timecounter: text("TSC-low"), chosen: text("ACPI-fast") },
                "ACPI-fast was chosen, although",
                "kern.timecounter.choice",
                "kern.timecounter.hardware=TSC-low",
                false,
            ),
        ] {
            let prose = prose(&cause);
            let has_all = prose.seen.contains(found) && prose.source.contains(place) && prose.advice.contains(remedy);
            assert!(has_all && prose.is_fault == is_fault, "{cause:?}: {prose:?}");
        }
    }
}
