//! Reasons why the kernel does not use the processor's counter.

mod intervals;
mod log_fault;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Emulator;
use crate::words::{worded, written};

pub use intervals::WatchdogIntervals;
pub use log_fault::LogFault;

/// The kernel's verdict on the processor's counter, as far as it reports that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelVerdict {
    /// The clocksource that is the counter; `null` on an architecture where none is known.
    pub name: Option<String>,
    /// True if the kernel builds its clocks on it now; `null` if that is unknown.
    pub is_current: Option<bool>,
    /// True if the kernel would let it be used: `false` means that it was found unfit, or switched
    /// off at boot.
    pub is_available: Option<bool>,
    /// Reasons why it is not used, as far as these can be known, the most certain first; while it
    /// is used, what makes that worth less.
    pub reasons: Vec<KernelCause>,
    /// Error of the kernel's log, for which reasons may be missing; `null` where it was read.
    pub log_error: Option<String>,
}

/// A cause that keeps the kernel from using the counter, or from using it well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "KernelCause", transform = crate::schema::add_words::<KernelCause>))]
#[serde(tag = "cause", rename_all = "snake_case", remote = "Self")]
pub enum KernelCause {
    /// A line of the kernel's log gives the counter up.
    LogLine {
        /// The line.
        line: String,
        /// The fault that it reports.
        fault: LogFault,
        /// The intervals of two clocks, by the lines below it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        intervals: Option<WatchdogIntervals>,
        /// The clocksource in use, if the hypervisor corrects it: the line concerns the counter
        /// alone then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        corrected: Option<String>,
        /// The option of the kernel's command line by which it does not watch the counter, if there
        /// is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unwatched: Option<String>,
    },
    /// The kernel was booted with `clocksource=` and the name of another clocksource.
    ClocksourceOption {
        /// The other clocksource.
        clocksource: String,
    },
    /// The kernel was booted with `notsc`.
    NotscOption,
    /// The kernel was booted with `tsc=unstable`.
    UnstableOption,
    /// The kernel does not offer the counter, and nothing else explains that.
    NotOffered,
    /// The kernel offers the counter, and neither its log nor its command line rejects it.
    Unexplained,
    /// The kernel uses the counter, and was booted with an option by which it does not watch it.
    Unwatched {
        /// The option.
        option: String,
    },
    /// The kernel works around an erratum of the processor: reads of the counter by programs are
    /// trapped, or its own reads repeated (Arm).
    Erratum {
        /// The line of the log that says so.
        line: String,
    },
    /// The program is emulated, and the kernel another architecture's: it knows no such counter.
    Emulated {
        /// The emulators.
        emulators: Vec<Emulator>,
    },
    /// The kernel prefers a clocksource by which the hypervisor scales the counter.
    PrefersScaled {
        /// The preferred clocksource.
        clocksource: String,
    },
    /// The kernel does not see flags without which it does not trust the counter.
    MissingFlags {
        /// The flags, by their names in /proc/cpuinfo.
        flags: Vec<String>,
    },
    /// The kernel has no timecounter that is the counter.
    NoTimecounter,
    /// The kernel gives the counter a quality below 0: it never chooses such a timecounter by
    /// itself (timecounters(4) of FreeBSD).
    NegativeQuality {
        /// The counter, as the kernel calls it.
        timecounter: String,
        /// Its quality.
        quality: i64,
    },
    /// The kernel chose a timecounter of a quality as high or higher.
    PrefersTimecounter {
        /// The counter, as the kernel calls it.
        timecounter: String,
        /// Its quality.
        quality: i64,
        /// The one in use.
        chosen: String,
        /// The quality of that.
        chosen_quality: i64,
    },
    /// An administrator chose another timecounter, of a lower quality
    /// (`kern.timecounter.hardware`).
    ChosenTimecounter {
        /// The counter, as the kernel calls it.
        timecounter: String,
        /// The one in use.
        chosen: String,
    },
}

impl KernelCause {
    /// Returns the cause that a line of the log is, of which nothing else is known.
    #[must_use]
    pub fn log_line(line: &str, fault: LogFault) -> Self {
        Self::LogLine { line: line.to_owned(), fault, intervals: None, corrected: None, unwatched: None }
    }

