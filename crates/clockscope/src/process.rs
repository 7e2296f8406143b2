//! The clock of the process: this machine's counter, disciplined by its monotonic clock.

use clockscope_core::atomic::AtomicU64;
use core::sync::atomic::Ordering;
use core::time::Duration;

use clockscope_core::counter::memory_order::stored_before_reading;
use clockscope_core::{Errno, counter, os};

use crate::disciplined::{ProcessMark, forget_in_children, wipe_on_fork};
use crate::evidence::{Demotion, ErrorBound, Evidence, Frequency, Source};
use crate::native::{self, CLOCK, Native};
use crate::shared_page::SharedPage;
use crate::{AtomicInstant, Clock, Conversion, Instant};

/// Asks the kernel every question that readings would ask later, and prepares for forks.
///
/// Call it before the process confines itself (seccomp, Landlock, chroot) or runs out of file
/// descriptors. After it, readings, [`source`], [`error_bound`], [`frequency`], [`conversion`] and
/// [`evidence`] make no system calls, in this process or in its children. The exceptions are the
/// allocator's, and the OS clock's where there is no vDSO. Without it the second reading asks.
///
/// - Cost: some 50 µs; a second call costs nothing.
/// - Not async-signal-safe.
///
/// ```
/// clockscope::prepare();
/// // Confine the process here.
/// let start = clockscope::now();
/// # let _ = start;
/// ```
pub fn prepare() {
    CLOCK.prepare();
    if !wipe_on_fork::<Native>() {
        os::keep_errno(forget_in_children::<Native>);
    }
}

/// Returns the page that readings take the time from, to read: its words in the layout of
/// [`crate::layout`], for programs in other languages in this process.
///
/// [The shared page][guide] explains its contract and how to read it. The address stays the same
/// for the life of the process. A forked child has a page of its own at the same address.
///
/// [guide]: https://github.com/clockscope/clockscope/blob/HEAD/docs/concepts/library/page.md
///
/// Cost: none; reads no clock.
///
/// ```
/// use clockscope::layout;
/// use std::sync::atomic::Ordering;
///
/// clockscope::prepare();
/// assert_eq!(clockscope::page().load(layout::FORMAT_WORD, Ordering::Relaxed), layout::FORMAT);
/// ```
#[must_use]
pub fn page() -> SharedPage {
    SharedPage::new(CLOCK.shared().page_words())
}

/// Returns a mark that neither an ancestor of this process has nor a child that is forked later, if
/// [`prepare`] was called before: the child forgets the mark.
pub(crate) fn process_mark() -> ProcessMark {
    // Not forgotten in a child.
    static LAST_MARK: AtomicU64 = AtomicU64::new(0);
    CLOCK.shared().process_mark(&LAST_MARK)
}

/// Returns true if `mark` was given to this process ([`process_mark`]). Costs a load.
#[inline(always)]
pub(crate) fn has_process_mark(mark: ProcessMark) -> bool {
    CLOCK.shared().has_process_mark(mark)
}

/// Asks the kernel again whether the counter may be used, follows the answer, and returns it.
/// [`evidence`] reports the new answers.
///
/// Readings never ask by themselves. They notice a kernel that stops using the counter only if its
/// clock becomes slower. A question that gets no answer keeps its last one. [`crate::Upkeep`]
/// asks every minute whether the counter may be used, and leaves out the frequency.
///
/// - Cost: some 20 µs; it opens a file of sysfs. Where no register states the counter's frequency,
///   also a perf event, for the frequency that the kernel states: some 10 µs more.
/// - A process that has confined itself must not call it, unless it may make these system calls.
///
/// ```
/// if !clockscope::recheck() {
///     println!("the operating system's clock is served: {:?}", clockscope::evidence().last());
/// }
/// ```
pub fn recheck() -> bool {
    CLOCK.recheck()
}

/// Returns how far the time is ahead of CLOCK_MONOTONIC: zero unless that clock has stepped back.
///
/// CLOCK_MONOTONIC steps back under a process that joins another time namespace (setns(2)) or is
/// restored from a checkpoint. [`now`] then returns the same time for 10 ms, and goes on from there
/// at the clock's rate, in a new generation. A step within ten seconds of another doubles the
/// waiting time. A child that is forked later starts on CLOCK_MONOTONIC again.
///
/// ```
/// assert!(clockscope::timeline_offset().is_zero());
/// ```
#[must_use]
pub fn timeline_offset() -> Duration {
    CLOCK.timeline_offset()
}

