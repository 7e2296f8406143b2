//! The suspect for a step of a clock, and the remedy that follows from it.

use serde::{Deserialize, Serialize};

pub(super) const REPORT_TO_KERNEL: &str =
    "use another clock, and report it: the kernel promises that this one runs on and never goes back";
pub(super) const AVOID_PRELOADED: &str = "run the program without the library that answers in the kernel's place (LD_PRELOAD, /etc/ld.so.preload), or \
                    read by the system call, which shows the kernel's time";

/// The suspect for a step of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Suspect {
    /// The processor's counter.
    Counter,
    /// The kernel, which promises that its clocks never go backward.
    Kernel,
    /// A person or a daemon that sets the wall clock.
    Setting,
    /// The path by which the clock is read: by the system call it shows another time.
    Path,
}

impl Suspect {
    /// Returns the remedy of a step.
    pub(super) const fn remedy(self) -> &'static str {
        match self {
            Self::Counter => {
                "use the system's monotonic clock by system call, or clockscope's, which stops using the counter automatically"
            }
            Self::Kernel => REPORT_TO_KERNEL,
            Self::Path => AVOID_PRELOADED,
            Self::Setting => "measure durations by monotonic; this clock was set: look for NTP steps and settimeofday",
        }
    }
}
