//! Civil time, as the interval in which it lies.

use core::fmt;
use std::time::{Duration, SystemTime};

use crate::{Errno, now, os};

/// The system's civil clock and what the kernel says of its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) unix_ns: i128,
    /// The clock's own tick included.
    pub(crate) max_error_ns: u64,
    pub(crate) is_synchronised: bool,
    /// TAI − UTC, where the kernel was told.
    pub(crate) tai_offset_s: Option<i32>,
}

/// Two moments between which the true time lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounded {
    /// The true time is not before this.
    pub earliest: SystemTime,
    /// The true time is not after this.
    pub latest: SystemTime,
}

/// Why civil time cannot be bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unbounded {
    /// Nothing synchronises the system's clock, so that its error may be anything. What it shows.
    Unsynchronised(SystemTime),
    /// The kernel was not told by how many seconds TAI is ahead of UTC.
    TaiUnknown,
    /// The clock, or its error, cannot be asked for.
    Refused(Errno),
    /// The clock shows a moment that cannot be represented.
    OutOfRange,
}

/// UTC, as the interval in which it lies: the kernel's estimate of its clock's largest error (adjtimex, which NTP or PTP
/// daemons keep up to date) around CLOCK_REALTIME, and the time that the question took.
///
/// Read anew at every call, because a remembered offset would be wrong after the clock was set. Costs a system call that
/// takes the kernel's locks: a microsecond or two.
///
/// # Errors
/// The clock is not synchronised, or refuses.
///
/// ```
/// match clockscope::utc_now() {
///     Ok(utc) => println!("between {:?} and {:?}", utc.earliest, utc.latest),
///     Err(reason) => println!("{reason}"),
/// }
/// ```
pub fn utc_now() -> Result<Bounded, Unbounded> {
    let before = now();
    let reading = os::civil().map_err(Unbounded::Refused)?;
    bounded(&reading, now().ns_since(before), 0)
}

/// TAI, likewise: UTC and the leap seconds that the kernel was told of. A `SystemTime` that counts TAI's seconds since
/// 1970-01-01T00:00:00 TAI.
///
/// # Errors
/// As [`utc_now`], and that the kernel was not told of leap seconds.
///
/// ```
/// let tai = clockscope::tai_now();
/// # let _ = tai;
/// ```
pub fn tai_now() -> Result<Bounded, Unbounded> {
    let before = now();
    let reading = os::civil().map_err(Unbounded::Refused)?;
    let offset = reading.tai_offset_s.ok_or(Unbounded::TaiUnknown)?;
    bounded(&reading, now().ns_since(before), i128::from(offset) * 1_000_000_000)
}

/// The interval of a reading that took `took_ns`, on a scale that is `offset_ns` ahead of UTC.
fn bounded(reading: &Reading, took_ns: u64, offset_ns: i128) -> Result<Bounded, Unbounded> {
    let at = reading.unix_ns + offset_ns;
    if !reading.is_synchronised {
        return Err(system_time(at).map_or(Unbounded::OutOfRange, Unbounded::Unsynchronised));
    }
    // The clock was read at some moment of the call.
    let error = i128::from(reading.max_error_ns) + i128::from(took_ns);
    match (system_time(at - error), system_time(at + error)) {
        (Some(earliest), Some(latest)) => Ok(Bounded { earliest, latest }),
        _ => Err(Unbounded::OutOfRange),
    }
}

fn system_time(unix_ns: i128) -> Option<SystemTime> {
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
    /// Length of the interval.
    #[must_use]
    pub fn width(&self) -> Duration {
        self.latest.duration_since(self.earliest).unwrap_or_default()
    }
}

impl fmt::Display for Unbounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsynchronised(_) => {
                f.write_str("unsynchronised: nothing keeps the system's clock right; run chronyd, ntpd or phc2sys")
            }
            Self::TaiUnknown => {
                f.write_str("the kernel does not know TAI - UTC: have chronyd or ntpd read a leap-second file")
            }
            Self::Refused(errno) => write!(f, "the system's clock or its error cannot be asked for: {errno}"),
            Self::OutOfRange => f.write_str("the system's clock shows a moment that cannot be represented"),
        }
    }
}

impl core::error::Error for Unbounded {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reading(unix_ns: i128, max_error_ns: u64, is_synchronised: bool) -> Reading {
        Reading { unix_ns, max_error_ns, is_synchronised, tai_offset_s: Some(37) }
    }

    proptest! {
        #[test]
        fn the_true_time_is_inside(unix_ns in -(1i128 << 62)..(1i128 << 62), error in 0u64..1_000_000_000_000, off in -1.0f64..1.0, took in 0u64..1_000_000) {
            let bounded = bounded(&reading(unix_ns, error, true), took, 0).unwrap();
            let truth = system_time(unix_ns + (error as f64 * off) as i128).unwrap();
            prop_assert!(bounded.earliest <= truth && truth <= bounded.latest);
            prop_assert_eq!(bounded.width(), Duration::from_nanos(2 * (error + took)));
        }
    }

    #[test]
    fn tai_is_ahead() {
        let tai = bounded(&reading(5_000_000_000, 1_000, true), 0, 37_000_000_000).unwrap();
        assert_eq!(tai.earliest, system_time(42_000_000_000 - 1_000).unwrap());
        assert_eq!(tai.latest, system_time(42_000_000_000 + 1_000).unwrap());
    }

    #[test]
    fn what_nobody_keeps_right_has_no_bounds() {
        let shown = SystemTime::UNIX_EPOCH + Duration::from_secs(5);
        assert_eq!(bounded(&reading(5_000_000_000, 0, false), 0, 0), Err(Unbounded::Unsynchronised(shown)));
        assert_eq!(bounded(&reading(i128::MAX / 2, 0, true), 0, 0), Err(Unbounded::OutOfRange));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn utc_is_between_its_bounds() {
        match utc_now() {
            Ok(utc) => assert!(utc.earliest <= SystemTime::now() && utc.earliest < utc.latest),
            Err(Unbounded::Unsynchronised(shown)) => assert!(shown <= SystemTime::now()),
            Err(other) => panic!("{other}"),
        }
    }
}