/// Returns the time now, ordered: a reading taken after another one, on any thread, in
/// happens-before order, is never smaller.
///
/// - Unit: an [`Instant`] counts nanoseconds on the timeline of CLOCK_MONOTONIC.
/// - Error: [`error_bound`]; a fraction of a microsecond against CLOCK_MONOTONIC.
/// - Ordering: on all processors, after everything that happens before it, and before every later
///   store. Later loads may be done before it, and earlier stores may not be visible to other CPUs
///   yet: [`now_after_stores`] waits for those. On x86 it is taken after all earlier instructions,
///   on riscv64 and s390x after all earlier loads and stores. On aarch64 and POWER an earlier load
///   whose value has not been needed yet may still be outstanding, unless it acquires:
///   [`ticks::now`](crate::ticks::now) waits for it.
/// - Cost: about twice a bare RDTSC, less than CLOCK_MONOTONIC's; about once a millisecond, up to a
///   microsecond more. A program that calls less often than every fifteen microseconds is served
///   CLOCK_MONOTONIC at about its cost. The first call of a process is a system call; the second
///   takes some 40 to 70 µs more, in which the kernel is asked about the counter ([`prepare`]).
/// - Allocates nothing, takes no lock that it waits for, and may be called in a signal handler.
///
/// ```
/// let start = clockscope::now();
/// let sum: u64 = (0..1000).sum();
/// println!("{sum} took {:?}", start.elapsed());
/// assert!(clockscope::now() >= start);
/// ```
#[inline(always)]
#[must_use]
pub fn now() -> Instant {
    CLOCK.now()
}

/// Returns the time now, ordered as by [`now`], once all earlier stores of this thread are visible
/// to every CPU.
///
/// A thread that reads a later time and then loads sees those stores. After [`now`] it may still
/// load the earlier value: the store waits in the processor's store buffer while the clock is read.
///
/// - Unit and error: as [`now`].
/// - Ordering: as [`now`], and after all earlier stores. A reading on another thread, by [`now`] or
///   this function, that is greater comes after them, and so do the loads after it. Equal readings
///   show no order. The stores and loads may be relaxed atomics. A load can overtake the counter's
///   instruction in the reading before it, but not the fence that the reading begins with. That
///   took less time than a store needs to reach another CPU: of 1.5 · 10^8 such loads on AMD EPYC
///   4 were too early, by up to 7 ns. A second reading between them excludes it; use the time of
///   the first.
/// - Cost: 1 to 2 ns more than [`now`], and the time until the stores are visible: 25 to 30 ns for
///   a line that another CPU has in its cache. Measured on AMD EPYC (family 25, model 1; guest,
///   2026-11-29): 27.3 ns against 26.2 ns.
/// - Allocates nothing, takes no lock that it waits for, and may be called in a signal handler.
///
/// | processor | begins with | so that |
/// |---|---|---|
/// | x86 | MFENCE | the store buffer is empty; LFENCE of [`now`] waits for that |
/// | aarch64 | `dmb ish; dsb ish; isb` | stores are visible (DSB) before CNTVCT is read (ISB) |
/// | POWER | `sync` | stores are visible |
/// | riscv64 | `fence rw,rw; fence iorw,iorw` | RDTIME, which is device input, comes later |
/// | s390x | `bcr 15,0` or `bcr 14,0` | all earlier accesses are complete |
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// static VERSION: AtomicU64 = AtomicU64::new(0);
///
/// VERSION.store(7, Ordering::Relaxed);
/// let committed = clockscope::now_after_stores();
/// // On any thread:
/// if clockscope::now() > committed {
///     assert_eq!(VERSION.load(Ordering::Relaxed), 7);
/// }
/// ```
#[inline(always)]
#[must_use]
pub fn now_after_stores() -> Instant {
    stored_before_reading();
    CLOCK.now()
}

