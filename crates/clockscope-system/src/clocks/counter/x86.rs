//! The x86 time-stamp counter.

use clockscope_core::counter as arch;

use super::{counter, counters, with_frequency};
use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "lfence_tsc_lfence";

counters! {
    frequency_hz: None;
    Tsc: "tsc", arch::rdtsc, arch::has_counter();
    TscLfence: "tsc_lfence", arch::lfence_rdtsc, arch::has_counter();
    Rdtscp: "rdtscp", arch::rdtscp, arch::has_rdtscp();
    RdtscpLfence: "rdtscp_lfence", arch::rdtscp_lfence, arch::has_rdtscp();
    TscCpuid: "tsc_cpuid", arch::cpuid_rdtsc, arch::has_counter();
}
