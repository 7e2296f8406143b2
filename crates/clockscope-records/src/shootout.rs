//! What was found when two clocks were compared.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::demand::ignored;
use crate::figure::{add_unknown, record};
use crate::{Figure, UnreadableClock};

/// The result of `clockscope shootout`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shootout {
    /// One clock.
    pub a: String,
    /// The other.
    pub b: String,
    /// Resolution, accuracy, cost and reliability.
    pub metrics: Vec<Metric>,
    /// The clock that leaves nothing to compare; `null` if both can be read.
    pub unreadable: Option<UnreadableClock>,
    /// The difference in cost, with two reads an interval, is less than 1 % of an interval that is
    /// longer than this; `null` where the costs are equal or unknown.
    pub negligible_beyond_us: Option<f64>,
    /// The same for people. Renderers write it beside the data; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<ShootoutProse>,
}

/// A comparison in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShootoutProse {
    /// The comparison of two clocks, and when it does not matter.
    pub conclusion: String,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "Metric", transform = add_unknown)]
pub struct Metric {
    /// What is compared.
    #[serde(flatten)]
    pub metric: MetricKind,
    /// The figure of the first clock: less is better.
    pub a: Figure<f64>,
    /// The figure of the second.
    pub b: Figure<f64>,
    /// By how much the figures may be off, where that is known.
    pub a_bound: Option<f64>,
    /// The same of the second.
    pub b_bound: Option<f64>,
    /// The winner; `null` if that is unknown.
    pub winner: Figure<Winner>,
    /// The same for people. Renderers write it beside the data; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<MetricProse>,
}

record!(Metric { a, b, winner });

/// What two clocks are compared by, with what is known beside the figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "metric", rename_all = "snake_case")]
pub enum MetricKind {
    /// The tick, in ns.
    Resolution,
    /// The distance of the clock's rate from that of a reference, in ppm.
    Accuracy {
        /// The reference; `null` where the rates were not compared.
        reference: Option<String>,
    },
    /// The median cost of a read, in ns.
    Cost,
    /// Wrong readings.
    Reliability {
        /// Clocks that went back when threads handed readings on, which is not a fault: their reads
        /// are not ordered.
        unordered: Vec<String>,
        /// The clock that `clockscope check` trusts more, where that decided; `null` where it did
        /// not.
        trusted_more: Option<Winner>,
    },
}

impl MetricKind {
    /// Returns the word that JSON has for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Resolution => "resolution",
            Self::Accuracy { .. } => "accuracy",
            Self::Cost => "cost",
            Self::Reliability { .. } => "reliability",
        }
    }
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A metric in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricProse {
    /// What the figures are.
    pub figure: String,
    /// Their unit; empty for a count.
    pub unit: String,
    /// What the figures are based on.
    pub note: String,
}

/// Who is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Winner {
    /// The first clock.
    A,
    /// The second.
    B,
    /// Neither: the difference is within what the measurement can resolve, or none.
    Tie,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComparisonReason;

    #[test]
    fn every_metric_is_read_back_by_its_word() {
        let kinds = [
            MetricKind::Resolution,
            MetricKind::Accuracy { reference: Some("monotonic_raw:syscall".to_owned()) },
            MetricKind::Cost,
            MetricKind::Reliability { unordered: vec!["tsc".to_owned()], trusted_more: Some(Winner::B) },
        ];
        for metric in kinds {
            let figure = || Figure::Known(1.0);
            let winner = Figure::unknown(ComparisonReason::Absent);
            let metric = Metric { metric, a: figure(), b: figure(), a_bound: None, b_bound: None, winner, prose: None };
            let json = serde_json::to_value(&metric).unwrap();
            assert_eq!(json["metric"], metric.metric.as_str());
            assert_eq!(serde_json::from_value::<Metric>(json).unwrap(), metric);
        }
    }
}
