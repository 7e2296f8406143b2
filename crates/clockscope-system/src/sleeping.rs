//! The calls that sleep, by the names that programs know them by.

#![allow(unsafe_code, reason = "system calls that take pointers")]

use std::time::Duration;

use clockscope_core::Errno;

/// A call that sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// nanosleep(2).
    Nanosleep,
    /// clock_nanosleep(2) until a moment of CLOCK_MONOTONIC.
    ClockNanosleepAbsolute,
    /// usleep(3).
    Usleep,
    /// poll(2) of nothing: whole milliseconds.
    Poll,
    /// A timer of timerfd_create(2), set and read.
    Timerfd,
    /// Rust's std::thread::sleep.
    ThreadSleep,
}

impl Call {
    /// Those that this system has.
    pub const ALL: &'static [Self] = if cfg!(target_os = "linux") {
        &[Self::Nanosleep, Self::ClockNanosleepAbsolute, Self::Usleep, Self::Poll, Self::Timerfd, Self::ThreadSleep]
    } else {
        &[Self::ThreadSleep]
    };

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanosleep => "nanosleep",
            Self::ClockNanosleepAbsolute => "clock_nanosleep_absolute",
            Self::Usleep => "usleep",
            Self::Poll => "poll",
            Self::Timerfd => "timerfd",
            Self::ThreadSleep => "thread_sleep",
        }
    }
}

/// Reason why a call did not sleep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SleepError {
    /// The call takes a whole number of coarser units, and the time is none.
    #[error("it takes whole {0} only")]
    Whole(&'static str),
    /// A call failed.
    #[error("{call}: {error}")]
    System {
        /// The call that failed.
        call: &'static str,
        /// Its error.
        error: Errno,
    },
    /// This system has no such call that clockscope knows.
    #[error("clockscope does not know this call on this system")]
    Unsupported,
}

/// Resources that the calls need, made once.
#[derive(Debug)]
pub struct Sleeper {
    system: system::Sleeper,
}

impl Sleeper {
    /// Makes it.
    #[must_use]
    pub fn new() -> Self {
        Self { system: system::Sleeper::new() }
    }

    /// Sleeps for `ns` nanoseconds. `monotonic_ns` is what CLOCK_MONOTONIC shows now, for the call
    /// that sleeps until a moment. A signal may end it early.
    ///
    /// # Errors
    /// The call failed, or cannot sleep for so long.
    pub fn sleep(&self, call: Call, ns: u64, monotonic_ns: u64) -> Result<(), SleepError> {
        match call {
            Call::ThreadSleep => {
                std::thread::sleep(Duration::from_nanos(ns));
                Ok(())
            }
            call => self.system.sleep(call, ns, monotonic_ns),
        }
    }
}

impl Default for Sleeper {
    fn default() -> Self {
        Self::new()
    }
}

