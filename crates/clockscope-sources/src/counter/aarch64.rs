//! The Arm generic timer's virtual counter, CNTVCT_EL0.

use clockscope_arch::counter as arch;

use super::{counter, counters, info};
use crate::{Entry, Errno, RawClock, Visitor};

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "dsb_isb_cntvct_isb";

counters! {
    frequency_hz: arch::stated_frequencies().cntfrq_hz.map(|hz| hz as f64);
    Cntvct: "cntvct", &[], false, arch::cntvct, arch::has_counter(), "CNTVCT_EL0, may be read early";
    CntvctIsb: "cntvct_isb", &["isb_cntvct"], true, arch::isb_cntvct, arch::has_counter(), "ISB; CNTVCT_EL0";
    CntvctDsbIsb: "cntvct_dsb_isb", &["dsb_isb_cntvct"], true, arch::dsb_isb_cntvct, arch::has_counter(),
        "DSB ISHLD; ISB; CNTVCT_EL0";
    Cntvctss: "cntvctss", &[], true, arch::cntvctss, arch::has_cntvctss(), "CNTVCTSS_EL0, self-synchronized";
}
