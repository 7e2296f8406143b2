//! The s390x time-of-day clock, in units of 2^-12 µs.

use clockscope_core::counter as arch;

use super::{counter, counters, with_frequency};
use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "bcr_stckf_bcr";

counters! {
    frequency_hz: Some(4_096_000_000.0);
    Stckf: "stckf", arch::unordered, arch::has_counter();
    StckfBcr: "stckf_bcr", arch::after, arch::has_counter();
}
