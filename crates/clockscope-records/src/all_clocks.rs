//! The clocks of every system, as each documents them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figure::{add_unknown, record};
use crate::{ClockKind, Figure};

/// The result of `clockscope list --all-platforms`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllClocks {
    /// The system that this was written on; `null` for one whose clocks are not known.
    pub here: Option<String>,
    /// One entry a clock and system.
    pub clocks: Vec<SystemClock>,
}

/// A clock of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "SystemClock", transform = add_unknown)]
pub struct SystemClock {
    /// The system.
    pub system: String,
    /// The clock's name.
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// The quantity that it counts.
    pub kind: ClockKind,
    /// The resolution that the system documents, in ns.
    pub nominal_resolution_ns: Figure<f64>,
    /// A description of what is read.
    pub description: String,
}

record!(SystemClock { nominal_resolution_ns });
