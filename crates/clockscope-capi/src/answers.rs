//! Answers to questions: codes, and structures of C's layout.

use core::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use clockscope::stamps::{Refused, StampError};
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
    /// No stamps: the library knows no counter of this processor.
    NoCounter = -6,
    /// No stamps: the processor does not promise that its counter runs at one rate.
    NotInvariant = -7,
    /// No stamps: the clock does not use the counter.
    NotUsed = -8,
    /// The counter could not be compared with CLOCK_MONOTONIC.
    NotCompared = -9,
    /// The process has no history of stamps.
    NoHistory = -10,
    /// The stamp is older than the history.
    BeforeHistory = -11,
    /// The stamp is later than now.
    Future = -12,
    /// The clocks did not go on between the renewals around the stamp.
    Gap = -13,
    /// The counter went back: this count occurred twice.
    CounterWentBack = -14,
    /// The wall clock was set between the renewals around the stamp, or does not answer.
    NoWallTime = -15,
    /// The counter is not used any more.
    GivenUp = -16,
    /// Another thread, or what a signal interrupted, writes the history.
    Busy = -17,
    /// The system refuses, or has no such thing.
    System = -18,
    /// The time limit has passed before what was waited for.
    TimeLimit = -19,
}

impl CallFailure {
    const ALL: [Self; 19] = [
        Self::Null,
        Self::NoClock,
        Self::Unknown,
        Self::Panicked,
        Self::Argument,
        Self::NoCounter,
        Self::NotInvariant,
        Self::NotUsed,
        Self::NotCompared,
        Self::NoHistory,
        Self::BeforeHistory,
        Self::Future,
        Self::Gap,
        Self::CounterWentBack,
        Self::NoWallTime,
        Self::GivenUp,
        Self::Busy,
        Self::System,
        Self::TimeLimit,
    ];

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
            Self::NoCounter => c"no counter of this processor is known: use clockscope_now()",
            Self::NotInvariant => {
                c"the processor does not promise that its counter runs at one rate: use clockscope_now()"
            }
            Self::NotUsed => c"the clock does not use the counter: clockscope_demotion() has the reason",
            Self::NotCompared => {
                c"the counter could not be compared with CLOCK_MONOTONIC: try again in some milliseconds"
            }
            Self::NoHistory => c"this process has no history of stamps: call clockscope_stamps_counter() first",
            Self::BeforeHistory => c"the stamp is older than the history",
            Self::Future => c"the stamp is later than now: it comes from another machine, boot or clock",
            Self::Gap => {
                c"the machine was suspended or moved, or a clock stepped, between the renewals around the stamp"
            }
            Self::CounterWentBack => c"the counter went back: this count occurred twice",
            Self::NoWallTime => c"the wall clock was set between the renewals around the stamp, or does not answer",
            Self::GivenUp => c"the counter is not used any more: clockscope_demotion() has the reason",
            Self::Busy => c"the history is being written: convert the stamp later",
            Self::System => c"the system refuses, or has no such thing",
            Self::TimeLimit => c"the moment is not certainly past at the end of the time limit",
        }
    }
}

impl From<Refused> for CallFailure {
    fn from(reason: Refused) -> Self {
        match reason {
            Refused::NoCounter => Self::NoCounter,
            Refused::NotInvariant => Self::NotInvariant,
            Refused::NotUsed(_) => Self::NotUsed,
            Refused::NotCompared => Self::NotCompared,
            _ => Self::Unknown,
        }
    }
}

impl From<StampError> for CallFailure {
    fn from(reason: StampError) -> Self {
        match reason {
            StampError::NoHistory => Self::NoHistory,
            StampError::BeforeHistory => Self::BeforeHistory,
            StampError::Future => Self::Future,
            StampError::Gap => Self::Gap,
            StampError::CounterWentBack => Self::CounterWentBack,
            StampError::NoWallTime => Self::NoWallTime,
            StampError::GivenUp(_) => Self::GivenUp,
            StampError::NotCompared => Self::NotCompared,
            StampError::Busy => Self::Busy,
            _ => Self::Unknown,
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
    /// The largest that may have been since the generation began, in ns.
    pub largest_ns: u64,
    /// The time of that, to some ms, in ns.
    pub largest_at_ns: u64,
}

impl From<ErrorBound> for BoundNs {
    fn from(bound: ErrorBound) -> Self {
        Self {
            now_ns: whole_ns(bound.now),
            largest_ns: whole_ns(bound.largest),
            largest_at_ns: bound.largest_at.as_ns(),
        }
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
    use clockscope::Demotion;

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(guarded(|| panic!("planted by the test")), CallFailure::Panicked.code());
        assert_eq!(guarded(|| Err(CallFailure::NoClock)), CallFailure::NoClock.code());
        assert_eq!(guarded(|| Ok(3)), 3);
    }

    /// No function that returns a code runs the library outside of [`guarded`]: a panic in it ends
    /// the process. To free a manual clock is none of the library's code.
    #[test]
    fn every_function_that_returns_a_code_is_guarded() {
        const SOURCES: [&str; 4] = [
            include_str!("exports.rs"),
            include_str!("exports/stamps.rs"),
            include_str!("exports/upkeep.rs"),
            include_str!("exports/wall.rs"),
        ];
        let functions = SOURCES.iter().flat_map(|source| source.split("extern \"C\" fn ").skip(1));
        let codes: Vec<(&str, &str)> = functions
            .filter_map(|function| {
                let (signature, rest) = function.split_once(" {\n")?;
                let name = signature.split_once('(')?.0;
                signature.ends_with("-> c_int").then(|| (name, rest.split("\n}\n").next().unwrap_or(rest)))
            })
            .collect();
        let mut open = codes.iter().filter(|(_, body)| !body.contains("guarded(|| ") && !body.contains(" store("));
        assert_eq!((open.next().map(|(name, _)| *name), open.next()), (Some("clockscope_manual_free"), None));
        assert!(codes.len() > 20, "{codes:?}");
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

    /// Every reason has a code, and each its own. Both enums have `NotCompared`, to which a caller
    /// answers in one way.
    #[test]
    fn every_reason_has_a_code() {
        let refused =
            [Refused::NoCounter, Refused::NotInvariant, Refused::NotUsed(Demotion::Wraps), Refused::NotCompared];
        let errors = [
            StampError::NoHistory,
            StampError::BeforeHistory,
            StampError::Future,
            StampError::Gap,
            StampError::CounterWentBack,
            StampError::NoWallTime,
            StampError::GivenUp(Demotion::OutOfOrder),
            StampError::Busy,
        ];
        let codes = refused.map(CallFailure::from).into_iter().chain(errors.map(CallFailure::from));
        assert!(codes.map(CallFailure::code).eq((-17..=-6).rev()));
        assert_eq!(CallFailure::from(StampError::NotCompared), CallFailure::NotCompared);
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
