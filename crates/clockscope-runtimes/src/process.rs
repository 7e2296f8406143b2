//! Runs a program within a time limit, and leaves nothing of it behind.
//!
//! No time is read but the coarse clock's, which needs no counter: where the counter is disabled
//! (prctl) the program's row says so, and this process lives on.

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clockscope_records::RuntimeFailure;

use crate::coarse::seconds;
use crate::system::{Descriptor, Family, Output, ending};

/// Held while a program runs, since all descendants of this process are taken for its.
static ALONE: Mutex<()> = Mutex::new(());

/// Most that is taken of a program's output. The probes' is some 100 kB an API.
const MAX_OUTPUT_BYTES: usize = 16 << 20;
/// Time for which nothing may happen before the limits are looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two checks of the limits, in seconds, that was a pause of this process itself.
const MIN_PAUSE_S: f64 = 2.0;
/// Time for which output is waited for that a program's children may still hold when it has ended,
/// in seconds.
const MAX_OUTPUT_WAIT_S: f64 = 1.0;

/// Limits at which a program is ended that does not end by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits<'a> {
    /// Time after which the program is ended, in seconds.
    pub(crate) seconds: f64,
    /// Flag that ends the program when it is set.
    pub(crate) stop: &'a AtomicBool,
}

/// A program that has ended, with its output.
#[derive(Debug)]
pub(crate) struct FinishedProgram {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) ended: Ended,
}

/// End of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Itself(ExitStatus),
    /// The work that it was started for was done.
    Done,
    /// Its time was over.
    TimeLimit,
    /// The user stopped the run.
    Stopped,
    /// It printed without end.
    TooMuchOutput,
}

impl Ended {
    /// Returns what went wrong, in words that follow the program's name; `None` if nothing did.
    pub(crate) fn fault(self, limits: Limits<'_>) -> Option<String> {
        match self {
            Self::Itself(status) if status.success() => None,
            Self::Done => None,
            Self::Itself(status) => Some(ending(status)),
            Self::TimeLimit => Some(format!("did not end within {} s", limits.seconds)),
            Self::Stopped => Some("was interrupted".to_owned()),
            Self::TooMuchOutput => Some(format!("printed more than {} MB", MAX_OUTPUT_BYTES >> 20)),
        }
    }
}

impl Ended {
    /// Returns what records have of it beside the words, if anything went wrong.
    pub(crate) const fn failure(self) -> RuntimeFailure {
        match self {
            Self::Itself(_) | Self::Done | Self::TooMuchOutput => RuntimeFailure::Failed,
            Self::TimeLimit => RuntimeFailure::TimedOut,
            Self::Stopped => RuntimeFailure::Interrupted,
        }
    }
}

/// Work of this process while a program runs, e.g. serving its pages.
pub(crate) trait Task {
    /// Returns what to wait for besides the program's output.
    fn descriptors(&self) -> Vec<Descriptor<'_>>;

    /// Does what it can without waiting. Returns whether all is done that the program was started
    /// for.
    fn attend(&mut self) -> bool;
}

/// No work: the program runs alone.
pub(crate) struct NoTask;

impl Task for NoTask {
    fn descriptors(&self) -> Vec<Descriptor<'_>> {
        Vec::new()
    }

    fn attend(&mut self) -> bool {
        false
    }
}

/// Runs a program to its end or to its limit, and ends all that it has started and left behind.
/// Linux: every process that descends from this one, but for those that did before, is taken for
/// the program's; if this process is killed, or the calling thread ends, the program is killed as
/// well, but not what it has started. Windows: the program and all that it starts are in a job,
/// which ends with this process, however that ends. Other systems: the program's group. One at a
/// time: others wait.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run(command: &mut Command, limits: Limits<'_>, task: &mut dyn Task) -> io::Result<FinishedProgram> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let family = Family::begin()?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    family.bind(command);
    let mut running = RunningProgram { child: command.spawn()?, family };
    running.family.admit(&running.child)?;
    let mut output = Output::new(&mut running.child, MAX_OUTPUT_BYTES)?;
    let ended = running.attend_to(&mut output, limits, task)?;
    drop(running);
    let [stdout, stderr] = output.texts();
    Ok(FinishedProgram { stdout, stderr, ended })
}

/// A program that ends when this is dropped, with all that it has started.
struct RunningProgram {
    child: Child,
    family: Family,
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.family.end_all(&mut self.child);
    }
}

impl RunningProgram {
    fn attend_to(&mut self, output: &mut Output, limits: Limits<'_>, task: &mut dyn Task) -> io::Result<Ended> {
        let mut began = seconds();
        let mut last = began;
        let mut over: Option<(f64, ExitStatus)> = None;
        loop {
            output.wait(&task.descriptors(), POLL_INTERVAL)?;
            output.take()?;
            if task.attend() {
                return Ok(Ended::Done);
            }
            let now = seconds();
            // This process did not run, be it that it was stopped (Ctrl-Z) or that the machine
            // slept: that is not the program's time.
            if now - last > MIN_PAUSE_S {
                began += now - last;
            }
            last = now;
            if over.is_none() {
                over = self.child.try_wait()?.map(|status| (now, status));
            }
            match over {
                Some((_, status)) if output.is_complete() => return Ok(Ended::Itself(status)),
                Some((ended, status)) if now - ended > MAX_OUTPUT_WAIT_S => return Ok(Ended::Itself(status)),
                _ if limits.stop.load(Ordering::Relaxed) => return Ok(Ended::Stopped),
                _ if output.is_too_much() => return Ok(Ended::TooMuchOutput),
                _ if now - began > limits.seconds => return Ok(Ended::TimeLimit),
                _ => {}
            }
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
#[cfg(windows)]
#[cfg(test)]
#[path = "process/windows_tests.rs"]
mod tests;
