//! The sources that the kernel could build its clocks on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::{worded, written};
use crate::{Envelope, Figure, KernelVerdict, Measurement, PerformanceCounter};

/// The result of `clockscope clocksource`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Clocksources", transform = crate::schema::add_words::<Clocksources>))]
#[serde(remote = "Self")]
pub struct Clocksources {
    /// Those that the kernel could use, the best first, as it orders them.
    pub clocksources: Vec<Clocksource>,
    /// The kernel's verdict on the processor's counter.
    pub counter: KernelVerdict,
    /// The state that a run that was killed has left switched; `null` where there is nothing of
    /// that kind.
    pub left_behind: Option<LeftBehind>,
    /// The run that has the clocksource switched just now; `null` where there is none.
    pub switched_by: Option<SwitchedBy>,
    /// QueryPerformanceCounter; `null` on other systems than Windows.
    pub performance_counter: Option<PerformanceCounter>,
}

/// A run that has the clocksource switched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum SwitchedBy {
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
impl fmt::Display for SwitchedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid } => {
                let process = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
                write!(f, "{process} has switched the clocksource and will restore it: wait until it has ended")
            }
            Self::OtherUser { marker } => write!(
                f,
                "another user's run has switched the clocksource and not restored it yet ({marker}): try as that \
                 user, or as root"
            ),
        }
    }
}

worded!(Clocksources {
    /// The run that has it switched, and what to do; `null` where there is none.
    switched_note: Option<String> = |found: &Clocksources| found.switched_by.as_ref().map(ToString::to_string),
});
written!(Clocksources);

/// One clocksource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Clocksource", transform = crate::schema::add_unknown))]
pub struct Clocksource {
    /// Its name.
    pub name: String,
    /// True if the kernel uses it now.
    pub current: bool,
    /// A description of it.
    pub description: Figure<String>,
    /// Its quality compared with others, as the kernel states it; below 0, the kernel does not
    /// choose it by itself. Only the BSDs show it, and `null` elsewhere.
    pub quality: Option<i64>,
    /// The frequency at which it counts, in Hz.
    pub frequency_hz: Figure<f64>,
    /// Bits that count.
    pub bits: Figure<u32>,
    /// Time until it wraps, in seconds.
    pub wraps_after_s: Figure<f64>,
    /// True if programs read it without entering the kernel (vDSO).
    pub vdso: Figure<bool>,
    /// The cost of a read of CLOCK_MONOTONIC with it here, in ns: measured of the one in use.
    pub cost_ns: Figure<f64>,
    /// The cost of a system call that reads CLOCK_MONOTONIC with it here, in ns: measured of the
    /// one in use. A read that costs as much enters the kernel.
    pub syscall_ns: Figure<f64>,
}

/// A clocksource that a run has switched and not put back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Switched {
    /// The clocksource before and after.
    pub was: String,
    /// One entry a clocksource, in the order asked for; its `environment.clocksource` names it.
    pub measurements: Vec<Envelope<Measurement>>,
    /// The error during the run, or when it was put back; `null` if there was none.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_named_with_what_to_do() {
        for (switched_by, start, end) in [
            (SwitchedBy::Process { pid: Some(4711) }, "process 4711 has switched", "wait until it has ended"),
            (SwitchedBy::Process { pid: None }, "another process has switched", "wait until it has ended"),
            (
                SwitchedBy::OtherUser { marker: "/run/x".to_owned() },
                "another user's run",
                "(/run/x): try as that user, or as root",
            ),
        ] {
            let text = switched_by.to_string();
            assert!(text.starts_with(start) && text.ends_with(end), "{text}");
        }
    }
}
