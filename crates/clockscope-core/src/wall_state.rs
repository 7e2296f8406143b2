//! States of the time of day.

use core::fmt;

/// Worth of an interval of the time of day. The numbers are a part of the library's page, and stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
pub enum WallState {
    /// The true time is inside, if the daemon that stated the error and its source of time are
    /// right.
    Synchronized = 0,
    /// The true time is inside while the daemon corrects no offset: it knows of such a correction,
    /// and the kernel does not. Corrections of the rate by more than 100 ppm show as
    /// [`WallState::Slewing`].
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

impl WallState {
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

impl fmt::Display for WallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Basis of bounds of the time of day. The kernel does not name the daemon: the first four are
/// signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Basis {
    /// The kernel's loop, which works off what a daemon hands to it, and the error that the daemon
    /// states: as ntpd and ClockBound 3 do.
    KernelLoop,
    /// The error that a daemon states, which steers the rate by itself: as chronyd and ntpd-rs do.
    SteeredRate,
    /// The error that a daemon states while it corrects an offset that it does not state: as ntpd
    /// does in its first minutes.
    Beginning,
    /// An error that is set to zero at each correction: as systemd-timesyncd, ptp4l and phc2sys do.
    ZeroedError,
    /// chronyd's answer.
    Chronyd,
    /// ClockBound's shared memory.
    ClockBound,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KernelLoop => "the kernel, by a daemon's statement (as of ntpd or ClockBound 3)",
            Self::SteeredRate => "the kernel, by a daemon's statement (as of chronyd or ntpd-rs)",
            Self::Beginning => "the kernel, by a daemon that has only begun (as ntpd in its first minutes)",
            Self::ZeroedError => "the kernel, by a daemon that states no error (as systemd-timesyncd or phc2sys)",
            Self::Chronyd => "chronyd",
            Self::ClockBound => "ClockBound",
        })
    }
}
