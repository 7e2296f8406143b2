//! What the kernel says of its civil clock: `os` asks for it, `civil` judges it.

use crate::leap::Leap;

/// The kernel never states a larger error: it means that nobody has stated one (NTP_PHASE_LIMIT of
/// include/linux/timex.h).
pub(crate) const NO_ERROR_STATED_US: u64 = 16_000_000;

/// The kernel's state, as adjtimex(2) gives it for one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    /// CLOCK_REALTIME in ns since 1970, and the unit that it is given in, in ns: 1 or 1000.
    pub(crate) unix_ns: i128,
    pub(crate) unit_ns: u64,
    pub(crate) leap: Leap,
    /// STA_UNSYNC: no daemon says that the clock is right.
    pub(crate) is_unsynchronized: bool,
    /// The kernel's clock is in error for another reason (TIME_ERROR without STA_UNSYNC).
    pub(crate) has_failed: bool,
    /// STA_PLL: offsets are handed to the kernel, which works them off.
    pub(crate) is_by_loop: bool,
    /// STA_NANO: in nanoseconds.
    pub(crate) is_in_ns: bool,
    pub(crate) max_error_us: u64,
    pub(crate) estimated_error_us: u64,
    /// What the loop has still to work off, in ns: the true time is ahead by as much.
    pub(crate) offset_ns: i64,
    pub(crate) time_constant: u32,
    /// What adjtime(3) has still to work off, in µs; `None` where that was not answered.
    pub(crate) adjust_us: Option<i64>,
    /// By how much the clock's rate is corrected, in ppm, by its tick and its frequency together.
    pub(crate) rate_ppm: f64,
    /// TAI − UTC; `None` where the kernel does not know.
    pub(crate) tai_offset_s: Option<i32>,
}

impl State {
    /// A clock that nobody keeps right.
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "of systems that state no error, and of tests"))]
    pub(crate) const fn unsynchronized(unix_ns: i128) -> Self {
        Self {
            unix_ns,
            unit_ns: 1,
            leap: Leap::None,
            is_unsynchronized: true,
            has_failed: false,
            is_by_loop: false,
            is_in_ns: false,
            max_error_us: NO_ERROR_STATED_US,
            estimated_error_us: NO_ERROR_STATED_US,
            offset_ns: 0,
            time_constant: 0,
            adjust_us: Some(0),
            rate_ppm: 0.0,
            tai_offset_s: None,
        }
    }
}
