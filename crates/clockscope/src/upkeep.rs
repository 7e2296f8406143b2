//! A recent time at the cost of a load: a thread stores it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use clockscope_core::os::{self, ClockSet, Wakeup, keep_errno};

use crate::disciplined::ProcessMark;
use crate::disciplined::{Counter, Disciplined, OsClock};
use crate::native::CLOCK;
use crate::process::{has_process_mark, process_mark};
use crate::{AtomicInstant, Clock, Instant, now, prepare, stamps};

/// Time between two questions to the kernel about the counter.
const RECHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Shortest time between two renewals of the history of stamps.
const MIN_RENEWAL_INTERVAL: Duration = Duration::from_millis(1);

/// Largest lag of a forked child's clock behind the last recent time for which it waits: the clock
/// itself waits this long for an OS clock that stepped back.
const MAX_WAIT: Duration = Duration::from_millis(10);

/// Keeps a recent time up to date on a thread of its own. Dropping it ends the thread and waits for
/// that.
///
/// The thread also asks the kernel every minute whether the counter may still be used, as
/// [`recheck`](crate::recheck) does and no reading. Where CLOCK_REALTIME is set, or went on while
/// the machine slept, the kernel wakes the thread (Linux, by a timer with TFD_TIMER_CANCEL_ON_SET,
/// which takes two file descriptors), and [`wall::now`](crate::wall::now) and
/// [`boot::now`](crate::boot::now) show that at once. It renews the history of
/// [`stamps`](crate::stamps), if there is one, once a period, and once a millisecond at most. A
/// process that confines itself should start no upkeep, or drop it before.
///
/// A forked child has no such thread. There, every recent time is [`now`], at that cost, so that it
/// does not stand still; [`Upkeep::is_running`] returns `false`; and dropping the upkeep does
/// nothing. The child keeps the two file descriptors open until it ends or executes another
/// program. It may start an upkeep of its own. (Before Linux 4.14 this holds for children that the
/// C library's fork makes, because the kernel wipes no memory.)
///
/// ```
/// use clockscope::{Clock, Upkeep};
/// use std::time::Duration;
///
/// let upkeep = Upkeep::start(Duration::from_millis(1))?;
/// let recent = upkeep.recent();
/// // A handle for other threads; it holds the last time once the upkeep is dropped.
/// let handle = upkeep.handle();
/// let other = handle.clone();
/// std::thread::spawn(move || assert!(other.recent() >= recent)).join().unwrap();
/// assert!(handle.is_running());
/// drop(upkeep);
/// assert!(!handle.is_running());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Upkeep {
    recent: Recent,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

/// A wait that ends where the wall clock is set.
trait Notice {
    /// Waits for that, or for another thread, or for `longest`.
    fn wait(&self, longest: Duration) -> Wakeup;

    /// Ends the present wait, or the next one.
    fn wake(&self);
}

impl Notice for ClockSet {
    fn wait(&self, longest: Duration) -> Wakeup {
        self.wait(longest)
    }

    fn wake(&self) {
        self.wake();
    }
}

/// Ends the thread, and has it wait in between.
#[derive(Debug)]
struct Stop<N = ClockSet> {
    is_over: Mutex<bool>,
    condition: Condvar,
    /// Notice that the wall clock was set: where the system gives one, the thread waits for that as
    /// well.
    clock_set: Option<N>,
}

impl<N: Notice> Stop<N> {
    fn new(clock_set: Option<N>) -> Self {
        Self { is_over: Mutex::new(false), condition: Condvar::new(), clock_set }
    }

    /// Has the thread end.
    fn end(&self) {
        // No thread panics under this lock.
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.condition.notify_all();
        if let Some(clock_set) = &self.clock_set {
            clock_set.wake();
        }
    }

