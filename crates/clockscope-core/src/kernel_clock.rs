//! The kernel's statement on its wall clock. [`crate::os::kernel_clock`] asks for it; judging it is
//! the caller's.

/// The kernel's statement on a leap second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Leap {
    /// None is announced.
    #[default]
    None,
    /// A second will be inserted at the end of this UTC day (TIME_INS).
    Insert,
    /// The last second of this UTC day will be left out (TIME_DEL).
    Delete,
    /// The inserted second is running (TIME_OOP): the clock shows the one before it once more.
    InProgress,
    /// It is over, and the announcement still stands (TIME_WAIT).
    Done,
    /// One is announced, but the kernel hides whether it is over, because nobody says that its
    /// clock is right (TIME_ERROR).
    Announced,
}

/// The kernel never states a larger error: it means that nobody has stated one (NTP_PHASE_LIMIT of
/// include/linux/timex.h).
pub const UNKNOWN_ERROR_US: u64 = 16_000_000;

/// The kernel's state, as adjtimex(2) gives it for one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelClockState {
    /// CLOCK_REALTIME in ns since 1970.
    pub unix_ns: i128,
    /// The unit that it is given in, in ns: 1 or 1000.
    pub unit_ns: u64,
    /// The leap second.
    pub leap: Leap,
    /// STA_UNSYNC: no daemon says that the clock is right.
    pub is_unsynchronized: bool,
    /// The kernel's clock is in error for another reason (TIME_ERROR without STA_UNSYNC).
    pub has_failed: bool,
    /// STA_PLL: offsets are handed to the kernel, which works them off.
    pub is_by_loop: bool,
    /// STA_NANO: in nanoseconds.
    pub is_in_ns: bool,
    /// The largest error that was stated, in µs.
    pub max_error_us: u64,
    /// The estimated error that was stated, in µs.
    pub estimated_error_us: u64,
    /// Offset that the loop has still to work off, in ns: the true time is ahead by as much.
    pub offset_ns: i64,
    /// Time constant by which the loop works it off: the larger, the more slowly.
    pub time_constant: u32,
    /// Offset that adjtime(3) has still to work off, in µs; `None` where that was not answered.
    pub adjust_us: Option<i64>,
    /// Correction of the clock's rate by its tick and its frequency together, in ppm.
    pub rate_ppm: f64,
    /// TAI − UTC; `None` where the kernel does not know.
    pub tai_offset_s: Option<i32>,
}

impl KernelClockState {
    /// A clock that nobody keeps right.
    #[must_use]
    pub const fn unsynchronized(unix_ns: i128) -> Self {
        Self {
            unix_ns,
            unit_ns: 1,
            leap: Leap::None,
            is_unsynchronized: true,
            has_failed: false,
            is_by_loop: false,
            is_in_ns: false,
            max_error_us: UNKNOWN_ERROR_US,
            estimated_error_us: UNKNOWN_ERROR_US,
            offset_ns: 0,
            time_constant: 0,
            adjust_us: Some(0),
            rate_ppm: 0.0,
            tai_offset_s: None,
        }
    }
}
