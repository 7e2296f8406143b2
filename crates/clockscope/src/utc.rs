//! The time of day, as the interval in which it lies.

#[cfg(feature = "chrony")]
mod chrony;
#[cfg(all(feature = "clockbound", target_os = "linux"))]
mod clockbound;

use clockscope_core::kernel_clock::KernelClockState;
use clockscope_core::os;

use crate::interval::Interval;
use crate::leap::widen;
use crate::now;
use crate::wall_bounds::kernel::KernelBounds;
use crate::wall_bounds::{Unbounded, WallInterval};
#[cfg(all(fuzzing, feature = "chrony"))]
pub(crate) use chrony::fuzz as fuzz_chronyd_reply;
#[cfg(all(fuzzing, feature = "clockbound", target_os = "linux"))]
pub(crate) use clockbound::fuzz as fuzz_clockbound_segment;

/// Returns UTC as the interval in which it lies: CLOCK_REALTIME, the largest error that a time
/// daemon has stated (adjtimex), what the kernel has still to correct, and the time that the
/// question took.
///
/// What such an error is worth depends on the daemon, which the kernel does not name. It is
/// recognized by the values that it sets, and [`Interval::state`] reports the result. An interval
/// that is worth nothing is an error here. With the features `chrony` and `clockbound` these
/// daemons are asked themselves where they run, and their answer is trusted.
///
/// Read anew at every call, because a remembered offset would be wrong after the clock was set.
/// Smeared leap seconds cannot be recognized: servers that smear make all clocks wrong alike.
///
/// - Cost: two system calls that take the kernel's locks, a microsecond or two. With `chrony`
///   (Linux), where chronyd may keep the clock: a UDP socket and a question over the loopback, some
///   100 µs; 10 ms where nothing answers, and then no question for a second. With `clockbound`
///   (Linux): files are opened and read, some 20 µs.
/// - Not async-signal-safe with one of these features, and makes system calls that
///   [`crate::prepare`] does not replace.
///
/// # Errors
/// The clock is not synchronized, is being slewed, or refuses; or its stated error is worthless.
///
/// ```
/// match clockscope::utc_now() {
///     Ok(utc) => println!("between {} and {}, {}", utc.earliest, utc.latest, utc.state),
///     Err(reason) => println!("{reason}"),
/// }
/// ```
pub fn utc_now() -> Result<Interval, Unbounded> {
    let (interval, _) = ask()?;
    let (earliest_ns, latest_ns) = widen(interval.leap, (interval.earliest_ns, interval.latest_ns));
    WallInterval { earliest_ns, latest_ns, ..interval }.on_scale(0)
}

/// Returns TAI likewise: UTC and the leap seconds that the kernel knows of. The ends count TAI's
/// seconds since 1970-01-01T00:00:00 TAI, in which leap seconds are like all others: as text they
/// are TAI's date and time, not UTC's.
///
/// # Errors
/// As [`utc_now`], and that the kernel does not know of leap seconds.
///
/// ```
/// let tai = clockscope::tai_now();
/// # let _ = tai;
/// ```
pub fn tai_now() -> Result<Interval, Unbounded> {
    let (interval, kernel) = ask()?;
    let offset = kernel.tai_offset_s.ok_or(Unbounded::TaiUnknown)?;
    // The kernel changes clock and offset together.
    interval.on_scale(i128::from(offset) * 1_000_000_000)
}

/// The best interval that there is, and the kernel's state.
fn ask() -> Result<(WallInterval, KernelClockState), Unbounded> {
    let began = now();
    let kernel = os::kernel_clock().map_err(Unbounded::Refused)?;
    #[cfg(all(feature = "clockbound", target_os = "linux"))]
    if let Some(interval) = clockbound::ask(&kernel) {
        // The clock was read at some moment since then.
        return Ok((interval.wider(now().ns_since(began)), kernel));
    }
    #[cfg(feature = "chrony")]
    if kernel.may_be_chronyd() {
        return chrony::bounded(kernel, began);
    }
    Ok((kernel.interval(now().ns_since(began))?, kernel))
}

#[cfg(test)]
mod tests;