/// Returns the time now, as [`now`] does, or why there is none: no clock answers, where [`now`]
/// stands still. That happens in a process whose system calls are denied, and on a host of
/// WebAssembly without a clock (wasm32-unknown-unknown without the feature `js`).
///
/// - Ordering, unit and error: as [`now`].
/// - Cost: that of [`now`]. While the time stands still, another call of the operating system's
///   clock.
///
/// # Errors
/// The system's; [`Errno::UNSUPPORTED`] where there is no clock at all.
///
/// ```
/// match clockscope::try_now() {
///     Ok(now) => println!("{now:?}"),
///     Err(error) => eprintln!("no clock: {error}"),
/// }
/// ```
#[inline(always)]
pub fn try_now() -> Result<Instant, Errno> {
    CLOCK.try_now()
}

/// Takes the counter into use on systems other than Linux that accept it: on Windows, where
/// QueryPerformanceCounter reads it in user mode (because it is synchronized); on FreeBSD, where it
/// is the timecounter. Returns true if the counter is used from now on.
/// [`recheck`] asks the system again.
///
/// Off by default outside of Linux, because no real machine of those systems has been measured yet:
/// there [`now`] serves the system's clock. On Linux the kernel names its clocksource, and this
/// does no more than [`recheck`]. `false` as well if the system gives no answer (macOS, the other
/// BSDs, WebAssembly), if the counter is not invariant, if the system rejects it, and if the
/// library has judged it unfit.
///
/// Cost: tens of microseconds. Not async-signal-safe.
///
/// ```
/// if !clockscope::admit_counter() {
///     println!("the operating system's clock is served");
/// }
/// ```
pub fn admit_counter() -> bool {
    prepare();
    native::admit(counter::is_invariant() == Some(true));
    recheck()
}

/// Returns the time now by a bare read of the counter, which may execute earlier or later than
/// the program says, by as much as it has instructions in flight (tens of nanoseconds).
///
/// What it gives up: two such readings may be out of order, most often when a thread learns of
/// something from another one and then reads the time. For durations on one thread that are long
/// against that, it is as good as [`now`].
///
/// - Unit and error: as [`now`].
/// - Ordering: none.
/// - Cost: a bare RDTSC's.
///
/// ```
/// let start = clockscope::now_unordered();
/// let elapsed = clockscope::now_unordered().saturating_duration_since(start);
/// # let _ = elapsed;
/// ```
#[inline(always)]
#[must_use]
pub fn now_unordered() -> Instant {
    CLOCK.now_unordered()
}

impl Instant {
    /// Calls [`now`].
    ///
    /// ```
    /// # use clockscope::Instant;
    /// assert!(Instant::now() <= Instant::now());
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn now() -> Self {
        now()
    }

    /// Calls [`now_after_stores`].
    ///
    /// ```
    /// # use clockscope::Instant;
    /// assert!(Instant::now() <= Instant::now_after_stores());
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn now_after_stores() -> Self {
        now_after_stores()
    }

    /// Calls [`now_unordered`].
    #[inline(always)]
    #[must_use]
    pub fn now_unordered() -> Self {
        now_unordered()
    }

    /// Returns the time from this moment to [`now_unordered`]; zero for a moment to come. Ordered
    /// by nothing, at little more than a bare counter's cost.
    ///
    /// ```
    /// # use clockscope::Instant;
    /// let start = Instant::now_unordered();
    /// # let _ =
    /// start.elapsed_unordered();
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn elapsed_unordered(self) -> Duration {
        now_unordered().duration_since(self)
    }

    /// Returns the time from this moment to [`now`]; zero for a moment in the future.
    ///
    /// ```
    /// # use clockscope::Instant;
    /// let start = Instant::now();
    /// assert!(start.elapsed() <= Instant::now() - start);
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn elapsed(self) -> Duration {
        now().duration_since(self)
    }
}

impl AtomicInstant {
    /// Returns the time from the moment that it holds to [`now`]; zero for a moment to come. The
    /// load is ordered as `order` says, and comes before the reading.
    ///
    /// ```
    /// # use clockscope::{AtomicInstant, now};
    /// use std::sync::atomic::Ordering;
    ///
    /// let last = AtomicInstant::new(now());
    /// assert!(last.elapsed(Ordering::Acquire) < std::time::Duration::from_secs(3600));
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn elapsed(&self, order: Ordering) -> Duration {
        self.load(order).elapsed()
    }
}

