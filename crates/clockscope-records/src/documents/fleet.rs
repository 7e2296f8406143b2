//! Answers about many machines, as `clockscope-fleet report` collects them.

use serde::{Deserialize, Serialize};

/// The result of `clockscope-fleet report`. The head names the machine that made it, which need not
/// be one of the fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fleet {
    /// The day of the answers, as 2026-11-28 (UTC); `null` without a check.
    pub as_of: Option<String>,
    /// Hosts that have a check on that day or before.
    pub hosts: u64,
    /// Hosts that have one on that day or in the two days before.
    pub recent_hosts: u64,
    /// Checks on that day or before, one a host and day.
    pub checks: u64,
    /// One entry a query, in the order of their names.
    pub answers: Vec<FleetAnswer>,
}

/// The rows that a query found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FleetAnswer {
    /// The query's name.
    pub query: String,
    /// The question that it answers.
    pub question: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The first rows, in the query's order, with a value for each column.
    pub rows: Vec<Vec<FleetValue>>,
    /// The number of all rows.
    pub row_count: u64,
    /// Distinct values of the column `host` in all rows; `null` if there is no such column.
    pub hosts: Option<u64>,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FleetValue {
    /// Not known, or not finite: `null`.
    Nothing,
    /// True or false.
    Flag(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text; a date as 2026-11-28.
    Text(String),
}

impl FleetAnswer {
    /// Returns the place of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}

impl FleetValue {
    /// Returns the number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Nothing | Self::Flag(_) | Self::Text(_) => None,
        }
    }

    /// Returns the text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}