    /// Waits for the period, or until the thread is to end: `true` then. Has `clock` look at the
    /// wall clock where that was set.
    fn wait<C: Counter, S: OsClock>(&self, period: Duration, clock: &Disciplined<C, S>) -> bool {
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(clock_set) = &self.clock_set else {
            if *is_over {
                return true;
            }
            return *self.condition.wait_timeout(is_over, period).unwrap_or_else(PoisonError::into_inner).0;
        };
        if *is_over {
            return true;
        }
        drop(is_over);
        if clock_set.wait(period) == Wakeup::ByClock {
            clock.layers.check_other_clocks();
        }
        false
    }
}

/// The time that an [`Upkeep`] wrote down last, for any thread.
#[derive(Clone, Debug)]
pub struct Recent {
    written: Arc<Written>,
    /// That of the process in which the thread runs.
    mark: ProcessMark,
}

/// State that the thread writes.
#[derive(Debug)]
struct Written {
    time: AtomicInstant,
    is_running: AtomicBool,
    /// The process in which the thread runs.
    process: u64,
}

/// Says that the thread has ended, however it ends.
struct Running<'a>(&'a Written);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.is_running.store(false, Ordering::Release);
    }
}

impl Upkeep {
    /// Starts a thread that writes the time down every `period`, or every minute if that is longer.
    /// Its load is one reading a period; a period of zero takes a CPU. Calls [`prepare`] first,
    /// which arranges that forked children notice that they are.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(period: Duration) -> io::Result<Self> {
        keep_errno(|| Self::spawn(period))
    }

    fn spawn(period: Duration) -> io::Result<Self> {
        // Before the mark is made: a child that kept it would take itself for this process.
        prepare();
        let recent = Recent::new(now());
        let stop = Arc::new(Stop::new(ClockSet::new()));
        let (shared, signal) = (recent.clone(), Arc::clone(&stop));
        let thread = std::thread::Builder::new().name("clockscope-upkeep".to_owned()).spawn(move || {
            let _running = Running(&shared.written);
            keep_recent(&shared, &signal, period, RECHECK_INTERVAL, || _ = CLOCK.layers.recheck_use());
        })?;
        Ok(Self { recent, stop, thread: Some(thread) })
    }

    /// Returns the time of at most about a period ago (more, if the thread was not run). Never
    /// decreases. In a forked child: [`now`], see [`Recent::recent`].
    ///
    /// - Cost: two loads and a comparison.
    #[inline(always)]
    #[must_use]
    pub fn recent(&self) -> Instant {
        self.recent.recent()
    }

    /// Returns a handle for other threads.
    #[must_use]
    pub fn handle(&self) -> Recent {
        self.recent.clone()
    }

    /// Returns whether the thread runs: `false` in a forked child, which has no such thread.
    ///
    /// - Cost: a system call (`getpid`).
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.recent.is_running()
    }
}

/// Stores the time once a period, and calls `check` as often as `every` says, until `stop`.
fn keep_recent(recent: &Recent, stop: &Stop, period: Duration, every: Duration, check: impl Fn()) {
    let mut checked = recent.written.time.load(Ordering::Relaxed);
    let mut renewed = checked;
    loop {
        let time = now();
        recent.written.time.store(time, Ordering::Release);
        if time.duration_since(renewed) >= MIN_RENEWAL_INTERVAL {
            // A failure may end by the next renewal; a conversion reports it.
            let _ = stamps::renew();
            renewed = time;
        }
        if time.duration_since(checked) >= every {
            check();
            checked = time;
        }
        if stop.wait(period.min(every), &CLOCK) {
            return;
        }
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        keep_errno(|| self.end());
    }
}

impl Upkeep {
    fn end(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if !self.recent.is_in_its_process() {
            // Neither joined nor detached: there is no such thread here, and what the C library
            // knew of it may be in use again. The lock may be held for ever.
            std::mem::forget(thread);
            return;
        }
        self.stop.end();
        // It cannot have panicked; if it had, there is nothing to be done about it here.
        let _ = thread.join();
    }
}

