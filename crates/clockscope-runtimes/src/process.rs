//! Runs a program within a time limit, and leaves nothing of it behind.
//!
//! No time is read but the coarse clock's, which needs no counter: where the counter is disabled
//! (prctl) the program's row says so, and this process lives on.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use clockscope_records::RuntimeFailure;

use crate::coarse::seconds;
use crate::descendants::Adoption;
use crate::parent_death;

/// Held while a program runs, since all descendants of this process are taken for its.
static ALONE: Mutex<()> = Mutex::new(());

/// Most that is taken of a program's output. The probes' is some 100 kB an API.
const MOST_OUTPUT: usize = 16 << 20;
/// How long nothing may happen before the limits are looked at.
const GLANCE: Duration = Duration::from_millis(50);
/// A glance that takes so many seconds was a pause of this process itself.
const PAUSE: f64 = 2.0;
/// How long output is waited for that a program's children may still hold when it has ended.
const AFTERWARDS: f64 = 1.0;

/// When to end a program that does not end by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits<'a> {
    /// After so many seconds.
    pub(crate) seconds: f64,
    /// Or when this is set.
    pub(crate) stop: &'a AtomicBool,
}

/// What a program said and how it ended.
#[derive(Debug)]
pub(crate) struct FinishedProgram {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) ended: Ended,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Itself(ExitStatus),
    /// What it was started for was done.
    Done,
    /// Its time was over.
    TimeLimit,
    /// The user stopped the run.
    Stopped,
    /// It printed without end.
    TooMuchOutput,
}

impl Ended {
    /// What went wrong, in words that follow the program's name; `None` if nothing did.
    pub(crate) fn fault(self, limits: Limits<'_>) -> Option<String> {
        match self {
            Self::Itself(status) if status.success() => None,
            Self::Done => None,
            Self::Itself(status) => Some(match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with status {code}"),
                (None, Some(signal)) => format!("was killed by signal {signal}{}", of_signal(signal)),
                (None, None) => "ended in an unknown way".to_owned(),
            }),
            Self::TimeLimit => Some(format!("did not end within {} s", limits.seconds)),
            Self::Stopped => Some("was interrupted".to_owned()),
            Self::TooMuchOutput => Some(format!("printed more than {} MB", MOST_OUTPUT >> 20)),
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

/// A signal's name, in brackets.
fn of_signal(signal: i32) -> String {
    rustix::process::Signal::from_named_raw(signal).map_or_else(String::new, |name| {
        let name = format!("{name:?}");
        format!(" ({})", name.trim_matches('"').trim_start_matches("Signal::"))
    })
}

/// Work of this process while a program runs, e.g. serving its pages.
pub(crate) trait Task {
    /// Returns what to wait for besides the program's output.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// Does what it can without waiting. Returns whether all is done that the program was started
    /// for.
    fn attend(&mut self) -> bool;
}

/// No work: the program runs alone.
pub(crate) struct NoTask;

impl Task for NoTask {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn attend(&mut self) -> bool {
        false
    }
}

/// Runs a program to its end or to its limit, and ends all that it has started and left behind:
/// every process that descends from this one, but for those that did before, is taken for the
/// program's. One at a time: others wait. If this process is killed, or the calling thread ends,
/// the program is killed as well, but not what it has started.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run(command: &mut Command, limits: Limits<'_>, task: &mut dyn Task) -> io::Result<FinishedProgram> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let adoption = Adoption::begin()?;
    // In a group of its own, so that a terminal's Ctrl-C reaches us alone, who then end it.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    parent_death::bind(command);
    let mut running = RunningProgram { child: command.spawn()?, adoption };
    let mut output = Output::new(&mut running.child)?;
    let ended = running.attend_to(&mut output, limits, task)?;
    drop(running);
    Ok(FinishedProgram { stdout: output.stdout.text(), stderr: output.stderr.text(), ended })
}

/// A program that ends when this is dropped, with all that it has started.
struct RunningProgram {
    child: Child,
    adoption: Adoption,
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.adoption.end_all(&mut self.child);
    }
}

impl RunningProgram {
    fn attend_to(&mut self, output: &mut Output, limits: Limits<'_>, task: &mut dyn Task) -> io::Result<Ended> {
        let mut began = seconds();
        let mut last = began;
        let mut over: Option<(f64, ExitStatus)> = None;
        loop {
            output.wait(&*task)?;
            output.take()?;
            if task.attend() {
                return Ok(Ended::Done);
            }
            let now = seconds();
            // This process did not run, be it that it was stopped (Ctrl-Z) or that the machine
            // slept: that is not the program's time.
            if now - last > PAUSE {
                began += now - last;
            }
            last = now;
            if over.is_none() {
                over = self.child.try_wait()?.map(|status| (now, status));
            }
            match over {
                Some((_, status)) if output.is_complete() => return Ok(Ended::Itself(status)),
                Some((ended, status)) if now - ended > AFTERWARDS => return Ok(Ended::Itself(status)),
                _ if limits.stop.load(Ordering::Relaxed) => return Ok(Ended::Stopped),
                _ if output.is_too_much() => return Ok(Ended::TooMuchOutput),
                _ if now - began > limits.seconds => return Ok(Ended::TimeLimit),
                _ => {}
            }
        }
    }
}

/// What a program prints.
struct Output {
    stdout: Stream<std::process::ChildStdout>,
    stderr: Stream<std::process::ChildStderr>,
}

impl Output {
    fn new(child: &mut Child) -> io::Result<Self> {
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        Ok(Self {
            stdout: Stream::new(child.stdout.take().ok_or_else(missing)?)?,
            stderr: Stream::new(child.stderr.take().ok_or_else(missing)?)?,
        })
    }

    /// Until something was printed, the task went on, or a moment has passed.
    fn wait(&self, task: &dyn Task) -> io::Result<()> {
        let ours = [self.stdout.descriptor(), self.stderr.descriptor()].into_iter().flatten();
        let all: Vec<BorrowedFd<'_>> = ours.chain(task.descriptors()).collect();
        let mut all: Vec<PollFd<'_>> =
            all.into_iter().map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        let glance = Timespec::try_from(GLANCE).map_err(io::Error::other)?;
        match poll(&mut all, Some(&glance)) {
            // Our own signals only set a flag.
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn take(&mut self) -> io::Result<()> {
        self.stdout.take()?;
        self.stderr.take()
    }

    fn is_complete(&self) -> bool {
        self.stdout.source.is_none() && self.stderr.source.is_none()
    }

    fn is_too_much(&self) -> bool {
        self.stdout.taken.len().max(self.stderr.taken.len()) >= MOST_OUTPUT
    }
}

/// One of the two pipes, until its end.
struct Stream<S> {
    source: Option<S>,
    taken: Vec<u8>,
}

impl<S: Read + AsFd> Stream<S> {
    fn new(source: S) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&source, true)?;
        Ok(Self { source: Some(source), taken: Vec::new() })
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(AsFd::as_fd)
    }

    /// What there is.
    fn take(&mut self) -> io::Result<()> {
        let mut piece = [0; 1 << 16];
        while let Some(source) = &mut self.source {
            if self.taken.len() >= MOST_OUTPUT {
                break;
            }
            match source.read(&mut piece) {
                Ok(0) => self.source = None,
                Ok(count) => self.taken.extend(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.taken).into_owned()
    }
}

#[cfg(test)]
mod tests;
