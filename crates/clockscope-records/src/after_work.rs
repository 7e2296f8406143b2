//! Errors of intervals that a clock measured around other work: of reads as programs meet them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::time;

/// By what share the 99th percentile of another thousand measurements may be larger, minutes later.
/// Of fewer measurements, the largest of which stands for it, the share is larger by one over the
/// root of their number.
const LATER_SHARE: f64 = 0.1;

/// Power of the length by which the error grows beyond the longest spin: 1.4 times as much for ten
/// times as long, as from 100 ms to 1 s on a guest (Intel, family 6, model 167).
const GROWTH: f64 = 0.146;

/// The shortest work, in ns: a record may state none.
const SHORTEST_WORK_NS: f64 = 1.0;

/// Work between two reads of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A loop that reads the counter, which leaves the caches as they are.
    Spin,
    /// A walk over 32 kB, each line once.
    #[serde(rename = "touch_32k")]
    Touch32K,
    /// The same over 256 kB.
    #[serde(rename = "touch_256k")]
    Touch256K,
    /// The same over 4 MB.
    #[serde(rename = "touch_4m")]
    Touch4M,
    /// A sleep.
    Sleep,
}

impl Work {
    /// Returns how many bytes it touches.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Spin | Self::Sleep => 0,
            Self::Touch32K => 32 << 10,
            Self::Touch256K => 256 << 10,
            Self::Touch4M => 4 << 20,
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spin => "a spin",
            Self::Touch32K => "touching 32 kB",
            Self::Touch256K => "touching 256 kB",
            Self::Touch4M => "touching 4 MB",
            Self::Sleep => "a sleep",
        })
    }
}

/// Errors of the intervals that a clock measured around one kind of work: what its two reads add to
/// the work's length. docs/reference/method/after-work.md defines them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AfterWork {
    /// The work.
    pub work: Work,
    /// Its length, in ns: of a spin or a sleep the one asked for, of a walk the usual one.
    pub work_ns: f64,
    /// Intervals that were measured.
    pub measurements: u64,
    /// The median of their errors, in ns.
    pub median_ns: f64,
    /// The 99th percentile of their errors, in ns; the largest of fewer than a hundred.
    pub p99_ns: f64,
}

impl AfterWork {
    /// Returns the error that 99 of 100 measurements do not exceed, in ns.
    #[must_use]
    pub fn error_ns(&self) -> f64 {
        self.p99_ns.max(0.0) * (1.0 + LATER_SHARE + 1.0 / (self.measurements.max(1) as f64).sqrt())
    }
}

/// Adds the work's length where that is its own: "a spin of 10 µs".
impl fmt::Display for AfterWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.work {
            Work::Spin | Work::Sleep => write!(f, "{} of {}", self.work, time(self.work_ns)),
            Work::Touch32K | Work::Touch256K | Work::Touch4M => write!(f, "{}", self.work),
        }
    }
}

/// Returns the median error after this work, in ns, after a spin of the nearest length; `None`
/// where a record has none after such work.
pub(crate) fn median_ns(after: &[AfterWork], work: Work, interval_ns: f64) -> Option<f64> {
    let distance = |found: &&AfterWork| (found.work_ns.max(SHORTEST_WORK_NS) / interval_ns).ln().abs();
    let same = after.iter().filter(|found| found.work == work);
    same.min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|found| found.median_ns)
}

/// Returns the error that 99 of 100 intervals of this length do not exceed after this work, in ns;
/// `None` where a record has none after such work.
///
/// After a spin it grows with the length, as more of the caches is lost to interrupts and other
/// programs. Between two lengths it is that of the straight line on logarithmic scales; a sleep
/// that is no shorter than the longest spin counts as one. Beyond that, it grows by [`GROWTH`].
pub(crate) fn error_ns(after: &[AfterWork], work: Work, interval_ns: f64) -> Option<f64> {
    if work != Work::Spin {
        return after.iter().find(|found| found.work == work).map(AfterWork::error_ns);
    }
    let mut points: Vec<(f64, f64)> = after.iter().filter(|found| found.work == Work::Spin).map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let &(longest_ns, _) = points.last()?;
    let sleeps = after.iter().filter(|found| found.work == Work::Sleep && found.work_ns >= longest_ns);
    points.extend(sleeps.map(point));
    // The shortest intervals are off by no more than longer ones.
    for index in 1..points.len() {
        points[index].1 = points[index].1.max(points[index - 1].1);
    }
    let next = points.iter().position(|&(ns, _)| ns >= interval_ns);
    match next {
        None => points.last().map(|&(longest_ns, error_ns)| error_ns * (interval_ns / longest_ns).powf(GROWTH)),
        Some(0) => points.first().map(|&(_, error_ns)| error_ns),
        Some(next) => {
            let ((a_ns, a), (b_ns, b)) = (points[next - 1], points[next]);
            let share = (interval_ns / a_ns).ln() / (b_ns / a_ns).ln();
            Some(if b_ns > a_ns && a > 0.0 { a * (b / a).powf(share) } else { b })
        }
    }
}

fn point(found: &AfterWork) -> (f64, f64) {
    (found.work_ns.max(SHORTEST_WORK_NS), found.error_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(work: Work, work_ns: f64, p99_ns: f64) -> AfterWork {
        AfterWork { work, work_ns, measurements: 10_000, median_ns: p99_ns / 2.0, p99_ns }
    }

    #[test]
    fn the_error_between_two_lengths_is_between_theirs() {
        let found = [
            after(Work::Spin, 1e3, 20.0),
            after(Work::Spin, 1e5, 200.0),
            after(Work::Spin, 1e4, 15.0),
            after(Work::Touch4M, 7e5, 900.0),
            after(Work::Sleep, 1e7, 1000.0),
        ];
        let of = |work: Work, ns: f64| error_ns(&found, work, ns).map(|error_ns| (error_ns / 1.11).round());
        let after_spin = [1.0, 1e3, 1e4, 31_622.8, 1e5, 1e7, 1e9].map(|ns| of(Work::Spin, ns).unwrap());
        assert_eq!(after_spin, [20.0, 20.0, 20.0, 63.0, 200.0, 1000.0, 1959.0]);
        assert_eq!([of(Work::Touch4M, 1.0), of(Work::Touch32K, 1.0)], [Some(900.0), None]);
        assert_eq!(error_ns(&found[3..], Work::Spin, 1.0), None);
    }

    #[test]
    fn fewer_measurements_have_a_wider_error() {
        let few = AfterWork { measurements: 25, ..after(Work::Sleep, 1e7, 1000.0) };
        assert_eq!((few.error_ns(), after(Work::Sleep, 1e7, 1000.0).error_ns()), (1300.0, 1110.0));
        let none = [AfterWork { measurements: 0, ..after(Work::Spin, 0.0, 10.0) }];
        assert_eq!([0.0, 1.0].map(|ns| error_ns(&none, Work::Spin, ns)), [Some(21.0), Some(21.0)]);
    }

    #[test]
    fn a_walks_length_is_not_named() {
        let words = [after(Work::Spin, 1e4, 1.0), after(Work::Touch4M, 7e5, 1.0), after(Work::Sleep, 1e7, 1.0)];
        assert_eq!(words.map(|found| found.to_string()), ["a spin of 10 µs", "touching 4 MB", "a sleep of 10 ms"]);
    }
}
