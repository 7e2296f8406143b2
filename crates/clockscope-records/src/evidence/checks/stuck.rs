//! The check for a clock that stops.

use serde::{Deserialize, Serialize};

use super::{ASK_FOR_LONGER, or_reason};
use crate::evidence::Evidence;
use crate::units::time;
use crate::{Finding, Unknown, counted};

/// Does the clock ever stop?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Stuck {
    /// Runs of 200 or more repeats of one value that the clock's tick does not explain.
    pub runs: Option<u64>,
    /// Time for which the clock showed one value, in ns; `null` for a clock that changed.
    pub unchanged_ns: Option<f64>,
    /// Reason why both are `null`.
    pub reason: Option<Unknown>,
}

impl Evidence for Stuck {
    const NAME: &str = "stuck";
    const SOURCE: &str = "successive readings";

    fn text(&self, finding: Finding) -> String {
        match (self.unchanged_ns, self.runs) {
            (Some(ns), _) if finding == Finding::Unknown => {
                format!("it showed one value for {}: its tick may be as long", time(ns))
            }
            (Some(ns), _) => format!("it showed one value for {}", time(ns)),
            (None, Some(runs)) => {
                format!("{} of readings showed one value for longer than its tick explains", counted(runs, "run"))
            }
            (None, None) => or_reason(self.reason.as_ref(), "nothing was read"),
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        Some("do not wait by this clock: it may never reach the time waited for")
    }

    fn next_step(&self) -> Option<&'static str> {
        self.unchanged_ns.map(|_| ASK_FOR_LONGER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Stuck {
        fn examples() -> Vec<Self> {
            vec![Self { runs: Some(3), unchanged_ns: Some(2e9), reason: None }]
        }
    }
}