    /// Returns whether it says that the counter itself is bad. Otherwise a user or a program
    /// preferred another.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Self::LogLine { intervals: Some(intervals), .. } => !intervals.accuse_the_watchdog(),
            Self::LogLine { fault, .. } => fault.is_counters(),
            Self::NotOffered | Self::NegativeQuality { .. } => true,
            Self::ClocksourceOption { .. }
            | Self::UnstableOption
            | Self::NotscOption
            | Self::Unexplained
            | Self::Unwatched { .. }
            | Self::Erratum { .. }
            | Self::Emulated { .. }
            | Self::PrefersScaled { .. }
            | Self::MissingFlags { .. }
            | Self::NoTimecounter
            | Self::PrefersTimecounter { .. }
            | Self::ChosenTimecounter { .. } => false,
        }
    }

    /// Returns where it was found.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        match self {
            Self::LogLine { .. } | Self::Erratum { .. } => "the kernel's log",
            Self::ClocksourceOption { .. } | Self::NotscOption | Self::UnstableOption | Self::Unwatched { .. } => {
                "/proc/cmdline"
            }
            Self::Emulated { .. } => "CPUID and /proc",
            Self::Unexplained => "the kernel's log and /proc/cmdline",
            Self::NotOffered => "sysfs, available_clocksource",
            Self::PrefersScaled { .. } => "sysfs, current_clocksource",
            Self::MissingFlags { .. } => "/proc/cpuinfo",
            Self::NoTimecounter
            | Self::NegativeQuality { .. }
            | Self::PrefersTimecounter { .. }
            | Self::ChosenTimecounter { .. } => "kern.timecounter.choice",
        }
    }

    /// Advises what to do about it.
    #[must_use]
    pub fn advice(&self) -> String {
        let remove = |option: &str| format!("remove {option} from the kernel's command line");
        match self {
            Self::ClocksourceOption { clocksource } => remove(&format!("clocksource={clocksource}")),
            Self::NotscOption => remove("notsc"),
            Self::UnstableOption => remove("tsc=unstable"),
            Self::LogLine { corrected: Some(name), .. } => format!(
                "the system's clocks need no remedy, because the hypervisor corrects {name}: read the counter by them, or by \
                 clockscope::now()"
            ),
            Self::LogLine { line, fault, intervals, unwatched, .. } => {
                of_line(line, *fault, intervals.as_ref(), unwatched.as_deref())
            }
            Self::Unexplained => "it was switched at run time, or the log has wrapped: look for older lines (journalctl -k -b), \
                                  and if `clockscope check counter` finds nothing against it, write its name to \
                                  /sys/devices/system/clocksource/clocksource0/current_clocksource as root"
                .to_owned(),
            Self::Unwatched { option } => format!(
                "check the counter yourself now and then (`clockscope check counter`), or {}",
                remove(option)
            ),
            Self::Emulated { .. } => {
                "read the system's clocks, or run a program that was built for this processor".to_owned()
            }
            Self::Erratum { .. } => {
                "no setting of a hypervisor helps: the processor's counter has an erratum, and each read pays for it; read \
                 seldom, or by a coarse clock"
                    .to_owned()
            }
            Self::NotOffered => "read why with: dmesg | grep -iE 'tsc|clocksource'".to_owned(),
            Self::PrefersScaled { .. } => {
                "none is needed, because the hypervisor keeps it right; to use the counter itself, have the hypervisor pass an \
                 invariant one on (QEMU: -cpu host,+invtsc), and boot with clocksource=tsc"
                    .to_owned()
            }
            Self::MissingFlags { .. } => {
                "on a virtual machine have the hypervisor pass them on; on old hardware do not use the counter".to_owned()
            }
            Self::NoTimecounter => {
                "look for a setting that disables it (FreeBSD: machdep.disable_tsc in loader.conf)".to_owned()
            }
            Self::NegativeQuality { .. } => {
                "do not use it: it is not invariant, or the CPUs' counters differ; on a virtual machine have the \
                 hypervisor pass an invariant counter on"
                    .to_owned()
            }
            Self::PrefersTimecounter { .. } => "leave the choice to the kernel".to_owned(),
            Self::ChosenTimecounter { timecounter, .. } => {
                format!("set kern.timecounter.hardware={timecounter}, and remove the other from sysctl.conf")
            }
        }
    }
}

