//! Demands on a machine's clocks: the file that `clockscope check --policy` reads.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::verdict::{Trustworthiness, Use};

/// Demands on the clocks of a machine. A policy demands nothing of what it does not name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The kernel's clocksource has to be one of these.
    #[serde(default)]
    pub clocksource: Option<Vec<String>>,
    /// Demands on the processor's counter.
    #[serde(default)]
    pub counter: Option<ClockDemands>,
    /// Demands on clocks by their names, e.g. `monotonic`.
    #[serde(default)]
    pub clocks: BTreeMap<String, ClockDemands>,
}

/// Demands on one clock.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClockDemands {
    /// The verdict has to be this or better.
    #[serde(default)]
    pub verdict: Option<Trustworthiness>,
    /// The use that `verdict` is for: `interval` or `time_of_day`; by default the worst of all that
    /// are judged.
    #[serde(default, rename = "use")]
    pub for_use: Option<Use>,
    /// Median cost of a read, in ns, at most. Of the counter: of its cheapest ordered reading
    /// sequence.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub max_cost_ns: Option<f64>,
    /// Step of the clock's readings, in ns, at most.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub max_tick_ns: Option<f64>,
    /// Backward steps, on one CPU and across CPUs together, at most.
    #[serde(default)]
    pub max_regressions: Option<u64>,
    /// Frequency offset against CLOCK_MONOTONIC_RAW, in ppm, at most: unknown if the limit is
    /// within its bound. Of the counter: against the nominal frequency that hardware, hypervisor or
    /// kernel state.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub max_rate_ppm: Option<f64>,
    /// Offset between the counters of any two CPUs, in ns, at most: unknown if the limit is within
    /// its bound. Only of the counter.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub max_offset_ns: Option<f64>,
    /// `true`: the processor has to promise a constant rate in all states. Only of the counter.
    #[serde(default)]
    pub invariant: Option<bool>,
}
