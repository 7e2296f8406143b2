//! Runs probes: finds the program, asks its version, builds what has to be built, starts the probe, takes its lines.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clockscope_records::{RuntimeFound, RuntimeRecord};

use crate::line::{self, Line};
use crate::pages::Pages;
use crate::places::Places;
use crate::process::{Alone, Beside, Limits, Outcome, run};
use crate::programs::Chosen;
use crate::registry::{PLAIN, Runtime};
use crate::row;
use crate::version::{framework, version};
use crate::words::Words;

/// Longest time for telling a version, in seconds.
const VERSION_S: f64 = 10.0;
/// Longest time for building a probe, in seconds: where no standard library is built yet, Go builds its own.
const BUILD_S: f64 = 120.0;

/// How probes are run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Time for which each API is read, in ms; 1 to 60,000.
    pub milliseconds: u64,
    /// Longest time for a probe, in seconds: whatever has not ended then is ended.
    pub limit_s: f64,
    /// The kernel's clocksource, which stands in the records.
    pub clocksource: Option<&'a str>,
    /// Set from outside to end early.
    pub stop: &'a AtomicBool,
}

/// Where probes are run. Dropping it removes all that is temporary.
#[derive(Debug)]
pub struct Stage {
    places: Places,
    /// What the user should know before the figures.
    pub warning: Option<String>,
}

/// A runtime that can be started.
struct Ready {
    program: PathBuf,
    compiler: Option<PathBuf>,
    /// The folder of .NET's own assemblies.
    framework: Option<PathBuf>,
    version: String,
    /// All that it, and its compiler, say of their versions.
    versions: String,
}

impl Stage {
    /// Makes the folders that are needed.
    ///
    /// # Errors
    /// There is no place for temporary files.
    pub fn new() -> io::Result<Self> {
        let (places, warning) = Places::new()?;
        Ok(Self { places, warning })
    }

    /// Measures one after the other, until somebody wants to stop. A runtime that cannot be measured, or not to the end, has a
    /// row that says why. Takes about `1.25 x milliseconds` an API and what the runtimes need to start. Every process that descends from
    /// this one is taken for a probe's, and ended with it.
    pub fn measure(
        &self,
        chosen: &[Chosen],
        request: Request<'_>,
        progress: &mut dyn FnMut(f64, &str),
    ) -> Vec<RuntimeRecord> {
        let mut rows = Vec::new();
        for (place, one) in chosen.iter().enumerate() {
            if request.stop.load(Ordering::Relaxed) {
                break;
            }
            progress(place as f64 / chosen.len() as f64, one.runtime.title);
            rows.extend(self.rows(one, request));
        }
        rows
    }

    /// Which of them there are. Asks each for its version.
    pub fn list(&self, chosen: &[Chosen], stop: &AtomicBool) -> Vec<RuntimeFound> {
        let found = |one: &Chosen| {
            let ready = self.ready(one, stop);
            let (version, program, reason) = match ready {
                Ok(ready) => (Some(ready.version), Some(ready.program), None),
                Err(reason) => (None, one.program().ok(), Some(reason)),
            };
            RuntimeFound {
                runtime: one.runtime.name.to_owned(),
                title: one.runtime.title.to_owned(),
                version,
                program: program.map(|program| program.display().to_string()),
                available: reason.is_none(),
                reason,
                get: one.runtime.get.to_owned(),
            }
        };
        chosen.iter().take_while(|_| !stop.load(Ordering::Relaxed)).map(found).collect()
    }

    /// The rows of one runtime.
    fn rows(&self, one: &Chosen, request: Request<'_>) -> Vec<RuntimeRecord> {
        let mut whole = RuntimeRecord {
            runtime: one.runtime.name.to_owned(),
            title: one.runtime.title.to_owned(),
            program: one.program().ok().map(|program| program.display().to_string()),
            clocksource: request.clocksource.map(str::to_owned),
            ..RuntimeRecord::default()
        };
        let ready = match self.ready(one, request.stop) {
            Ok(ready) => ready,
            Err(reason) if one.program.is_none() && one.is_missing() => {
                return vec![unavailable(whole, format!("{reason}; get it: {}", one.runtime.get))];
            }
            Err(reason) => return vec![unavailable(whole, reason)],
        };
        whole.version = Some(ready.version.clone());
        match self.probe(one, &ready, request) {
            Ok((lines, fault)) => rows(&whole, &lines, fault, request.clocksource),
            Err(reason) => vec![unavailable(whole, reason)],
        }
    }