/// The remedy of a line of the log where no hypervisor corrects the clocksource in use. What stops
/// the watchdog is named only where its judgment is in doubt and that would change something.
fn of_line(line: &str, fault: LogFault, intervals: Option<&WatchdogIntervals>, unwatched: Option<&str>) -> String {
    let override_it = match unwatched {
        None => format!(
            "if a third clock, a PTP clock or a time server, agrees with the counter over hours, tsc=reliable on the \
             kernel's command line stops its watchdog{}",
            if line.contains("tsc-early") { ", from Linux 5.4 on for tsc-early" } else { "" }
        ),
        Some(option) if line.contains("tsc-early") => format!(
            "{option} is on the kernel's command line already, which Linux before 5.4 ignores for tsc-early: use a newer \
             kernel"
        ),
        Some(option) => format!("{option} is on the kernel's command line already, without effect"),
    };
    match (fault, intervals.and_then(WatchdogIntervals::accused)) {
        (LogFault::FrequencySkew, Some(accused)) if intervals.is_some_and(WatchdogIntervals::accuse_the_watchdog) => {
            format!("the watchdog {accused} may be the faulty one: {override_it}")
        }
        (LogFault::FrequencySkew, None) => {
            format!("{}; or the watchdog was wrong: {override_it}", fault.remedy())
        }
        (LogFault::SlowRead, _) => format!("{}; {override_it}", fault.remedy()),
        _ => fault.remedy().to_owned(),
    }
}

worded!(KernelCause {
    /// The finding.
    seen: String = ToString::to_string,
    /// Its source.
    source: &'static str = KernelCause::source,
    /// True if it says that the counter itself is bad. Otherwise a user or a program preferred
    /// another.
    is_fault: bool = KernelCause::is_fault,
    /// The remedy.
    advice: String = KernelCause::advice,
});
written!(KernelCause);

