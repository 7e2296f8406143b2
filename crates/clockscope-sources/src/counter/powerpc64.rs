//! The POWER time base.

use clockscope_arch::counter as arch;

use super::{counter, counters, info};
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "sync_mftb_isync";

counters! {
    frequency_hz: None;
    Timebase: "timebase", &["mftb"], false, arch::unordered, arch::has_counter(), "MFTB";
    TimebaseIsync: "timebase_isync", &["isync_mftb"], true, arch::after_branches, arch::has_counter(), "ISYNC; MFTB";
    TimebaseSync: "timebase_sync", &["sync_mftb"], true, arch::after, arch::has_counter(), "SYNC; MFTB";
}
