//! A stopwatch, with the surface of .NET's.

use core::time::Duration;

use crate::{Clock, Instant, ProcessClock};

/// Measures elapsed time over one or several intervals, as .NET's `System.Diagnostics.Stopwatch`
/// does.
///
/// | .NET | here |
/// |---|---|
/// | `StartNew`, `Start`, `Stop`, `Reset`, `Restart` | `start_new`, `start`, `stop`, `reset`, `restart` |
/// | `Elapsed`, `ElapsedMilliseconds`, `ElapsedTicks`, `IsRunning` | `elapsed`, `elapsed_milliseconds`, `elapsed_ticks`, `is_running` |
/// | `Frequency`, `IsHighResolution` | `frequency()`, `is_high_resolution()` |
/// | `GetTimestamp`, `GetElapsedTime` | `timestamp()`, `elapsed_between(start, end)` |
///
/// Never negative: an interval is no shorter than zero. Ordering and error are those of
/// [`crate::now`], which methods that need the time read once; the others read no clock.
///
/// ```
/// use clockscope::Stopwatch;
///
/// let mut watch = Stopwatch::start_new();
/// let sum: u64 = (0..1000).sum();
/// watch.stop();
/// println!("{sum} in {:?}: {} ticks of 1/{} s", watch.elapsed(), watch.elapsed_ticks(), Stopwatch::frequency());
/// assert!(!watch.is_running());
/// ```
///
/// With a clock of one's own:
///
/// ```
/// use clockscope::{FakeClock, Stopwatch};
/// use std::time::Duration;
///
/// let clock = FakeClock::new();
/// let mut watch = Stopwatch::with_clock(&clock);
/// watch.start();
/// clock.advance(Duration::from_secs(2));
/// watch.stop();
/// clock.advance(Duration::from_secs(5));
/// watch.start();
/// clock.advance(Duration::from_secs(1));
/// assert_eq!(watch.elapsed(), Duration::from_secs(3));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Stopwatch<C = ProcessClock> {
    clock: C,
    /// Beginning of the running interval.
    started: Option<Instant>,
    /// Sum of the intervals that are over, in ns.
    counted_ns: u64,
}

impl Stopwatch {
    /// Creates a stopwatch that is stopped at zero.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_clock(ProcessClock)
    }

    /// Creates a stopwatch and starts it.
    #[must_use]
    pub fn start_new() -> Self {
        let mut watch = Self::new();
        watch.start();
        watch
    }

    /// Returns the ticks per second of [`Stopwatch::elapsed_ticks`] and [`Stopwatch::timestamp`]:
    /// ns, on every system. [`crate::resolution`] reports whether the clock shows all of them.
    #[must_use]
    pub const fn frequency() -> u64 {
        1_000_000_000
    }

    /// Returns whether the time is a monotonic clock's, with a tick of a microsecond or less.
    #[must_use]
    pub fn is_high_resolution() -> bool {
        crate::is_high_resolution()
    }

    /// Returns the time now in ticks of [`Stopwatch::frequency`].
    #[must_use]
    pub fn timestamp() -> u64 {
        crate::now().as_ns()
    }

    /// Returns the time between two timestamps; zero where `end` is before `start`.
    #[must_use]
    pub const fn elapsed_between(start: u64, end: u64) -> Duration {
        Duration::from_nanos(end.saturating_sub(start))
    }
}

impl<C: Clock> Stopwatch<C> {
    /// Creates a stopwatch on `clock` that is stopped at zero.
    #[must_use]
    pub const fn with_clock(clock: C) -> Self {
        Self { clock, started: None, counted_ns: 0 }
    }

    /// Starts or resumes the stopwatch. Does nothing if it is running.
    pub fn start(&mut self) {
        if self.started.is_none() {
            self.started = Some(self.clock.now());
        }
    }

    /// Stops the stopwatch. Does nothing if it is stopped.
    pub fn stop(&mut self) {
        self.counted_ns = self.elapsed_ns();
        self.started = None;
    }

    /// Stops the stopwatch and sets it to zero.
    pub fn reset(&mut self) {
        self.started = None;
        self.counted_ns = 0;
    }

    /// Sets the stopwatch to zero and starts it.
    pub fn restart(&mut self) {
        self.counted_ns = 0;
        self.started = Some(self.clock.now());
    }

    /// Returns the total time that the stopwatch has run.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.elapsed_ns())
    }

    /// Returns the elapsed time in ticks of [`Stopwatch::frequency`].
    #[must_use]
    pub fn elapsed_ticks(&self) -> u64 {
        self.elapsed_ns()
    }

    /// Returns the elapsed time in milliseconds, rounded down.
    #[must_use]
    pub fn elapsed_milliseconds(&self) -> u64 {
        self.elapsed_ns() / 1_000_000
    }

    /// Returns whether the stopwatch is running.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.started.is_some()
    }

    fn elapsed_ns(&self) -> u64 {
        let running = self.started.map_or(0, |started| self.clock.now().ns_since(started));
        self.counted_ns.saturating_add(running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FakeClock;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Action {
        Start,
        Stop,
        Reset,
        Restart,
        Wait(u32),
    }

    proptest! {
        /// Against a model that adds up the waits during which it ran.
        #[test]
        fn it_counts_exactly_what_passed_while_it_ran(steps in proptest::collection::vec(prop_oneof![
            Just(Action::Start), Just(Action::Stop), Just(Action::Reset), Just(Action::Restart), any::<u32>().prop_map(Action::Wait),
        ], 0..40)) {
            let clock = FakeClock::new();
            let mut watch = Stopwatch::with_clock(&clock);
            let (mut runs, mut total) = (false, 0u64);
            for step in steps {
                match step {
                    Action::Start => { watch.start(); runs = true; }
                    Action::Stop => { watch.stop(); runs = false; }
                    Action::Reset => { watch.reset(); (runs, total) = (false, 0); }
                    Action::Restart => { watch.restart(); (runs, total) = (true, 0); }
                    Action::Wait(ns) => {
                        clock.advance(Duration::from_nanos(ns.into()));
                        total += if runs { u64::from(ns) } else { 0 };
                    }
                }
                prop_assert_eq!((watch.elapsed_ticks(), watch.is_running()), (total, runs));
                prop_assert_eq!(watch.elapsed_milliseconds(), total / 1_000_000);
            }
        }
    }

    #[test]
    fn an_interval_is_never_negative() {
        assert_eq!(Stopwatch::elapsed_between(5, 3), Duration::ZERO);
        assert_eq!(Stopwatch::elapsed_between(3, 5), Duration::from_nanos(2));
    }
}
