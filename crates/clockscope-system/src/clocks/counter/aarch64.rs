//! The Arm generic timer's virtual counter, CNTVCT_EL0.

use clockscope_core::counter as arch;

use super::{counter, counters, with_frequency};
use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "dsb_isb_cntvct_isb";

counters! {
    frequency_hz: arch::nominal_frequencies().cntfrq_hz.map(|hz| hz as f64);
    Cntvct: "cntvct", arch::cntvct, arch::has_counter();
    CntvctIsb: "cntvct_isb", arch::isb_cntvct, arch::has_counter();
    CntvctDsbIsb: "cntvct_dsb_isb", arch::dsb_isb_cntvct, arch::has_counter();
    Cntvctss: "cntvctss", arch::cntvctss, arch::has_cntvctss();
}
