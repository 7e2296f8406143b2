//! The check of a clock's resolution.

use serde::{Deserialize, Serialize};

use super::or_reason;
use crate::evidence::Evidence;
use crate::units::{tick_time, time};
use crate::{Finding, Unknown};

/// The resolution of the clock's readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Resolution {
    /// Its tick.
    pub tick_ns: Option<f64>,
    /// The bound of a tick that was not found.
    pub at_most_ns: Option<f64>,
    /// Its nominal resolution, where that is coarse although it is not coarse by design.
    pub coarse_nominal_ns: Option<f64>,
    /// Reason why all of these are `null`.
    pub reason: Option<Unknown>,
}

impl Evidence for Resolution {
    const NAME: &str = "resolution";
    const SOURCE: &str = "its readings";

    fn source(&self) -> &'static str {
        if self.tick_ns.is_none() && self.coarse_nominal_ns.is_some() { "the interface" } else { Self::SOURCE }
    }

    fn text(&self, _finding: Finding) -> String {
        match (self.tick_ns, self.coarse_nominal_ns, self.at_most_ns) {
            (Some(ns), ..) => format!("its tick is {}", tick_time(ns)),
            (None, Some(ns), _) => format!("its nominal resolution is {}", time(ns)),
            (None, None, Some(ns)) => format!("its tick is {} or less", time(ns)),
            (None, None, None) => or_reason(self.reason.as_ref(), "it did not advance"),
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(if self.coarse_nominal_ns.is_some() {
            "use it only for much longer intervals, and monotonic for others"
        } else {
            "the kernel has no fine clocksource (boot without clocksource=jiffies, with HPET or ACPI timer enabled), or a \
             preloaded library rounds it; until then measure only much longer intervals"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Resolution {
        fn examples() -> Vec<Self> {
            vec![Self { tick_ns: Some(4e6), at_most_ns: None, coarse_nominal_ns: None, reason: None }]
        }
    }
}
