//! Runs probes: prepares the runtimes, starts a probe in each, takes its lines.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use clockscope_records::{Figure, LanguageClock, RuntimeFailure, RuntimeFound, RuntimeRecord, texts};

use crate::folders::{Folder, RunFolders};
use crate::language;
use crate::pages::{self, Pages};
use crate::probe_line::{self, LineError, ProbeReadings, ProbeReport};
use crate::probe_setup::{self, ProbeSetup, last_words, no_program, started};
use crate::process::{Ended, Limits, NoTask, Task};
use crate::programs::Chosen;
use crate::registry::Runtime;
use crate::row;
use crate::runtime_version::version;
use crate::shortened::shortened;
use crate::substitutions::Substitutions;
use crate::unmeasured::Unmeasured;

/// Environment variable that names the works to a probe.
const WORKS: &str = "CLOCKSCOPE_PROBE_WORKS";

/// Way in which probes are run.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRequest<'a> {
    /// Time for which each API is read, in ms; 1 to 60,000.
    pub milliseconds: u64,
    /// Longest time for a probe, in seconds: whatever has not ended then is ended.
    pub limit_s: f64,
    /// The kernel's clocksource, which stands in the records.
    pub clocksource: Option<&'a str>,
    /// Works that intervals are measured around, `WORK:NS:SECONDS` with commas between them; empty
    /// without any. Probes that do not know them leave them out.
    pub works: &'a str,
    /// Set from outside to end early.
    pub stop: &'a AtomicBool,
}

/// Place in which probes are run. Dropping it removes all that is temporary.
#[derive(Debug)]
pub struct ProbeRunner {
    folders: RunFolders,
    /// Warning for the user, before the figures.
    pub warning: Option<String>,
}

/// A runtime that was looked for.
#[derive(Debug)]
pub struct Prepared<'a> {
    chosen: &'a Chosen,
    /// The requirements for starting its probe, or the reason why it cannot be started.
    setup: Result<ProbeSetup, Unmeasured>,
}

/// Output of a probe, and what was wrong with how it ended.
struct ProbeOutput {
    lines: String,
    fault: Option<Unmeasured>,
    /// True if it broke down before its first output.
    is_silent: bool,
}

impl ProbeRunner {
    /// Makes the folders that are needed.
    ///
    /// # Errors
    /// There is no place for temporary files.
    pub fn new() -> io::Result<Self> {
        let (folders, warning) = RunFolders::new()?;
        Ok(Self { folders, warning })
    }

