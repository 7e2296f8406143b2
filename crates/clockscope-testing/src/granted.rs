//! Time that a busy machine grants. A test waits for what really happened, such as the time that a
//! process ran, and never for time that passed.

use std::collections::BTreeMap;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use rustix::time::{ClockId, clock_gettime};

use crate::skip;

/// Nothing that these tests wait for takes longer, unless it never comes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Returns how long the calling thread has run on a CPU so far.
#[must_use]
pub fn thread_time() -> Duration {
    // The kernel's clock of this thread is read by a system call: no counter is needed.
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Waits until `is_so`.
///
/// # Panics
/// It never comes: the message is `what`.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a child process has run on CPUs for this long, rounded up to 10 ms, or has ended.
///
/// # Panics
/// It does neither.
pub fn until_it_ran(child: &Child, time: Duration) {
    until("the child runs", || process_time(child.id()).is_none_or(|ran| ran >= time));
}

/// Waits until a child process catches this signal, or has ended: before that the signal would end
/// it.
///
/// # Panics
/// It does neither.
pub fn until_it_catches(child: &Child, signal: Signal) {
    until("the child catches the signal", || catches(child, signal).unwrap_or(true));
}

/// Returns the command with the default action of a signal. Otherwise a child ignores a signal that
/// this process ignores: SIGHUP under nohup(1), SIGINT in a background job of a shell.
///
/// Stdin, stdout and stderr are not copied. Needs env(1) of coreutils 8.31.
#[must_use]
pub fn with_default(signal: Signal, command: &Command) -> Command {
    let mut by_env = Command::new("env");
    by_env.arg(format!("--default-signal={}", signal.as_raw())).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => by_env.env(name, value),
            None => by_env.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        by_env.current_dir(folder);
    }
    by_env
}

/// Returns true if a process catches a signal (proc_pid_status(5)); `None` if it has ended.
fn catches(child: &Child, signal: Signal) -> Option<bool> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask of signals");
    Some(mask & 1 << (signal.as_raw() - 1) != 0)
}

/// Sends a signal to a child process.
///
/// # Panics
/// The system refuses it.
pub fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a process has a number");
    kill_process(pid, signal).expect("a child takes signals");
}

/// Time that all threads of a process have run, and those of the processes that it has started, in
/// steps of 10 ms (proc_pid_stat(5), fields 14 and 15); `None` if it ended.
fn process_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let [user, system] = [11, 12].map(|at| fields.get(at)?.parse::<u64>().ok());
    let is_over = matches!(fields.first(), None | Some(&("Z" | "X")));
    let own = (!is_over).then_some(Duration::from_millis(10 * (user? + system?)))?;
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let of_children = children.split_whitespace().filter_map(|pid| process_time(pid.parse().ok()?));
    Some(own + of_children.sum::<Duration>())
}

/// Time that the scheduler granted to a thread, or to all threads of a process together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Granted {
    ran: Duration,
    /// Time in which it could have run, while other threads did.
    waited: Duration,
}

impl Granted {
    /// Time that a thread was granted so far (Documentation/scheduler/sched-stats.rst); nothing if
    /// the kernel does not say. `task` is its folder in /proc, or that of a process for its first
    /// thread.
    fn read(task: &str) -> Self {
        let text = std::fs::read_to_string(format!("/proc/{task}/schedstat")).unwrap_or_default();
        let mut times = text.split_whitespace().map(|ns| Duration::from_nanos(ns.parse().unwrap_or(0)));
        Self { ran: times.next().unwrap_or_default(), waited: times.next().unwrap_or_default() }
    }

    /// Returns true if it got a CPU whenever it could run, up to a twentieth of its time: figures
    /// that other programs spoil must be right then.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.ran > Duration::ZERO && self.waited * 20 <= self.ran
    }
}

/// Returns what the scheduler granted to the calling thread so far.
#[must_use]
pub fn granted_so_far() -> Granted {
    Granted::read("thread-self")
}

/// Period at which the accounts of a process's threads are read. The kernel drops a thread's with
/// the thread, so that the last of it may be missing.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Reads what the threads of a process are granted, until `is_over`; returns the sum without the
/// first thread, whose account lasts longer.
fn watch(process: u32, is_over: &AtomicBool) -> Granted {
    let mut threads = BTreeMap::new();
    while !is_over.load(Ordering::Relaxed) {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let names = tasks.filter_map(|task| task.file_name().to_str()?.parse::<u32>().ok());
        for thread in names.filter(|thread| *thread != process) {
            let granted = Granted::read(&format!("{process}/task/{thread}"));
            if granted.ran > Duration::ZERO {
                threads.insert(thread, granted);
            }
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    threads.into_values().fold(Granted::default(), |sum, thread| Granted {
        ran: sum.ran + thread.ran,
        waited: sum.waited + thread.waited,
    })
}

/// Runs a command to its end; returns its output, and what its threads were granted.
///
/// # Panics
/// It cannot be started or waited for.
pub fn granted(command: &mut Command) -> (Output, Granted) {
    granted_beside(command, |_| ())
}

/// Runs a command to its end, and `beside` with its process meanwhile; returns its output, and what
/// its threads were granted.
///
/// # Panics
/// It cannot be started or waited for.
pub fn granted_beside(command: &mut Command, beside: impl FnOnce(&Child)) -> (Output, Granted) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let is_over = Arc::new(AtomicBool::new(false));
    let watching = {
        let (process, is_over) = (child.id(), Arc::clone(&is_over));
        std::thread::spawn(move || watch(process, &is_over))
    };
    beside(&child);
    let [stdout, stderr] = [stdout, stderr].map(|text| text.join().expect("no panic"));
    // Ended and not yet reaped: the kernel still has the account of the first thread.
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a process has a number");
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).expect("a child");
    is_over.store(true, Ordering::Relaxed);
    let (first, others) = (Granted::read(&pid.to_string()), watching.join().expect("no panic"));
    let status = child.wait().expect("a child");
    let granted = Granted { ran: first.ran + others.ran, waited: first.waited + others.waited };
    (Output { status, stdout, stderr }, granted)
}

/// Reads a pipe to its end.
fn read(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    let mut pipe = pipe.expect("a pipe");
    std::thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).expect("a pipe can be read");
        text
    })
}

/// Asserts something that a busy machine may spoil. `ask` is called with a factor for durations; it
/// returns what the machine granted, and assertions on what was found.
///
/// If an assertion fails although the machine granted all that it could, the test fails. Otherwise
/// `ask` is called again with a larger factor, and if an assertion fails again, this part of the
/// test is skipped.
///
/// # Panics
/// An assertion fails that other programs cannot have spoiled.
#[track_caller]
pub fn demand<Check: FnOnce()>(mut ask: impl FnMut(u32) -> (Granted, Check)) {
    let mut why = String::new();
    for factor in [1, 4] {
        let (granted, check) = ask(factor);
        if granted.is_whole() {
            return check();
        }
        match catch_unwind(AssertUnwindSafe(check)) {
            Ok(()) => return,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str).unwrap_or("an assertion failed");
                let line = text.lines().next().unwrap_or_default();
                why = format!("other programs took too much time ({granted:?}): {}", line.get(..200).unwrap_or(line));
            }
        }
    }
    skip(&why);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_of_waiting_is_whole_and_more_is_not() {
        let is_whole = |ran_ms, waited_ms| {
            let [ran, waited] = [ran_ms, waited_ms].map(Duration::from_millis);
            Granted { ran, waited }.is_whole()
        };
        assert!(is_whole(100, 0) && is_whole(100, 5));
        assert!(!is_whole(100, 6) && !is_whole(0, 0));
    }
}
