//! A time that is nearly now, for nearly nothing: a thread writes it down.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::{AtomicInstant, Clock, Instant, now, os, recheck};

/// The kernel is asked about the counter this often.
const RECHECK_EVERY: Duration = Duration::from_secs(60);

/// Keeps a recent time up to date, on a thread of its own, until it is dropped; dropping it joins
/// the thread. That thread asks the kernel every minute whether the counter may still be used
/// ([`recheck`]), which no reading does: a process that confines itself starts none, or ends it
/// before.
///
/// ```
/// use clockscope::{Clock, Upkeep};
/// use std::time::Duration;
///
/// let upkeep = Upkeep::start(Duration::from_millis(1))?;
/// let recent = upkeep.recent();
/// // A handle for other threads; it holds the last time once the upkeep is dropped.
/// let handle = upkeep.handle();
/// std::thread::spawn(move || assert!(handle.recent() >= recent)).join().unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Upkeep {
    recent: Recent,
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
    /// The one in which the thread runs.
    process: u32,
}

/// The time that an [`Upkeep`] wrote down last, for any thread.
#[derive(Clone, Debug)]
pub struct Recent(Arc<AtomicInstant>);

impl Upkeep {
    /// Starts a thread that writes the time down every `period`. Its load is one reading a period.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(period: Duration) -> io::Result<Self> {
        os::keep_errno(|| Self::spawn(period))
    }

    fn spawn(period: Duration) -> io::Result<Self> {
        let recent = Recent(Arc::new(AtomicInstant::new(now())));
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let (shared, signal) = (recent.clone(), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("clockscope-upkeep".to_owned())
            .spawn(move || write_down(&shared, &signal, period, RECHECK_EVERY, || _ = recheck()))?;
        Ok(Self { recent, stop, thread: Some(thread), process: std::process::id() })
    }

    /// The time at most about a period ago (more, if the thread was not run). Never decreases.
    /// Costs a load.
    #[inline(always)]
    #[must_use]
    pub fn recent(&self) -> Instant {
        self.recent.recent()
    }

    /// A handle for other threads.
    #[must_use]
    pub fn handle(&self) -> Recent {
        self.recent.clone()
    }
}

fn write_down(recent: &Recent, stop: &(Mutex<bool>, Condvar), period: Duration, every: Duration, check: impl Fn()) {
    // Nobody panics under this lock.
    let mut stopped = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut checked = recent.0.load(Ordering::Relaxed);
    while !*stopped {
        let time = now();
        recent.0.store(time, Ordering::Release);
        if time.duration_since(checked) >= every {
            check();
            checked = time;
        }
        (stopped, _) = stop.1.wait_timeout(stopped, period).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        os::keep_errno(|| self.end());
    }
}

impl Upkeep {
    fn end(&mut self) {
        // A forked child has no such thread.
        if std::process::id() != self.process {
            return;
        }
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked; if it had, there is nothing to be done about it here.
            let _ = thread.join();
        }
    }
}

impl Recent {
    /// The time that was written down last.
    #[inline(always)]
    #[must_use]
    pub fn recent(&self) -> Instant {
        self.0.load(Ordering::Acquire)
    }
}

/// The recent time: what other readings are compared with must be recent times, too.
impl Clock for Recent {
    #[inline(always)]
    fn now(&self) -> Instant {
        self.recent()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn the_time_goes_on_until_the_thread_is_joined() {
        let upkeep = Upkeep::start(Duration::from_micros(100)).unwrap();
        let handle = upkeep.handle();
        let first = upkeep.recent();
        assert!(first <= now());
        while upkeep.recent() == first {
            std::thread::yield_now();
        }
        // The upkeep's, the handle's, and the thread's.
        assert_eq!(Arc::strong_count(&handle.0), 3);
        drop(upkeep);
        assert_eq!(Arc::strong_count(&handle.0), 1, "the thread has ended");
        let last = handle.recent();
        assert!(last > first && last <= now());
    }

    /// The thread asks when so much time has passed, and not before.
    #[test]
    fn the_kernel_is_asked_now_and_then() {
        for (every, asks) in [(Duration::ZERO, 1), (Duration::from_secs(3600), 0)] {
            let began = now();
            let (recent, asked) = (Recent(Arc::new(AtomicInstant::new(began))), std::cell::Cell::new(0));
            let stop = (Mutex::new(false), Condvar::new());
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while recent.recent() == began {
                        std::thread::yield_now();
                    }
                    *stop.0.lock().unwrap() = true;
                    stop.1.notify_all();
                });
                write_down(&recent, &stop, Duration::from_secs(3600), every, || asked.set(asked.get() + 1));
            });
            assert_eq!(asked.get(), asks, "every {every:?}");
        }
    }

    #[test]
    fn a_long_period_does_not_delay_the_end() {
        drop(Upkeep::start(Duration::from_secs(1_000_000)).unwrap());
    }
}
