//! Reasons why the kernel does not use the processor's counter.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::{worded, written};

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
    /// Reasons why it is not used, as far as these can be known: the most certain first.
    pub reasons: Vec<KernelCause>,
    /// Error of the kernel's log, for which reasons may be missing; `null` where it was read.
    pub log_error: Option<String>,
}

/// A cause that keeps the kernel from using the counter.
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

/// The fault of a clocksource that the kernel gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogFault {
    /// The watchdog, which is another clocksource, counted another time.
    FrequencySkew,
    /// CPUs' counters are apart.
    CpuSkew,
    /// Reading watchdog and clocksource took too long, so that they could not be compared.
    SlowRead,
    /// The line does not say.
    Unstated,
}

/// The intervals of the watchdog and of the clocksource that it judged, in the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WatchdogIntervals {
    /// The watchdog's name.
    pub watchdog: String,
    /// Its interval, in ns.
    pub watchdog_ns: u64,
    /// The other's name.
    pub clocksource: String,
    /// The interval of that one, in ns.
    pub clocksource_ns: u64,
    /// The clocksource in use, which drove the timer between two looks; not known where the log
    /// does not name it (Linux 7). Empty if there was none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_use: Option<String>,
}

/// Time that Linux waits between two looks at a clocksource, in ns (`WATCHDOG_INTERVAL` of
/// `kernel/time/clocksource.c`): a timer, which may be late, but not early.
const WATCHDOG_PERIOD_NS: std::ops::RangeInclusive<u64> = 499_000_000..=520_000_000;

impl WatchdogIntervals {
    /// Returns the name of the one that counted another time than the kernel's timer waits, if the
    /// other one did not: `None` where both or neither did, and where one of them drove the timer
    /// itself. A third clock has to decide then.
    #[must_use]
    pub fn accused(&self) -> Option<&str> {
        let both = [&self.watchdog, &self.clocksource];
        if self.in_use.as_ref().is_some_and(|in_use| both.contains(&in_use)) {
            return None;
        }
        match [self.watchdog_ns, self.clocksource_ns].map(|ns| WATCHDOG_PERIOD_NS.contains(&ns)) {
            [false, true] => Some(&self.watchdog),
            [true, false] => Some(&self.clocksource),
            [true, true] | [false, false] => None,
        }
    }

    /// Returns whether they accuse the watchdog, and a third clock drove the timer.
    fn acquit_the_clocksource(&self) -> bool {
        self.in_use.is_some() && self.accused() == Some(&self.watchdog)
    }
}

impl KernelCause {
    /// Returns whether it says that the counter itself is bad. Otherwise a user or a program
    /// preferred another.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Self::LogLine { fault: LogFault::SlowRead, .. } => false,
            Self::LogLine { intervals: Some(intervals), .. } => !intervals.acquit_the_clocksource(),
            Self::LogLine { .. } | Self::UnstableOption | Self::NotOffered | Self::NegativeQuality { .. } => true,
            Self::ClocksourceOption { .. }
            | Self::NotscOption
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
            Self::LogLine { .. } => "the kernel's log",
            Self::ClocksourceOption { .. } | Self::NotscOption | Self::UnstableOption => "/proc/cmdline",
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
            Self::LogLine { fault: LogFault::CpuSkew, .. } => {
                "the CPUs' counters are apart: update firmware and hypervisor, which set them".to_owned()
            }
            Self::LogLine { intervals: Some(intervals), .. }
                if intervals.accused() == Some(intervals.watchdog.as_str()) =>
            {
                format!(
                    "the watchdog {} may be the bad one: compare the counter with a third clock, a PTP clock or a time server \
                     over hours; if that agrees, tsc=reliable on the kernel's command line stops the watchdog",
                    intervals.watchdog
                )
            }
            Self::LogLine { fault: LogFault::SlowRead, .. } => {
                "the kernel could not compare the counter in time, which is not evidence against it; tsc=reliable on the \
                 kernel's command line stops its watchdog, and newer kernels leave such a comparison out"
                    .to_owned()
            }
            Self::LogLine { .. } => {
                "update firmware and hypervisor, which set the counters; if the CPUs' counters agree all the same, \
                 tsc=reliable on the kernel's command line stops the watchdog"
                    .to_owned()
            }
            Self::NotOffered => "read why with: dmesg | grep -iE 'tsc|clocksource'".to_owned(),
            Self::PrefersScaled { .. } => {
                "have the hypervisor pass an invariant counter on (QEMU: -cpu host,+invtsc), or boot with clocksource=tsc"
                    .to_owned()
            }
            Self::MissingFlags { .. } => {
                "on a virtual machine have the hypervisor pass them on; on old hardware use another clocksource".to_owned()
            }
            Self::NoTimecounter => {
                "look for a setting that disables it (FreeBSD: machdep.disable_tsc in loader.conf)".to_owned()
            }
            Self::NegativeQuality { .. } => {
                "leave it unused: it is not invariant, or the CPUs' counters are apart; on a virtual machine have the \
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

/// The intervals, and the clock that they accuse.
impl fmt::Display for WatchdogIntervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WatchdogIntervals { watchdog, watchdog_ns, clocksource, clocksource_ns, in_use } = self;
        let [watchdog_s, clocksource_s] = [watchdog_ns, clocksource_ns].map(|ns| *ns as f64 / 1e9);
        let meaning = match (self.accused(), in_use) {
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
        write!(
            f,
            "{watchdog} counted {watchdog_s:.3} s and {clocksource} {clocksource_s:.3} s where a timer waits half a second, \
             {meaning}"
        )
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
        for (cause, found, source, remedy, is_fault) in [
            (log(LogFault::CpuSkew), "the kernel said: TSC warp between CPUs", "log", "counters are apart", true),
            (
                log(LogFault::SlowRead),
                "the kernel said: TSC warp between CPUs",
                "log",
                "not evidence against it",
                false,
            ),
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
            (KernelCause::MissingFlags { flags }, "see constant_tsc and nonstop_tsc", "cpuinfo", "pass them on", false),
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
            let [seen, advice] = [cause.to_string(), cause.advice()];
            let has_all = seen.contains(found) && cause.source().contains(source) && advice.contains(remedy);
            assert!(has_all && cause.is_fault() == is_fault, "{cause:?}: {seen}, {advice}");
        }
    }
}
