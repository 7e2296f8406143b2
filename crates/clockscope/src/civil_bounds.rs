//! Bounds of the true time, what they are worth, and why there may be none.

pub(crate) mod kernel;

use core::fmt;
use std::time::{Duration, SystemTime};

use clockscope_core::Errno;
use clockscope_core::civil::Leap;

use crate::disciplined::CivilStatement;
use crate::leap::widen;
use clockscope_core::CivilState;

/// Two moments between which the true time lies, and what that is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounded {
    /// The true time is not before this.
    pub earliest: SystemTime,
    /// The true time is not after this.
    pub latest: SystemTime,
    /// State of civil time, which says what the bounds are worth: synchronized or
    /// while-not-slewing; worthless where a daemon sets the error to zero.
    pub state: CivilState,
    /// Basis of the bounds.
    pub basis: Basis,
    /// The leap second that is near, if one is. Within a second of one the bounds are two seconds
    /// wider.
    pub leap: Leap,
}

/// Basis of bounds of civil time. The kernel does not name the daemon: the first four are
/// signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// chronyd's answer (feature `chrony`).
    Chronyd,
    /// ClockBound's shared memory (feature `clockbound`).
    ClockBound,
}

/// Reason why civil time cannot be bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unbounded {
    /// Nothing synchronizes the system's clock, so that its error may be anything. What it shows.
    Unsynchronized(SystemTime),
    /// A daemon works an offset off by the clock's rate, and the kernel does not know how much of
    /// it is left. Or the oscillator is off by more than 100 ppm.
    #[non_exhaustive]
    Slewing {
        /// The interval that would be true otherwise.
        interval: Bounded,
        /// The correction of the rate, in parts per million.
        ppm: i32,
    },
    /// The daemon sets the error to zero at each correction, whatever it is, or has only begun.
    /// The interval that it states.
    Worthless(Bounded),
    /// The kernel does not know by how many seconds TAI is ahead of UTC.
    TaiUnknown,
    /// The clock, or its error, cannot be asked for.
    Refused(Errno),
    /// The clock shows a moment that cannot be represented.
    OutOfRange,
}

/// An interval that holds the true time: two moments of Unix time in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CivilInterval {
    pub(crate) earliest_ns: i128,
    pub(crate) latest_ns: i128,
    pub(crate) basis: Basis,
    pub(crate) state: CivilState,
    pub(crate) leap: Leap,
}

impl CivilInterval {
    pub(crate) fn around(unix_ns: i128, error_ns: u64, (basis, state): (Basis, CivilState), leap: Leap) -> Self {
        let error = i128::from(error_ns);
        Self { earliest_ns: unix_ns - error, latest_ns: unix_ns + error, basis, state, leap }
    }

    /// The same with so much more on either side.
    #[cfg(all(feature = "clockbound", target_os = "linux"))]
    pub(crate) fn wider(self, ns: u64) -> Self {
        let ns = i128::from(ns);
        Self { earliest_ns: self.earliest_ns - ns, latest_ns: self.latest_ns + ns, ..self }
    }

    /// The same where the clock has still to be moved by up to `ns`: the true time is ahead by as
    /// much, or behind.
    pub(crate) fn moved(self, ns: i64) -> Self {
        let (back, ahead) = (i128::from(ns.min(0)), i128::from(ns.max(0)));
        Self { earliest_ns: self.earliest_ns + back, latest_ns: self.latest_ns + ahead, ..self }
    }

    /// The same, as it may be carried on for `lasts_ns`.
    pub(super) fn civil_statement(&self, rate_ppm: f64, lasts_ns: i128) -> CivilStatement {
        let interval = (self.earliest_ns, self.latest_ns);
        let widened = widen(self.leap, interval);
        // Both ends may part by a thousandth, and the interval moves on by as much as it lasts.
        let is_leap_near =
            widen(self.leap, (interval.0, interval.1 + 2 * lasts_ns)) != (interval.0, interval.1 + 2 * lasts_ns);
        let state = if widened == interval { self.state } else { CivilState::LeapSecond };
        let (Ok(earliest_ns), Ok(latest_ns)) = (i64::try_from(widened.0), i64::try_from(widened.1)) else {
            return CivilStatement::nothing(CivilState::Unavailable);
        };
        let lasts_ns = if is_leap_near { 0 } else { lasts_ns as u64 };
        CivilStatement { earliest_ns, latest_ns, lasts_ns, rate_ppm, state }
    }

