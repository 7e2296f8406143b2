//! The check that readings from different CPUs can be compared.

use clockscope_core::evidence;
use serde::{Deserialize, Serialize};

use super::{ASK_FOR_LONGER, Suspect, or_reason};
use crate::evidence::Evidence;
use crate::units::time;
use crate::{Finding, Unknown, counted, grouped};

pub(super) const NO_PAIR: &str = "no pair of CPUs was tested";
pub(super) const ASK_ON_TWO_CPUS: &str =
    "let the program run on two CPUs or more, and start threads there (taskset, cpuset, ulimit), and ask again";
pub(super) const KEEP_ON_ONE_CPU: &str =
    "keep readings on one CPU, or use the system's clock; a newer firmware or hypervisor may synchronize the counters";

/// Can readings from different CPUs be compared?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Order {
    /// Readings that were smaller than an earlier one from another CPU.
    pub regressions: Option<u64>,
    /// Readings that one CPU handed to another.
    pub handoffs: u64,
    /// Pairs of CPUs that were tested.
    pub pairs: u64,
    /// The clock whose readings these are, where too few of its own could be handed over: one
    /// that the same code reads from the same counter; `null` where they are its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_with: Option<String>,
    /// The largest regression.
    pub worst_ns: Option<f64>,
    /// The suspect for a regression.
    pub suspect: Suspect,
    /// Reason why the order was not tested; `null` where it was.
    pub untested: Option<Untested>,
    /// The reason in the words of the test.
    pub reason: Option<Unknown>,
}

/// Reason why a test across CPUs was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Untested {
    /// There is one CPU, so that no other can disagree.
    OneCpu,
    /// No two CPUs could take part.
    NoPair,
    /// Nothing was handed over.
    NoHandoff,
    /// Too little was handed over.
    FewHandoffs,
}

impl Evidence for Order {
    const NAME: &str = evidence::ORDER;
    const SOURCE: &str = "handoffs";
    const IS_TEST: bool = true;

    fn source(&self) -> &'static str {
        if self.untested == Some(Untested::OneCpu) { "the system" } else { Self::SOURCE }
    }

    fn text(&self, _finding: Finding) -> String {
        match self.untested {
            Some(Untested::OneCpu) => "there is one CPU, so that no other can disagree".to_owned(),
            Some(Untested::NoPair) => or_reason(self.reason.as_ref(), NO_PAIR),
            Some(Untested::NoHandoff) => or_reason(self.reason.as_ref(), "nothing was handed over"),
            Some(Untested::FewHandoffs) => format!("{} are too few", counted(self.handoffs, "handoff")),
            None => {
                let back = grouped(self.regressions.unwrap_or_default());
                let handoffs = grouped(self.handoffs);
                let shared = self.shared_with.as_ref();
                let whose = shared.map_or_else(String::new, |clock| format!(" of {clock}, read in the same way,"));
                let pairs = counted(self.pairs, "pair");
                let far = self.worst_ns.map_or_else(String::new, |ns| format!(", by up to {}", time(ns)));
                format!("{back} of {handoffs} readings{whose} went back between {pairs} of CPUs{far}")
            }
        }
    }

    fn brief(&self) -> Option<String> {
        if self.untested.is_some() {
            return None;
        }
        let whose = self.shared_with.as_ref().map_or_else(String::new, |clock| format!(" of {clock}"));
        Some(format!("0 of {} handoffs{whose} went back", grouped(self.handoffs)))
    }

    fn remedy(&self) -> Option<&'static str> {
        let remedy = if self.suspect == Suspect::Counter { KEEP_ON_ONE_CPU } else { self.suspect.remedy() };
        Some(remedy)
    }

    fn next_step(&self) -> Option<&'static str> {
        match self.untested? {
            Untested::NoPair => Some(ASK_ON_TWO_CPUS),
            Untested::NoHandoff | Untested::FewHandoffs => Some(ASK_FOR_LONGER),
            Untested::OneCpu => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Untested {
        pub(in super::super) const EXAMPLES: [Option<Self>; 5] =
            [None, Some(Self::OneCpu), Some(Self::NoPair), Some(Self::NoHandoff), Some(Self::FewHandoffs)];
    }

    impl Examples for Order {
        fn examples() -> Vec<Self> {
            let order = |untested| Self {
                regressions: Some(2),
                handoffs: 5000,
                pairs: 3,
                shared_with: None,
                worst_ns: Some(71.5),
                suspect: Suspect::Counter,
                untested,
                reason: None,
            };
            Untested::EXAMPLES.map(order).into()
        }
    }
}