/// The clock of the process as a value, for code that takes any [`Clock`].
///
/// ```
/// use clockscope::{Clock, ProcessClock};
/// fn stamp(clock: &impl Clock) -> u64 {
///     clock.now().as_ns()
/// }
/// assert!(stamp(&ProcessClock) > 0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessClock;

impl Clock for ProcessClock {
    #[inline(always)]
    fn now(&self) -> Instant {
        now()
    }

    #[inline(always)]
    fn now_unordered(&self) -> Instant {
        now_unordered()
    }
}

/// Returns where [`now`]'s time comes from at this moment. Costs about as much as a reading, and
/// makes no system calls after [`prepare`] or the second reading.
///
/// ```
/// // A process that has only begun is served the operating system's clock.
/// assert_eq!(clockscope::source(), clockscope::Source::OsClock);
/// ```
#[must_use]
pub fn source() -> Source {
    CLOCK.source()
}

/// Returns why the clock does not use the counter at this moment. `None` if it does, if it is still
/// being calibrated, or before the first reading. Costs a load, and makes no system calls.
///
/// ```
/// use clockscope::Demotion;
///
/// clockscope::prepare();
/// if clockscope::demotion() == Some(Demotion::NotClocksource) {
///     println!("the kernel does not build its clocks on the counter");
/// }
/// ```
#[must_use]
pub fn demotion() -> Option<Demotion> {
    CLOCK.layers.barred()
}

/// Returns the evidence about this machine's counter, and why it is used or not.
///
/// The kernel is not asked: its answers are those that [`prepare`], the second reading or the last
/// [`recheck`] got. The error and the frequency are measured anew.
///
/// - Cost: some microseconds, and reads of CPUID, which a hypervisor traps; one or two milliseconds
///   before the clock is calibrated.
/// - After [`prepare`] or the second reading, no system calls but those of the allocator, and of
///   the OS clock where there is no vDSO: a confined process may call it.
/// - Not async-signal-safe: it allocates.
///
/// ```
/// for evidence in clockscope::evidence() {
///     println!("{}: {:?}: {}", evidence.name, evidence.finding, evidence.seen);
/// }
/// ```
#[must_use]
pub fn evidence() -> Vec<Evidence> {
    os::keep_errno(|| CLOCK.evidence())
}

/// Returns how far [`now`] is from CLOCK_MONOTONIC, by a fresh bracket, and at most since the
/// generation began. `None` where no clock answers. Costs some twenty reads of both
/// clocks, about 0.8 µs; some milliseconds where another thread is stopped while it renews the
/// clock. Makes no system calls after [`prepare`] or the second reading.
///
/// The largest error holds for every reading of this generation that is at least three milliseconds
/// old, and for those in the last millisecond of the one before: [`ErrorBound`] says what it
/// assumes. The other holds whatever CLOCK_MONOTONIC does.
///
/// While the operating system's clock is served, the bound is that clock's tick, with the lead of a
/// time that is held until that clock has caught up.
///
/// ```
/// let bound = clockscope::error_bound().expect("a clock");
/// assert!(bound.now <= bound.largest);
/// ```
#[must_use]
pub fn error_bound() -> Option<ErrorBound> {
    os::keep_errno(|| CLOCK.error_bound())
}

/// Returns the counter's frequency as the calibration knows it: the mean over its window, which
/// ends now and is up to 20 s long. `None` where the counter is not used ([`calibrate_blocking`]
/// answers there, too), perhaps for a millisecond after CLOCK_MONOTONIC's rate has changed, and
/// while another thread that holds the lock cannot run.
///
/// Costs a few reads of both clocks; before the clock was calibrated, one or two milliseconds, in
/// which both are compared. Makes no system calls after [`prepare`] or the second reading.
///
/// ```
/// match clockscope::frequency() {
///     Some(frequency) => println!("{frequency}"),
///     None => println!("not known yet"),
/// }
/// ```
#[must_use]
pub fn frequency() -> Option<Frequency> {
    os::keep_errno(|| CLOCK.frequency())
}

