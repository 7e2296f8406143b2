//! What the kernel could build its clocks on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::demand::ignored;
use crate::figure::{add_unknown, record};
use crate::{Envelope, Figure, Measurement, PerformanceCounter};

/// The result of `clockscope clocksource`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clocksources {
    /// Those that the kernel could use, the best first, as it orders them.
    pub clocksources: Vec<Clocksource>,
    /// What the kernel thinks of the processor's counter.
    pub counter: KernelVerdict,
    /// What a run that was killed has left switched; `null` where there is nothing of that kind.
    pub left_behind: Option<LeftBehind>,
    /// The run that has the clocksource switched just now; `null` where there is none.
    pub holder: Option<Holder>,
    /// What is behind QueryPerformanceCounter; `null` on other systems than Windows.
    pub performance_counter: Option<PerformanceCounter>,
    /// The same for people. Renderers write it beside the data; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<ClocksourcesProse>,
}

/// A run that has the clocksource switched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Holder {
    /// A process that will put it back.
    Process {
        /// Its number; `null` where it has not been noted down yet.
        pid: Option<u32>,
    },
    /// A run of another user: whether it goes on is not shown to this one.
    OtherUser {
        /// The file in which it has noted down what was in use before.
        marker: String,
    },
}

/// The run and what to do, in the words of errors and of tables alike.
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid } => {
                let process = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
                write!(f, "{process} has switched the clocksource and will put it back: wait until it has ended")
            }
            Self::OtherUser { marker } => write!(
                f,
                "another user's run has switched the clocksource and not put it back yet ({marker}): ask as that \
                 user, or as root"
            ),
        }
    }
}

/// What holds the clocksource, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClocksourcesProse {
    /// The run that has it switched, and what to do; `null` where there is none.
    pub held: Option<String>,
}

/// One clocksource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "Clocksource", transform = add_unknown)]
pub struct Clocksource {
    /// Its name.
    pub name: String,
    /// Whether the kernel uses it now.
    pub current: bool,
    /// What it is.
    pub description: Figure<String>,
    /// How good the kernel says that it is, compared with others; below 0, it does not choose it by
    /// itself. Only the BSDs show it, and `null` elsewhere.
    pub quality: Option<i64>,
    /// How fast it counts, in Hz.
    pub frequency_hz: Figure<f64>,
    /// Bits that count.
    pub bits: Figure<u32>,
    /// Time until it wraps, in seconds.
    pub wraps_after_s: Figure<f64>,
    /// Whether programs read it without entering the kernel (vDSO).
    pub vdso: Figure<bool>,
    /// The usual cost of a read with it, in words.
    pub usual_cost: Figure<String>,
}

record!(Clocksource { description, frequency_hz, bits, wraps_after_s, vdso, usual_cost });

/// What the kernel thinks of the processor's counter, as far as it reports that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelVerdict {
    /// The clocksource that is the counter; `null` on an architecture where none is known.
    pub name: Option<String>,
    /// Whether the kernel builds its clocks on it now.
    pub is_current: Option<bool>,
    /// Whether the kernel would let it be used: `false` means that it was found unfit, or switched
    /// off at boot.
    pub is_available: Option<bool>,
    /// Why it is not used, as far as that can be known: the most certain first.
    pub reasons: Vec<Reason>,
    /// Why reasons may be missing; `null` where all places could be looked at.
    pub not_looked_at: Option<String>,
}

/// One reason why the kernel does not use the counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What was found.
    #[serde(flatten)]
    pub cause: KernelCause,
    /// The same for people. Renderers write it beside the cause; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<ReasonProse>,
}

/// A reason in words, with what follows from its cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReasonProse {
    /// What was found.
    pub seen: String,
    /// Where.
    pub source: String,
    /// Whether it says that the counter itself is bad. Otherwise a user or a program preferred
    /// another.
    pub is_fault: bool,
    /// What to do.
    pub advice: String,
}

/// What keeps the kernel from using the counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
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
    LackingFlags {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// How long Linux waits between two looks at a clocksource, in ns (`WATCHDOG_INTERVAL` of
/// `kernel/time/clocksource.c`): a timer, which may be late, but not early.
const LOOKS_APART_NS: std::ops::RangeInclusive<u64> = 499_000_000..=520_000_000;

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
        match [self.watchdog_ns, self.clocksource_ns].map(|ns| LOOKS_APART_NS.contains(&ns)) {
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
            | Self::LackingFlags { .. }
            | Self::NoTimecounter
            | Self::PrefersTimecounter { .. }
            | Self::ChosenTimecounter { .. } => false,
        }
    }
}

impl From<KernelCause> for Reason {
    fn from(cause: KernelCause) -> Self {
        Self { cause, prose: None }
    }
}

/// A clocksource that a run has switched and not put back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftBehind {
    /// Process that switched.
    pub pid: u32,
    /// The clocksource that was in use before.
    pub was: String,
    /// The one in use now.
    pub is: Option<String>,
}

/// The result of `clockscope measure --clocksource`: the same measurement with one clocksource
/// after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Switched {
    /// The clocksource before and after.
    pub was: String,
    /// One entry a clocksource, in the order asked for; its `environment.clocksource` names it.
    pub measurements: Vec<Envelope<Measurement>>,
    /// What went wrong during the run, or when it was put back; `null` if nothing did.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_named_with_what_to_do() {
        for (holder, start, end) in [
            (Holder::Process { pid: Some(4711) }, "process 4711 has switched", "wait until it has ended"),
            (Holder::Process { pid: None }, "another process has switched", "wait until it has ended"),
            (
                Holder::OtherUser { marker: "/run/x".to_owned() },
                "another user's run",
                "(/run/x): ask as that user, or as root",
            ),
        ] {
            let held = holder.to_string();
            assert!(held.starts_with(start) && held.ends_with(end), "{held}");
        }
    }
}
