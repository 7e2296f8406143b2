//! A notice that CLOCK_REALTIME was set: a timer of the kernel's that such a set cancels.

#![allow(unsafe_code, reason = "file descriptors of a timer and of an event, and a wait for both")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::time::Duration;

use crate::pause;
use crate::wakeup::Wakeup;

/// Waits for the clock to be set, or for another thread. (timerfd_create(2),
/// TFD_TIMER_CANCEL_ON_SET: since Linux 3.0. The kernel cancels such timers where the clock is set,
/// leaps, or went on while the machine slept.)
#[derive(Debug)]
pub struct ClockSet {
    timer: File,
    event: File,
}

impl ClockSet {
    /// `None` where the system has none, or refuses.
    #[must_use]
    pub fn new() -> Option<Self> {
        // SAFETY: both calls take integers.
        let (timer, event) = unsafe {
            let timer = owned(libc::timerfd_create(libc::CLOCK_REALTIME, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK));
            (timer, owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)))
        };
        let found = Self { timer: timer?, event: event? };
        found.arm().then_some(found)
    }

    /// Sets the timer to the end of time: nothing but a set of the clock ends it.
    fn arm(&self) -> bool {
        let never = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec { tv_sec: seconds(u64::MAX), tv_nsec: 0 },
        };
        let flags = libc::TFD_TIMER_ABSTIME | libc::TFD_TIMER_CANCEL_ON_SET;
        // SAFETY: the call reads one itimerspec, which is ours, and writes nothing where the last
        // pointer is null.
        unsafe { libc::timerfd_settime(self.timer.as_raw_fd(), flags, &raw const never, core::ptr::null_mut()) == 0 }
    }

    /// Waits until the clock is set, or [`ClockSet::wake`] is called, or for `longest`. An error is
    /// taken for the end of the time, after a millisecond.
    #[must_use]
    pub fn wait(&self, longest: Duration) -> Wakeup {
        let mut files = [self.event.as_raw_fd(), self.timer.as_raw_fd()].map(polled);
        let limit =
            libc::timespec { tv_sec: seconds(longest.as_secs()), tv_nsec: longest.subsec_nanos() as libc::c_long };
        // SAFETY: the call writes to the two entries, which are ours, and reads the limit; it
        // changes no mask of signals where the last pointer is null.
        let answer = unsafe { libc::ppoll(files.as_mut_ptr(), 2, &raw const limit, core::ptr::null()) };
        if answer <= 0 {
            // A signal, or a filter that denies the call: not asked again at once.
            if answer < 0 {
                pause(longest.min(Duration::from_millis(1)));
            }
            return Wakeup::InTime;
        }
        let mut number = [0; 8];
        if files[0].revents != 0 {
            let _ = (&self.event).read(&mut number);
            return Wakeup::ByThread;
        }
        // ECANCELED: the clock was set. The timer has ended, and begins anew before the caller
        // looks at the clock, so that no set is missed.
        let is_set = (&self.timer).read(&mut number).is_err_and(|error| error.raw_os_error() == Some(libc::ECANCELED));
        self.arm();
        if is_set { Wakeup::ByClock } else { Wakeup::InTime }
    }

    /// Ends the present wait, or the next one.
    pub fn wake(&self) {
        let _ = (&self.event).write(&1u64.to_ne_bytes());
    }
}

fn polled(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// # Safety
/// `fd` must be a new file descriptor, or negative.
unsafe fn owned(fd: RawFd) -> Option<File> {
    // SAFETY: the caller's promise: nobody else owns it.
    (fd >= 0).then(|| unsafe { File::from_raw_fd(fd) })
}

/// These seconds, or the most that the system's type for them holds. It has 32 bits on some
/// targets, and its name is deprecated for musl.
fn seconds<T: TryFrom<u64> + Default>(seconds: u64) -> T {
    let most = [i64::MAX as u64, i32::MAX as u64];
    most.into_iter().find_map(|most| T::try_from(seconds.min(most)).ok()).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn seconds_saturate_where_the_type_ends() {
        assert_eq!((seconds::<i64>(5), seconds::<i32>(5)), (5, 5));
        assert_eq!((seconds::<i64>(u64::MAX), seconds::<i32>(u64::MAX)), (i64::MAX, i32::MAX));
        assert_eq!((seconds::<i64>(1 << 31), seconds::<i32>(1 << 31)), (1 << 31, i32::MAX));
    }

    #[test]
    fn a_wait_ends_in_time_and_by_another_thread() {
        let notice = ClockSet::new().unwrap();
        assert_eq!(notice.wait(Duration::from_millis(1)), Wakeup::InTime);
        notice.wake();
        assert_eq!(notice.wait(Duration::from_secs(1_000)), Wakeup::ByThread);
        assert_eq!(notice.wait(Duration::ZERO), Wakeup::InTime);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(notice.wait(Duration::MAX), Wakeup::ByThread));
            notice.wake();
        });
    }
}
