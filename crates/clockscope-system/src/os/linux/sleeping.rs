//! The calls that sleep.

#![allow(unsafe_code, reason = "system calls that take pointers")]

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

use crate::Errno;
use crate::os::sleep_call::{Call, SleepError};

#[derive(Debug)]
pub(crate) struct Sleeper {
    timer: Result<File, SleepError>,
}

impl Sleeper {
    pub(crate) fn new() -> Self {
        // SAFETY: creates a descriptor; no pointer is passed.
        let timer = match unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) } {
            -1 => Err(last_error("timerfd_create")),
            // SAFETY: the descriptor was just made and nobody else owns it.
            descriptor => Ok(unsafe { File::from_raw_fd(descriptor) }),
        };
        Self { timer }
    }

    pub(crate) fn sleep(&self, call: Call, ns: u64, monotonic_ns: u64) -> Result<(), SleepError> {
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
    time.tv_sec = (ns / 1_000_000_000) as _;
    time.tv_nsec = (ns % 1_000_000_000) as _;
    time
}

/// The time in a coarser unit; an error for one that it has no whole number of.
fn whole(ns: u64, unit_ns: u64, name: &'static str) -> Result<u64, SleepError> {
    if ns.is_multiple_of(unit_ns) { Ok(ns / unit_ns) } else { Err(SleepError::Whole(name)) }
}

/// The error of a call that failed. A signal may end a sleep; that is not a failure.
fn interrupted_or(answer: libc::c_int, call: &'static str) -> Result<(), SleepError> {
    let is_done = answer >= 0 || io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
    if is_done { Ok(()) } else { Err(last_error(call)) }
}

fn last_error(call: &'static str) -> SleepError {
    SleepError::System { call, error: Errno::from(&io::Error::last_os_error()) }
}

pub(crate) fn timer_slack_ns() -> Option<u64> {
    // SAFETY: asks for a number; no pointer is passed.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    u64::try_from(slack).ok()
}