impl Recent {
    /// Begins with `time`, in this process.
    fn new(time: Instant) -> Self {
        let written =
            Written { time: AtomicInstant::new(time), is_running: AtomicBool::new(true), process: os::process() };
        Self { written: Arc::new(written), mark: process_mark() }
    }

    /// Returns the time that was stored last. In a forked child, where no thread stores it, returns
    /// [`now`], or the last time if that is a little later.
    ///
    /// A child in another time namespace, whose clock is far behind, goes back once to that clock,
    /// as [`now`] does.
    ///
    /// - Cost: two loads and a comparison; in a forked child, that of [`now`] as well.
    #[inline(always)]
    #[must_use]
    pub fn recent(&self) -> Instant {
        let time = self.written.time.load(Ordering::Acquire);
        if has_process_mark(self.mark) { time } else { self.in_a_child() }
    }

    /// Returns true if the thread that stores the time runs: `false` once the upkeep is dropped,
    /// and in a forked child.
    ///
    /// - Cost: a system call (`getpid`).
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.is_in_its_process() && self.written.is_running.load(Ordering::Acquire)
    }

    /// The process id as well: where the kernel wipes nothing, the mark may be the parent's.
    fn is_in_its_process(&self) -> bool {
        has_process_mark(self.mark) && os::process() == self.written.process
    }

    #[cold]
    #[inline(never)]
    fn in_a_child(&self) -> Instant {
        self.no_earlier(now())
    }

    /// Returns `time`, or the stored time if that is a little later.
    fn no_earlier(&self, time: Instant) -> Instant {
        let last = self.written.time.load(Ordering::Acquire);
        if time >= last {
            return time;
        }
        if last.duration_since(time) <= MAX_WAIT {
            return last;
        }
        // Another timeline. The memory is the child's own. Another thread may have come first.
        let _ = self.written.time.compare_exchange(last, time, Ordering::AcqRel, Ordering::Relaxed);
        time
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
    use std::cell::Cell;

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
        assert_eq!(Arc::strong_count(&handle.written), 3);
        assert!(upkeep.is_running() && handle.is_running());
        drop(upkeep);
        assert_eq!(Arc::strong_count(&handle.written), 1, "the thread has ended");
        assert!(!handle.is_running());
        let last = handle.recent();
        assert!(last > first && last <= now());
    }

    #[test]
    fn a_child_waits_for_the_last_time_only_if_it_is_near() {
        let recent = Recent::new(Instant::from_ns(5_000_000_000));
        let served = [(5_001, 5_001), (4_999, 5_000), (4_990, 5_000), (4_989, 4_989), (4_990, 4_990), (4_980, 4_989)];
        for times in served {
            let [now, expected] = <[u64; 2]>::from(times).map(|ms| Instant::from_ns(ms * 1_000_000));
            assert_eq!(recent.no_earlier(now), expected, "{now:?}");
        }
    }

    /// The thread asks when the time has passed, and not before.
    #[test]
    fn the_thread_asks_the_kernel_now_and_then() {
        for (every, is_requested) in [(Duration::ZERO, true), (Duration::from_secs(3600), false)] {
            let began = now();
            let (recent, requests) = (Recent::new(began), Cell::new(0));
            let stop = Stop::<ClockSet>::new(None);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while recent.recent() == began {
                        std::thread::yield_now();
                    }
                    stop.end();
                });
                keep_recent(&recent, &stop, Duration::from_secs(3600), every, || requests.set(requests.get() + 1));
            });
            assert_eq!(requests.get() > 0, is_requested, "every {every:?}");
        }
    }

    /// A counter of 1 GHz, an OS clock that agrees with it, and a wall clock that can be set.
    struct Machine {
        ns: Cell<u64>,
        wall_ahead_ns: Cell<i64>,
        os_reads: Cell<u64>,
        wall_reads: Cell<u64>,
    }

    impl Machine {
        fn new() -> Self {
            Self {
                ns: Cell::new(1 << 40),
                wall_ahead_ns: Cell::new(1 << 60),
                os_reads: Cell::new(0),
                wall_reads: Cell::new(0),
            }
        }

        fn pass(&self, ns: u64) -> u64 {
            self.ns.set(self.ns.get() + ns);
            self.ns.get()
        }

        fn true_wall_ns(&self) -> i64 {
            self.ns.get() as i64 + self.wall_ahead_ns.get()
        }
    }

    impl Counter for Machine {
        fn ordered(&self) -> u64 {
            self.pass(10)
        }
        crate::disciplined::trusted_counter!();
    }

    impl OsClock for Machine {
        fn now_ns(&self) -> Result<u64, crate::Errno> {
            self.os_reads.set(self.os_reads.get() + 1);
            Ok(self.pass(20))
        }
        fn tick_ns(&self, _: bool) -> u64 {
            1
        }
        fn wall_ns(&self) -> Result<i64, crate::Errno> {
            self.wall_reads.set(self.wall_reads.get() + 1);
            self.pass(20);
            Ok(self.true_wall_ns())
        }
    }

    /// A notice that has waited.
    struct Noticed(Wakeup);

    impl Notice for Noticed {
        fn wait(&self, _: Duration) -> Wakeup {
            self.0
        }
        fn wake(&self) {}
    }

    /// Returns whether readings by the line that there is show the wall clock. They read the
    /// counter and no other clock, so that nothing renews the line meanwhile.
    fn is_right_by_line(clock: &Disciplined<&Machine, &Machine>, machine: &Machine) -> bool {
        let reads = (machine.os_reads.get(), machine.wall_reads.get());
        let off_ns = clock.wall_ns().abs_diff(machine.true_wall_ns());
        assert_eq!((machine.os_reads.get(), machine.wall_reads.get()), reads, "the line was renewed");
        off_ns < 1_000
    }

    /// A line was published before the wall clock is set. Its readings show the set once the notice
    /// has come, and not before.
    #[test]
    fn a_set_shows_at_once_where_the_system_reports_it() {
        for step_ns in [3_600_000_000_000, -3_600_000_000_000, 1_000_000, -10_000] {
            for (wakeup, is_seen) in [(Wakeup::ByClock, true), (Wakeup::InTime, false), (Wakeup::ByThread, false)] {
                let machine = Machine::new();
                let clock = Disciplined::new(&machine, &machine);
                (0..500_000).for_each(|_| _ = clock.wall_ns());
                assert_eq!(clock.source(), crate::Source::Counter);
                let reads = machine.wall_reads.get();
                while machine.wall_reads.get() == reads {
                    clock.wall_ns();
                }
                assert!(is_right_by_line(&clock, &machine));
                machine.wall_ahead_ns.set(machine.wall_ahead_ns.get() + step_ns);
                assert!(!is_right_by_line(&clock, &machine), "the line is of before the set of {step_ns} ns");
                let stop = Stop::new(Some(Noticed(wakeup)));
                assert!(!stop.wait(Duration::ZERO, &clock));
                assert_eq!(is_right_by_line(&clock, &machine), is_seen, "{step_ns} ns, {wakeup:?}");
            }
        }
    }

    /// A process that never asks for wall time does not pay for the notice.
    #[test]
    fn a_set_is_not_checked_where_nobody_reads_wall_time() {
        let machine = Machine::new();
        let clock = Disciplined::new(&machine, &machine);
        (0..500_000).for_each(|_| _ = clock.now());
        let stop = Stop::new(Some(Noticed(Wakeup::ByClock)));
        assert!(!stop.wait(Duration::ZERO, &clock));
        assert_eq!(machine.wall_reads.get(), 0);
        stop.end();
        assert!(stop.wait(Duration::ZERO, &clock));
    }

    #[test]
    fn a_long_period_does_not_delay_the_end() {
        drop(Upkeep::start(Duration::from_secs(1_000_000)).unwrap());
    }
}