    /// On a scale that is `offset_ns` ahead of UTC.
    pub(crate) fn bounded(self, offset_ns: i128) -> Result<Bounded, Unbounded> {
        let Self { earliest_ns, latest_ns, basis, state, leap } = self;
        // Outward, so that the interval holds what it held.
        let earliest_ns = (earliest_ns + offset_ns).div_euclid(SYSTEM_UNIT_NS) * SYSTEM_UNIT_NS;
        let latest_ns = -(-(latest_ns + offset_ns)).div_euclid(SYSTEM_UNIT_NS) * SYSTEM_UNIT_NS;
        match (system_time(earliest_ns), system_time(latest_ns)) {
            (Some(earliest), Some(latest)) => Ok(Bounded { earliest, latest, state, basis, leap }),
            _ => Err(Unbounded::OutOfRange),
        }
    }
}

/// Unit of std's `SystemTime`, in ns: that of FILETIME on Windows.
pub(crate) const SYSTEM_UNIT_NS: i128 = if cfg!(windows) { 100 } else { 1 };

/// A moment of Unix time, in units of [`SYSTEM_UNIT_NS`], rounded toward 1970; `None` if it cannot
/// be represented.
pub(crate) fn system_time(unix_ns: i128) -> Option<SystemTime> {
    let magnitude = unix_ns.unsigned_abs();
    let seconds = u64::try_from(magnitude / 1_000_000_000).ok()?;
    let distance = Duration::new(seconds, (magnitude % 1_000_000_000) as u32);
    if unix_ns >= 0 {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    }
}

impl Bounded {
    /// Returns the interval's length.
    #[must_use]
    pub fn width(&self) -> Duration {
        self.latest.duration_since(self.earliest).unwrap_or_default()
    }
}

impl Unbounded {
    pub(crate) fn unsynchronized(unix_ns: i128) -> Self {
        system_time(unix_ns).map_or(Self::OutOfRange, Self::Unsynchronized)
    }

    /// Returns the interval that the daemon states and that is not reliable, if there is one.
    #[must_use]
    pub fn interval(&self) -> Option<&Bounded> {
        match self {
            Self::Slewing { interval, .. } | Self::Worthless(interval) => Some(interval),
            Self::Unsynchronized(_) | Self::TaiUnknown | Self::Refused(_) | Self::OutOfRange => None,
        }
    }
}

impl fmt::Display for Unbounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsynchronized(_) => {
                f.write_str("unsynchronized: nothing keeps the system's clock right; run chronyd or ntpd")
            }
            Self::Slewing { ppm, .. } => write!(
                f,
                "slewing: the clock's rate is corrected by {ppm} ppm, and the kernel does not know for how long; wait, or \
                 ask chronyd (feature `chrony`)"
            ),
            Self::Worthless(Bounded { basis: Basis::Beginning, .. }) => f.write_str(
                "the stated error is worthless: the daemon has only begun, and corrects an offset that it does not state",
            ),
            Self::Worthless(_) => f.write_str(
                "the stated error is worthless: the daemon sets it to zero, as timesyncd and phc2sys do; chronyd and ntpd \
                 state it",
            ),
            Self::TaiUnknown => {
                f.write_str("the kernel does not know TAI - UTC: have chronyd or ntpd read a leap-second file")
            }
            Self::Refused(errno) => write!(f, "the system's clock or its error cannot be asked for: {errno}"),
            Self::OutOfRange => f.write_str("the system's clock shows a moment that cannot be represented"),
        }
    }
}

impl core::error::Error for Unbounded {}
