//! Findings about the stopwatches of language runtimes and browsers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::grouped;
use crate::units::{figure, tick_time, time};
use crate::words::{worded, written};
use crate::{Cost, Figure, TickEvidence};

/// The result of `clockscope runtimes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// The error while clocksources were switched; `null` if there was none.
    pub error: Option<String>,
}

/// An API, and what is surprising about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SurprisingApi", transform = crate::schema::add_words::<SurprisingApi>))]
#[serde(remote = "Self")]
pub struct SurprisingApi {
    /// The runtime's title; with its version, or its program, where they are of several programs.
    pub runtime: String,
    /// The API.
    pub api: String,
    /// The kernel's clocksource while it was measured; `null` where all APIs had the same.
    pub clocksource: Option<String>,
    /// The surprising facts about it.
    pub findings: Vec<SurprisingFact>,
}

worded!(SurprisingApi {
    /// The API and what is surprising about it, in one sentence.
    text: String = ToString::to_string,
});
written!(SurprisingApi);

/// A surprising finding about an API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
        /// Share of readings that do, in percent.
        percent: f64,
    },
    /// All its readings are the same.
    Stuck {
        /// Number of these readings.
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
        /// Number of readings that did.
        count: u64,
        /// Of so many.
        reads: u64,
    },
}

/// Another API, which one is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparedApi {
    /// The runtime's title; with its version, or its program, where they are of several programs.
    pub runtime: String,
    /// The API.
    pub api: String,
    /// Its tick or cost, in ns.
    pub ns: f64,
}

/// The source that moves the clock that an API reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RuntimeRecord", transform = crate::schema::add_unknown))]
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
    /// True if it was measured.
    pub available: bool,
    /// Reason why it was not; `null` when it was.
    pub reason: Option<String>,
    /// The failure; `null` if nothing failed.
    pub failure: Option<RuntimeFailure>,
    /// The kernel's clocksource while it was measured.
    pub clocksource: Figure<String>,
    /// The basis of the API, e.g. `CLOCK_MONOTONIC`.
    pub built_on: Option<String>,
    /// The source that moves the clock that the API reads, as the probe states it.
    pub moved_by: Figure<MovedBy>,
    /// True if the API is documented in whole milliseconds, or coarser, as the probe states it.
    pub documented_coarse: Figure<bool>,
    /// The name of what moves it: the clocksource where that does.
    pub hardware_timer: Figure<String>,
    /// The resolution that the API states, by its own frequency, resolution or unit, in ns.
    pub nominal_resolution_ns: Figure<f64>,
    /// Median cost of one read, back to back, in ns.
    pub cost_ns: Figure<f64>,
    /// The basis of that median.
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

/// Reason why a runtime, or an API of it, was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuntimeFailure {
    /// The runtime's program, or a compiler for it, is missing.
    NotFound,
    /// There is no folder for the probe, or a file in it cannot be written.
    NoFolder,
    /// A program cannot be started.
    NotStarted,
    /// The probe was not built.
    NotBuilt,
    /// There is no server for the browser.
    NoServer,
    /// A program ended with an error, by a signal, or printed too much.
    Failed,
    /// A program did not end in time.
    TimedOut,
    /// The run was interrupted.
    Interrupted,
    /// The probe printed no figures.
    NoFigures,
    /// A line that the probe printed cannot be used.
    Malformed,
    /// The probe reports that this version of the runtime lacks the API.
    NoApi,
}

/// The result of `clockscope runtimes --list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuntimesFound {
    /// One entry a runtime, in the order in which they are measured.
    pub runtimes: Vec<RuntimeFound>,
}

/// A runtime that there is, or is not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuntimeFound {
    /// Its name, as the command accepts it.
    pub runtime: String,
    /// Its name as people write it.
    pub title: String,
    /// Its version, as it says itself.
    pub version: Option<String>,
    /// The program that would be started.
    pub program: Option<String>,
    /// True if it was found and reported its version.
    pub available: bool,
    /// Reason why not; `null` when it was.
    pub reason: Option<String>,
    /// The failure; `null` if nothing failed.
    pub failure: Option<RuntimeFailure>,
    /// The way to get it.
    pub get: String,
}

