//! Runs probes: finds the program, asks its version, builds what has to be built, starts the probe, takes its lines.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use clockscope_records::{RuntimeFound, RuntimeRecord};

use crate::line::{self, Line};
use crate::pages::Pages;
use crate::places::Places;
use crate::process::{Alone, Beside, Limits, Outcome, run};
use crate::programs::Chosen;
use crate::registry::Runtime;
use crate::row;
use crate::version::version;

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
    /// The program itself, where that compiles.
    compiler: PathBuf,
    version: String,
    /// All that it, and its compiler, say of their versions.
    versions: String,
}

/// What stands for what in a command.
#[derive(Clone, Copy)]
struct Words<'a> {
    program: &'a Path,
    compiler: &'a Path,
    source: &'a Path,
    built: &'a Path,
    folder: &'a Path,
    milliseconds: u64,
    url: &'a str,
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
            Err(reason) if one.is_missing() => {
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
        let of_compiler =
            compiler.as_ref().map(|compiler| told(compiler, one.runtime, folder.path(), stop)).transpose()?;
        let version = version(&of_program, one.runtime.title);
        let versions = of_program + of_compiler.as_deref().unwrap_or_default();
        Ok(Ready { compiler: compiler.unwrap_or_else(|| program.clone()), program, version, versions })
    }

    /// Builds the probe if need be, runs it, and gives its output, and what was wrong with how it ended.
    fn probe(&self, one: &Chosen, ready: &Ready, request: Request<'_>) -> Result<(String, Option<String>), String> {
        let runtime = one.runtime;
        let folder = self.places.folder(runtime.name).map_err(no_folder)?;
        let source = folder.path().join(runtime.source.file);
        fs::write(&source, runtime.source.text).map_err(|error| format!("{}: {error}", source.display()))?;
        let mut pages = match runtime.is_browser() {
            true => Some(
                Pages::new(runtime.source.text, request.milliseconds).map_err(|error| format!("127.0.0.1: {error}"))?,
            ),
            false => None,
        };
        let url = pages.as_ref().map(Pages::url).transpose().map_err(|error| format!("127.0.0.1: {error}"))?;
        let program = ready.program.display().to_string();
        let build = runtime.build.join(" ");
        let words = Words {
            program: &ready.program,
            compiler: &ready.compiler,
            source: &source,
            built: &self.places.built(runtime.name, &[runtime.source.text, &ready.versions, &program, &build]),
            folder: folder.path(),
            milliseconds: request.milliseconds,
            url: url.as_deref().unwrap_or_default(),
        };
        if !runtime.build.is_empty() && !words.built.exists() {
            self.build(one, &words, request.stop)?;
        }
        let limits = Limits { seconds: request.limit_s, stop: request.stop };
        let mut command = words.command(runtime.run, runtime.variables);
        let beside: &mut dyn Beside = match &mut pages {
            Some(pages) => pages,
            None => &mut Alone,
        };
        let mut outcome = run(&mut command, limits, beside).map_err(|error| not_started(&command, &error))?;
        if let Some(pages) = pages {
            outcome.stdout = pages.lines;
        }
        let fault = outcome.ended.fault(limits);
        let fault = fault.map(|fault| format!("the probe {fault}{}", last_words(&outcome)));
        Ok((outcome.stdout, fault))
    }

    /// Builds under another name, so that what stands in the cache is complete.
    fn build(&self, one: &Chosen, words: &Words<'_>, stop: &AtomicBool) -> Result<(), String> {
        let draft = words.folder.join("built");
        let limits = Limits { seconds: BUILD_S, stop };
        let drafting = Words { built: &draft, ..*words };
        let mut command = drafting.command(one.runtime.build, one.runtime.variables);
        let outcome = run(&mut command, limits, &mut Alone).map_err(|error| not_started(&command, &error))?;
        if let Some(fault) = outcome.ended.fault(limits) {
            let compiler = command.get_program().display();
            return Err(format!("the probe was not built: {compiler} {fault}{}", last_words(&outcome)));
        }
        // The cache may be on another file system than what is temporary.
        let beside = words.built.with_extension(format!("{}.tmp", std::process::id()));
        let kept = fs::copy(&draft, &beside).and_then(|_| fs::rename(&beside, words.built));
        kept.map_err(|error| {
            let _ = fs::remove_file(&beside);
            format!("what was built of the probe cannot be kept in {}: {error}", words.built.display())
        })
    }
}

impl Words<'_> {
    /// A command with what stands for its words, in the probe's folder, into which go temporary files.
    fn command(&self, words: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut words = words.iter().filter_map(|word| self.filled(word));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(self.folder).env("TMPDIR", self.folder);
        command.envs(variables.iter().filter_map(|(name, value)| Some((name, self.filled(value)?))));
        command
    }

    fn filled(&self, word: &str) -> Option<String> {
        if word == "{unsandboxed}" {
            return rustix::process::geteuid().is_root().then(|| "--no-sandbox".to_owned());
        }
        let text = |path: &Path| path.display().to_string();
        let mut filled = word.to_owned();
        for (name, value) in [
            ("{program}", text(self.program)),
            ("{compiler}", text(self.compiler)),
            ("{source}", text(self.source)),
            ("{built}", text(self.built)),
            ("{folder}", text(self.folder)),
            ("{milliseconds}", self.milliseconds.to_string()),
            ("{url}", self.url.to_owned()),
        ] {
            filled = filled.replace(name, &value);
        }
        Some(filled)
    }
}

/// All that a program says of its version.
fn told(program: &Path, runtime: &Runtime, folder: &Path, stop: &AtomicBool) -> Result<String, String> {
    let nothing = Path::new("");
    let (milliseconds, url) = (0, "");
    let words = Words { program, compiler: program, source: nothing, built: nothing, folder, milliseconds, url };
    let command: Vec<&str> = std::iter::once("{program}").chain(runtime.version.iter().copied()).collect();
    let limits = Limits { seconds: VERSION_S, stop };
    let mut command = words.command(&command, runtime.variables);
    let outcome = run(&mut command, limits, &mut Alone).map_err(|error| not_started(&command, &error))?;
    match outcome.ended.fault(limits) {
        Some(fault) => {
            let arguments = runtime.version.join(" ");
            Err(format!("{} {arguments} {fault}{}", program.display(), last_words(&outcome)))
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
    let mut rows: Vec<RuntimeRecord> = lines.into_iter().map(of).collect();
    rows.extend(fault.or(nothing).map(|reason| unavailable(whole.clone(), reason)));
    rows
}

fn unavailable(whole: RuntimeRecord, reason: String) -> RuntimeRecord {
    RuntimeRecord { available: false, reason: Some(reason), ..whole }
}

fn no_folder(error: io::Error) -> String {
    format!("there is no folder for the probe: {error}")
}

fn not_started(command: &Command, error: &io::Error) -> String {
    format!("{} cannot be started: {error}", command.get_program().display())
}

/// What a program said that may explain how it ended: the first line that speaks of an error, or the last of all.
fn last_words(outcome: &Outcome) -> String {
    let speaks = |line: &&str| {
        let line = line.to_lowercase();
        ["error", "exception", "fatal", "not found", "cannot", "denied"].iter().any(|word| line.contains(word))
    };
    let of = |text: &str| {
        let lines = || text.lines().filter(|line| !line.trim().is_empty() && !line::is_ours(line));
        lines().find(speaks).or(lines().last()).map(shortened)
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
