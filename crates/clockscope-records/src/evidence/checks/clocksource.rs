//! The check that the kernel's clocks are based on the counter.

use clockscope_core::evidence::{self, KernelClocksource};
use serde::{Deserialize, Serialize};

use crate::Finding;
use crate::evidence::Evidence;

/// Are the kernel's clocks based on the counter?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Clocksource {
    /// The kernel's clocksource.
    pub current: Option<String>,
    /// The one that it used when the check began; `null` unless it changed during the run.
    pub former: Option<String>,
    /// True if the hardware guarantees the counter a constant rate; `null` if that is unknown.
    pub invariant: Option<bool>,
}

impl Evidence for Clocksource {
    const NAME: &str = evidence::CLOCKSOURCE;
    const SOURCE: &str = "sysfs, current_clocksource";

    fn text(&self, finding: Finding) -> String {
        match (&self.current, &self.former) {
            (Some(current), Some(former)) => {
                format!("the kernel switched from {former} to {current} while it was checked")
            }
            (current, _) => KernelClocksource { name: current.as_deref(), is_it: finding == Finding::For }.to_string(),
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        let remedy = if self.former.is_some() {
            "find the cause: see `clockscope clocksource`, the kernel's log, and programs that switch the clocksource"
        } else if self.invariant == Some(true) {
            "see why with `clockscope clocksource`; where the counter is sound, clockscope::revalidate() takes it into use"
        } else {
            "see why with `clockscope clocksource`; until then the system's clock is the safe one"
        };
        Some(remedy)
    }

    fn next_step(&self) -> Option<&'static str> {
        Some("mount /sys into the container, and try again; clockscope::revalidate() tests the counter without it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Clocksource {
        fn examples() -> Vec<Self> {
            let (current, former) = (Some("hpet".to_owned()), Some("tsc".to_owned()));
            vec![Self { current, former, invariant: Some(true) }]
        }
    }
}
