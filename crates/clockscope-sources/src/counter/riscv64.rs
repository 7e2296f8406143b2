//! The RISC-V real-time counter.

use clockscope_arch::counter as arch;

use super::{counter, counters, info};
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "fence_rdtime_fence";

counters! {
    frequency_hz: None;
    Rdtime: "rdtime", &[], false, arch::unordered, arch::has_counter(), "RDTIME";
    RdtimeFence: "rdtime_fence", &["fence_rdtime"], true, arch::after, arch::has_counter(), "FENCE; RDTIME";
}
