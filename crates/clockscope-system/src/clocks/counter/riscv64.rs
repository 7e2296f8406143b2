//! The RISC-V real-time counter.

use clockscope_core::counter as arch;

use super::{counter, counters, with_frequency};
use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "fence_rdtime_fence";

counters! {
    frequency_hz: None;
    Rdtime: "rdtime", arch::unordered, arch::has_counter();
    RdtimeFence: "rdtime_fence", arch::after, arch::has_counter();
}
