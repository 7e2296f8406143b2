//! Findings about sleeping.

use serde::{Deserialize, Serialize};

use crate::{Figure, Unknown};

/// The result of `clockscope sleep`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Sleep", transform = crate::schema::add_unknown))]
pub struct Sleep {
    /// The clock by which sleeps were timed: the one that the calls sleep by.
    pub clock: String,
    /// By how much the kernel may be late on purpose, to wake several sleepers at once, in ns
    /// (PR_GET_TIMERSLACK).
    pub timer_slack_ns: Figure<u64>,
    /// One entry a call and time asked for.
    pub rows: Vec<SleepRow>,
    /// Times that no call was asked for, in ns: three sleeps of each call would have taken longer
    /// than the run.
    pub untried_ns: Vec<u64>,
}

/// The result of one call for one requested time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SleepRow", transform = crate::schema::add_unknown))]
pub struct SleepRow {
    /// The call.
    pub call: String,
    /// Requested time, in ns.
    pub requested_ns: u64,
    /// Number of sleeps.
    pub sleeps: u64,
    /// Number of times that it returned before the time had passed; `null` if it never slept. One
    /// that was early by less than reading the clock takes, or than 0.1 %, is not counted.
    pub early: Figure<u64>,
    /// The shortest sleep, in ns.
    pub min_ns: Figure<f64>,
    /// The median, in ns.
    pub p50_ns: Figure<f64>,
    /// 99th percentile, in ns; `null` for fewer than a hundred.
    pub p99_ns: Figure<f64>,
    /// The longest, in ns.
    pub max_ns: Figure<f64>,
    /// Reason why it did not sleep, or not for this time, or which sleeps are left out; `null`
    /// otherwise.
    pub reason: Option<Unknown>,
    /// Sleeps that are left out, because two clocks disagreed about them.
    pub left_out: Option<u64>,
}
