//! Findings about time that threads lost.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::{worded, written};
use crate::{Figure, Unknown};

/// The result of `clockscope gaps`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Gaps", transform = crate::schema::add_unknown))]
pub struct Gaps {
    /// Shortest time between two reads that counts as a gap, in ns.
    pub threshold_ns: f64,
    /// Usual time between two reads of the loop that looks, in ns.
    pub loop_ns: Figure<f64>,
    /// One entry a CPU.
    pub gaps: Vec<CpuGaps>,
    /// The longest gaps of all CPUs, the longest first.
    pub worst: Vec<WorstGap>,
}

/// Time that one thread lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "CpuGaps", transform = crate::schema::add_unknown))]
pub struct CpuGaps {
    /// The CPU that the thread was pinned to; `null` where it could not be pinned.
    pub cpu: Figure<u32>,
    /// Time of observation, in seconds.
    pub seconds: f64,
    /// Time without observation, while it asked the system about a gap, in seconds.
    pub unwatched_seconds: f64,
    /// Gaps.
    pub count: u64,
    /// Gaps a second of the whole time, observed or not.
    pub per_second: Figure<f64>,
    /// Median length, in ns; `null` if there were none.
    pub p50_ns: Figure<f64>,
    /// 90th percentile, in ns.
    pub p90_ns: Figure<f64>,
    /// 99th percentile, in ns; `null` for fewer than a hundred.
    pub p99_ns: Figure<f64>,
    /// 99.9th percentile, in ns; `null` for fewer than a thousand.
    pub p999_ns: Figure<f64>,
    /// The longest, in ns.
    pub max_ns: Figure<f64>,
    /// Total length of all gaps, in ns.
    pub lost_ns: f64,
    /// Their share of the whole time, observed or not, in percent.
    pub lost_percent: Figure<f64>,
    /// Gaps by what the system counted meanwhile, the costliest first.
    pub causes: Vec<Cause>,
    /// Time that the hypervisor ran something else, by the kernel's account, in ns, in steps of 10
    /// ms; `null` where it keeps none.
    pub steal_ns: Figure<f64>,
    /// Reason why there are no figures; `null` when there are.
    pub reason: Option<Unknown>,
}

/// A cause of lost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// The thread found itself on another CPU.
    Migration,
    /// The kernel ran something else (an involuntary context switch).
    InvoluntarySwitch,
    /// The thread was stopped, or waited (a voluntary context switch).
    VoluntarySwitch,
    /// The firmware took the CPU (a system management interrupt, SMI).
    Smi,
    /// The hypervisor ran something else, as it reported to the kernel.
    Steal,
    /// Interrupts were handled.
    Interrupt,
    /// Software interrupts were handled, with or without an interrupt before.
    Softirq,
    /// The system counted nothing: firmware (SMI) where its interrupts are not counted, the
    /// hypervisor, or the hardware itself.
    Unknown,
}

/// Time lost to one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cause {
    /// The cause.
    pub cause: CauseKind,
    /// Gaps that it explains.
    pub count: u64,
    /// Their length together, in ns.
    pub total_ns: f64,
    /// The longest, in ns.
    pub max_ns: f64,
}

/// One of the longest gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "WorstGap", transform = crate::schema::add_words::<WorstGap>))]
#[serde(remote = "Self")]
pub struct WorstGap {
    /// Its beginning, in seconds from the start.
    pub at_s: f64,
    /// Its CPU; `null` where the thread could not be pinned.
    pub cpu: Option<u32>,
    /// Its length, in ns.
    pub ns: f64,
    /// The rarest of what the system counted in that time: the cause if it counted one thing, else
    /// what the gap coincided with.
    pub cause: CauseKind,
    /// The counts that grew.
    pub counted: Option<GapCounts>,
}

worded!(WorstGap {
    /// The counts for people, e.g. `LOC +1, TIMER +1`.
    detail: Option<String> = |gap: &WorstGap| gap.counted.as_ref().map(ToString::to_string),
});
written!(WorstGap);

