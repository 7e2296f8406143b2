//! The check that readings from different CPUs can be compared.

use clockscope_core::evidence;
use serde::{Deserialize, Serialize};

use super::{ASK_FOR_LONGER, Suspect};
use crate::evidence::Evidence;
use crate::units::time;
use crate::{CpuLimit, Finding, PairsReason, Unknown, counted, grouped};

pub(super) const ASK_ON_TWO_CPUS: &str =
    "let the program run on two CPUs or more, and start threads there (taskset, cpuset, ulimit), and try again";
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
    pub reason: Option<Unknown>,
}

/// Returns whether the machine has one CPU, so that no other can disagree.
pub(super) fn is_of_one_cpu(reason: Option<&Unknown>) -> bool {
    matches!(reason, Some(Unknown::Pairs(PairsReason::OneCpu { limit: Some(CpuLimit::Machine), .. })))
}

impl Evidence for Order {
    const NAME: &str = evidence::ORDER;
    const SOURCE: &str = "handoffs";
    const IS_TEST: bool = true;

    fn source(&self) -> &'static str {
        if is_of_one_cpu(self.reason.as_ref()) { "the system" } else { Self::SOURCE }
    }

    fn text(&self, _finding: Finding) -> String {
        match &self.reason {
            Some(reason) => reason.to_string(),
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
        if self.reason.is_some() {
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
        match self.reason.as_ref()? {
            Unknown::Pairs(PairsReason::FewHandoffs { .. }) => Some(ASK_FOR_LONGER),
            Unknown::Pairs(_) => Some(ASK_ON_TWO_CPUS),
            _ => Some(ASK_FOR_LONGER),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::evidence::tests::Examples;
    use crate::texts;

    /// Returns the reasons for a missing answer, and `None` for an answer.
    pub(in super::super) fn reasons() -> [Option<Unknown>; 5] {
        let one_cpu = PairsReason::OneCpu { cpu: 0, limit: Some(CpuLimit::Machine) };
        let few_handoffs = PairsReason::FewHandoffs { handoffs: 5 };
        let no_handoff = Some(texts::NO_HANDOFF.into());
        [None, Some(one_cpu.into()), Some(PairsReason::NoClock.into()), no_handoff, Some(few_handoffs.into())]
    }

    impl Examples for Order {
        fn examples() -> Vec<Self> {
            let order = |reason| Self {
                regressions: Some(2),
                handoffs: 5000,
                pairs: 3,
                shared_with: None,
                worst_ns: Some(71.5),
                suspect: Suspect::Counter,
                reason,
            };
            reasons().map(order).into()
        }
    }
}
