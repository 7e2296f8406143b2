//! The check of the counter behind a clock of the kernel.

use serde::{Deserialize, Serialize};

use super::EvidenceKind;
use crate::Finding;
use crate::evidence::Evidence;

/// Is the counter sound that the kernel computes this clock from?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Counter {
    /// The checks that make the counter unfit.
    pub faults: Vec<EvidenceKind>,
}

impl Evidence for Counter {
    const NAME: &str = "counter";
    const SOURCE: &str = "the counter's verdict";

    fn text(&self, _finding: Finding) -> String {
        let faults: Vec<&str> = self.faults.iter().map(|fault| fault.name()).collect();
        format!("the kernel computes it from the counter, which is unfit: {}", faults.join(", "))
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(
            "have the kernel use another clocksource (clocksource=hpet or acpi_pm on its command line) until \
                      the counter is sound",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Counter {
        fn examples() -> Vec<Self> {
            vec![Self { faults: vec![EvidenceKind::Jumps, EvidenceKind::Order] }]
        }
    }
}
