//! Requirements for starting a probe: the programs, their versions, and what is built.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use clockscope_records::RuntimeFailure;

use crate::folders::{Folder, RunFolders};
use crate::probe_line;
use crate::process::{FinishedProgram, Limits, NoTask, Task, run};
use crate::programs::Chosen;
use crate::registry::Runtime;
use crate::runtime_version::{framework, version};
use crate::shortened::shortened;
use crate::substitutions::Substitutions;
use crate::unmeasured::Unmeasured;

/// Longest time for printing a version, in seconds.
const VERSION_S: f64 = 10.0;
/// Longest time for a way to build, in seconds: where no standard library is built yet, Go builds
/// its own.
const BUILD_S: f64 = 120.0;

/// A runtime whose probe can be started.
#[derive(Clone, Debug)]
pub(crate) struct ProbeSetup {
    pub(crate) program: PathBuf,
    pub(crate) version: String,
    compiler: Option<PathBuf>,
    /// The folder of .NET's own assemblies.
    framework: Option<PathBuf>,
    /// All that it, and its compiler, say of their versions.
    versions: String,
    /// Path of what was built, if anything is.
    pub(crate) built: Option<PathBuf>,
    /// True if that was built some time ago.
    pub(crate) is_from_cache: bool,
}

/// Finds the programs and asks for their versions.
///
/// # Errors
/// It cannot be started.
pub(crate) fn found(chosen: &Chosen, folders: &RunFolders, stop: &AtomicBool) -> Result<ProbeSetup, Unmeasured> {
    let (program, compiler) = (chosen.program()?, chosen.compiler()?);
    let folder = folders.folder().map_err(no_folder)?;
    let of_program = reported(&program, chosen.runtime.version, chosen.runtime, folder.path(), stop)?;
    let mut versions = of_program.clone();
    if let Some(compiler) = &compiler {
        // Compilers are asked as everybody does.
        versions += &reported(compiler, &["--version"], chosen.runtime, folder.path(), stop)?;
    }
    let (version, framework) = (version(&of_program, chosen.runtime.title), framework(&of_program));
    Ok(ProbeSetup { program, version, compiler, framework, versions, built: None, is_from_cache: false })
}

/// A folder with the probe.
pub(crate) fn folder_with(folders: &RunFolders, runtime: &Runtime) -> Result<Folder, Unmeasured> {
    let folder = folders.folder().map_err(no_folder)?;
    for source in runtime.sources {
        let path = folder.path().join(source.file);
        fs::write(&path, source.text)
            .map_err(|error| Unmeasured::new(RuntimeFailure::NoFolder, format!("{}: {error}", path.display())))?;
    }
    Ok(folder)
}

impl ProbeSetup {
    /// With what is built of the probe, if anything is: from the cache, or built now.
    pub(crate) fn built(self, runtime: &Runtime, folders: &RunFolders, stop: &AtomicBool) -> Result<Self, Unmeasured> {
        if runtime.builds.is_empty() {
            return Ok(self);
        }
        let cached = folders.built(runtime.name, &self.made_of(runtime));
        if cached.exists() {
            return Ok(Self { built: Some(cached), is_from_cache: true, ..self });
        }
        self.rebuilt(runtime, folders, stop)
    }

    /// Builds the probe now, whatever the cache has, by the first way that succeeds.
    pub(crate) fn rebuilt(
        &self,
        runtime: &Runtime,
        folders: &RunFolders,
        stop: &AtomicBool,
    ) -> Result<Self, Unmeasured> {
        let folder = folder_with(folders, runtime)?;
        let source = folder.path().join(runtime.probe().file);
        let limits = Limits { seconds: BUILD_S, stop };
        let mut faults = Vec::new();
        for way in runtime.builds {
            let product = folder.path().join(way.product);
            let words = Substitutions { source: Some(&source), built: Some(&product), ..self.words(&folder, folders) };
            let Some(mut command) = words.command(way.command, runtime.variables) else { continue };
            let outcome = started(&mut command, limits, &mut NoTask)?;
            match outcome.ended.fault(limits) {
                Some(fault) => {
                    faults.push(format!("{} {fault}{}", command.get_program().display(), last_words(&outcome)));
                }
                None => {
                    let built = keep(&product, &folders.built(runtime.name, &self.made_of(runtime)), folders)?;
                    return Ok(Self { built: Some(built), is_from_cache: false, ..self.clone() });
                }
            }
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        let failure = if stop.load(Ordering::Relaxed) { RuntimeFailure::Interrupted } else { RuntimeFailure::NotBuilt };
        Err(Unmeasured::new(failure, format!("the probe was not built: {}", faults.join("; "))))
    }

    /// All that what is built depends on.
    fn made_of(&self, runtime: &Runtime) -> Vec<String> {
        let mut made_of = vec![std::env::consts::ARCH.to_owned(), self.versions.clone()];
        for program in std::iter::once(&self.program).chain(&self.compiler) {
            let found = fs::metadata(program).map(|found| format!("{} {}", found.len(), changed_s(&found)));
            made_of.push(format!("{} {}", program.display(), found.unwrap_or_default()));
        }
        made_of.extend(runtime.sources.iter().map(|source| source.text.to_owned()));
        made_of.extend(runtime.builds.iter().map(|build| build.command.join(" ")));
        made_of
    }

    /// Substitutions for a command's words that are known so far.
    pub(crate) fn words<'a>(&'a self, folder: &'a Folder, folders: &'a RunFolders) -> Substitutions<'a> {
        Substitutions {
            program: Some(&self.program),
            compiler: self.compiler.as_deref(),
            framework: self.framework.as_deref(),
            folder: Some(folder.path()),
            cache: Some(folders.cache()),
            ..Substitutions::default()
        }
    }
}

