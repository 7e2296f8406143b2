//! Verdicts on clocks, and the uses that they are for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A use of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// To measure how long something takes.
    Interval,
    /// To know the date and the time of day.
    TimeOfDay,
}

impl Use {
    /// All uses.
    pub const ALL: [Self; 2] = [Self::Interval, Self::TimeOfDay];
}

/// The verdict on a clock for each use; `null` for a use that was not asked about, and for
/// the time of day of a clock that does not show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Uses {
    /// For intervals.
    pub interval: Option<Trustworthiness>,
    /// For the time of day.
    pub time_of_day: Option<Trustworthiness>,
}

impl Uses {
    /// Returns the verdict for a use.
    #[must_use]
    pub const fn of(self, this: Use) -> Option<Trustworthiness> {
        match this {
            Use::Interval => self.interval,
            Use::TimeOfDay => self.time_of_day,
        }
    }

    /// Returns the worst verdict; `None` where no use was judged.
    #[must_use]
    pub fn worst(self) -> Option<Trustworthiness> {
        self.interval.into_iter().chain(self.time_of_day).min()
    }
}

/// Verdicts on a clock, from the worst on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trustworthiness {
    /// Do not use it.
    Unfit,
    /// Usable, with the limits that the evidence against it names.
    Limited,
    /// Nothing that was found contradicts it, but a test that trust requires has no result.
    Undecided,
    /// Nothing that was found contradicts it, and every required test supports it.
    Trusted,
}

impl Trustworthiness {
    /// All verdicts, from the worst on.
    pub const ALL: [Self; 4] = [Self::Unfit, Self::Limited, Self::Undecided, Self::Trusted];

    /// Returns the word that JSON has for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unfit => "unfit",
            Self::Limited => "limited",
            Self::Undecided => "undecided",
            Self::Trusted => "trusted",
        }
    }
}

impl fmt::Display for Trustworthiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_the_words_that_json_has() {
        for verdict in Trustworthiness::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
        }
    }
}
