//! One fast clock out of two: a counter's cost, an operating system's time.
//!
//! [`Disciplined`] serves the OS clock at first. Calls that come often calibrate the counter against it, a bracket at a
//! time; once the rate is known well enough, the time is computed from the counter by a published line, which is
//! renewed a little before it is spent, and bent so that it meets the OS clock again. Nothing runs between calls.
//!
//! The parts: a bracket is one comparison of the two clocks, a calibration what many of them say of the rate, a line the
//! function that is served, the page how threads share it, and steering what is done under the lock. docs/library.md tells
//! why.

mod answers;
mod bracket;
mod calibration;
mod line;
mod page;
#[cfg(all(test, loom))]
mod protocol;
mod shared;
mod sources;
mod steering;
mod sync;

pub use sources::{Counter, OsClock};

use core::sync::atomic::{AtomicU64, Ordering};

use crate::Instant;
use crate::evidence::Demotion;
use bracket::Bracket;
use line::{Line, Place};
use page::{Look, Mode};
use shared::Shared;

/// Length of a segment in ns. Half as long again is the longest that a change of the OS clock's rate stays unnoticed: at
/// 500 ppm, 0.75 µs.
const WINDOW_NS: u64 = 1_000_000;

/// A clock that serves the time of the OS clock `S` by the counter `C`.
///
/// It never goes back, as long as the CPUs' counters agree and the counter does not step back by less than two
/// milliseconds at once. Larger steps are noticed at the first read; changes of rate, by less than that, when the line is
/// renewed: every millisecond while it is in use.
///
/// The counter is used where it may be read and the kernel builds its own clocks on it; where the kernel does not,
/// only after [`Disciplined::readmit`].
///
/// Most programs want the clock of the process: [`crate::now`]. This type is for clocks of one's own, and for tests.
///
/// ```
/// use clockscope::disciplined::{Counter, Disciplined, OsClock};
/// # use std::cell::Cell;
/// /// A counter of 1 GHz and a clock that agrees with it; every read takes 10 ns.
/// struct Machine(Cell<u64>);
/// impl Counter for Machine {
///     fn ordered(&self) -> u64 {
///         self.0.set(self.0.get() + 10);
///         self.0.get()
///     }
///     fn is_permitted(&self) -> Option<bool> { Some(true) }
///     fn is_clocksource(&self) -> Option<bool> { Some(true) }
///     fn is_invariant(&self) -> Option<bool> { Some(true) }
/// }
/// impl OsClock for Machine {
///     fn now_ns(&self) -> Result<u64, clockscope::Errno> { Ok(self.ordered()) }
///     fn tick_ns(&self) -> u64 { 1 }
/// }
///
/// let machine = Machine(Cell::new(0));
/// let clock = Disciplined::new(&machine, &machine);
/// assert_eq!(clock.source(), clockscope::Source::OsClock);
/// for _ in 0..200_000 {
///     clock.now();
/// }
/// assert_eq!(clock.source(), clockscope::Source::Counter);
/// ```
#[repr(C)]
pub struct Disciplined<C, S> {
    shared: Shared<S>,
    counter: C,
    /// 0 for [`WINDOW_NS`]: all of a clock that was not used yet is zero, so that a static one is in memory of the process's own,
    /// and not of a file. The kernel wipes no other in a forked child.
    asked_window_ns: u64,
    // Outside of the shared page, because a fork wipes that one.
    generation: AtomicU64,
    readmitted: AtomicU64,
}

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// A clock out of `counter` and `os`. Reads neither.
    #[cfg(not(loom))]
    pub const fn new(counter: C, os: S) -> Self {
        Self::of(Shared::new(os), counter)
    }

    /// Loom's atomics cannot be made at compile time.
    #[cfg(loom)]
    pub fn new(counter: C, os: S) -> Self {
        Self::of(Shared::new(os), counter)
    }

    const fn of(shared: Shared<S>, counter: C) -> Self {
        Self { shared, counter, asked_window_ns: 0, generation: AtomicU64::new(0), readmitted: AtomicU64::new(0) }
    }

    /// The same with segments of `ns` nanoseconds, between 1 µs and 100 ms. Longer ones follow the OS clock more slowly,
    /// shorter ones are renewed more often.
    ///
    /// # Panics
    /// `ns` is outside of that.
    #[must_use]
    pub const fn with_window_ns(mut self, ns: u64) -> Self {
        assert!(ns >= 1_000 && ns <= 100_000_000, "a window is 1 µs to 100 ms long");
        self.asked_window_ns = ns;
        self
    }

    /// Length of a segment, in ns.
    const fn window_ns(&self) -> u64 {
        if self.asked_window_ns == 0 { WINDOW_NS } else { self.asked_window_ns }
    }

    /// The time, ordered: a reading taken after another one, on any thread, in happens-before order, is never smaller.
    ///
    /// Unit: ns on the OS clock's timeline. Error: [`Disciplined::error_bound`]. Cost: the counter's ordered read and
    /// about 2 ns; about once a millisecond, 0.2 µs more; the OS clock's cost where that is served.
    #[inline(always)]
    pub fn now(&self) -> Instant {
        Instant::from_ns(self.shared.page.read(|| self.counter.ordered()).unwrap_or_else(|| self.slow()))
    }

    /// The time by a bare read of the counter, which the processor may take earlier, or later, than the program says, by
    /// as much as it has instructions in flight. Two of them may be out of order, across threads and even on one.
    ///
    /// Unit and error as [`Disciplined::now`]; cost: that of the bare read.
    #[inline(always)]
    pub fn now_unordered(&self) -> Instant {
        Instant::from_ns(self.shared.page.read(|| self.counter.unordered()).unwrap_or_else(|| self.slow()))
    }

    /// The OS clock.
    pub(crate) fn os(&self) -> &S {
        &self.shared.os
    }

    /// What a forked child must forget; all-zero is its state before the first use.
    #[cfg(not(loom))]
    pub(crate) fn shared(&self) -> &Shared<S> {
        &self.shared
    }

    /// Takes the counter although the kernel does not, because a test of its own has shown that it may be trusted
    /// ([`crate::revalidate`]). `false` where it still may not be used: it may not be read, or is not invariant.
    pub fn readmit(&self) -> bool {
        self.now();
        self.readmitted.store(1, Ordering::Relaxed);
        if self.refusal().is_some() {
            self.readmitted.store(0, Ordering::Relaxed);
            return false;
        }
        if self.shared.page.mode() == Mode::Demoted {
            self.begin_anew();
        }
        true
    }

    /// Gives the counter up, because a test of its own has shown that it may not be trusted.
    pub fn give_up(&self) {
        self.now();
        self.readmitted.store(0, Ordering::Relaxed);
        self.abandon();
    }

    /// Everything but a fresh line. Ordered. Who calls rarely comes through here with cold caches, so that all that such a
    /// call needs is in one piece, and whatever others need is elsewhere.
    #[cold]
    #[inline(never)]
    fn slow(&self) -> u64 {
        let page = &self.shared.page;
        if page.mode() == Mode::Disciplined
            && !page.has_line()
            && let Ok(os_ns) = self.shared.os.now_ns()
        {
            // Who calls rarely would pay for a line that is spent before the next call.
            return if self.is_rare(os_ns) { page.raise_floor(os_ns) } else { self.serve_often(os_ns) };
        }
        self.slower()
    }

    /// The same with a line, or without any clock.
    #[cold]
    #[inline(never)]
    fn slower(&self) -> u64 {
        if self.shared.page.mode() != Mode::Disciplined {
            self.serve_undisciplined()
        } else if self.shared.page.has_line() {
            self.serve_by_line()
        } else {
            self.serve_spent(0)
        }
    }

    /// Whether the last call that found no line is longer ago than the window, and remembers this one.
    #[inline(always)]
    fn is_rare(&self, os_ns: u64) -> bool {
        let page = &self.shared.page;
        let idle_ns = os_ns.wrapping_sub(page.last_idle_ns.load(Ordering::Relaxed));
        page.last_idle_ns.store(os_ns, Ordering::Relaxed);
        idle_ns > page.rare_ns.load(Ordering::Relaxed)
    }

    /// Without a line, for who calls often: the next one, if it can be begun.
    #[cold]
    #[inline(never)]
    fn serve_often(&self, os_ns: u64) -> u64 {
        self.resume(os_ns);
        // An OS reading goes into the floor before it is returned: whoever hears of it must not read less by the counter.
        self.serve_line().unwrap_or_else(|| self.shared.page.raise_floor(os_ns))
    }

    /// The first call of all, and those when the counter was given up.
    #[cold]
    #[inline(never)]
    fn serve_undisciplined(&self) -> u64 {
        if self.shared.page.mode() == Mode::New {
            self.begin();
        }
        // It may be one that goes back.
        self.shared.page.raise_floor(self.shared.os.now_ns().unwrap_or(0))
    }

    /// There is a line, which is nearly spent, or spent, or does not cover the counter.
    #[cold]
    #[inline(never)]
    fn serve_by_line(&self) -> u64 {
        let look = self.look();
        self.shared.os.preemption_point();
        match look.line.place(look.tick) {
            Place::Fresh(ns) => ns.max(look.floor),
            Place::NearlySpent(ns) => {
                self.renew();
                // By what is published now, and by a fresh tick; the old one is as good if that one is not covered.
                self.serve_line().unwrap_or(ns).max(self.shared.page.floor())
            }
            Place::Spent(end) => self.serve_spent(end),
            Place::Before => {
                self.step_back();
                let os_ns = self.shared.os.now_ns().unwrap_or(0);
                self.shared.page.raise_floor(os_ns.max(look.line.end_value()))
            }
        }
    }

    /// The first call of all: may the counter be used?
    #[cold]
    fn begin(&self) {
        self.shared.os.prepare();
        self.shared.page.rare_ns.store(self.window_ns(), Ordering::Relaxed);
        let refusal = self.refusal();
        // One of all threads that race here tells the others; a process has many first calls after forks.
        if let Some(_steering) = self.shared.steering.try_lock()
            && self.shared.page.mode() == Mode::New
        {
            self.next_generation();
            match refusal {
                Some(reason) => self.demote(&Line::default(), reason),
                None => {
                    self.shared.page.publish(&Line::default());
                    self.shared.page.set_mode(Mode::Disciplined);
                }
            }
        }
    }

    /// The line is spent, and readings by it were as late as `end`: the OS clock, or the next line.
    fn serve_spent(&self, end: u64) -> u64 {
        self.shared.page.raise_floor(end);
        match self.shared.os.now_ns() {
            Err(_) => self.shared.page.floor(),
            Ok(os_ns) if self.is_rare(os_ns) => {
                self.rest();
                self.shared.page.raise_floor(os_ns)
            }
            Ok(os_ns) => self.serve_often(os_ns),
        }
    }

    /// The time by the line that is published now, if it covers this moment.
    fn serve_line(&self) -> Option<u64> {
        if self.shared.page.mode() != Mode::Disciplined || !self.shared.page.has_line() {
            return None;
        }
        let look = self.look();
        look.line.at(look.tick).map(|ns| ns.max(look.floor))
    }

    fn look(&self) -> Look {
        self.shared.page.look(|| self.counter.ordered())
    }

    /// The line without a tick: the counter may be one that must not be read.
    fn look_at_line(&self) -> Line {
        self.shared.page.look(|| 0).line
    }

    /// Why the counter may not be used; `None` if it may. Reads it not.
    fn refusal(&self) -> Option<Demotion> {
        match (self.counter.is_permitted(), self.counter.is_clocksource()) {
            (Some(false), _) => Some(Demotion::NotPermitted),
            (_, Some(true)) => None,
            _ if self.readmitted.load(Ordering::Relaxed) != 0 && self.counter.is_invariant() == Some(true) => None,
            (_, Some(false)) => Some(Demotion::NotClocksource),
            (_, None) => Some(Demotion::ClocksourceUnknown),
        }
    }

    fn next_generation(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.shared.page.largest_error_ns.store(0, Ordering::Relaxed);
    }
}
