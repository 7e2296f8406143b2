//! The check for the hardware's promise of a constant rate.

use clockscope_core::evidence;
use serde::{Deserialize, Serialize};

use crate::Finding;
use crate::evidence::Evidence;

/// Does the hardware guarantee the counter a constant rate in all power states?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Invariance {
    /// True if it does; `null` if that is unknown.
    pub invariant: Option<bool>,
    /// True if CPUID states it; otherwise the architecture does.
    pub by_cpuid: bool,
}

impl Evidence for Invariance {
    const NAME: &str = evidence::INVARIANCE;
    const SOURCE: &str = "CPUID 80000007h";

    fn source(&self) -> &'static str {
        if self.by_cpuid { Self::SOURCE } else { "the architecture" }
    }

    fn text(&self, _finding: Finding) -> String {
        evidence::invariance(self.invariant).to_owned()
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(evidence::NOT_INVARIANT_ADVICE)
    }

    fn next_step(&self) -> Option<&'static str> {
        Some("use the system's clock, or compare rates over a long time: clockscope rate --until 0.01ppm")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Invariance {
        fn examples() -> Vec<Self> {
            vec![Self { invariant: Some(false), by_cpuid: true }]
        }
    }
}
