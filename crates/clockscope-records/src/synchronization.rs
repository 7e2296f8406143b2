//! Facts known of the time of day: from the kernel, from chronyd, and from PTP hardware clocks.

use serde::{Deserialize, Serialize};

use crate::{Adjtimex, Figure};

/// The sources that keep the time of day, and those that can be compared with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Synchronization", transform = crate::schema::add_unknown))]
pub struct Synchronization {
    /// The kernel's own figures about CLOCK_REALTIME.
    pub adjtimex: Figure<Adjtimex>,
    /// The statement of chronyd; `null` where it does not answer on the loopback.
    pub chrony: Figure<ChronyTracking>,
    /// One entry a PTP hardware clock (/dev/ptp*).
    pub ptp: Vec<PtpClock>,
}

/// The statement of chronyd on the clock that it keeps: the answer to `chronyc tracking`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChronyTracking {
    /// Servers from here to a reference clock, and one; 0 where that is not known.
    pub stratum: u16,
    /// The lag of CLOCK_REALTIME behind true time, in s: what is still to be corrected.
    pub correction_s: f64,
    /// The largest error that remains beside it, in s: half of the root delay, and the root
    /// dispersion.
    pub error_s: f64,
    /// Correction of the frequency, in ppm.
    pub freq_ppm: f64,
    /// Estimated error of that correction, in ppm.
    pub skew_ppm: f64,
    /// Time between the last two measurements of its source, in s.
    pub update_interval_s: f64,
}

/// A PTP hardware clock beside CLOCK_REALTIME.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PtpClock", transform = crate::schema::add_unknown))]
pub struct PtpClock {
    /// Its device, e.g. `ptp0`.
    pub device: String,
    /// The driver's name for it, e.g. `KVM virtual PTP` or `hyperv`.
    pub name: Figure<String>,
    /// Its lead over CLOCK_REALTIME, in s. One that keeps TAI is ahead by the leap seconds.
    pub offset_s: Figure<f64>,
    /// Bound of `offset_s`, in s: half of the time that the comparison took.
    pub bound_s: Figure<f64>,
}

/// Parts of the names of drivers that pass on the host's time: ptp_kvm, hv_util, ptp_vmw and
/// ptp_vmclock of Linux.
const VIRTUAL: [&str; 4] = ["virtual", "hyperv", "vmw", "vmclock"];

impl PtpClock {
    /// Returns whether it shows the time of the host, which may be made of the same counter; `true`
    /// where its name is not known.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        self.name.as_deref().is_none_or(|name| VIRTUAL.iter().any(|part| name.contains(part)))
    }
}