/// Time at which a file was changed, in seconds since 1970; 0 where the system does not show it, or
/// before.
fn changed_s(file: &fs::Metadata) -> u64 {
    let since = file.modified().ok().and_then(|when| when.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_secs())
}

/// Puts what was built where it is kept, or else, should the cache be full, where it lasts for this
/// run.
fn keep(product: &Path, cached: &Path, folders: &RunFolders) -> Result<PathBuf, Unmeasured> {
    let lasting = folders.lasting(cached);
    let put = put(product, cached).map(|()| cached.to_owned()).or_else(|_| put(product, &lasting).map(|()| lasting));
    put.map_err(|error| {
        let reason = format!("the built probe cannot be stored in {}: {error}", cached.display());
        Unmeasured::new(RuntimeFailure::NoFolder, reason)
    })
}

/// Copies, since it may be another file system, under another name first: what has its name is
/// complete, whatever happens.
fn put(product: &Path, target: &Path) -> io::Result<()> {
    let draft = target.with_extension(format!("{}.tmp", std::process::id()));
    let put = fs::copy(product, &draft)
        .and_then(|_| File::open(&draft)?.sync_all())
        .and_then(|()| fs::rename(&draft, target));
    if put.is_err() {
        let _ = fs::remove_file(&draft);
    }
    put
}

/// All that a program says of its version.
fn reported(
    program: &Path,
    arguments: &[&str],
    runtime: &Runtime,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<String, Unmeasured> {
    let words = Substitutions { program: Some(program), folder: Some(folder), ..Substitutions::default() };
    let mut command = words.command(&["{program}"], runtime.variables).ok_or_else(no_program)?;
    let limits = Limits { seconds: VERSION_S, stop };
    let outcome = started(command.args(arguments), limits, &mut NoTask)?;
    match outcome.ended.fault(limits) {
        Some(fault) => {
            let reason = format!("{} {} {fault}{}", program.display(), arguments.join(" "), last_words(&outcome));
            Err(Unmeasured::new(outcome.ended.failure(), reason))
        }
        None => Ok(outcome.stdout + &outcome.stderr),
    }
}

/// Runs a command of the registry.
pub(crate) fn started(
    command: &mut Command,
    limits: Limits<'_>,
    task: &mut dyn Task,
) -> Result<FinishedProgram, Unmeasured> {
    let started = run(command, limits, task);
    started.map_err(|error| {
        let reason = format!("{} cannot be started: {error}", command.get_program().display());
        Unmeasured::new(RuntimeFailure::NotStarted, reason)
    })
}

pub(crate) fn no_program() -> Unmeasured {
    Unmeasured::new(RuntimeFailure::NotFound, "it has no program that could be started")
}

fn no_folder(error: io::Error) -> Unmeasured {
    Unmeasured::new(RuntimeFailure::NoFolder, format!("there is no folder for the probe: {error}"))
}

/// A program's output that may explain how it ended.
pub(crate) fn last_words(outcome: &FinishedProgram) -> String {
    let words = explanation(&outcome.stderr).or_else(|| explanation(&outcome.stdout));
    words.map_or_else(String::new, |words| format!(": {words}"))
}

/// The first line that speaks of an error, or the last of all but the probe's own.
fn explanation(text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !probe_line::is_ours(line));
    let error = lines.clone().find(|line| {
        let line = line.to_lowercase();
        ["error", "exception", "fatal", "not found", "cannot", "denied"].iter().any(|word| line.contains(word))
    });
    error.or(lines.next_back()).map(shortened)
}