/// Returns the smallest step between two consecutive readings of [`now`], by some thousand
/// readings: the counter's tick, or the operating system's clock's; never less than the nanosecond
/// that an [`Instant`] counts in. `None` if there was no step. Takes about 50 µs.
///
/// ```
/// if let Some(step) = clockscope::resolution() {
///     assert!(step >= std::time::Duration::from_nanos(1));
/// }
/// ```
#[must_use]
pub fn resolution() -> Option<Duration> {
    os::keep_errno(|| CLOCK.resolution())
}

/// Returns a number that changes when the calibration is invalidated: the machine was suspended, a
/// snapshot was restored, the kernel stopped using the counter, the process was forked. Two
/// readings of the same generation are on one line. 0 before the first reading.
///
/// ```
/// let before = clockscope::generation();
/// # let _ = before;
/// ```
#[must_use]
pub fn generation() -> u64 {
    CLOCK.generation()
}

/// Returns whether the time is a monotonic clock's, with a tick of a microsecond or less.
///
/// ```
/// assert!(clockscope::is_high_resolution() || clockscope::resolution() > Some(std::time::Duration::from_micros(1)));
/// ```
#[must_use]
pub fn is_high_resolution() -> bool {
    os::keep_errno(|| CLOCK.is_high_resolution())
}

/// Returns the current conversion between ticks of the counter and time; `None` as for
/// [`frequency`].
///
/// ```
/// # let time = |_| ();
/// if let Some(conversion) = clockscope::conversion() {
///     let ticks = clockscope::ticks::now_unordered();
///     time(conversion.instant(ticks));
/// }
/// ```
#[must_use]
pub fn conversion() -> Option<Conversion> {
    os::keep_errno(|| CLOCK.conversion())
}

/// Waits for `duration` and returns the conversion of ticks to time, with a rigorous bound: the
/// width of two brackets over the time between them (some 40 ns over `duration`).
///
/// Answers wherever the counter may be read, whether the clock uses it or not. Sleeps where the
/// counter is invariant, and spins where it is not, because such a counter may stop in a sleeping
/// processor.
///
/// # Errors
/// Why there is none: the counter may not be read, no clock answers, or one of the two stood still.
///
/// ```
/// # use std::time::Duration;
/// let conversion = clockscope::calibrate_blocking(Duration::from_millis(2))?;
/// assert!(conversion.frequency().bound_ppm() < 1000.0);
/// # Ok::<(), clockscope::Uncalibrated>(())
/// ```
pub fn calibrate_blocking(duration: Duration) -> Result<Conversion, crate::Uncalibrated> {
    os::keep_errno(|| CLOCK.calibrate_blocking(duration))
}

/// Installs a handler of SIGSEGV that lets the process survive a counter that is disabled
/// (`prctl(PR_SET_TSC)`) during its life. x86-64 Linux only.
///
/// Without it such a process dies at the next read of any clock of the vDSO. With it, [`now`] goes
/// on with the system call; the C library's and std's clocks go on as coarse ones. A thread that
/// blocks SIGSEGV still dies when it reads the disabled counter.
///
/// Every other SIGSEGV, a fault or sent by kill(2) and the like, goes to the action that was there
/// before, with its flags, mask and siginfo. A signal that was ignored may now interrupt system
/// calls that SA_RESTART does not restart, such as poll(2).
///
/// - A handler that is installed later must pass on to this one, with all three arguments.
///   Otherwise it takes this ability away. A former handler that sets another action takes it away,
///   too, as Rust's std does at its first SIGSEGV that is not a stack overflow.
/// - A second call does nothing, because two handlers that pass on to each other would never end.
///   Calls that race all return after the handler is in place.
/// - If a process has two copies of this crate and both install a handler, the later one answers,
///   and only its clock learns that the counter is disabled.
/// - Not async-signal-safe.
///
/// # Errors
/// The system's, or that it has no such signals.
///
/// ```
/// if let Err(error) = clockscope::survive_disabled_counter() {
///     eprintln!("no handler: {error}");
/// }
/// ```
pub fn survive_disabled_counter() -> Result<(), Errno> {
    os::keep_errno(|| {
        os::survive_disabled_counter(|| {
            CLOCK.os().counter_is_disabled();
            CLOCK.layers.forbid();
        })
    })
}
