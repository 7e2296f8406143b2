//! Tries what may kill its process, or never return, in a child process.
//!
//! A read of a clock can raise SIGSEGV (the counter was disabled), SIGILL (the instruction is not
//! permitted) or SIGSYS (a filter denies the call). None of these can be known beforehand with
//! certainty, and none can be survived without taking over the program's signal handlers. A child
//! can be lost.
//!
//! A forked child has only the calling thread of its parent: a lock that another thread held at
//! that moment stays locked in it. So a process of several threads is refused here. It is enough to
//! count them before the fork, because new threads are started by threads: one that is alone in
//! here stays alone.

#![allow(unsafe_code, reason = "fork, signal and _exit have no safe form")]

use clockscope_core::Errno;

/// Outcome of one attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It succeeded.
    Answered,
    /// It failed with this error.
    Refused(Errno),
    /// It ended its process without an answer.
    Unanswered,
    /// It ended its process by this signal.
    Killed(i32),
    /// It did not return in time.
    Silent,
    /// No child attempted it.
    Untried(Untried),
}

/// Reason why no child attempted an item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Untried {
    /// A fork might leave threads behind.
    #[error("the system does not show how many threads this process has (/proc/self/stat)")]
    UnknownThreads,
    /// The system refused.
    #[error("{call}: {error}")]
    System {
        /// The call that failed.
        call: &'static str,
        /// Its error.
        error: Errno,
    },
    /// This system cannot fork.
    #[error("this system cannot fork")]
    NoFork,
}

/// The process has other threads, which a fork would leave behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this process has {threads} threads, and clocks are first tried in a forked child, which takes a process of one: \
     measure before other threads start, or in a process of its own"
)]
pub struct SeveralThreads {
    /// Number of its threads, the calling one included.
    pub threads: u64,
}

/// Attempts the items 0 to `count` - 1, one after the other, in a child process; after one that the
/// child did not survive, the rest in a new child. An item may take `timeout_ms`. Costs one fork if
/// all goes well.
///
/// Where the number of threads is unknown, nothing is attempted, and every outcome is
/// [`Outcome::Untried`].
///
/// # Errors
/// The process has more than one thread.
pub fn attempt(
    count: usize,
    timeout_ms: i32,
    read: &mut dyn FnMut(usize) -> Result<(), Errno>,
) -> Result<Vec<Outcome>, SeveralThreads> {
    let mut outcomes = Vec::with_capacity(count);
    match threads::count() {
        Some(1) => {}
        Some(threads) => return Err(SeveralThreads { threads }),
        None => outcomes.resize(count, Outcome::Untried(Untried::UnknownThreads)),
    }
    while outcomes.len() < count {
        system::run(outcomes.len(), count, timeout_ms, read, &mut outcomes);
    }
    Ok(outcomes)
}

