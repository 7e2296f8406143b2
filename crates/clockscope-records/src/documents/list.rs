//! The results of *list*: the clocks of this machine, and of every system as it documents them.

use serde::{Deserialize, Serialize};

use crate::{ClockIdentity, ClockKind, Figure, Unknown};

/// All clocks that the instrument knows, without a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listing {
    /// One entry a clock and path.
    pub clocks: Vec<Listed>,
}

/// One clock in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Listed", transform = crate::schema::add_unknown))]
pub struct Listed {
    /// Its identity.
    #[serde(flatten)]
    pub identity: ClockIdentity,
    /// True if it can be read here.
    pub available: bool,
    /// Reason why it cannot be read; `null` when it can.
    pub reason: Option<Unknown>,
    /// The resolution that the interface states, in ns.
    pub nominal_resolution_ns: Figure<f64>,
}

/// The result of `clockscope list --all-platforms`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AllClocks {
    /// The system that this was written on; `null` for one whose clocks are not known.
    pub here: Option<String>,
    /// One entry a clock and system.
    pub clocks: Vec<SystemClock>,
}

/// A clock of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SystemClock", transform = crate::schema::add_unknown))]
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