/// Events that the system counted while a thread lost time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GapCounts {
    /// The CPU that the thread was on before, and the one after; `null` if it was not moved.
    pub moved: Option<[u32; 2]>,
    /// Involuntary context switches.
    pub involuntary: u64,
    /// Voluntary context switches.
    pub voluntary: u64,
    /// System management interrupts, where they may be read: `/dev/cpu/N/msr` of Intel CPUs.
    #[serde(default)]
    pub smis: u64,
    /// Time that the hypervisor ran something else, by the kernel's account, in ns.
    pub steal_ns: u64,
    /// Interrupts and software interrupts, by the system's names: the first four.
    pub interrupts: Vec<InterruptCount>,
    /// True if it fell into the time in which the system was asked about another gap.
    pub while_asking: bool,
}

impl GapCounts {
    /// Returns true if several things were counted: none of them is certainly the cause. A thread
    /// that is moved is switched for that.
    #[must_use]
    pub fn are_several(&self) -> bool {
        let is_switched = self.voluntary > 0 || self.involuntary > 0 || self.moved.is_some();
        let others = [is_switched, self.voluntary > 0 && self.involuntary > 0, self.smis > 0, self.steal_ns > 0];
        others.into_iter().filter(|is_counted| *is_counted).count() + self.interrupts.len() > 1
    }
}

/// Number of times that an interrupt was handled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InterruptCount {
    /// Its name, e.g. `LOC`.
    pub name: String,
    /// That number.
    pub count: u64,
}

/// The counts in one line, empty if there are none.
impl fmt::Display for GapCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GapCounts { moved, involuntary, voluntary, smis, steal_ns, interrupts, while_asking } = self;
        let moved = moved.map(|[before, after]| format!("CPU {before} to {after}"));
        let switches = [(involuntary, "involuntary"), (voluntary, "voluntary"), (smis, "SMI")];
        let switches =
            switches.into_iter().filter(|(count, _)| **count > 0).map(|(count, kind)| format!("{count} {kind}"));
        let steal = Some(*steal_ns).filter(|ns| *ns > 0).map(|ns| format!("steal {} ms", ns / 1_000_000));
        let interrupts = interrupts.iter().map(|one| format!("{} +{}", one.name, one.count));
        let all: Vec<String> = moved.into_iter().chain(switches).chain(steal).chain(interrupts).collect();
        match (all.join(", "), while_asking) {
            (all, false) => f.write_str(&all),
            (all, true) if all.is_empty() => f.write_str("while asking about another"),
            (all, true) => write!(f, "{all} (while asking about another)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_named_in_one_line() {
        assert_eq!(GapCounts::default().to_string(), "");
        let asking = GapCounts { while_asking: true, ..GapCounts::default() };
        assert_eq!(asking.to_string(), "while asking about another");
        let counts = GapCounts {
            moved: Some([1, 0]),
            involuntary: 2,
            voluntary: 1,
            smis: 3,
            steal_ns: 20_000_000,
            interrupts: vec![InterruptCount { name: "LOC".to_owned(), count: 3 }],
            ..asking
        };
        let named = "CPU 1 to 0, 2 involuntary, 1 voluntary, 3 SMI, steal 20 ms, LOC +3 (while asking about another)";
        assert_eq!(counts.to_string(), named);
    }

    #[test]
    fn one_count_is_a_cause_and_several_are_none() {
        let interrupt = |name: &str| InterruptCount { name: name.to_owned(), count: 3 };
        let nothing = GapCounts::default;
        for one in [
            nothing(),
            GapCounts { moved: Some([0, 1]), involuntary: 1, ..nothing() },
            GapCounts { voluntary: 2, ..nothing() },
            GapCounts { smis: 1, ..nothing() },
            GapCounts { interrupts: vec![interrupt("LOC")], ..nothing() },
        ] {
            assert!(!one.are_several(), "{one}");
        }
        for several in [
            GapCounts { voluntary: 1, involuntary: 1, ..nothing() },
            GapCounts { involuntary: 1, interrupts: vec![interrupt("LOC")], ..nothing() },
            GapCounts { smis: 1, steal_ns: 1, ..nothing() },
            GapCounts { interrupts: vec![interrupt("LOC"), interrupt("TIMER")], ..nothing() },
        ] {
            assert!(several.are_several(), "{several}");
        }
    }
}
