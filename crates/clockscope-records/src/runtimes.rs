//! What the stopwatches of language runtimes and browsers do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::demand::ignored;
use crate::figure::{add_unknown, record};
use crate::{Cost, Figure, RuntimeFailure, TickEvidence};

/// The result of `clockscope runtimes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Runtimes {
    /// Time for which each API was read, after its warm-up, in seconds.
    pub duration_s: f64,
    /// `true` when the user interrupted the run: the rows hold what was measured until then.
    pub interrupted: bool,
    /// The clocksource before and after, where others were asked for; `null` where none was
    /// switched.
    pub was: Option<String>,
    /// One row an API, in the order of the runtimes; one for a runtime of which nothing, or not
    /// everything, was measured.
    pub runtimes: Vec<RuntimeRecord>,
    /// APIs that are not as their users may expect.
    pub surprises: Vec<SurprisingApi>,
    /// What went wrong when clocksources were switched; `null` if nothing did.
    pub error: Option<String>,
}

/// An API, and what is surprising about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SurprisingApi {
    /// The runtime's title; with its version, or its program, where they are of several programs.
    pub runtime: String,
    /// The API.
    pub api: String,
    /// The kernel's clocksource while it was measured; `null` where all APIs had the same.
    pub clocksource: Option<String>,
    /// What is surprising about it.
    pub findings: Vec<SurprisingFact>,
    /// The same for people. Renderers write it beside the data; readers ignore it.
    #[serde(flatten, deserialize_with = "ignored")]
    pub prose: Option<SurpriseProse>,
}

/// A surprise in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurpriseProse {
    /// The API and what is surprising about it, in one sentence.
    pub text: String,
}

/// A surprising finding about an API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum SurprisingFact {
    /// Its tick is coarse.
    Coarse {
        /// The tick, in ns.
        tick_ns: f64,
        /// The resolution that the API states, in ns, if the tick is far coarser; `null` otherwise.
        nominal_ns: Option<f64>,
        /// The API of the finest tick, if that is far finer; `null` otherwise.
        finest: Option<ComparedApi>,
        /// Readings that repeat the one before, in percent, if most do; `null` otherwise.
        repeats_percent: Option<f64>,
    },
    /// Its tick is unknown, and most readings repeat the one before.
    Repeats {
        /// How many do, in percent.
        percent: f64,
    },
    /// All its readings are the same.
    StoodStill {
        /// How many there are.
        reads: u64,
    },
    /// A read costs far more than the cheapest one.
    Expensive {
        /// Its cost, in ns.
        cost_ns: f64,
        /// The API of the cheapest read.
        cheapest: ComparedApi,
    },
    /// Readings went back.
    WentBack {
        /// How many did.
        count: u64,
        /// Of so many.
        reads: u64,
    },
}

/// Another API, which one is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedApi {
    /// The runtime's title; with its version, or its program, where they are of several programs.
    pub runtime: String,
    /// The API.
    pub api: String,
    /// Its tick or cost, in ns.
    pub ns: f64,
}

/// What moves the clock that an API reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MovedBy {
    /// Whatever the kernel's clocksource is.
    Clocksource,
    /// QueryPerformanceCounter of Windows, whatever hardware is behind it.
    PerformanceCounter,
    /// The timer tick.
    TimerTick,
    /// The scheduler, which charges processor time.
    Scheduler,
    /// Something else, which `built_on` names, and any other word of a probe.
    #[serde(other)]
    Other,
}

/// One API of one runtime, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "RuntimeRecord", transform = add_unknown)]
pub struct RuntimeRecord {
    /// The runtime's name, as the command accepts it, e.g. `python`.
    pub runtime: String,
    /// Its name as people write it, e.g. `Python`.
    pub title: String,
    /// Its version, as it says itself.
    pub version: Option<String>,
    /// The program that was started.
    pub program: Option<String>,
    /// The API as its language writes it, e.g. `time.perf_counter_ns`; `null` in a row that speaks
    /// of the whole runtime.
    pub api: Option<String>,
    /// Whether it was measured.
    pub available: bool,
    /// Why it was not; `null` when it was.
    pub reason: Option<String>,
    /// What failed; `null` if nothing did.
    pub failure: Option<RuntimeFailure>,
    /// The kernel's clocksource while it was measured.
    pub clocksource: Figure<String>,
    /// The basis of the API, e.g. `CLOCK_MONOTONIC`.
    pub built_on: Option<String>,
    /// What moves the clock that the API reads, as the probe states it.
    pub moved_by: Figure<MovedBy>,
    /// Whether the API is documented in whole milliseconds, or coarser, as the probe states it.
    pub documented_coarse: Figure<bool>,
    /// The name of what moves it: the clocksource where that does.
    pub hardware_timer: Figure<String>,
    /// What the API states as its resolution, by its own frequency, resolution or unit, in ns.
    pub nominal_resolution_ns: Figure<f64>,
    /// Median cost of one read, back to back, in ns.
    pub cost_ns: Figure<f64>,
    /// What that median is based on.
    pub cost: Figure<Cost>,
    /// The smallest positive difference between two successive readings, in ns.
    pub observed_resolution_ns: Figure<f64>,
    /// The step of the lattice on which all readings lie, in ns, also where a read takes many
    /// ticks.
    pub tick_ns: Figure<f64>,
    /// The evidence for the tick.
    pub tick_evidence: Option<TickEvidence>,
    /// Differences that were 0, in percent.
    pub zeros_percent: Figure<f64>,
    /// Readings smaller than the one before.
    pub regressions: Figure<u64>,
    /// The largest difference between two successive readings of a batch, in ns.
    pub largest_step_ns: Figure<f64>,
    /// Readings from which these figures are computed.
    pub reads: Option<u64>,
}

record!(
    RuntimeRecord {
        clocksource, moved_by, documented_coarse, hardware_timer, nominal_resolution_ns, cost_ns,
        cost, observed_resolution_ns, tick_ns, zeros_percent, regressions, largest_step_ns,
    }
    "cost." cost
);

impl RuntimeRecord {
    /// The runtime's name among these rows; with its version, or its program, where they are of
    /// several programs of that name.
    #[must_use]
    pub fn label(&self, among: &[Self]) -> String {
        let others = || among.iter().filter(|other| other.title == self.title && other.program != self.program);
        match (&self.program, &self.version) {
            (None, _) => self.title.clone(),
            _ if others().all(|other| other.program.is_none()) => self.title.clone(),
            (Some(_), Some(version)) if others().all(|other| other.version != self.version) => {
                format!("{} {version}", self.title)
            }
            (Some(program), _) => format!("{} ({program})", self.title),
        }
    }
}

/// The result of `clockscope runtimes --list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimesFound {
    /// One entry a runtime, in the order in which they are measured.
    pub runtimes: Vec<RuntimeFound>,
}

/// A runtime that there is, or is not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeFound {
    /// Its name, as the command accepts it.
    pub runtime: String,
    /// Its name as people write it.
    pub title: String,
    /// Its version, as it says itself.
    pub version: Option<String>,
    /// The program that would be started.
    pub program: Option<String>,
    /// Whether it was found and reported its version.
    pub available: bool,
    /// Why not; `null` when it was.
    pub reason: Option<String>,
    /// What failed; `null` if nothing did.
    pub failure: Option<RuntimeFailure>,
    /// How to get it.
    pub get: String,
}
