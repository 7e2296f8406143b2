//! One run, by this very program in a process of its own.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use clockscope_records::{Document, Envelope, Measurement};

use super::super::arguments::{MeasureArgs, ONE_OF_SEVERAL, Runs, WITHOUT_TICKS};
use crate::exit::Exit;
use crate::usage::UsageError;

/// Time between two looks at whether the run has ended, and whether it is to end: longer than
/// between two ticks of the system's timer, so that this disturbs a run less than that.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The end of a run without a measurement.
pub(super) enum Ended {
    /// This program could not be started again.
    NotStarted(anyhow::Error),
    Failed(anyhow::Error),
}

impl From<Ended> for anyhow::Error {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::NotStarted(error) => error.context("cannot run this program again"),
            Ended::Failed(error) => error,
        }
    }
}

/// Makes the run with this number, from 0, on this CPU if one is named.
pub(super) fn run(
    args: &MeasureArgs,
    runs: Runs,
    number: u32,
    cpu: Option<u32>,
    stop: &AtomicBool,
) -> Result<Envelope<Measurement>, Ended> {
    let not_started = |error: io::Error| Ended::NotStarted(error.into());
    let mut command = this_program().map_err(not_started)?;
    command
        .arg("measure")
        .args(args.words_of_one(runs.duration_of_run_s(number), cpu))
        .env(ONE_OF_SEVERAL, if runs.finds_ticks(number) { "" } else { WITHOUT_TICKS });
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let (status, text, message) = output(child.map_err(not_started)?, stop).map_err(not_started)?;
    let text = String::from_utf8_lossy(&text);
    match Document::from_json(&text) {
        Ok(Document::Measurement(measurement)) => Ok(measurement),
        _ => Err(Ended::Failed(why(status, &String::from_utf8_lossy(&message)))),
    }
}

/// This program, also where its file was removed or replaced meanwhile.
#[cfg(target_os = "linux")]
fn this_program() -> io::Result<Command> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("clockscope");
    Ok(command)
}

/// This program.
#[cfg(not(target_os = "linux"))]
fn this_program() -> io::Result<Command> {
    std::env::current_exe().map(Command::new)
}

fn why(status: ExitStatus, message: &str) -> anyhow::Error {
    let message = message.trim().trim_start_matches("error: ");
    if message.is_empty() {
        return anyhow!("a run ended without a result ({status}): try again");
    }
    if status.code() == Some(i32::from(Exit::Usage.code())) {
        return UsageError(message.to_owned()).into();
    }
    anyhow!("a run failed ({status}): {message}")
}

/// Returns how the run has ended, and what it wrote. It gets a signal to end early, once, as soon
/// as this process has got one.
fn output(mut child: Child, stop: &AtomicBool) -> io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        // A pipe holds less than a record.
        let text = thread::Builder::new().spawn_scoped(scope, move || read(stdout));
        let message = thread::Builder::new().spawn_scoped(scope, move || read(stderr));
        let (Ok(text), Ok(message)) = (text, message) else {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other("no thread can be started"));
        };
        let status = ended(&mut child, stop).inspect_err(|_| {
            // Readers wait for its end. It may have ended, which is as good.
            let _ = child.kill();
        })?;
        let [text, message] = [text, message].map(|reader| match reader.join() {
            Ok(bytes) => bytes,
            Err(_) => Err(io::Error::other("a reader panicked")),
        });
        Ok((status, text?, message?))
    })
}

/// Waits until the run has ended.
fn ended(child: &mut Child, stop: &AtomicBool) -> io::Result<ExitStatus> {
    let mut is_signaled = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) && !is_signaled {
            end(child);
            is_signaled = true;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn read(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Has a run end, with what it has.
#[cfg(unix)]
fn end(child: &Child) {
    // It may have ended meanwhile.
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM);
}

/// Ctrl-C reaches all processes of a console.
#[cfg(windows)]
fn end(_: &Child) {}