/// The name of a signal, such as "SIGSEGV".
#[must_use]
pub fn signal_name(signal: i32) -> String {
    system::SIGNALS
        .iter()
        .find(|(number, _)| *number == signal)
        .map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

#[cfg(fuzzing)]
pub(crate) use threads::fuzz as fuzz_thread_count;

mod threads;

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::{self, Read, Write};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::retry_on_intr;
    use rustix::pipe::pipe;
    use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, kill_process, setrlimit, waitpid};

    use super::{Errno, Outcome, Untried};

    pub(super) const SIGNALS: &[(i32, &str)] = &[
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGSYS, "SIGSYS"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGABRT, "SIGABRT"),
    ];

    /// Makes a child that attempts the items from `first` on, and adds their outcomes: at least
    /// one.
    pub(super) fn run(
        first: usize,
        count: usize,
        timeout_ms: i32,
        read: &mut dyn FnMut(usize) -> Result<(), Errno>,
        outcomes: &mut Vec<Outcome>,
    ) {
        let (answers, sender) = match pipe() {
            Ok((answers, sender)) => (File::from(answers), File::from(sender)),
            Err(error) => return give_up(count, "pipe", &error.into(), outcomes),
        };
        // SAFETY: `attempt` has found a single thread, so the child is a whole process; it ends in
        // `child`.
        let forked = unsafe { libc::fork() };
        match (forked, Pid::from_raw(forked.max(0))) {
            (-1, _) => give_up(count, "fork", &io::Error::last_os_error(), outcomes),
            (_, None) => {
                drop(answers);
                child(first, count, read, sender)
            }
            (_, Some(process)) => {
                drop(sender);
                parent(process, count, timeout_ms, answers, outcomes);
            }
        }
    }

    /// Adds the outcomes that the child sends, and how it ended if that was before the last one.
    fn parent(process: Pid, count: usize, timeout_ms: i32, mut answers: File, outcomes: &mut Vec<Outcome>) {
        while outcomes.len() < count {
            match receive(&mut answers, timeout_ms) {
                Answer::Item(outcome) => outcomes.push(outcome),
                Answer::TimedOut => {
                    // This child is ours and was not waited for, so its number is not anybody
                    // else's. One that has ended meanwhile is no less silent.
                    let _ = kill_process(process, Signal::KILL);
                    wait(process);
                    outcomes.push(Outcome::Silent);
                    return;
                }
                Answer::Ended => {
                    let signal = wait(process).and_then(WaitStatus::terminating_signal);
                    outcomes.push(signal.map_or(Outcome::Unanswered, Outcome::Killed));
                    return;
                }
            }
        }
        wait(process);
    }

    fn give_up(count: usize, call: &'static str, error: &io::Error, outcomes: &mut Vec<Outcome>) {
        outcomes.resize(count, Outcome::Untried(Untried::System { call, error: Errno::from(error) }));
    }

    /// Attempts the items and sends the answers: whether each failed, and its error number. Never
    /// returns.
    fn child(first: usize, count: usize, read: &mut dyn FnMut(usize) -> Result<(), Errno>, mut sender: File) -> ! {
        die_quietly();
        for index in first..count {
            let error = read(index).err();
            // The first byte separates success from an error without a number.
            let mut message = [u8::from(error.is_some()), 0, 0, 0, 0];
            message[1..].copy_from_slice(&error.map_or(0, Errno::code).to_le_bytes());
            if sender.write_all(&message).is_err() {
                break;
            }
        }
        // SAFETY: ends this child without running the parent's exit handlers a second time.
        unsafe { libc::_exit(0) }
    }

    /// A signal shall end the child as it would end a plain program: no handler of the parent's,
    /// and no core file.
    fn die_quietly() {
        // Where that is denied, a core file is all that is left over.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        for (signal, _) in SIGNALS.iter().filter(|(signal, _)| *signal != libc::SIGKILL) {
            // SAFETY: the signal numbers exist, and SIG_DFL is a disposition.
            unsafe { libc::signal(*signal, libc::SIG_DFL) };
        }
    }

    enum Answer {
        Item(Outcome),
        TimedOut,
        Ended,
    }

    fn receive(answers: &mut File, timeout_ms: i32) -> Answer {
        if !is_readable(answers, timeout_ms) {
            return Answer::TimedOut;
        }
        let mut message = [0; 5];
        if answers.read_exact(&mut message).is_err() {
            return Answer::Ended;
        }
        let [is_error, code @ ..] = message;
        Answer::Item(match is_error {
            0 => Outcome::Answered,
            _ => Outcome::Refused(Errno::new(i32::from_le_bytes(code))),
        })
    }

    /// Returns true if there is something to read, or the other end is closed, in time. The kernel
    /// keeps the time.
    fn is_readable(answers: &File, timeout_ms: i32) -> bool {
        let patience = Timespec { tv_sec: (timeout_ms / 1000).into(), tv_nsec: (timeout_ms % 1000 * 1_000_000).into() };
        retry_on_intr(|| poll(&mut [PollFd::new(answers, PollFlags::IN)], Some(&patience))) != Ok(0)
    }

    /// Waits for the child; returns its status, or `None` if another thread has waited for it.
    fn wait(process: Pid) -> Option<WaitStatus> {
        let (_, status) = retry_on_intr(|| waitpid(Some(process), WaitOptions::empty())).ok()??;
        Some(status)
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Errno, Outcome, Untried};

    pub(super) const SIGNALS: &[(i32, &str)] = &[];

    pub(super) fn run(
        _: usize,
        count: usize,
        _: i32,
        _: &mut dyn FnMut(usize) -> Result<(), Errno>,
        outcomes: &mut Vec<Outcome>,
    ) {
        outcomes.resize(count, Outcome::Untried(Untried::NoFork));
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// No item takes longer, unless it never answers.
    const PATIENCE_MS: i32 = 60_000;

    /// Runs `body` in a process of one thread: the harness of tests has more. `body` takes no lock
    /// that another test may hold while this one forks, but the allocator's, which the C library
    /// keeps usable in children.
    fn alone(body: impl FnOnce()) {
        // SAFETY: as above; the child ends here, and is waited for.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
                libc::_exit(i32::from(outcome.is_err()));
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            status
        };
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status}");
    }

    #[test]
    fn a_process_of_several_threads_is_refused() {
        let refused = attempt(1, PATIENCE_MS, &mut |_| Ok(())).unwrap_err();
        assert!(refused.threads >= 2, "{refused}");
        // One that has ended does not count, however short ago it was.
        alone(|| {
            for _ in 0..200 {
                std::thread::spawn(|| {}).join().unwrap();
                assert_eq!(attempt(1, PATIENCE_MS, &mut |_| Ok(())), Ok(vec![Outcome::Answered]));
            }
            let (sender, receiver) = std::sync::mpsc::channel::<()>();
            let waiting = std::thread::spawn(move || receiver.recv());
            assert_eq!(attempt(1, PATIENCE_MS, &mut |_| Ok(())), Err(SeveralThreads { threads: 2 }));
            drop(sender);
            assert!(waiting.join().unwrap().is_err());
        });
    }

    #[test]
    fn each_ending_is_reported_and_the_others_go_on() {
        alone(each_ending);
    }

    fn each_ending() {
        let mut end = |index| {
            match index {
                // SAFETY: ends the child, which is what is tested.
                1 => unsafe { libc::raise(libc::SIGSEGV) },
                // SAFETY: as above.
                2 => unsafe { libc::raise(libc::SIGSYS) },
                3 => return Err(Errno::new(libc::EINVAL)),
                // SAFETY: waits for a signal that never comes.
                4 => unsafe { libc::pause() },
                // SAFETY: ends the child without an answer.
                5 => unsafe { libc::_exit(3) },
                _ => 0,
            };
            Ok(())
        };
        // A busy machine may not run a child in a short time.
        let outcomes = [300, 3_000, 30_000].into_iter().find_map(|timeout_ms| {
            let outcomes = attempt(7, timeout_ms, &mut end).expect("one thread");
            (outcomes.iter().filter(|outcome| **outcome == Outcome::Silent).count() == 1).then_some(outcomes)
        });
        assert_eq!(
            outcomes.expect("one item is silent"),
            [
                Outcome::Answered,
                Outcome::Killed(libc::SIGSEGV),
                Outcome::Killed(libc::SIGSYS),
                Outcome::Refused(Errno::new(libc::EINVAL)),
                Outcome::Silent,
                Outcome::Unanswered,
                Outcome::Answered,
            ]
        );
    }

    #[test]
    fn many_items_all_answer() {
        alone(|| {
            assert_eq!(attempt(500, PATIENCE_MS, &mut |_| Ok(())).unwrap(), vec![Outcome::Answered; 500]);
            assert_eq!(attempt(0, PATIENCE_MS, &mut |_| Ok(())).unwrap(), []);
        });
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(signal_name(libc::SIGILL), "SIGILL");
        assert_eq!(signal_name(99), "signal 99");
    }
}
