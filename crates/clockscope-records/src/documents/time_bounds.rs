//! Bounds of the time of day.

use clockscope_core::{Basis, WallState};
use serde::{Deserialize, Serialize};

use crate::Figure;

/// The result of `clockscope bounds`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeBounds {
    /// The answers of the library's functions: `clockscope::utc_now`, which asks the daemon, then
    /// `clockscope::bounded::now`, which carries on the kernel's statement at the cost of a
    /// timestamp.
    pub answers: Vec<TimeOfDay>,
}

/// The time of day as one function of the library returns it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TimeOfDay", transform = crate::schema::add_unknown))]
pub struct TimeOfDay {
    /// The function.
    pub call: String,
    /// State of the time of day.
    pub state: WallState,
    /// Basis of the interval; `null` where the function does not return it.
    pub basis: Option<Basis>,
    /// The interval that contains the true time; `null` where nothing bounds it.
    pub interval: Figure<TimeInterval>,
    /// The interval that a daemon states, and that is not reliable; `null` where there is none.
    pub stated: Option<TimeInterval>,
}

/// Two moments of UTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeInterval {
    /// The earlier moment (RFC 3339).
    pub earliest: String,
    /// The later moment (RFC 3339).
    pub latest: String,
    /// The earlier moment, in ns since 1970.
    pub earliest_unix_ns: i64,
    /// The later moment, in ns since 1970.
    pub latest_unix_ns: i64,
    /// Distance of the two, in ns: a commit waits for as long.
    pub width_ns: u64,
}
