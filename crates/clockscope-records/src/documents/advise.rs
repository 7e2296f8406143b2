//! The clock to use for intervals, the repetitions of what is measured, and the errors that remain.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Figure;
use crate::after_work::{self, AfterWork, Work};
use crate::grouped;
use crate::language::Language;
use crate::units::{percent, time};
use crate::words::{worded, written};

/// The longest interval that a single measurement is weighed for, in ns: an hour.
const LONGEST_INTERVAL_NS: f64 = 3.6e12;
/// By how much an interval may be too short after its overhead is subtracted, in ns: work begins
/// before an unfenced read has ended (2 to 3 ns on Intel and AMD).
const OVERLAP_NS: f64 = 3.0;
/// Steps that the shortest interval is found in, each of which shrinks what is left by a share.
const STEPS_TO_SUFFICIENT: u32 = 64;

/// The result of `clockscope advise`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Advice", transform = crate::schema::add_unknown))]
pub struct Advice {
    /// The language whose clocks were weighed, as programs in it read them; `null` for those of C,
    /// C++ and Rust.
    #[serde(default)]
    pub language: Option<Language>,
    /// The version of the language's runtime, as it states it; `null` without a language.
    #[serde(default)]
    pub language_version: Option<String>,
    /// The reading error that is accepted, as a share of the interval: 0.01 is one percent.
    pub error: f64,
    /// The work that the reading errors are those after; `null` for those of reads in a loop, where
    /// the record has no others.
    #[serde(default)]
    pub after: Option<Work>,
    /// One row an interval, in ascending order; `[]` where it is unknown.
    #[serde(with = "crate::figure::list")]
    #[cfg_attr(test, schemars(with = "Vec<AdviceRow>"))]
    pub rows: Figure<Vec<AdviceRow>>,
    /// The most that an unknown scale error may be, as a share of the interval: the most that the
    /// kernel corrects a frequency by (500 ppm, `MAXFREQ` of linux/timex.h). `null` on systems
    /// other than Linux.
    pub scale_tolerance: Option<f64>,
    /// Every clock that was weighed, the one with the smallest reading error first.
    pub clocks: Vec<Candidate>,
    /// Clocks that were not weighed, and why.
    pub left_out: Vec<LeftOut>,
}

/// Advice for intervals of one length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "AdviceRow", transform = crate::schema::add_unknown))]
pub struct AdviceRow {
    /// The interval's length, in ns.
    pub interval_ns: f64,
    /// The clock to use: the system's usual one where a single measurement by it is good enough,
    /// else the one with the smallest reading error.
    pub clock: String,
    /// By what share of the interval the reads put a single measurement off at most, in 99 of 100
    /// measurements. Repetitions between the two reads divide it.
    pub reading_error: f64,
    /// The clock's errors after each kind of work that was tried.
    #[serde(default)]
    pub after_work: Vec<AfterWork>,
    /// By what share of the interval the clock's rate may put any measurement off. No repetition
    /// shrinks it; it is the same in all measurements by the clock.
    pub scale_error: Figure<f64>,
    /// The bound of the scale error; `null` where it is unknown.
    pub scale_source: Option<ScaleSource>,
    /// Repetitions of what is measured between the two reads, so that the reading error is at most
    /// the one accepted.
    pub repetitions: u64,
    /// The cheapest clock whose single measurement is good enough; `null` where none is.
    pub cheapest_sufficient: Option<String>,
}

/// The source of the bound of a clock's rate error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScaleSource {
    /// A comparison with a clock on other hardware, of this name.
    Comparison(String),
    /// chronyd's statement of the frequency's error (`skew`).
    Chronyd,
}

/// A clock that was weighed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Candidate {
    /// Its name.
    pub clock: String,
    /// Cost per read, in ns.
    pub cost_ns: f64,
    /// Overhead of a measurement, in ns: the median difference of two reads with nothing
    /// between them, or what a read costs if that is more.
    pub overhead_ns: f64,
    /// Its tick, or what is known instead: its upper bound, the observed resolution.
    pub tick_ns: f64,
    /// The meaning of that figure.
    pub tick_is: TickIs,
    /// 99th percentile of the differences less the median, in ns.
    pub jitter_ns: f64,
    /// The usual difference of two reads in one expression, in ns: from the smallest to the 99th
    /// percentile.
    pub two_reads_ns: [f64; 2],
    /// The most that two reads in a row differed by or may differ by, in ns: one tick at least.
    pub two_reads_max_ns: f64,
    /// Its errors after each kind of work that was tried; empty where it was read in a loop alone.
    #[serde(default)]
    pub after_work: Vec<AfterWork>,
}

impl Candidate {
    /// Returns the reading error, in ns, that 99 of 100 single measurements of such an interval do
    /// not exceed after this work. Without figures for the work, it is that of reads in a loop.
    #[must_use]
    pub fn reading_error_ns(&self, interval_ns: f64, after: Option<Work>) -> f64 {
        let after = after.and_then(|work| after_work::error_ns(&self.after_work, work, interval_ns));
        after.map_or_else(|| self.loop_error_ns(), |error_ns| error_ns.max(self.tick_ns))
    }