/// By how much the kernel may wake the calling thread late on purpose, in ns; `None` where it does
/// not show that.
#[must_use]
pub fn timer_slack_ns() -> Option<u64> {
    system::timer_slack_ns()
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::{AsRawFd, FromRawFd};

    use super::{Call, Errno, SleepError};

    #[derive(Debug)]
    pub(super) struct Sleeper {
        timer: Result<File, SleepError>,
    }

    impl Sleeper {
        pub(super) fn new() -> Self {
            // SAFETY: creates a descriptor; no pointer is passed.
            let timer = match unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) } {
                -1 => Err(last_error("timerfd_create")),
                // SAFETY: the descriptor was just made and nobody else owns it.
                descriptor => Ok(unsafe { File::from_raw_fd(descriptor) }),
            };
            Self { timer }
        }

        pub(super) fn sleep(&self, call: Call, ns: u64, monotonic_ns: u64) -> Result<(), SleepError> {
            match call {
                Call::Nanosleep => {
                    let time = timespec(ns);
                    // SAFETY: reads one timespec, which is ours; the remaining time is not asked
                    // for.
                    interrupted_or(unsafe { libc::nanosleep(&raw const time, core::ptr::null_mut()) }, "nanosleep")
                }
                Call::ClockNanosleepAbsolute => {
                    let until = timespec(monotonic_ns.saturating_add(ns));
                    let (clock, absolute) = (libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME);
                    // SAFETY: reads one timespec, which is ours; the remaining time is not asked
                    // for.
                    match unsafe { libc::clock_nanosleep(clock, absolute, &raw const until, core::ptr::null_mut()) } {
                        0 | libc::EINTR => Ok(()),
                        errno => Err(SleepError::System { call: "clock_nanosleep", error: Errno::new(errno) }),
                    }
                }
                Call::Usleep => {
                    // SAFETY: takes a number of µs, which is below a million here.
                    interrupted_or(unsafe { libc::usleep(whole(ns, 1_000, "microseconds")? as libc::c_uint) }, "usleep")
                }
                Call::Poll => {
                    let ms = whole(ns, 1_000_000, "milliseconds")? as libc::c_int;
                    // SAFETY: of no descriptors none is read.
                    interrupted_or(unsafe { libc::poll(core::ptr::null_mut(), 0, ms) }, "poll")
                }
                Call::Timerfd => self.timer(ns),
                Call::ThreadSleep => Ok(()),
            }
        }

        fn timer(&self, ns: u64) -> Result<(), SleepError> {
            let mut timer = self.timer.as_ref().map_err(Clone::clone)?;
            let once = libc::itimerspec { it_interval: timespec(0), it_value: timespec(ns) };
            // SAFETY: reads one itimerspec, which is ours; the former setting is not asked for.
            let set = unsafe { libc::timerfd_settime(timer.as_raw_fd(), 0, &raw const once, core::ptr::null_mut()) };
            if set != 0 {
                return Err(last_error("timerfd_settime"));
            }
            match timer.read(&mut [0; 8]) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    Err(SleepError::System { call: "read of a timerfd", error: Errno::from(&error) })
                }
                _ => Ok(()),
            }
        }
    }

    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    fn timespec(ns: u64) -> libc::timespec {
        // SAFETY: all-zero is a timespec; some systems pad it, so it is not written as a whole.
        let mut time: libc::timespec = unsafe { core::mem::zeroed() };
        time.tv_sec = (ns / 1_000_000_000) as libc::time_t;
        time.tv_nsec = (ns % 1_000_000_000) as _;
        time
    }

    /// The time in a coarser unit; an error for one that it has no whole number of.
    fn whole(ns: u64, unit_ns: u64, name: &'static str) -> Result<u64, SleepError> {
        if ns.is_multiple_of(unit_ns) { Ok(ns / unit_ns) } else { Err(SleepError::Whole(name)) }
    }

    /// A signal that ends a sleep is no failure.
    fn interrupted_or(answer: libc::c_int, call: &'static str) -> Result<(), SleepError> {
        let is_interrupted = || io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        if answer >= 0 || is_interrupted() { Ok(()) } else { Err(last_error(call)) }
    }

    fn last_error(call: &'static str) -> SleepError {
        SleepError::System { call, error: Errno::from(&io::Error::last_os_error()) }
    }

    pub(super) fn timer_slack_ns() -> Option<u64> {
        // SAFETY: asks for a number; no pointer is passed.
        let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
        u64::try_from(slack).ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Call, SleepError};

    #[derive(Debug)]
    pub(super) struct Sleeper;

    impl Sleeper {
        pub(super) fn new() -> Self {
            Self
        }

        pub(super) fn sleep(&self, _: Call, _: u64, _: u64) -> Result<(), SleepError> {
            Err(SleepError::Unsupported)
        }
    }

    pub(super) fn timer_slack_ns() -> Option<u64> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn every_call_sleeps_a_millisecond() {
        let sleeper = Sleeper::new();
        for call in Call::ALL {
            let before = std::time::Instant::now();
            let monotonic_ns = clockscope_core::os::Timeline::new().now_ns().unwrap();
            sleeper.sleep(*call, 1_000_000, monotonic_ns).unwrap();
            assert!(before.elapsed() >= Duration::from_micros(990), "{call:?}");
        }
        assert_eq!(sleeper.sleep(Call::Poll, 1_000, 0), Err(SleepError::Whole("milliseconds")));
        assert!(timer_slack_ns().is_some());
    }
}
