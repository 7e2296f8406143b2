//! Findings about the rates of clocks.

use serde::{Deserialize, Serialize};

use crate::{Figure, RateReason, Unknown, WallState};

/// The result of `clockscope rate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Rate", transform = crate::schema::add_unknown))]
pub struct Rate {
    /// The clock that all others were compared with.
    pub reference: String,
    /// True if the reference itself changed: every clock changed against it, and none against
    /// another.
    pub reference_suspected: bool,
    /// The bound that was asked for, in ppm; `null` where none was.
    pub until_ppm: Figure<f64>,
    /// One entry a clock.
    pub clocks: Vec<RateRecord>,
    /// Every clock against every other, compared directly: one entry a pair.
    pub pairs: Vec<RatePair>,
    /// The kernel's statement about its own clock's rate and error; `null` where it makes none.
    pub adjtimex: Figure<Adjtimex>,
}

/// The rate of one clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RateRecord", transform = crate::schema::add_unknown))]
pub struct RateRecord {
    /// Its name, with the path where that is not the usual one.
    pub name: String,
    /// The clock that it was compared with.
    pub reference: String,
    /// True if it could be read.
    pub available: bool,
    /// Reason why it could not, or what disturbed its readings; `null` when nothing did.
    pub reason: Option<Unknown>,
    /// Its reads that failed while it was compared.
    pub errors: u64,
    /// Time without a step, in ns, of a clock that was therefore not compared; `null` for
    /// a clock that stepped.
    pub unchanged_ns: Figure<f64>,
    /// Mean frequency offset between the two end brackets, in parts per million: positive for a
    /// clock that runs fast.
    pub ppm: Figure<f64>,
    /// Bound of its error. Nothing is assumed about what lies between the
    /// ends.
    pub bound_ppm: Figure<f64>,
    /// Frequency offset by least squares over all brackets that were not interrupted: no bound, if
    /// the rate is constant mostly nearer.
    pub estimate_ppm: Figure<f64>,
    /// The counter's frequency, in Hz of the reference; `null` for a clock that is not a counter.
    pub frequency_hz: Figure<f64>,
    /// Bound of its error, in Hz.
    pub frequency_bound_hz: Figure<f64>,
    /// The frequency that a counter's `ppm` is relative to, in Hz: what hardware or hypervisor
    /// state.
    pub nominal_hz: Figure<f64>,
    /// Time between the end brackets, in seconds.
    pub seconds: Figure<f64>,
    /// Brackets that were not interrupted.
    pub brackets_used: u64,
    /// Brackets that were: left out of the estimate and of the figures of stability.
    pub brackets_dropped: u64,
    /// Median width of the brackets that were kept, in ns.
    pub bracket_ns: Figure<f64>,
    /// Steps that clock and reference move in, together, in ns: part of the bound.
    pub ticks_ns: Figure<f64>,
    /// True if one rate explains all brackets.
    pub constant: Figure<bool>,
    /// The change of the rate; `null` unless it changed.
    pub changed: Figure<Changed>,
    /// The largest step that no rate explains; `null` if there was none.
    pub step: Figure<Step>,
    /// Length that a run needs for the bound that was asked for, in seconds; `null` where none was.
    pub needed_s: Figure<f64>,
    /// Overlapping Allan deviation.
    pub allan: Vec<Allan>,
    /// Maximum time interval error.
    pub mtie: Vec<Mtie>,
}

impl RateRecord {
    /// Returns whether the timer tick moves one of the two clocks, so that it is unknown whether
    /// one rate explains the brackets.
    #[must_use]
    pub fn is_ticked(&self) -> bool {
        matches!(self.constant.reason(), Some(Unknown::Rate(RateReason::Ticked)))
    }

    /// Returns what limits the comparison, or prevented it; `None` if nothing did.
    #[must_use]
    pub fn limit(&self) -> Option<Unknown> {
        self.reason.clone().or_else(|| self.constant.reason().filter(|_| self.is_ticked()).cloned())
    }
}

/// Between which moments a rate changed, in seconds from the first bracket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changed {
    /// One rate explains all from here on.
    pub from_s: f64,
    /// One rate explains all until here.
    pub until_s: f64,
}

/// A step of a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// Its time, in seconds from the first bracket.
    pub at_s: f64,
    /// By how much at least beyond the usual rate, in ns; negative for a step back. The brackets
    /// around it may hide as much as they are wide.
    pub ns: f64,
}

/// Difference of the mean rates of neighboring intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Allan {
    /// Length of the intervals, in seconds.
    pub tau_s: f64,
    /// Overlapping Allan deviation, without a dimension: 1e-9 is 1 ns a second.
    pub adev: f64,
}

/// By how much a clock's error changes within an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mtie {
    /// Length of the interval, in seconds.
    pub tau_s: f64,
    /// At most by this, in ns.
    pub ns: f64,
}

/// One clock against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RatePair", transform = crate::schema::add_unknown))]
pub struct RatePair {
    /// One clock.
    pub a: String,
    /// The other.
    pub b: String,
    /// Frequency offset of `a` against `b`, in parts per million. A counter counts as running at
    /// `nominal_hz`, or, where nothing is stated, at the frequency that was found.
    pub ppm: Figure<f64>,
    /// Bound of its error.
    pub bound_ppm: Figure<f64>,
    /// True if one rate explains all brackets.
    pub constant: Figure<bool>,
}

/// The kernel's own figures about CLOCK_REALTIME (adjtimex(2)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Adjtimex {
    /// Correction of the frequency, in ppm.
    pub freq_ppm: f64,
    /// Length of a timer tick, in µs: 10,000 at 100 Hz unless a daemon steers by it.
    pub tick_us: i64,
    /// Remaining correction of the time, in ns.
    pub offset_ns: i64,
    /// Largest possible error, in µs.
    pub maxerror_us: i64,
    /// Estimated error, in µs.
    pub esterror_us: i64,
    /// TAI - UTC, in s; `null` where the kernel has not been given it.
    pub tai_offset_s: Option<i64>,
    /// Flags that are set, as linux/timex.h names them without STA_, in lower case.
    pub status: Vec<String>,
    /// The worth of the largest error; `null` where that is not known.
    pub state: Option<WallState>,
    /// Half the length of the interval in which the time of day is, in s: the largest error and
    /// what has still to be corrected. `null` where there is none that is worth anything.
    pub time_of_day_error_s: Option<f64>,
}

/// Length of a timer tick in µs, unless a daemon steers by it: adjtimex(2).
const USUAL_TICK_US: f64 = 10_000.0;

impl Adjtimex {
    /// Returns the correction of the frequency, in ppm, by the frequency and the length of a tick:
    /// by so much the kernel's steered clocks run faster than CLOCK_MONOTONIC_RAW. What it corrects
    /// of an offset comes on top.
    #[must_use]
    pub fn steering_ppm(&self) -> f64 {
        self.freq_ppm + (self.tick_us as f64 / USUAL_TICK_US - 1.0) * 1e6
    }
}
