//! What the stopwatches of language runtimes and browsers do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figure::{add_unknown, record};
use crate::{Cost, Figure, RuntimeFailure, TickEvidence};

/// What `clockscope runtimes` found.
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
    /// What is not as its users may expect, a sentence each.
    pub surprises: Vec<String>,
    /// What went wrong when clocksources were switched; `null` if nothing did.
    pub error: Option<String>,
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
    /// What failed; `null` if nothing did, and in older records.
    #[serde(default)]
    pub failure: Option<RuntimeFailure>,
    /// The kernel's clocksource while it was measured.
    pub clocksource: Figure<String>,
    /// What the API is built on, e.g. `CLOCK_MONOTONIC`.
    pub built_on: Option<String>,
    /// The hardware below that: the clocksource where the kernel's precise clocks are built on it,
    /// otherwise what there is instead of it.
    pub hardware_timer: Figure<String>,
    /// What the API states as its resolution, by its own frequency, resolution or unit, in ns.
    #[serde(alias = "nominal_tick_ns")]
    pub nominal_resolution_ns: Figure<f64>,
    /// Median cost of one read, back to back, in ns.
    pub cost_ns: Figure<f64>,
    /// What that median stands on.
    pub cost: Figure<Cost>,
    /// The smallest positive difference between two successive readings, in ns.
    pub observed_resolution_ns: Figure<f64>,
    /// The step of the lattice on which all readings lie, in ns, also where a read takes many
    /// ticks.
    pub tick_ns: Figure<f64>,
    /// What the tick stands on.
    pub tick_evidence: Option<TickEvidence>,
    /// Differences that were 0, in percent.
    pub zeros_percent: Figure<f64>,
    /// Readings smaller than the one before.
    pub regressions: Figure<u64>,
    /// The largest difference between two successive readings of a batch, in ns.
    pub largest_step_ns: Figure<f64>,
    /// Readings that these figures stand on.
    pub reads: Option<u64>,
}

record!(
    RuntimeRecord {
        clocksource, hardware_timer, nominal_resolution_ns was nominal_tick_ns, cost_ns, cost, observed_resolution_ns,
        tick_ns, zeros_percent, regressions, largest_step_ns,
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

/// What `clockscope runtimes --list` found.
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
    /// What failed; `null` if nothing did, and in older records.
    #[serde(default)]
    pub failure: Option<RuntimeFailure>,
    /// How to get it.
    pub get: String,
}
