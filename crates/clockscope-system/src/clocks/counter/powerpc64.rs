//! The POWER time base.

use clockscope_core::counter as arch;

use super::{counter, counters, with_frequency};
use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "sync_mftb_isync";

counters! {
    frequency_hz: None;
    Timebase: "timebase", arch::unordered, arch::has_counter();
    TimebaseIsync: "timebase_isync", arch::after_branches, arch::has_counter();
    TimebaseSync: "timebase_sync", arch::after, arch::has_counter();
}
