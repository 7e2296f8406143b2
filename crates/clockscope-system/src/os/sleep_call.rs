//! The calls that sleep, by the names that programs know them by.

use crate::Errno;

/// A call that sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// nanosleep(2).
    Nanosleep,
    /// clock_nanosleep(2) until a moment of CLOCK_MONOTONIC.
    ClockNanosleepAbsolute,
    /// usleep(3).
    Usleep,
    /// poll(2) of nothing: whole milliseconds.
    Poll,
    /// A timer of timerfd_create(2), set and read.
    Timerfd,
    /// Rust's std::thread::sleep.
    ThreadSleep,
}

impl Call {
    /// Those that this system has.
    pub const ALL: &'static [Self] = if cfg!(target_os = "linux") {
        &[Self::Nanosleep, Self::ClockNanosleepAbsolute, Self::Usleep, Self::Poll, Self::Timerfd, Self::ThreadSleep]
    } else {
        &[Self::ThreadSleep]
    };

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanosleep => "nanosleep",
            Self::ClockNanosleepAbsolute => "clock_nanosleep_absolute",
            Self::Usleep => "usleep",
            Self::Poll => "poll",
            Self::Timerfd => "timerfd",
            Self::ThreadSleep => "thread_sleep",
        }
    }
}

/// Reason why a call did not sleep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SleepError {
    /// The call takes a whole number of coarser units, and the time is none.
    #[error("it takes whole {0} only")]
    Whole(&'static str),
    /// A call failed.
    #[error("{call}: {error}")]
    System {
        /// The call that failed.
        call: &'static str,
        /// Its error.
        error: Errno,
    },
    /// This system has no such call that clockscope knows.
    #[error("clockscope does not know this call on this system")]
    Unsupported,
}
