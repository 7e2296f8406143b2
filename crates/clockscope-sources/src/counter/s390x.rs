//! The s390x time-of-day clock, in units of 2^-12 µs.

use clockscope_arch::counter as arch;

use super::{counter, counters, info};
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "bcr_stckf_bcr";

counters! {
    frequency_hz: Some(4_096_000_000.0);
    Stckf: "stckf", &["tod"], false, arch::unordered, arch::has_counter(), "STCKF";
    StckfBcr: "stckf_bcr", &["bcr_stckf"], true, arch::after, arch::has_counter(), "BCR 15,0; STCKF";
}