/// The finding in words.
impl fmt::Display for KernelCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LogLine { line, intervals: None, .. } => write!(f, "the kernel said: {line}"),
            Self::LogLine { line, intervals: Some(intervals), .. } => {
                write!(f, "the kernel said: {}; {}", line.trim_end_matches(':'), intervals)
            }
            Self::ClocksourceOption { clocksource } => {
                write!(f, "the kernel was booted with clocksource={clocksource}")
            }
            Self::NotscOption => f.write_str("the kernel was booted with notsc, so it does not use it"),
            Self::UnstableOption => f.write_str("the kernel was booted with tsc=unstable, which marks it unstable"),
            Self::NotOffered => f.write_str(
                "the kernel does not offer it: it was judged unstable at boot, or by the watchdog since then",
            ),
            Self::Unexplained => f.write_str("the kernel offers it, and nothing that can be seen rejects it"),
            Self::Unwatched { option } => write!(f, "the kernel was booted with {option}, and does not watch it"),
            Self::Emulated { emulators } => write!(
                f,
                "{} emulates the counter of another processor than the kernel's, which knows none",
                Emulator::names(emulators)
            ),
            Self::Erratum { line } => write!(f, "the kernel works around an erratum of the processor: {line}"),
            Self::PrefersScaled { clocksource } => {
                write!(f, "the kernel prefers {clocksource}, by which the hypervisor corrects the counter")
            }
            Self::MissingFlags { flags } => write!(f, "the kernel does not see {}", flags.join(" and ")),
            Self::NoTimecounter => f.write_str("the kernel has no timecounter that is the counter"),
            Self::NegativeQuality { timecounter, quality } => {
                write!(
                    f,
                    "the kernel gives {timecounter} the quality {quality}: below 0, it never chooses it automatically"
                )
            }
            Self::PrefersTimecounter { timecounter, quality, chosen, chosen_quality } => {
                write!(
                    f,
                    "the kernel prefers {chosen}, of quality {chosen_quality}, to {timecounter}, of quality {quality}"
                )
            }
            Self::ChosenTimecounter { timecounter, chosen } => {
                write!(f, "{chosen} was chosen, although the kernel gives {timecounter} a higher quality")
            }
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
        let log = |fault| KernelCause::log_line(&line, fault);
        let counted = |watchdog_ns, clocksource_ns, in_use: Option<&str>| KernelCause::LogLine {
            line: text("Marking TSC unstable:"),
            fault: LogFault::FrequencySkew,
            intervals: Some(WatchdogIntervals {
                watchdog: text("hpet"),
                watchdog_ns: Some(watchdog_ns),
                clocksource: text("tsc"),
                clocksource_ns: Some(clocksource_ns),
                went_back: false,
                in_use: in_use.map(str::to_owned),
            }),
            corrected: None,
            unwatched: None,
        };
        let flags = ["constant_tsc", "nonstop_tsc"].map(str::to_owned).to_vec();
        for (cause, found, source, remedy, is_fault) in [
            (log(LogFault::CpuSkew), "the kernel said: TSC warp between CPUs", "log", "counters differ", true),
            (
                log(LogFault::SlowRead),
                "the kernel said: TSC warp between CPUs",
                "log",
                "not evidence against it",
                false,
            ),
            (log(LogFault::Unstated), "the kernel said: TSC warp between CPUs", "log", "does not know", true),
            (
                counted(431_000_000, 504_000_000, Some("acpi_pm")),
                "unstable; hpet counted 0.431 s and tsc 0.504 s where a timer waits half a second, which points to hpet",
                "log",
                "the watchdog hpet may be the faulty one",
                false,
            ),
            (
                counted(431_000_000, 504_000_000, None),
                "points to hpet, unless tsc drove the timer",
                "log",
                "tsc=reliable on the kernel's command line stops",
                false,
            ),
            (
                counted(504_000_000, 1_894_000_000, None),
                "points to tsc, unless hpet drove the timer",
                "log",
                "update firmware",
                true,
            ),
            (
                counted(431_000_000, 504_000_000, Some("tsc")),
                "points to neither, because tsc drove the timer",
                "log",
                "or the watchdog was wrong: if a third clock",
                true,
            ),
            (counted(504_000_000, 504_000_900, None), "which points to neither", "log", "update firmware", true),
            (
                KernelCause::ClocksourceOption { clocksource: text("hpet") },
                "was booted with clocksource=hpet",
                "cmdline",
                "remove clocksource=hpet from",
                false,
            ),
            (KernelCause::NotscOption, "was booted with notsc", "cmdline", "remove notsc from", false),
            (KernelCause::UnstableOption, "was booted with tsc=unstable", "cmdline", "remove tsc=unstable from", false),
            (KernelCause::Unexplained, "offers it, and nothing", "log and /proc/cmdline", "journalctl -k -b", false),
            (
                KernelCause::Unwatched { option: text("tsc=reliable") },
                "was booted with tsc=reliable, and does not watch it",
                "cmdline",
                "check the counter yourself",
                false,
            ),
            (
                KernelCause::Erratum { line: text("CPU0: Trapping CNTVCT access") },
                "erratum of the processor: CPU0: Trapping",
                "log",
                "no setting of a hypervisor helps",
                false,
            ),
            (
                KernelCause::Emulated { emulators: vec![Emulator::Fex] },
                "fex emulates the counter of another processor",
                "CPUID and /proc",
                "built for this processor",
                false,
            ),
            (KernelCause::NotOffered, "does not offer it", "available_clocksource", "dmesg", true),
            (
                KernelCause::PrefersScaled { clocksource: text("kvm-clock") },
                "prefers kvm-clock,",
                "current_clocksource",
                "invtsc",
                false,
            ),
            (KernelCause::MissingFlags { flags }, "see constant_tsc and nonstop_tsc", "cpuinfo", "pass them on", false),
            (KernelCause::NoTimecounter, "no timecounter", "kern.timecounter.choice", "machdep.disable_tsc", false),
            (
                KernelCause::NegativeQuality { timecounter: text("TSC-low"), quality: -100 },
                "gives TSC-low the quality -100: below 0,",
                "kern.timecounter.choice",
                "do not use it",
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
            let [seen, advice] = [cause.to_string(), cause.advice()];
            let has_all = seen.contains(found) && cause.source().contains(source) && advice.contains(remedy);
            assert!(has_all && cause.is_fault() == is_fault, "{cause:?}: {seen}, {advice}");
        }
    }

    /// `tsc=reliable` is named only where it would change something, and skips no test that failed.
    #[test]
    fn the_watchdog_is_to_be_stopped_only_where_its_judgment_is_in_doubt() {
        let intervals = |watchdog_ns, clocksource_ns, went_back| WatchdogIntervals {
            watchdog: "hpet".to_owned(),
            watchdog_ns,
            clocksource: "tsc".to_owned(),
            clocksource_ns,
            went_back,
            in_use: Some("acpi_pm".to_owned()),
        };
        let right_ns = Some(504_000_000);
        let of_watchdog = [
            (None, true),
            (Some(intervals(Some(431_000_000), right_ns, false)), true),
            (Some(intervals(right_ns, Some(431_000_000), false)), false),
            (Some(intervals(None, right_ns, false)), true),
            (Some(intervals(right_ns, None, true)), false),
        ];
        let of_others = LogFault::ALL.into_iter().filter(|fault| *fault != LogFault::FrequencySkew);
        let all = of_watchdog
            .into_iter()
            .map(|(intervals, is_named)| (LogFault::FrequencySkew, intervals, is_named))
            .chain(of_others.map(|fault| (fault, None, fault == LogFault::SlowRead)));
        for (fault, intervals, is_named) in all {
            let advice = |corrected: Option<&str>, unwatched: Option<&str>, line: &str| {
                let [corrected, unwatched] = [corrected, unwatched].map(|text| text.map(str::to_owned));
                let intervals = intervals.clone();
                KernelCause::LogLine { line: line.to_owned(), fault, intervals, corrected, unwatched }.advice()
            };
            let stops = "tsc=reliable on the kernel's command line stops";
            assert_eq!(advice(None, None, "x").contains(stops), is_named, "{fault:?}: {}", advice(None, None, "x"));
            let again = advice(None, Some("tsc=reliable"), "'tsc-early'");
            assert_eq!(again.contains("already, which Linux before 5.4 ignores"), is_named, "{again}");
            let corrected = advice(Some("kvm-clock"), None, "x");
            assert!(!again.contains(stops) && !corrected.contains("tsc=reliable") && !corrected.contains("hpet"));
        }
    }

    #[test]
    fn what_a_log_lacks_is_said() {
        let mut intervals = WatchdogIntervals {
            watchdog: "refined-jiffies".to_owned(),
            clocksource: "tsc-early".to_owned(),
            clocksource_ns: Some(290_768_000),
            ..WatchdogIntervals::default()
        };
        assert_eq!(
            intervals.to_string(),
            "refined-jiffies counted for a time that is not known (the log has counts, and not their frequency) and \
             tsc-early 0.291 s where a timer waits half a second, which points to neither"
        );
        // 24 bits at 3.58 MHz.
        let wrapped = WatchdogIntervals {
            watchdog: "acpi_pm".to_owned(),
            watchdog_ns: Some(513_300_000),
            clocksource: "tsc".to_owned(),
            clocksource_ns: Some(5_200_200_000),
            ..WatchdogIntervals::default()
        };
        assert!(wrapped.to_string().ends_with("which points to neither, because acpi_pm wraps within that time"));
        let slow = WatchdogIntervals { clocksource_ns: Some(3_000_000_000), ..wrapped };
        assert_eq!(slow.accused(), Some("tsc"));
        (intervals.clocksource_ns, intervals.went_back) = (None, true);
        assert!(intervals.to_string().ends_with("and tsc-early went back: it restarted, which points to tsc-early"));
    }
}
