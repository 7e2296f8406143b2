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

impl Summary {
    /// Returns the same figures in a unit that is so many times shorter: in ns, of counts of
    /// `factor` ns.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            count: self.count,
            mean: self.mean * factor,
            std: self.std.map(|std| std * factor),
            min: self.min * factor,
            p25: self.p25 * factor,
            p50: self.p50 * factor,
            p75: self.p75 * factor,
            p99: self.p99 * factor,
            p999: self.p999 * factor,
            max: self.max * factor,
        }
    }
}