    /// Returns the error, in ns, that 99 of 100 single measurements do not exceed once the usual
    /// overhead has been subtracted: what is left above and below that, and the overlap of work and
    /// read.
    #[must_use]
    pub fn subtracted_error_ns(&self, interval_ns: f64, after: Option<Work>) -> f64 {
        let usual_ns = after
            .and_then(|work| after_work::median_ns(&self.after_work, work, interval_ns))
            .unwrap_or(self.overhead_ns);
        let error_ns = self.reading_error_ns(interval_ns, after);
        let left_ns = (error_ns - usual_ns).max(usual_ns - self.two_reads_ns[0]).max(self.tick_ns);
        (left_ns + OVERLAP_NS).min(error_ns)
    }

    /// Returns by how much reads in a loop put a measurement off, in ns.
    #[must_use]
    pub fn loop_error_ns(&self) -> f64 {
        self.overhead_ns + self.tick_ns + self.jitter_ns
    }

    /// Returns the shortest interval, in ns, from which on the reads put a single measurement off
    /// by no more than this share of it.
    #[must_use]
    pub fn sufficient_from_ns(&self, error: f64, after: Option<Work>) -> f64 {
        let mut from_ns = LONGEST_INTERVAL_NS;
        // The error is no smaller for longer intervals, so that this falls to the last crossing.
        for _ in 0..STEPS_TO_SUFFICIENT {
            from_ns = self.reading_error_ns(from_ns, after) / error;
        }
        from_ns
    }
}

/// The meaning of a figure for a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TickIs {
    /// It is this.
    Found,
    /// It is at most this.
    AtMost,
    /// It is not known; this is the observed resolution.
    ObservedResolution,
}

/// A clock that was not weighed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "LeftOut", transform = crate::schema::add_words::<LeftOut>))]
#[serde(remote = "Self")]
pub struct LeftOut {
    /// Its name.
    pub clock: String,
    /// The cause.
    pub cause: LeftOutCause,
}

worded!(LeftOut {
    /// The same for people.
    reason: String = |left_out: &LeftOut| left_out.cause.to_string(),
});
written!(LeftOut);

/// The cause for which `advise` does not weigh a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LeftOutCause {
    /// It is the time of day, which may be set.
    TimeOfDay,
    /// It counts processor time.
    ProcessorTime,
    /// It counts a core's cycles.
    CoreCycles,
    /// It is a device of its own.
    Device,
    /// A read may take effect before what precedes it.
    Unordered,
    /// The kernel does not build its clock on this counter.
    UntrustedCounter,
    /// It is of a kind that this program does not know.
    OtherKind,
    /// It cannot be read.
    Unreadable,
    /// Its readings were not judged.
    NotJudged,
    /// It went back, jumped, stood still, or failed to answer.
    Faulty,
    /// The record lacks the differences of its readings.
    NoDifferences,
    /// Its cost is not known.
    NoCost,
    /// It never advanced while it was read.
    Stuck,
    /// Others were read after other work, and it was not.
    NotAfterWork,
}

impl LeftOutCause {
    /// Returns whether its figures are the cause, and not what it is or that it cannot be read.
    #[must_use]
    pub fn is_of_figures(self) -> bool {
        matches!(self, Self::NotJudged | Self::Faulty | Self::NoDifferences | Self::NoCost | Self::Stuck)
    }
}

impl fmt::Display for LeftOutCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimeOfDay => "the time of day, which may be set",
            Self::ProcessorTime => "it counts processor time",
            Self::CoreCycles => "it counts a core's cycles",
            Self::Device => "a device of its own, which few programs may read",
            Self::Unordered => "a read may take effect before what precedes it",
            Self::UntrustedCounter => "the kernel does not build its clock on this counter",
            Self::OtherKind => "it may not count time",
            Self::Unreadable => "it cannot be read here",
            Self::NotJudged => "its readings were not judged",
            Self::Faulty => "it went back, jumped, stood still, or failed to answer",
            Self::NoDifferences => "the differences of its readings are not in the record: measure again",
            Self::NoCost => "its cost is unknown",
            Self::Stuck => "it never advanced while it was read",
            Self::NotAfterWork => "not read after other work, as others that are finer or better known",
        })
    }
}

/// The clock that `measure` recommends for intervals, by the same rule as `advise`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Recommendation", transform = crate::schema::add_unknown, transform = crate::schema::add_words::<Recommendation>))]
#[serde(remote = "Self", default)]
pub struct Recommendation {
    /// The reading error that is accepted, as a share of the interval.
    pub error: f64,
    /// Name of the clock; `null` when none of those measured is fit.
    pub clock: Figure<String>,
    /// The shortest interval that a single measurement by it is good enough for, in ns. This and
    /// the next ones are `null` without a clock.
    pub interval_ns: Option<f64>,
    /// By how much its reads put a single measurement of such an interval off at most, in ns, in 99
    /// of 100 measurements.
    pub reading_error_ns: Option<f64>,
    /// The work that this is after; `null` for reads in a loop.
    pub after: Option<Work>,
    /// Its median cost, in ns.
    pub cost_ns: Option<f64>,
    /// Reads of it on one CPU, of which none went back, jumped or failed.
    pub reads: Option<u64>,
    /// The clock for shorter intervals, with repetitions: the one with the smallest reading error;
    /// `null` where it is the same.
    pub shorter: Option<String>,
}

