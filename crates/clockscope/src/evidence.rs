//! The clock's statement on itself: where its time comes from, how well it is known, and why.

use alloc::borrow::Cow;
use core::fmt;
use core::time::Duration;

use clockscope_core::evidence::PpmBound;

use crate::Instant;

pub use clockscope_core::Finding;

/// Source of the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The processor's counter.
    Counter,
    /// The operating system's clock: until the counter is calibrated, for rare callers, and where
    /// the counter may not be used.
    OsClock,
    /// Every clock of the system refuses: the time stands still.
    Nothing,
}

/// One finding about a clock, and what it means for using it.
///
/// ```
/// use clockscope::{Evidence, Finding, Value};
///
/// let evidence = Evidence::new("cost", Finding::For, "a read costs 22.4 ns").figure(22.4, "ns").by("batches of reads");
/// assert_eq!(evidence.value, Some(Value::Number(22.4)));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evidence {
    /// The question, in a few words.
    pub name: &'static str,
    /// Meaning of the answer.
    pub finding: Finding,
    /// The answer in a sentence, with its figures; where it is unknown, why.
    pub seen: Cow<'static, str>,
    /// The answer as one figure or word; `None` where there is none.
    pub value: Option<Value>,
    /// The figure's unit; empty for words and counts.
    pub unit: &'static str,
    /// Source of the answer: a register, a file, a test.
    pub source: Cow<'static, str>,
    /// Remedy for it; empty where none is needed.
    pub advice: Cow<'static, str>,
}

/// The value of a finding.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A figure, in the unit that stands beside it.
    Number(f64),
    /// A word, such as the name of a clocksource.
    Word(Cow<'static, str>),
}

impl Evidence {
    /// Creates evidence without a figure, of an unnamed source, without advice.
    #[must_use]
    pub fn new(name: &'static str, finding: Finding, seen: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name,
            finding,
            seen: seen.into(),
            value: None,
            unit: "",
            source: Cow::Borrowed(""),
            advice: Cow::Borrowed(""),
        }
    }

    /// Sets a figure and its unit.
    #[must_use]
    pub fn figure(self, number: f64, unit: &'static str) -> Self {
        Self { value: Some(Value::Number(number)), unit, ..self }
    }

    /// Sets a word.
    #[must_use]
    pub fn word(self, word: impl Into<Cow<'static, str>>) -> Self {
        Self { value: Some(Value::Word(word.into())), ..self }
    }

    /// Sets the source.
    #[must_use]
    pub fn by(self, source: impl Into<Cow<'static, str>>) -> Self {
        Self { source: source.into(), ..self }
    }

    /// Sets the remedy.
    #[must_use]
    pub fn advise(self, advice: impl Into<Cow<'static, str>>) -> Self {
        Self { advice: advice.into(), ..self }
    }
}

/// The counter's frequency: the mean over a window, between bounds that assume nothing about what
/// happened within it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Frequency {
    /// The estimate, in Hz.
    pub hz: f64,
    /// The lowest mean frequency that the brackets at the window's ends allow, in Hz.
    pub lowest_hz: f64,
    /// The highest.
    pub highest_hz: f64,
    /// Length of the window.
    pub window: Duration,
}

impl Frequency {
    /// Returns half the distance of the bounds, in parts per million of the estimate.
    #[must_use]
    pub fn bound_ppm(&self) -> f64 {
        (self.highest_hz - self.lowest_hz) / 2.0 / self.hz * 1e6
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} MHz ± {} ppm over {:?}", self.hz / 1e6, PpmBound(self.bound_ppm()), self.window)
    }
}

/// Distance of the served time from the OS clock: |ours − OS| and the width of the bracket that
/// showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorBound {
    /// Bound at a moment of the call, by a bracket that was taken for it: nothing is assumed.
    pub now: Duration,
    /// The largest error that a reading may have had since the generation began, or in which the
    /// generation before ended: a figure of the past, which does not become smaller.
    ///
    /// It assumes that the OS clock changes its rate at most once in any two milliseconds in which
    /// it is read, by as much as adjtimex(2) permits, and nothing of what it does in a pause.
    /// Readings between the last comparison of the clocks and a pause may be off by 22 % of that
    /// time, if it is slewed from one end to the other then: nothing shows that it was not. So a
    /// pause by itself makes it some 0.4 ms.
    pub largest: Duration,
    /// Time of that reading, to some milliseconds.
    pub largest_at: Instant,
}

