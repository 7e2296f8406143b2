//! What was found when two clocks were compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Figure;
use crate::figure::{add_unknown, record};

/// What `clockscope shootout` found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shootout {
    /// One clock.
    pub a: String,
    /// The other.
    pub b: String,
    /// Resolution, accuracy, cost and reliability.
    pub metrics: Vec<Metric>,
    /// Who is better at what, and when it does not matter.
    pub conclusion: String,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "Metric", transform = add_unknown)]
pub struct Metric {
    /// `resolution`, `accuracy`, `cost` or `reliability`.
    pub metric: String,
    /// What the figures are.
    pub figure: String,
    /// Their unit.
    pub unit: String,
    /// The figure of the first clock: less is better.
    pub a: Figure<f64>,
    /// The figure of the second.
    pub b: Figure<f64>,
    /// By how much the figures may be off, where that is known.
    pub a_bound: Option<f64>,
    /// The same of the second.
    pub b_bound: Option<f64>,
    /// Who is better; `null` if that is unknown.
    pub winner: Figure<Winner>,
    /// What the figures stand on, and why nobody wins where nobody does.
    pub note: String,
}

record!(Metric { a, b, winner });

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