/// The API and what is surprising about it, in one sentence.
impl fmt::Display for SurprisingApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let under = self.clocksource.as_ref().map_or_else(String::new, |source| format!(" on {source}"));
        let findings: Vec<String> = self.findings.iter().map(SurprisingFact::sentence).collect();
        write!(f, "{} {}{under}: {}.", self.runtime, self.api, findings.join("; "))
    }
}

impl fmt::Display for ComparedApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.runtime, self.api)
    }
}

impl SurprisingFact {
    fn sentence(&self) -> String {
        match self {
            Self::Coarse { tick_ns, nominal_ns, finest, repeats_percent } => {
                let mut line = format!("its tick is {}", tick_time(*tick_ns));
                if let Some(nominal_ns) = nominal_ns {
                    line += &format!(" and not the {} that it states", time(*nominal_ns));
                }
                if let Some(finest) = finest {
                    line += &format!(", and that of {} is {}", finest, time(finest.ns));
                }
                if let Some(percent) = repeats_percent {
                    line += &format!("; {}", repeating(*percent));
                }
                line
            }
            Self::Repeats { percent } => repeating(*percent),
            Self::Stuck { reads } => {
                format!("it stood still: all of its {} readings are the same", grouped(*reads))
            }
            Self::Expensive { cost_ns, cheapest } => {
                let factor = times(cost_ns / cheapest.ns);
                format!("a read costs {}, {factor} one of {}", time(*cost_ns), cheapest)
            }
            Self::WentBack { count, reads } => {
                format!("it went BACK {} times in {} reads", grouped(*count), grouped(*reads))
            }
        }
    }
}

fn repeating(percent: f64) -> String {
    // As tables round it, but only all of them are 100.
    let rounded = (percent * 10.0).round() / 10.0;
    let displayed = if rounded >= 100.0 && percent < 100.0 { 99.9 } else { rounded };
    format!("{}% of its readings repeat the one before", figure(displayed, 4))
}

fn times(factor: f64) -> String {
    match factor {
        factor if !factor.is_finite() => format!("{} times", figure(factor, 1)),
        factor if factor >= 10.0 => format!("{factor:.0} times"),
        _ => format!("{factor:.1} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_is_worded() {
        let c = |ns| ComparedApi { runtime: "C".to_owned(), api: "clock_gettime".to_owned(), ns };
        let coarse = |nominal_ns, finest, repeats_percent| SurprisingFact::Coarse {
            tick_ns: 101.0,
            nominal_ns,
            finest,
            repeats_percent,
        };
        for (fact, text) in [
            (
                coarse(Some(1.0), Some(c(10.1)), Some(72.0)),
                "its tick is 101 ns and not the 1 ns that it states, and that of C clock_gettime is 10.1 ns; \
                 72% of its readings repeat the one before",
            ),
            (coarse(None, None, None), "its tick is 101 ns"),
            (SurprisingFact::Repeats { percent: 99.99 }, "99.9% of its readings repeat the one before"),
            (SurprisingFact::Repeats { percent: 100.0 }, "100% of its readings repeat the one before"),
            (SurprisingFact::Stuck { reads: 9 }, "it stood still: all of its 9 readings are the same"),
            (
                SurprisingFact::Expensive { cost_ns: 377.0, cheapest: c(22.0) },
                "a read costs 377 ns, 17 times one of C clock_gettime",
            ),
            (
                SurprisingFact::Expensive { cost_ns: 110.0, cheapest: c(22.0) },
                "a read costs 110 ns, 5.0 times one of C clock_gettime",
            ),
            (SurprisingFact::WentBack { count: 2, reads: 9 }, "it went BACK 2 times in 9 reads"),
        ] {
            assert_eq!(fact.sentence(), text);
        }
    }

    #[test]
    fn a_surprise_names_its_api() {
        let [runtime, api, hpet] = ["Python 3.11", "time_ns", "hpet"].map(str::to_owned);
        let facts = [SurprisingFact::Stuck { reads: 9 }, SurprisingFact::Repeats { percent: 50.0 }];
        let findings = facts.to_vec();
        let found = SurprisingApi { runtime, api, clocksource: Some(hpet), findings };
        let text = "Python 3.11 time_ns on hpet: it stood still: all of its 9 readings are the same; 50% of its \
                    readings repeat the one before.";
        let written = serde_json::to_value(&found).unwrap();
        assert_eq!(written["text"], text);
        assert_eq!(serde_json::from_value::<SurprisingApi>(written).unwrap(), found);
    }
}
