//! Clocks of a language for *advise*: its runtime's probe reads them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use clockscope_measure::{
    AfterWorkRequest, Facts, LanguageReadings, MeasureError, Session, ThisMachine, Threads, Trial,
};
use clockscope_records::{Language, LanguageClock, Work};
use clockscope_runtimes::{ProbeRequest, ProbeRunner};

use crate::output;
use crate::run::Run;
use crate::usage::{UsageError, explained, nearest};

/// Share of the time for sampling that each clock of a language is read for: there are five, and
/// the warm-up of each takes a quarter more.
const CLOCK_SHARE: f64 = 0.16;
/// Shortest and longest time for a clock that probes accept, in ms.
const MIN_CLOCK_MS: f64 = 1.0;
const MAX_CLOCK_MS: f64 = 60_000.0;
/// Longest time that a probe takes beside reading, in seconds.
const MAX_STARTUP_S: f64 = 20.0;

/// A language whose clocks are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LanguageArg {
    /// Python's module time, and the package clockscope where it is installed
    Python,
}

impl From<LanguageArg> for Language {
    fn from(arg: LanguageArg) -> Self {
        match arg {
            LanguageArg::Python => Self::Python,
        }
    }
}

/// Clocks of a language that are to be read, and how.
pub(super) struct LanguageRequest<'a> {
    pub(super) language: Language,
    /// Its runtime's program; `None` for the one on PATH.
    pub(super) program: Option<&'a Path>,
    /// Names of its clocks; all if there are none.
    pub(super) clocks: &'a [String],
    pub(super) cpu: Option<u32>,
    /// Time for reading them in a row, all clocks together.
    pub(super) duration_s: f64,
    pub(super) works: AfterWorkRequest,
}

/// Reads the clocks of a language, alone and around work; `None` if the user interrupted that.
pub(super) fn readings(
    request: &LanguageRequest<'_>,
    run: &Run,
    stop: &AtomicBool,
) -> Result<Option<LanguageReadings>> {
    let LanguageRequest { language, program, clocks, cpu, duration_s, works } = *request;
    let session = Session::new(&ThisMachine, stop);
    let info = clockscope_measure::info(&session)?;
    let synchronization = session.platform().synchronization();
    // Programs that are started inherit the CPU.
    let pinned = cpu.map(|cpu| session.platform().pin(cpu));
    let _pinned = pinned.transpose().map_err(|error| explained(MeasureError::from(error), "--cpu"))?;
    let runner = ProbeRunner::new().context("cannot run probes")?;
    if let Some(warning) = &runner.warning {
        output::warn(warning);
    }
    let name = language.runtime().to_owned();
    let programs: Vec<(String, PathBuf)> = program.iter().map(|program| (name.clone(), program.into())).collect();
    let chosen = clockscope_runtimes::select(&[name], &programs).map_err(|error| anyhow::anyhow!("{error}"))?;
    let prepared = runner.prepare(&chosen, stop, &mut |_, _| {});
    let request = ProbeRequest {
        milliseconds: (duration_s * 1e3 * CLOCK_SHARE).clamp(MIN_CLOCK_MS, MAX_CLOCK_MS) as u64,
        limit_s: MAX_STARTUP_S + 2.0 * duration_s + 10.0 * works.duration_s(),
        clocksource: info.environment.clocksource.as_deref(),
        works: &words(works),
        stop,
    };
    let mut bar = run.bar(&info.environment);
    bar.describe(0.0, || language.to_string());
    let found = prepared.first().map(|prepared| runner.language_clocks(prepared, request));
    drop(bar);
    let found = match found {
        _ if stop.load(Ordering::Relaxed) => return Ok(None),
        Some(Ok(found)) => found,
        Some(Err(reason)) => bail!("cannot advise for {language}: {reason}"),
        None => bail!("cannot advise for {language}: no runtime was found"),
    };
    let clocks = select(found, clocks, language)?;
    Ok(Some(LanguageReadings { language, clocks, info, synchronization }))
}

/// Returns the works as probes read them.
fn words(works: AfterWorkRequest) -> String {
    let mut words = Vec::new();
    for Trial { work, ns, share } in works.trials() {
        words.push(format!("{}:{ns}:{}", name(work), share * works.duration_s()));
    }
    words.join(",")
}

/// Returns a work as records have it.
fn name(work: Work) -> String {
    serde_json::to_value(work).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Returns the clocks of these names, all if there are none. A clock may be named with its module
/// or without it, with parentheses or without them.
fn select(mut clocks: Vec<LanguageClock>, names: &[String], language: Language) -> Result<Vec<LanguageClock>> {
    let mut wanted = Vec::new();
    for name in names {
        let requested = name.trim_end_matches("()");
        let clock = clocks.iter().find(|clock| {
            let api = clock.row.api.as_deref().unwrap_or_default();
            api == requested || api.split_once('.').is_some_and(|(_, function)| function == requested)
        });
        match clock {
            Some(clock) => wanted.push(clock.identity.name.clone()),
            None => {
                let known: Vec<String> = clocks.iter().filter_map(|clock| clock.row.api.clone()).collect();
                let hint = nearest(name, known.iter().cloned());
                let expected = known.join(", ");
                return Err(
                    UsageError(format!("unknown clock of {language}: {name}; {hint}expected {expected}")).into()
                );
            }
        }
    }
    clocks.retain(|clock| wanted.is_empty() || wanted.contains(&clock.identity.name));
    Ok(clocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works have the names of records, and the time of all of them is that of the request.
    #[test]
    fn works_are_named_as_records_name_them() {
        let works = words(AfterWorkRequest::Interval { ns: 5e4, after: Work::Spin });
        let parts: Vec<Vec<&str>> = works.split(',').map(|one| one.split(':').collect()).collect();
        let names: Vec<&str> = parts.iter().map(|part| part[0]).collect();
        assert_eq!(names, ["spin", "touch_32k", "touch_256k", "touch_4m", "sleep"]);
        assert_eq!((parts[0][1], parts[4][1]), ("50000", "10000000"));
        let seconds: f64 = parts.iter().map(|part| part[2].parse::<f64>().unwrap()).sum();
        assert!(seconds > 0.9 && seconds <= 1.0, "{seconds}");
    }
}
