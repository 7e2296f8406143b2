//! The check for offsets between the CPUs' counters.

use clockscope_core::evidence;
use serde::{Deserialize, Serialize};

use super::order::{ASK_ON_TWO_CPUS, KEEP_ON_ONE_CPU, is_of_one_cpu};
use crate::evidence::Evidence;
use crate::units::time;
use crate::{Finding, Unknown, counted};

/// The distance between the CPUs' counters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Offsets {
    /// Pairs of CPUs whose counters certainly differ.
    pub apart: u64,
    /// All counters agree within this.
    pub within_ns: Option<f64>,
    /// One CPU of the pair that is furthest apart; `null` where none is.
    pub a: Option<u32>,
    /// The other CPU.
    pub b: Option<u32>,
    /// The counter of `b` less that of `a`; `null` where it changed during the run.
    pub offset_ns: Option<f64>,
    /// The bound of `offset_ns`.
    pub bound_ns: Option<f64>,
    /// Reason why no offset was tested; `null` where one was.
    pub reason: Option<Unknown>,
}

impl Evidence for Offsets {
    const NAME: &str = evidence::OFFSETS;
    const SOURCE: &str = "exchanges";
    const IS_TEST: bool = true;

    fn source(&self) -> &'static str {
        if is_of_one_cpu(self.reason.as_ref()) { "the system" } else { Self::SOURCE }
    }

    fn text(&self, _finding: Finding) -> String {
        match (&self.reason, self.apart, self.a.zip(self.b), self.offset_ns.zip(self.bound_ns)) {
            (Some(reason), ..) => reason.to_string(),
            (None, 0, ..) => {
                let within = self.within_ns.map_or_else(String::new, |ns| format!(": they agree within {}", time(ns)));
                format!("no CPU's counter certainly differs{within}")
            }
            (None, _, Some((a, b)), Some((offset, bound))) => {
                format!("the counter of CPU {b} is {} ± {} ahead of that of CPU {a}", time(offset), time(bound))
            }
            (None, _, Some((a, b)), None) => format!("the counters of CPUs {a} and {b} drifted apart during the run"),
            (None, pairs, None, _) => format!("{} of CPUs differ", counted(pairs, "pair")),
        }
    }

    fn brief(&self) -> Option<String> {
        if self.reason.is_some() {
            return None;
        }
        self.within_ns.map(|ns| format!("offsets within {}", time(ns)))
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(KEEP_ON_ONE_CPU)
    }

    fn next_step(&self) -> Option<&'static str> {
        if self.reason.is_some() { Some(ASK_ON_TWO_CPUS) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::tests::reasons;
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Offsets {
        fn examples() -> Vec<Self> {
            let offsets = |reason| Self {
                apart: 1,
                within_ns: Some(800.0),
                a: Some(0),
                b: Some(3),
                offset_ns: Some(700.0),
                bound_ns: Some(60.0),
                reason,
            };
            reasons().map(offsets).into()
        }
    }
}
