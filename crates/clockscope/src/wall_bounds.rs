//! Bounds of the true time by a statement, and the reasons why there may be none.

pub(crate) mod kernel;

use core::fmt;

use clockscope_core::Errno;
use clockscope_core::kernel_clock::Leap;

use clockscope_core::{Basis, WallState};

use crate::WallTime;
use crate::disciplined::WallStatement;
use crate::interval::Interval;
use crate::leap::widen;

/// Reason why the time of day cannot be bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unbounded {
    /// Nothing synchronizes the system's clock, so that its error may be anything. Its reading.
    Unsynchronized(WallTime),
    /// A daemon works an offset off by the clock's rate, and the kernel does not know how much of
    /// it is left. Or the oscillator is off by more than 100 ppm.
    #[non_exhaustive]
    Slewing {
        /// The interval that would be true otherwise.
        interval: Interval,
        /// The correction of the rate, in parts per million.
        ppm: i32,
    },
    /// The daemon sets the error to zero at each correction, whatever it is, or has only begun.
    /// The interval that it states.
    Worthless(Interval),
    /// The kernel does not know by how many seconds TAI is ahead of UTC.
    TaiUnknown,
    /// The clock, or its error, cannot be asked for.
    Refused(Errno),
    /// The clock shows a moment that cannot be represented.
    OutOfRange,
}

/// An interval that holds the true time: two moments of Unix time in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WallInterval {
    pub(crate) earliest_ns: i128,
    pub(crate) latest_ns: i128,
    pub(crate) basis: Basis,
    pub(crate) state: WallState,
    pub(crate) leap: Leap,
}

impl WallInterval {
    pub(crate) fn around(unix_ns: i128, error_ns: u64, (basis, state): (Basis, WallState), leap: Leap) -> Self {
        let error = i128::from(error_ns);
        Self { earliest_ns: unix_ns - error, latest_ns: unix_ns + error, basis, state, leap }
    }

    /// The interval, wider by `ns` at both ends.
    #[cfg(all(feature = "clockbound", target_os = "linux"))]
    pub(crate) fn wider(self, ns: u64) -> Self {
        let ns = i128::from(ns);
        Self { earliest_ns: self.earliest_ns - ns, latest_ns: self.latest_ns + ns, ..self }
    }

    /// The interval of a clock that has still to be moved by up to `ns`: the true time is ahead of
    /// it by as much, or behind.
    pub(crate) fn moved(self, ns: i64) -> Self {
        let (back, ahead) = (i128::from(ns.min(0)), i128::from(ns.max(0)));
        Self { earliest_ns: self.earliest_ns + back, latest_ns: self.latest_ns + ahead, ..self }
    }

    /// The interval as a statement that may be carried on for `lasts_ns`.
    pub(super) fn wall_statement(&self, rate_ppm: f64, lasts_ns: i128) -> WallStatement {
        let interval = (self.earliest_ns, self.latest_ns);
        let widened = widen(self.leap, interval);
        // The interval moves on while it lasts, and becomes wider by a thousandth.
        let later = (self.earliest_ns, self.latest_ns + 2 * lasts_ns);
        let is_leap_near = widen(self.leap, later) != later;
        let state = if widened == interval { self.state } else { WallState::LeapSecond };
        let (Ok(earliest_ns), Ok(latest_ns)) = (i64::try_from(widened.0), i64::try_from(widened.1)) else {
            return WallStatement::nothing(WallState::Unavailable);
        };
        let lasts_ns = if is_leap_near { 0 } else { lasts_ns as u64 };
        WallStatement { earliest_ns, latest_ns, lasts_ns, rate_ppm, state }
    }

    /// On a scale that is `offset_ns` ahead of UTC.
    pub(crate) fn on_scale(self, offset_ns: i128) -> Result<Interval, Unbounded> {
        let Self { earliest_ns, latest_ns, basis, state, leap } = self;
        match (wall_time(earliest_ns + offset_ns), wall_time(latest_ns + offset_ns)) {
            (Some(earliest), Some(latest)) => {
                Ok(Interval { earliest, latest, state, basis: Some(basis), leap: Some(leap) })
            }
            _ => Err(Unbounded::OutOfRange),
        }
    }
}

/// A moment of Unix time; `None` if it cannot be represented.
fn wall_time(unix_ns: i128) -> Option<WallTime> {
    i64::try_from(unix_ns).ok().map(WallTime::from_unix_ns)
}

impl Unbounded {
    pub(crate) fn unsynchronized(unix_ns: i128) -> Self {
        wall_time(unix_ns).map_or(Self::OutOfRange, Self::Unsynchronized)
    }

    /// Returns the interval that the daemon states and that is not reliable, if there is one.
    #[must_use]
    pub fn interval(&self) -> Option<&Interval> {
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
            Self::Worthless(Interval { basis: Some(Basis::Beginning), .. }) => f.write_str(
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
