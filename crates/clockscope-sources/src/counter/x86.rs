//! The x86 time-stamp counter.

use clockscope_arch::counter as arch;

use super::{counter, counters, info};
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "lfence_tsc_lfence";

counters! {
    frequency_hz: None;
    Tsc: "tsc", &["rdtsc"], false, arch::rdtsc, arch::has_counter(), "RDTSC, unordered";
    TscLfence: "tsc_lfence", &["lfence_rdtsc"], true, arch::lfence_rdtsc, arch::has_counter(), "LFENCE; RDTSC";
    Rdtscp: "rdtscp", &["tscp"], true, arch::rdtscp, arch::has_rdtscp(), "RDTSCP";
    RdtscpLfence: "rdtscp_lfence", &[], true, arch::rdtscp_lfence, arch::has_rdtscp(), "RDTSCP; LFENCE";
    TscCpuid: "tsc_cpuid", &["cpuid_rdtsc"], true, arch::cpuid_rdtsc, arch::has_counter(), "CPUID; RDTSC";
}
