//! States of civil time.

use core::fmt;

/// Worth of an interval of civil time. The numbers are a part of the library's page, and stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum CivilState {
    /// The true time is inside, if the daemon that stated the error and its source of time are
    /// right.
    Synchronized = 0,
    /// The true time is inside while the daemon corrects no offset: it knows of such a correction,
    /// and the kernel does not. Corrections of the rate by more than 100 ppm show as
    /// [`CivilState::Slewing`].
    WhileNotSlewing = 1,
    /// The true time is inside. A leap second is less than a second away, or has just been: the
    /// interval is two seconds wider.
    LeapSecond = 2,
    /// A daemon corrects an offset of unknown size by the clock's rate. The interval is unlimited.
    Slewing = 3,
    /// A daemon states an error that means nothing. The interval is unlimited.
    Worthless = 4,
    /// Nothing keeps the clock right. The interval is unlimited.
    Unsynchronized = 5,
    /// The system does not state an error. The interval is unlimited.
    Unavailable = 6,
}

impl CivilState {
    /// Returns whether the interval has ends: the first three states.
    #[inline(always)]
    #[must_use]
    pub const fn is_bounded(self) -> bool {
        (self as u8) <= Self::LeapSecond as u8
    }

    /// Returns its name in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Synchronized => "synchronized",
            Self::WhileNotSlewing => "while_not_slewing",
            Self::LeapSecond => "leap_second",
            Self::Slewing => "slewing",
            Self::Worthless => "worthless",
            Self::Unsynchronized => "unsynchronized",
            Self::Unavailable => "unavailable",
        }
    }

    /// Describes it in a few words.
    const fn text(self) -> &'static str {
        match self {
            Self::Synchronized => "the clock is synchronized",
            Self::WhileNotSlewing => "the clock is synchronized while its daemon corrects no offset",
            Self::LeapSecond => "a leap second is near",
            Self::Slewing => "a daemon corrects an offset of unknown size by the clock's rate",
            Self::Worthless => "the daemon that keeps the clock states an error that means nothing",
            Self::Unsynchronized => "nothing keeps the clock right",
            Self::Unavailable => "the system states no error of the clock",
        }
    }

    /// Returns the state of a number of the page; unavailable for one that is none.
    #[inline(always)]
    #[must_use]
    pub const fn of_number(number: u64) -> Self {
        match number {
            0 => Self::Synchronized,
            1 => Self::WhileNotSlewing,
            2 => Self::LeapSecond,
            3 => Self::Slewing,
            4 => Self::Worthless,
            5 => Self::Unsynchronized,
            _ => Self::Unavailable,
        }
    }
}

impl fmt::Display for CivilState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