written!(Recommendation);

worded!(Recommendation {
    /// The clock and what to expect of it, in one sentence.
    sentence: String = ToString::to_string,
});

/// At most two sentences: the clock, for which intervals and what to expect of it, and the clock
/// for shorter ones.
impl fmt::Display for Recommendation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, clock, interval_ns, after, cost_ns, reads, shorter, .. } = self;
        let clock = match clock {
            Figure::Known(clock) => clock,
            Figure::Unknown(reason) => return write!(f, "No clock is recommended for intervals: {reason}."),
        };
        let from = interval_ns.map_or_else(String::new, |ns| format!(" of {} and more", time(ns)));
        let after =
            after.map_or_else(|| "reads in a loop".to_owned(), |work| format!("99 of 100 measurements of {work}"));
        let mut expected = vec![format!("a reading error of at most {} in {after}", percent(error * 100.0))];
        expected.extend(cost_ns.map(|cost_ns| format!("{cost_ns:.1} ns per read")));
        expected.extend(reads.map(|reads| format!("no step back or jump in {} reads on one CPU", grouped(reads))));
        let shorter = match shorter {
            Some(shorter) => format!("use {shorter}, and see how often to repeat"),
            None => "see how often to repeat".to_owned(),
        };
        let expected = expected.join(", ");
        write!(f, "For intervals{from} use {clock}: {expected}. For shorter ones {shorter}: clockscope advise 100ns.")
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::{Unknown, texts};

    /// Subtraction leaves an error above the usual overhead, one below it, or a tick.
    #[test]
    fn subtraction_leaves_the_spread_the_tick_and_the_overlap() {
        let spin = |median_ns, p99_ns| AfterWork {
            work: Work::Spin,
            work_ns: 200.0,
            measurements: 1_000_000,
            median_ns,
            p99_ns,
        };
        let candidate = |median_ns, p99_ns, least_ns, tick_ns| Candidate {
            clock: "monotonic".to_owned(),
            cost_ns: 30.0,
            overhead_ns: 30.0,
            tick_ns,
            tick_is: TickIs::Found,
            jitter_ns: 10.0,
            two_reads_ns: [least_ns, 50.0],
            two_reads_max_ns: 1e5,
            after_work: vec![spin(median_ns, p99_ns)],
        };
        for (candidate, left_ns) in [
            (candidate(40.0, 100.0, 35.0, 10.0), 1.101 * 100.0 - 40.0 + OVERLAP_NS),
            (candidate(40.0, 41.0, 10.0, 10.0), 30.0 + OVERLAP_NS),
            // Subtraction makes nothing worse.
            (candidate(40.0, 41.0, 39.0, 1000.0), 1000.0),
            (candidate(1000.0, 1000.0, 990.0, 1000.0), 1000.0 + OVERLAP_NS),
        ] {
            let found_ns = candidate.subtracted_error_ns(200.0, Some(Work::Spin));
            assert!((found_ns - left_ns).abs() < 1e-9, "{found_ns} {left_ns}");
        }
        let in_a_loop = candidate(40.0, 100.0, 25.0, 10.0);
        assert_eq!(in_a_loop.subtracted_error_ns(200.0, None), 20.0 + OVERLAP_NS);
    }

    #[test]
    fn a_clock_is_named_with_its_intervals_and_what_to_expect() {
        let known = Recommendation {
            error: 0.01,
            clock: Figure::Known("monotonic".to_owned()),
            interval_ns: Some(5_228.0),
            reading_error_ns: Some(52.28),
            after: Some(Work::Spin),
            cost_ns: Some(22.24),
            reads: Some(430_074),
            ..Recommendation::default()
        };
        let expected = "For intervals of 5.23 µs and more use monotonic: a reading error of at most 1% in 99 of 100 \
                        measurements of a spin, 22.2 ns per read, no step back or jump in 430,074 reads on one CPU.";
        let shorter = Some("rdtscp".to_owned());
        for (recommendation, then) in [
            (known.clone(), " For shorter ones see how often to repeat: clockscope advise 100ns."),
            (
                Recommendation { shorter, ..known },
                " For shorter ones use rdtscp, and see how often to repeat: clockscope advise 100ns.",
            ),
        ] {
            assert_eq!(recommendation.to_string(), format!("{expected}{then}"));
        }
    }

    #[test]
    fn no_clock_has_its_reason() {
        let none = |reason: Unknown| {
            Recommendation { clock: Figure::unknown(reason), ..Recommendation::default() }.to_string()
        };
        for (reason, words) in [
            (texts::EMULATED, "costs under emulation are the emulator's"),
            (texts::NOTHING_FIT, "no measured clock is fit for intervals (see their events)"),
            (texts::NOTHING_MEASURED, "none of the measured clocks suits intervals"),
        ] {
            assert_eq!(none(reason.into()), format!("No clock is recommended for intervals: {words}."));
        }
    }
}
