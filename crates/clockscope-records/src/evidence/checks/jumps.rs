//! The check for jumps beside a second clock.

use serde::{Deserialize, Serialize};

use super::{ReferenceProblem, Suspect, or_reason, reference};
use crate::evidence::Evidence;
use crate::{Finding, Unknown, counted, grouped};

/// Does the clock advance by more, or by less, than a second clock does meanwhile?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Jumps {
    /// Steps ahead of the second clock.
    pub ahead: Option<u64>,
    /// Steps behind it; `null` for a coarse clock.
    pub behind: Option<u64>,
    /// Readings that were compared.
    pub readings: u64,
    /// The second clock.
    pub reference: Option<String>,
    /// The suspect for a jump.
    pub suspect: Suspect,
    /// Reason why the second clock cannot judge this one.
    pub reference_problem: Option<ReferenceProblem>,
    /// `true` if both are computed from one hardware counter; `null` where that is unknown.
    pub reference_shares_hardware: Option<bool>,
    /// Reason why `ahead` is `null`.
    pub reason: Option<Unknown>,
}

impl Evidence for Jumps {
    const NAME: &str = "jumps";
    const SOURCE: &str = "successive readings";
    const IS_TEST: bool = true;

    fn text(&self, finding: Finding) -> String {
        let Some(ahead) = self.ahead else { return or_reason(self.reason.as_ref(), "nothing was read") };
        let ahead = counted(ahead, "step");
        let reference = reference::name(self.reference.as_deref());
        let behind = self.behind.map_or_else(String::new, |behind| format!(" and {} behind it", grouped(behind)));
        let readings = grouped(self.readings);
        let problem = self.reference_problem.map_or_else(String::new, |problem| format!("; {}", problem.text()));
        let found = format!("{ahead} ahead of {reference}{behind} in {readings} readings{problem}");
        reference::qualified(found, finding, self.reference_shares_hardware)
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(match self.suspect {
            Suspect::Kernel => {
                "use another clock; if nothing slews it (chrony, adjtime), report it: the kernel promises that this \
                 one runs on and never jumps"
            }
            suspect => suspect.remedy(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Jumps {
        fn examples() -> Vec<Self> {
            let problems = [
                ReferenceProblem::TimerTick,
                ReferenceProblem::ReferenceChanged,
                ReferenceProblem::CounterUnfit,
                ReferenceProblem::SeenOnce,
            ];
            let jumps = |problem| Self {
                ahead: Some(1),
                behind: None,
                readings: 9,
                reference: Some("monotonic".to_owned()),
                suspect: Suspect::Kernel,
                reference_problem: Some(problem),
                reference_shares_hardware: None,
                reason: None,
            };
            problems.map(jumps).into()
        }
    }

    /// A fast slew looks like jumps, and is no fault of the kernel.
    #[test]
    fn jumps_of_a_clock_that_was_not_set_may_be_a_slew() {
        for jumps in Jumps::examples() {
            assert!(jumps.remedy().is_some_and(|remedy| remedy.contains("if nothing slews it")));
        }
    }
}
