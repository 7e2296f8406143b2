//! The usual figures of a distribution.

use serde::{Deserialize, Serialize};

/// Figures of a distribution. Quantiles are interpolated linearly between neighbors, as pandas
/// does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// Number of values.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (n - 1); `null` for a single one.
    pub std: Option<f64>,
    /// The smallest.
    pub min: f64,
    /// 25 % are at most this.
    pub p25: f64,
    /// Half are at most this.
    pub p50: f64,
    /// 75 % are at most this.
    pub p75: f64,
    /// 99 % are at most this.
    pub p99: f64,
    /// 99.9 % are at most this.
    pub p999: f64,
    /// The largest.
    pub max: f64,
}
