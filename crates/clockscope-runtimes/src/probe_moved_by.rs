//! The mover of a clock, as a probe states it: one word for all systems, or a word for each.

use clockscope_records::MovedBy;
use serde::Deserialize;
use serde_json::Value;

use crate::operating_system::System;

/// Statement of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) enum ProbeMovedBy {
    /// One word for every system.
    Everywhere(MovedBy),
    /// Differs by system.
    BySystem(BySystem),
}

/// A word for each system that is named, and one for all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct BySystem {
    pub(crate) linux: Option<MovedBy>,
    pub(crate) macos: Option<MovedBy>,
    pub(crate) windows: Option<MovedBy>,
    pub(crate) others: Option<MovedBy>,
}

impl TryFrom<Value> for ProbeMovedBy {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, serde_json::Error> {
        // Of an array, the elements would be taken for the systems in order.
        match value {
            Value::Object(_) => BySystem::deserialize(value).map(Self::BySystem),
            _ => String::deserialize(&value).and_then(|_| MovedBy::deserialize(value)).map(Self::Everywhere),
        }
    }
}

impl ProbeMovedBy {
    /// Returns what moves the clock on a system; `None` where the probe does not state it.
    pub(crate) fn on(self, system: System) -> Option<MovedBy> {
        let by_system = match self {
            Self::Everywhere(moved_by) => return Some(moved_by),
            Self::BySystem(by_system) => by_system,
        };
        let named = match system {
            System::Linux => by_system.linux,
            System::Macos => by_system.macos,
            System::Windows => by_system.windows,
            System::Other => None,
        };
        named.or(by_system.others)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod installed;
#[cfg(test)]
mod tests;
