//! Clocks as programs use them: something that says what time it is, the real one or a test's.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use clockscope_core::atomic::AtomicI64;
use core::sync::atomic::Ordering;
use core::time::Duration;

use crate::Instant;

/// A source of the current time.
///
/// Code that takes a clock by this trait runs on [`ProcessClock`](crate::ProcessClock) in earnest
/// and on a [`FakeClock`] in its tests.
///
/// ```
/// use clockscope::{Clock, FakeClock, Instant};
/// use std::time::Duration;
///
/// /// Whether a lease that began at `start` has run out.
/// fn is_over(clock: &impl Clock, start: Instant) -> bool {
///     clock.elapsed(start) >= Duration::from_secs(60)
/// }
///
/// let clock = FakeClock::new();
/// let start = clock.now();
/// assert!(!is_over(&clock, start));
/// clock.advance(Duration::from_secs(60));
/// assert!(is_over(&clock, start));
/// ```
///
/// References, `Box`, `Rc` and `Arc` of a clock are clocks, also of a `dyn Clock`. They call the
/// clock's own methods.
pub trait Clock {
    /// The time now. Ordered: a reading taken after another one, on any thread, in happens-before
    /// order, is never smaller.
    fn now(&self) -> Instant;

    /// The time now, cheaper where the clock has something cheaper that is not ordered.
    fn now_unordered(&self) -> Instant {
        self.now()
    }

    /// The time from `start` to now; zero for a moment to come.
    fn elapsed(&self, start: Instant) -> Duration {
        self.now().saturating_duration_since(start)
    }
}

/// Implements [`Clock`] for pointers to clocks. The lint demands each method: a default would not
/// be the one that the clock has.
macro_rules! through_pointer {
    ($($pointer:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        impl<C: Clock + ?Sized> Clock for $pointer {
            #[inline(always)]
            fn now(&self) -> Instant {
                (**self).now()
            }

            #[inline(always)]
            fn now_unordered(&self) -> Instant {
                (**self).now_unordered()
            }

            #[inline(always)]
            fn elapsed(&self, start: Instant) -> Duration {
                (**self).elapsed(start)
            }
        }
    )+};
}
through_pointer!(&C, &mut C, Box<C>, Rc<C>, Arc<C>);

/// A clock that tests set.
///
/// It starts at zero, stands still unless it is set or advanced, and never goes back. Threads may
/// share it.
///
/// ```
/// use clockscope::{Clock, FakeClock, Instant};
/// use std::time::Duration;
///
/// // By hand:
/// let clock = FakeClock::new();
/// clock.advance(Duration::from_millis(5));
/// assert_eq!(clock.now(), Instant::from_ns(5_000_000));
/// assert_eq!(clock.now(), Instant::from_ns(5_000_000));
///
/// // By itself, with every reading:
/// let clock = FakeClock::auto_advancing(Duration::from_nanos(10));
/// assert_eq!([clock.now(), clock.now()].map(Instant::as_ns), [0, 10]);
/// ```
#[derive(Debug, Default)]
pub struct FakeClock {
    ns: AtomicI64,
    step_ns: i64,
}

impl FakeClock {
    /// Creates a clock that stands still at zero.
    #[must_use]
    pub const fn new() -> Self {
        Self { ns: AtomicI64::new(0), step_ns: 0 }
    }

    /// Creates a clock that every reading advances by `step`. A reading returns the time before.
    #[must_use]
    pub const fn auto_advancing(step: Duration) -> Self {
        Self { ns: AtomicI64::new(0), step_ns: whole_ns(step) }
    }

    /// Advances the clock, at most to the timeline's end.
    pub fn advance(&self, duration: Duration) {
        self.add(whole_ns(duration));
    }

    /// Sets the clock to `moment` and returns `true`. Returns `false` if that is in the past.
    pub fn set(&self, moment: Instant) -> bool {
        self.ns.fetch_max(moment.as_signed_ns(), Ordering::AcqRel) <= moment.as_signed_ns()
    }

    /// Adds to it; the time before.
    fn add(&self, ns: i64) -> i64 {
        let mut former = self.ns.load(Ordering::Acquire);
        loop {
            let sum = former.saturating_add(ns);
            match self.ns.compare_exchange_weak(former, sum, Ordering::AcqRel, Ordering::Acquire) {
                Ok(former) => return former,
                Err(other) => former = other,
            }
        }
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        Instant::from_signed_ns(if self.step_ns == 0 {
            self.ns.load(Ordering::Acquire)
        } else {
            self.add(self.step_ns)
        })
    }
}

/// A duration in ns, at most that from zero to the timeline's end.
const fn whole_ns(duration: Duration) -> i64 {
    let ns = duration.as_nanos();
    if ns > i64::MAX as u128 { i64::MAX } else { ns as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fake_clock_never_goes_back() {
        let clock = FakeClock::new();
        assert!(clock.set(Instant::from_ns(50)));
        assert!(!clock.set(Instant::from_ns(49)));
        assert_eq!(clock.now().as_ns(), 50);
        assert!(!clock.set(Instant::from_signed_ns(-1)));
        clock.advance(Duration::from_nanos(1));
        assert_eq!(clock.now().as_ns(), 51);
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), Instant::MAX);
        assert_eq!(FakeClock::auto_advancing(Duration::MAX).step_ns, i64::MAX);
    }

    #[test]
    fn readings_of_threads_are_all_different() {
        let clock = Arc::new(FakeClock::auto_advancing(Duration::from_nanos(1)));
        let read =
            |clock: Arc<FakeClock>| std::thread::spawn(move || (0..1000).map(|_| clock.now()).collect::<Vec<_>>());
        let threads = [read(Arc::clone(&clock)), read(Arc::clone(&clock))];
        let mut readings: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        readings.sort();
        readings.dedup();
        assert_eq!(readings.len(), 2000);
    }

    /// A clock with methods of its own in place of all defaults.
    struct Overridden;

    impl Clock for Overridden {
        fn now(&self) -> Instant {
            Instant::from_ns(7)
        }

        fn now_unordered(&self) -> Instant {
            Instant::from_ns(8)
        }

        fn elapsed(&self, _: Instant) -> Duration {
            Duration::from_secs(42)
        }
    }

    #[track_caller]
    fn assert_overridden<C: Clock>(clock: C) {
        assert_eq!([clock.now(), clock.now_unordered()].map(Instant::as_ns), [7, 8]);
        assert_eq!(clock.elapsed(Instant::from_ns(7)), Duration::from_secs(42));
    }

    #[test]
    fn pointers_call_the_methods_of_the_clock() {
        assert_overridden(Overridden);
        assert_overridden(&Overridden);
        assert_overridden(&mut Overridden);
        assert_overridden(Box::new(Overridden));
        assert_overridden(Rc::new(Overridden));
        assert_overridden(Arc::new(Overridden));
        assert_overridden::<&dyn Clock>(&Overridden);
        assert_overridden::<&mut dyn Clock>(&mut Overridden);
        assert_overridden::<Box<dyn Clock>>(Box::new(Overridden));
        assert_overridden::<Rc<dyn Clock>>(Rc::new(Overridden));
        assert_overridden::<Arc<dyn Clock>>(Arc::new(Overridden));
        assert_overridden::<&Box<dyn Clock>>(&(Box::new(Overridden) as Box<dyn Clock>));
    }
}
