//! Answers to questions: codes, and structures of C's layout.

use core::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use clockscope::{ErrorBound, Frequency, Source};

/// Success.
pub(crate) const OK: c_int = 0;

/// Reason why a question has no answer. The numbers are part of the interface and stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[non_exhaustive]
pub enum CallFailure {
    /// A pointer is NULL.
    Null = -1,
    /// No clock of the system answers.
    NoClock = -2,
    /// The figure is not known.
    Unknown = -3,
    /// The library has failed: a fault in it.
    Panicked = -4,
    /// A number is out of its range.
    Argument = -5,
}

impl CallFailure {
    const ALL: [Self; 5] = [Self::Null, Self::NoClock, Self::Unknown, Self::Panicked, Self::Argument];

    /// Returns the code.
    #[must_use]
    pub const fn code(self) -> c_int {
        self as c_int
    }

    const fn text(self) -> &'static CStr {
        match self {
            Self::Null => c"a pointer is NULL: expected an address, or a function",
            Self::NoClock => c"no clock of the system answers",
            Self::Unknown => c"the figure is not known: the counter is not used, or nothing was found",
            Self::Panicked => c"the library has failed: please report it",
            Self::Argument => c"a number is out of range: expected an interval and an error above 0",
        }
    }
}

/// Describes a code in a few words.
pub(crate) fn describe(code: c_int) -> &'static CStr {
    match CallFailure::ALL.into_iter().find(|failure| failure.code() == code) {
        Some(failure) => failure.text(),
        None if code == OK => c"success",
        None => c"unknown code: expected one that a function of this library returned",
    }
}

/// Returns what `body` returns, or the code of its failure or panic.
pub(crate) fn guarded(body: impl FnOnce() -> Result<c_int, CallFailure>) -> c_int {
    // Nothing of the caller's is in a closure but pointers.
    let answer = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(CallFailure::Panicked));
    answer.unwrap_or_else(CallFailure::code)
}

/// Returns the number of a source.
pub(crate) fn source_number(source: Source) -> Result<c_int, CallFailure> {
    match source {
        Source::Counter => Ok(0),
        Source::OsClock => Ok(1),
        Source::Nothing => Ok(2),
        _ => Err(CallFailure::Unknown),
    }
}

/// Distance of the time from CLOCK_MONOTONIC: `clockscope_bound`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct BoundNs {
    /// By a comparison that was made for this answer, in ns.
    pub now_ns: u64,
    /// The largest since the generation began, in ns.
    pub largest_ns: u64,
}

impl From<ErrorBound> for BoundNs {
    fn from(bound: ErrorBound) -> Self {
        Self { now_ns: whole_ns(bound.now), largest_ns: whole_ns(bound.largest) }
    }
}

/// The counter's frequency between its bounds: `clockscope_frequency_range`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct FrequencyRange {
    /// The estimate, in Hz.
    pub hz: f64,
    /// The lowest mean frequency that is possible, in Hz.
    pub lowest_hz: f64,
    /// The highest.
    pub highest_hz: f64,
    /// Length of the window, in ns.
    pub window_ns: u64,
}

impl From<Frequency> for FrequencyRange {
    fn from(frequency: Frequency) -> Self {
        Self {
            hz: frequency.hz,
            lowest_hz: frequency.lowest_hz,
            highest_hz: frequency.highest_hz,
            window_ns: whole_ns(frequency.window),
        }
    }
}

/// A duration in ns, or the largest number where 64 bits do not hold it.
pub(crate) fn whole_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(guarded(|| panic!("planted by the test")), CallFailure::Panicked.code());
        assert_eq!(guarded(|| Err(CallFailure::NoClock)), CallFailure::NoClock.code());
        assert_eq!(guarded(|| Ok(3)), 3);
    }

    #[test]
    fn every_code_has_a_text_of_its_own() {
        let mut texts: Vec<&CStr> =
            [1, OK].into_iter().chain(CallFailure::ALL.map(CallFailure::code)).map(describe).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), CallFailure::ALL.len() + 2);
        assert!(CallFailure::ALL.iter().all(|failure| failure.code() < OK));
    }

    #[test]
    fn a_duration_that_does_not_fit_is_the_largest_number() {
        let largest = Duration::from_nanos(u64::MAX);
        let longer = largest + Duration::from_nanos(1);
        assert_eq!([Duration::ZERO, largest, longer, Duration::MAX].map(whole_ns), [0, u64::MAX, u64::MAX, u64::MAX]);
    }

    /// The numbers are those of clockscope.h.
    #[test]
    fn every_source_has_the_number_of_the_header() {
        let numbers = [Source::Counter, Source::OsClock, Source::Nothing].map(source_number);
        assert_eq!(numbers, [Ok(0), Ok(1), Ok(2)]);
    }
}