    /// Finds the programs and asks for their versions.
    fn ready(&self, one: &Chosen, stop: &AtomicBool) -> Result<Ready, String> {
        let program = one.program()?;
        let compiler = one.compiler()?;
        let folder = self.places.folder(one.runtime.name).map_err(no_folder)?;
        let of_program = told(&program, one.runtime, folder.path(), stop)?;
        let mut versions = of_program.clone();
        if let Some(compiler) = &compiler {
            // Compilers are asked as everybody does.
            let asked = Runtime { version: &["--version"], variables: one.runtime.variables, ..PLAIN };
            versions += &told(compiler, &asked, folder.path(), stop)?;
        }
        let (version, framework) = (version(&of_program, one.runtime.title), framework(&of_program));
        Ok(Ready { program, compiler, framework, version, versions })
    }

    /// Builds the probe if need be, runs it, and gives its output, and what was wrong with how it ended.
    fn probe(&self, one: &Chosen, ready: &Ready, request: Request<'_>) -> Result<(String, Option<String>), String> {
        let runtime = one.runtime;
        let folder = self.places.folder(runtime.name).map_err(no_folder)?;
        for source in runtime.sources {
            let path = folder.path().join(source.file);
            fs::write(&path, source.text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let mut pages = match runtime.is_browser() {
            true => Some(Pages::new(runtime.probe().text, request.milliseconds).map_err(no_server)?),
            false => None,
        };
        let url = pages.as_ref().map(Pages::url).transpose().map_err(no_server)?;
        let (source, built) = (folder.path().join(runtime.probe().file), self.built(runtime, ready));
        let words = Words {
            program: Some(&ready.program),
            compiler: ready.compiler.as_deref(),
            framework: ready.framework.as_deref(),
            source: Some(&source),
            built: Some(&built),
            folder: Some(folder.path()),
            unkept: self.places.unkept(),
            url: url.as_deref(),
            milliseconds: request.milliseconds,
        };
        if !runtime.builds.is_empty() && !built.exists() {
            build(runtime, &words, &built, folder.path(), request.stop)?;
        }
        let limits = Limits { seconds: request.limit_s, stop: request.stop };
        let beside: &mut dyn Beside = match &mut pages {
            Some(pages) => pages,
            None => &mut Alone,
        };
        let mut outcome = started(&words, runtime.run, runtime, limits, beside)?;
        if let Some(pages) = pages {
            outcome.stdout = pages.lines;
        }
        let fault = outcome.ended.fault(limits);
        let fault = fault.map(|fault| format!("the probe {fault}{}", last_words(&outcome)));
        Ok((outcome.stdout, fault))
    }

    /// Where what is built of the probe is kept: by all that it is made of.
    fn built(&self, runtime: &Runtime, ready: &Ready) -> PathBuf {
        let mut made_of = vec![ready.versions.clone(), ready.program.display().to_string()];
        made_of.extend(ready.compiler.as_ref().map(|compiler| compiler.display().to_string()));
        made_of.extend(runtime.sources.iter().map(|source| source.text.to_owned()));
        made_of.extend(runtime.builds.iter().map(|build| build.command.join(" ")));
        self.places.built(runtime.name, &made_of)
    }
}

/// Builds by the first way that succeeds, under another name, so that what stands in the cache is complete.
fn build(runtime: &Runtime, words: &Words<'_>, built: &Path, folder: &Path, stop: &AtomicBool) -> Result<(), String> {
    let limits = Limits { seconds: BUILD_S, stop };
    let mut faults = Vec::new();
    for way in runtime.builds {
        let product = folder.join(way.product);
        let words = Words { built: Some(&product), ..*words };
        let Some(compiler) = words.command(&way.command[..1], runtime) else { continue };
        let outcome = started(&words, way.command, runtime, limits, &mut Alone)?;
        match outcome.ended.fault(limits) {
            Some(fault) => {
                faults.push(format!("{} {fault}{}", compiler.get_program().display(), last_words(&outcome)));
            }
            None => return keep(&product, built),
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Err(format!("the probe was not built: {}", faults.join("; ")))
}

/// Puts what was built into the cache, which may be on another file system.
fn keep(product: &Path, built: &Path) -> Result<(), String> {
    let beside = built.with_extension(format!("{}.tmp", std::process::id()));
    let kept = fs::copy(product, &beside).and_then(|_| fs::rename(&beside, built));
    kept.map_err(|error| {
        let _ = fs::remove_file(&beside);
        format!("what was built of the probe cannot be kept in {}: {error}", built.display())
    })
}

/// Runs a command of the registry.
fn started(
    words: &Words<'_>,
    command: &[&str],
    runtime: &Runtime,
    limits: Limits<'_>,
    beside: &mut dyn Beside,
) -> Result<Outcome, String> {
    let Some(mut command) = words.command(command, runtime) else {
        return Err(format!("{} has no program for this", runtime.title));
    };
    let started = run(&mut command, limits, beside);
    started.map_err(|error| format!("{} cannot be started: {error}", command.get_program().display()))
}

/// All that a program says of its version.
fn told(program: &Path, runtime: &Runtime, folder: &Path, stop: &AtomicBool) -> Result<String, String> {
    let words = Words { program: Some(program), folder: Some(folder), ..Words::default() };
    let command: Vec<&str> = std::iter::once("{program}").chain(runtime.version.iter().copied()).collect();
    let limits = Limits { seconds: VERSION_S, stop };
    let outcome = started(&words, &command, runtime, limits, &mut Alone)?;
    match outcome.ended.fault(limits) {
        Some(fault) => {
            Err(format!("{} {} {fault}{}", program.display(), runtime.version.join(" "), last_words(&outcome)))
        }
        None => Ok(outcome.stdout + &outcome.stderr),
    }
}

/// A row an API; and one that says what was wrong, if anything was.
fn rows(whole: &RuntimeRecord, output: &str, fault: Option<String>, clocksource: Option<&str>) -> Vec<RuntimeRecord> {
    let lines = line::parse(output);
    let nothing = lines.is_empty().then(|| match output.lines().find(|line| !line.trim().is_empty()) {
        Some(first) => format!("the probe printed no figures, but: {}", shortened(first)),
        None => "the probe printed nothing".to_owned(),
    });
    let of = |line| match line {
        Ok(Line::Read(readings)) => {
            let mut record = whole.clone();
            record.version = readings.version.as_deref().map(|said| version(said, &whole.title)).or(record.version);
            row::fill(&mut record, &readings, clocksource);
            record
        }
        Ok(Line::Unavailable { api, reason }) => unavailable(RuntimeRecord { api: Some(api), ..whole.clone() }, reason),
        Err(error) => unavailable(whole.clone(), format!("a line of the probe cannot be used: {error}")),
    };
    // A line that was being written when the probe was ended is no line.
    let is_cut_off = fault.is_some() && !output.ends_with('\n') && lines.last().is_some_and(Result::is_err);
    let whole_lines = lines.len() - usize::from(is_cut_off);
    let mut rows: Vec<RuntimeRecord> = lines.into_iter().take(whole_lines).map(of).collect();
    rows.extend(fault.or(nothing).map(|reason| unavailable(whole.clone(), reason)));
    rows
}

fn unavailable(whole: RuntimeRecord, reason: String) -> RuntimeRecord {
    RuntimeRecord { available: false, reason: Some(reason), ..whole }
}

fn no_folder(error: io::Error) -> String {
    format!("there is no folder for the probe: {error}")
}

fn no_server(error: io::Error) -> String {
    format!("there is no server for the browser on 127.0.0.1: {error}")
}

/// What a program said that may explain how it ended: the first line that speaks of an error, or the last of all.
fn last_words(outcome: &Outcome) -> String {
    let speaks = |line: &&str| {
        let line = line.to_lowercase();
        ["error", "exception", "fatal", "not found", "cannot", "denied"].iter().any(|word| line.contains(word))
    };
    let of = |text: &str| {
        let lines = || text.lines().filter(|line| !line.trim().is_empty() && !line::is_ours(line));
        lines().find(speaks).or(lines().next_back()).map(shortened)
    };
    of(&outcome.stderr).or_else(|| of(&outcome.stdout)).map_or_else(String::new, |words| format!(": {words}"))
}

/// A line that may be long, or not meant for people.
fn shortened(line: &str) -> String {
    const MOST: usize = 200;
    let plain: String = line.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if plain.chars().count() <= MOST { plain } else { plain.chars().take(MOST).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;