    /// Finds the programs, asks for their versions, and builds the probes that are not built yet,
    /// until the user stops the run. 10 s a program at most, 2 min a way to build. What these
    /// programs start and leave behind is ended, and so are all processes that become descendants
    /// of this one while they run.
    pub fn prepare<'a>(
        &self,
        chosen: &'a [Chosen],
        stop: &AtomicBool,
        progress: &mut dyn FnMut(f64, &str),
    ) -> Vec<Prepared<'a>> {
        let whole = chosen.len() as f64;
        let mut prepared = Vec::new();
        for (index, chosen) in chosen.iter().enumerate().take_while(|_| !stop.load(Ordering::Relaxed)) {
            progress(index as f64 / whole, chosen.runtime.title);
            let setup = probe_setup::found(chosen, &self.folders, stop)
                .and_then(|found| found.built(chosen.runtime, &self.folders, stop));
            prepared.push(Prepared { chosen, setup });
        }
        prepared
    }

    /// Measures one after the other, until the user stops the run. A runtime that cannot be
    /// measured, or not to the end, has a row that says why. Takes about `1.25 x milliseconds` an
    /// API and what the runtimes need to start. Ends processes as [`ProbeRunner::prepare`] does.
    pub fn measure(
        &self,
        prepared: &[Prepared<'_>],
        request: ProbeRequest<'_>,
        progress: &mut dyn FnMut(f64, &str),
    ) -> Vec<RuntimeRecord> {
        let mut rows = Vec::new();
        for (index, one) in prepared.iter().enumerate() {
            if request.stop.load(Ordering::Relaxed) {
                break;
            }
            progress(index as f64 / prepared.len() as f64, one.chosen.runtime.title);
            rows.extend(self.rows(one, request).into_iter().map(|(row, _)| row));
        }
        rows
    }

    /// Returns the clocks of a runtime as programs in its language read them. Ends processes as
    /// [`ProbeRunner::prepare`] does.
    ///
    /// # Errors
    /// The runtime was not measured, or not to the end, for this reason.
    pub fn language_clocks(
        &self,
        prepared: &Prepared<'_>,
        request: ProbeRequest<'_>,
    ) -> Result<Vec<LanguageClock>, String> {
        let rows = self.rows(prepared, request).into_iter();
        let clocks = rows.map(|(row, readings)| match row.api.clone() {
            Some(api) => Ok(language::clock(row, &api, readings.as_ref())),
            None => Err(row.reason.unwrap_or_default()),
        });
        clocks.collect()
    }

    /// Returns which of them there are. Asks each for its version, and builds nothing.
    pub fn list(&self, chosen: &[Chosen], stop: &AtomicBool) -> Vec<RuntimeFound> {
        let asked = chosen.iter().take_while(|_| !stop.load(Ordering::Relaxed));
        let found = asked.map(|one| {
            let (version, program, unmeasured) = match probe_setup::found(one, &self.folders, stop) {
                Ok(setup) => (Some(setup.version), Some(setup.program), None),
                Err(unmeasured) => (None, one.program().ok(), Some(unmeasured)),
            };
            RuntimeFound {
                runtime: one.runtime.name.to_owned(),
                title: one.runtime.title.to_owned(),
                version,
                program: program.map(|program| program.display().to_string()),
                available: unmeasured.is_none(),
                failure: unmeasured.as_ref().map(|unmeasured| unmeasured.failure),
                reason: unmeasured.map(|unmeasured| unmeasured.reason),
                get: one.runtime.get().to_owned(),
            }
        });
        found.collect()
    }

    /// The rows of one runtime, with the readings of those that were read.
    fn rows(&self, one: &Prepared<'_>, request: ProbeRequest<'_>) -> Vec<Row> {
        let Prepared { chosen, setup } = one;
        let mut whole = RuntimeRecord {
            runtime: chosen.runtime.name.to_owned(),
            title: chosen.runtime.title.to_owned(),
            program: chosen.program().ok().map(|program| program.display().to_string()),
            clocksource: Figure::of(request.clocksource.map(str::to_owned), texts::CLOCKSOURCE_HIDDEN),
            ..RuntimeRecord::default()
        };
        let setup = match setup {
            Ok(setup) => setup,
            Err(unmeasured) if chosen.program.is_none() && !chosen.runtime.get().is_empty() => {
                let reason = format!("{unmeasured}; get it: {}", chosen.runtime.get());
                return vec![(unavailable(whole, Unmeasured { reason, ..*unmeasured }), None)];
            }
            Err(unmeasured) => return vec![(unavailable(whole, unmeasured.clone()), None)],
        };
        whole.version = Some(setup.version.clone());
        match self.said(chosen.runtime, setup, request) {
            Ok(said) => rows(&whole, &said.lines, said.fault, request.clocksource),
            Err(unmeasured) => vec![(unavailable(whole, unmeasured), None)],
        }
    }

    /// Output of the probe. One that was built some time ago and does not even begin to speak is
    /// built rebuilt, be it that another clocksource is in use: what lies in a cache may have been
    /// damaged, or be another machine's.
    fn said(
        &self,
        runtime: &Runtime,
        setup: &ProbeSetup,
        request: ProbeRequest<'_>,
    ) -> Result<ProbeOutput, Unmeasured> {
        let first = self.run(runtime, setup, request);
        let is_silent = first.as_ref().map_or(true, |said| said.is_silent);
        if !is_silent || !setup.is_from_cache || request.stop.load(Ordering::Relaxed) {
            return first;
        }
        let rebuilt = setup.rebuilt(runtime, &self.folders, request.stop)?;
        self.run(runtime, &rebuilt, request)
    }

    /// Runs the probe.
    fn run(&self, runtime: &Runtime, setup: &ProbeSetup, request: ProbeRequest<'_>) -> Result<ProbeOutput, Unmeasured> {
        let folder = probe_setup::folder_with(&self.folders, runtime)?;
        let mut pages = match runtime.is_browser() {
            true => Some(Pages::new(runtime.probe().text, request.milliseconds).map_err(no_server)?),
            false => None,
        };
        let url = pages.as_ref().map(|pages| start_page(pages, &folder).map_err(no_server)).transpose()?;
        let source = folder.path().join(runtime.probe().file);
        let words = Substitutions {
            source: Some(&source),
            built: setup.built.as_deref(),
            url: url.as_deref(),
            milliseconds: request.milliseconds,
            ..setup.words(&folder, &self.folders)
        };
        let limits = Limits { seconds: request.limit_s, stop: request.stop };
        let task: &mut dyn Task = match &mut pages {
            Some(pages) => pages,
            None => &mut NoTask,
        };
        let mut command = words.command(runtime.run, runtime.variables).ok_or_else(no_program)?;
        command.env(WORKS, request.works);
        let mut outcome = started(&mut command, limits, task)?;
        let mut fault = outcome.ended.fault(limits);
        if let Some(pages) = pages {
            outcome.stdout = pages.lines;
            if outcome.ended != Ended::Done {
                fault = fault.or_else(|| Some("ended before its pages had reported".to_owned()));
            }
        }
        let fault = fault.map(|fault| {
            let reason = format!("the probe {fault}{}", last_words(&outcome));
            Unmeasured::new(outcome.ended.failure(), reason)
        });
        let is_silent =
            matches!(outcome.ended, Ended::Itself(status) if !status.success()) && outcome.stdout.is_empty();
        Ok(ProbeOutput { lines: outcome.stdout, fault, is_silent })
    }
}