/// Reason why the clock of the process does not use the counter.
///
/// The numbers are those of `clockscope_demotion_reason` in C, and stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Demotion {
    /// The process may not read the counter, or the library knows none.
    NotPermitted = 1,
    /// The kernel does not build its clocks on the counter.
    NotClocksource = 2,
    /// The kernel does not show whether it builds its clocks on the counter.
    ClocksourceUnknown = 3,
    /// The OS clock is too coarse to discipline the counter by.
    CoarseOsClock = 4,
    /// The counter is slower than 1 MHz.
    CoarseCounter = 5,
    /// The counter wraps too soon.
    Wraps = 6,
    /// The counter contradicted the OS clock repeatedly. The library tries it again after a pause.
    Unsteady = 7,
    /// Readings of the counter went back between CPUs.
    OutOfOrder = 8,
    /// The OS clock has become slower. The library tries the counter again after a pause.
    OsClockSlower = 9,
    /// Two threads that were renewing the clock did not come back.
    Abandoned = 10,
    /// [`revalidate`](crate::revalidate) tested the counter on other CPUs, or on another machine.
    Untested = 11,
}

impl Demotion {
    /// All reasons, in the order of their numbers.
    #[doc(hidden)]
    pub const ALL: [Self; 11] = [
        Self::NotPermitted,
        Self::NotClocksource,
        Self::ClocksourceUnknown,
        Self::CoarseOsClock,
        Self::CoarseCounter,
        Self::Wraps,
        Self::Unsteady,
        Self::OutOfOrder,
        Self::OsClockSlower,
        Self::Abandoned,
        Self::Untested,
    ];

    /// Returns true if it is an answer of the system, or of the processor, which may change.
    pub(crate) fn is_of_the_system(self) -> bool {
        match self {
            Self::NotPermitted
            | Self::NotClocksource
            | Self::ClocksourceUnknown
            | Self::CoarseOsClock
            | Self::OsClockSlower
            | Self::Untested => true,
            Self::CoarseCounter | Self::Wraps | Self::Unsteady | Self::OutOfOrder | Self::Abandoned => false,
        }
    }
}

impl Demotion {
    /// Returns true if the counter is tried again after a pause.
    pub(crate) fn is_for_some_time(self) -> bool {
        matches!(self, Self::OsClockSlower | Self::Unsteady)
    }

    /// Returns the reason in a word, as the `outcome` of [`evidence`](crate::evidence) has it:
    /// `not_permitted`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotPermitted => "not_permitted",
            Self::NotClocksource => "not_clocksource",
            Self::ClocksourceUnknown => "clocksource_unknown",
            Self::CoarseOsClock => "coarse_os_clock",
            Self::CoarseCounter => "coarse_counter",
            Self::Wraps => "wraps",
            Self::Unsteady => "unsteady",
            Self::OutOfOrder => "out_of_order",
            Self::OsClockSlower => "os_clock_slower",
            Self::Abandoned => "abandoned",
            Self::Untested => "untested",
        }
    }

    /// Observation, and what can be done.
    pub(crate) fn explained(self) -> (&'static str, &'static str) {
        match self {
            Self::NotPermitted => ("the OS clock is served: the counter may not be read", ""),
            Self::NotClocksource => (
                "the OS clock is served: the kernel does not build its clocks on the counter",
                "revalidate() tests the counter and takes it back if it passes",
            ),
            Self::ClocksourceUnknown => (
                "the OS clock is served: whether the kernel trusts the counter is not known",
                "revalidate() tests the counter and takes it back if it passes",
            ),
            Self::CoarseOsClock => ("the OS clock is served: it is too coarse to discipline the counter by", ""),
            Self::CoarseCounter => ("the OS clock is served: the counter is slower than 1 MHz", ""),
            Self::Wraps => ("the OS clock is served: the counter wraps too soon", ""),
            Self::OutOfOrder => (
                "the OS clock is served: readings of the counter went back between CPUs",
                "the CPUs' counters are not synchronized; a newer firmware or hypervisor may do that",
            ),
            Self::OsClockSlower => (
                "the OS clock is served for now: it has become slower, as when the kernel turns away from the counter",
                "recheck() asks the kernel; without it the counter is tried again after a pause",
            ),
            Self::Abandoned => (
                "the OS clock is served: two threads that were renewing the clock never finished",
                "find out what ends or stops them there: siglongjmp, a child that shares memory, real-time threads",
            ),
            Self::Untested => (
                "the OS clock is served: revalidate() has tested the counter on other CPUs, or on another machine",
                "revalidate() tests it again, on the CPUs that the process may run on now",
            ),
            Self::Unsteady => (
                "the OS clock is served for now: the counter contradicted it again and again, each time within ten seconds",
                "find out what steps or stops the counter: migrations, firmware; it is tried again after a pause",
            ),
        }
    }
}

/// The word.
impl fmt::Display for Demotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
