//! The check of a clock's rate.

use clockscope_core::evidence::FrequencyOffset;
use serde::{Deserialize, Serialize};

use super::suspect::REPORT_TO_KERNEL;
use super::{ASK_FOR_LONGER, or_reason, reference};
use crate::evidence::Evidence;
use crate::{Finding, Unknown};

pub(super) const WRONG_FREQUENCY: &str = "measure by monotonic, which the daemon corrects; correct the stated frequency (device tree, firmware, \
                               tsc=recalibrate): `clockscope help wrong-rate`";

/// The clock's rate relative to the one that is never steered. Of a CPU-time clock, relative to
/// wall time while the thread spins, or to another CPU-time clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Rate {
    /// Its frequency offset.
    pub ppm: Option<f64>,
    /// The bound of `ppm`.
    pub bound_ppm: Option<f64>,
    /// The second clock.
    pub reference: Option<String>,
    /// By how much a time daemon corrects the rate of the second clock, and will go on to: it
    /// has a wrong frequency. `null` where that is not known, or no more than a crystal's
    /// error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting_ppm: Option<f64>,
    /// True if one rate explains all brackets; `null` if that is unknown.
    pub constant: Option<bool>,
    /// True if steering can explain the offset.
    pub steerable: bool,
    /// `true` if both are computed from one hardware counter; `null` where that is unknown.
    pub reference_shares_hardware: Option<bool>,
    /// Reason why `ppm` is `null`.
    pub reason: Option<Unknown>,
}

impl Rate {
    fn offset(&self) -> Option<FrequencyOffset> {
        Some(FrequencyOffset { ppm: self.ppm?, bound_ppm: self.bound_ppm? })
    }
}

impl Evidence for Rate {
    const NAME: &str = "rate";
    const SOURCE: &str = "brackets";
    const IS_TEST: bool = true;

    fn source(&self) -> &'static str {
        if self.lasting_ppm.is_some() { "brackets and the daemon's statement" } else { Self::SOURCE }
    }

    fn text(&self, finding: Finding) -> String {
        let Some(offset) = self.offset() else { return or_reason(self.reason.as_ref(), "it was not compared") };
        let reference = reference::name(self.reference.as_deref());
        let changing = if self.constant == Some(false) { ", and changes" } else { "" };
        let lasting = self.lasting_ppm.map_or_else(String::new, |lasting| {
            format!(
                "; a time daemon corrects the frequency of {reference} by {lasting:+.3} ppm for good, since it is wrong"
            )
        });
        let found = format!("it runs by {offset} against {reference}{changing}{lasting}");
        reference::qualified(found, finding, self.reference_shares_hardware)
    }

    fn brief(&self) -> Option<String> {
        self.offset().map(|offset| format!("rate {offset}"))
    }

    fn remedy(&self) -> Option<&'static str> {
        let remedy = match (self.lasting_ppm, self.ppm) {
            _ if !self.steerable => REPORT_TO_KERNEL,
            // One that follows the daemon's correction at all is slewed besides.
            (Some(lasting), Some(ppm)) if (ppm - lasting).abs() >= ppm.abs() => WRONG_FREQUENCY,
            _ => {
                "it is being slewed (adjtime, chrony, ntpd): measure short durations by monotonic_raw until it has caught up"
            }
        };
        Some(remedy)
    }

    fn next_step(&self) -> Option<&'static str> {
        self.ppm.map(|_| ASK_FOR_LONGER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Rate {
        fn examples() -> Vec<Self> {
            vec![Self {
                ppm: Some(-500.0),
                bound_ppm: Some(0.5),
                reference: Some("monotonic_raw".to_owned()),
                lasting_ppm: None,
                constant: Some(false),
                steerable: true,
                reference_shares_hardware: Some(false),
                reason: None,
            }]
        }
    }
}