/// A file that leads to the first page: what stands among a program's arguments can be read by
/// everybody.
fn start_page(pages: &Pages, folder: &Folder) -> io::Result<String> {
    let file = folder.path().join("start.html");
    std::fs::write(&file, pages.start()?)?;
    Ok(pages::file_url(Path::new(&file)))
}

/// A row, and the readings of the API if it was read.
type Row = (RuntimeRecord, Option<ProbeReadings>);

/// A row an API; and one that says what was wrong, if anything was.
fn rows(whole: &RuntimeRecord, output: &str, fault: Option<Unmeasured>, clocksource: Option<&str>) -> Vec<Row> {
    let lines = probe_line::parse(output);
    let nothing = lines.is_empty().then(|| match output.lines().find(|line| !line.trim().is_empty()) {
        Some(first) => format!("the probe printed no figures, but: {}", shortened(first)),
        None => "the probe printed nothing".to_owned(),
    });
    // A line that the probe had not finished when it was ended is dropped.
    let is_open = !output.ends_with('\n') && output.lines().next_back().is_some_and(probe_line::is_ours);
    let is_cut_off = fault.is_some() && is_open && lines.last().is_some_and(Result::is_err);
    let whole_lines = lines.len() - usize::from(is_cut_off);
    let mut rows: Vec<Row> =
        lines.into_iter().take(whole_lines).map(|line| row_of_line(line, whole, clocksource)).collect();
    let nothing = nothing.map(|reason| Unmeasured::new(RuntimeFailure::NoFigures, reason));
    rows.extend(fault.or(nothing).map(|unmeasured| (unavailable(whole.clone(), unmeasured), None)));
    rows
}

/// The row of a line: `whole` is what is known of the runtime.
fn row_of_line(line: Result<ProbeReport, LineError>, whole: &RuntimeRecord, clocksource: Option<&str>) -> Row {
    match line {
        Ok(ProbeReport::Read(readings)) => {
            let mut record = whole.clone();
            record.version = readings.version.as_deref().map(|said| version(said, &whole.title)).or(record.version);
            row::fill(&mut record, &readings, clocksource);
            (record, Some(readings))
        }
        Ok(ProbeReport::Unavailable { api, reason }) => {
            let row = RuntimeRecord { api: Some(api), ..whole.clone() };
            (unavailable(row, Unmeasured::new(RuntimeFailure::NoApi, reason)), None)
        }
        Err(error) => {
            let reason = format!("a line of the probe cannot be used: {error}");
            (unavailable(whole.clone(), Unmeasured::new(RuntimeFailure::Malformed, reason)), None)
        }
    }
}

fn unavailable(whole: RuntimeRecord, Unmeasured { failure, reason }: Unmeasured) -> RuntimeRecord {
    RuntimeRecord { available: false, reason: Some(reason), failure: Some(failure), ..whole }
}

fn no_server(error: io::Error) -> Unmeasured {
    let reason = format!("no server can be started for the browser on 127.0.0.1: {error}");
    Unmeasured::new(RuntimeFailure::NoServer, reason)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
