//! Facts that some systems lack, with the signatures of those that have them. A system's folder
//! names what it takes from here.

#![allow(dead_code, reason = "each system takes what it lacks")]

use clockscope_records::{Adjtimex, Figure, Kernel, PtpClock, WindowsFacts};

use crate::Errno;
use crate::os::sleep_call::{Call, SleepError};

/// Other systems than Linux have no such call.
pub(crate) fn adjtimex() -> Option<Result<Adjtimex, Errno>> {
    None
}

/// Other systems than Windows are not Wine.
pub(crate) fn is_wine() -> bool {
    false
}

/// The system has no uname.
pub(crate) fn kernel() -> Kernel {
    let unknown = Figure::unknown("the system has no uname");
    Kernel { name: unknown.clone(), release: unknown.clone(), version: unknown }
}

/// Other systems than Linux have other logs.
pub(crate) fn kernel_log() -> Option<Result<Vec<String>, Errno>> {
    None
}

/// Number of CPUs that are online.
pub(crate) fn online_cpus() -> Figure<u32> {
    Figure::unknown("clockscope asks Linux and Windows alone")
}

/// Only Windows has this counter.
pub(crate) fn performance_counter_hz() -> Option<Figure<u64>> {
    None
}

/// Only Linux has these devices.
pub(crate) fn ptp() -> Vec<PtpClock> {
    Vec::new()
}

/// Sleeps by no call that clockscope knows.
#[derive(Debug)]
pub(crate) struct Sleeper;

impl Sleeper {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn sleep(&self, _: Call, _: u64, _: u64) -> Result<(), SleepError> {
        Err(SleepError::Unsupported)
    }
}

/// Context switches are not asked for.
pub(crate) fn switches() -> Option<(u64, u64)> {
    None
}

/// Only the BSDs have timecounters.
pub(crate) fn timecounters() -> Option<String> {
    None
}

/// Only FreeBSD shows facts of each timecounter.
pub(crate) fn timecounter_number(_: &str, _: &str) -> Option<u64> {
    None
}

/// Only Linux has a timer slack.
pub(crate) fn timer_slack_ns() -> Option<u64> {
    None
}

/// Only Linux has a vDSO.
pub(crate) fn vdso() -> Figure<bool> {
    Figure::unknown("only Linux has a vDSO")
}

/// Only Windows has these.
pub(crate) fn windows() -> Option<WindowsFacts> {
    None
}
