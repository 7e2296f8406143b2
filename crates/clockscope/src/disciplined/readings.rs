//! Reads both clocks and the published line, and compares them.
//!
//! The lowest layer of the clock. It reads the counter, the OS clock and the page, and writes only
//! the largest error. It has neither the lock nor the trust in the counter.

use core::sync::atomic::Ordering;

use clockscope_core::brackets::{Bracket, narrowest};

use super::lines::errors::error_ns;
use super::page::sync::const_fn;
use super::page::version::ServingMode;
use super::page::{Page, PageSnapshot};
use super::{Counter, Demotion, OsClock};
use crate::Errno;

/// Length of a segment in ns; each is up to a tenth longer or shorter. A change of the OS clock's
/// rate stays unnoticed for up to one and a half of it while the clock is in use: at 500 ppm, 0.75
/// µs.
const WINDOW_NS: u64 = 1_000_000;

/// Reads of the counter whose duration shows whether it has become slower.
const OWN_READS: u32 = 4;

/// Brackets tried for an answer.
pub(super) const ANSWER_TRIES: u32 = 8;

/// Reads both clocks and the page.
#[repr(C)]
pub(crate) struct Readings<C, S> {
    /// Here because a rare call then reads one cache line.
    pub(super) os: S,
    pub(super) page: Page,
    /// 0 for the default: a clock that was not used yet is all zero, so that a static one is in
    /// memory of the process's own, and not of a file. The kernel wipes no other memory in a forked
    /// child.
    pub(super) requested_window_ns: u64,
    /// Last, so that it moves no word of the page.
    pub(super) counter: C,
}

impl<C, S> Readings<C, S> {
    const_fn! {
        /// Both clocks, before the first use. Reads neither.
        pub(super) fn new(counter: C, os: S) -> Self {
            Self { os, page: Page::new(), requested_window_ns: 0, counter }
        }
    }
}

impl<C: Counter, S: OsClock> Readings<C, S> {
    /// Length of a segment, in ns.
    pub(super) const fn window_ns(&self) -> u64 {
        if self.requested_window_ns == 0 { WINDOW_NS } else { self.requested_window_ns }
    }

    /// Reads the published line, and then the counter if there is a line.
    #[inline(never)]
    pub(super) fn snapshot(&self) -> PageSnapshot {
        self.page.snapshot(|| self.counter.ordered())
    }

    /// The time by the line that is published now, if it covers this moment.
    pub(super) fn serve_line(&self) -> Option<u64> {
        let snapshot = self.snapshot();
        snapshot.line.at(snapshot.tick).map(|ns| ns.max(snapshot.floor))
    }

    /// The OS clock's time, on the timeline that is served.
    #[cold]
    #[inline(never)]
    pub(super) fn os_ns(&self) -> Result<u64, Errno> {
        self.os_ns_at_once()
    }

    /// The OS clock's time, as by [`Self::os_ns`], without a call, which would make a bracket
    /// wider.
    #[inline(always)]
    pub(crate) fn os_ns_at_once(&self) -> Result<u64, Errno> {
        // In this order: with an offset that is replaced meanwhile the reading is behind, and not
        // ahead.
        let offset = self.page.offset();
        Ok(self.os.now_ns()?.wrapping_add(offset))
    }

    /// Takes up to `tries` brackets, fewer if one is no wider than `enough` ticks, and returns the
    /// narrowest.
    ///
    /// # Errors
    /// The OS clock refused.
    pub(super) fn narrowest_bracket(&self, tries: u32, enough: u64) -> Result<Bracket, Errno> {
        narrowest(|| self.bracket_at_once(), Bracket::width, tries, enough)
    }

    /// Takes one bracket: the OS clock read between two reads of the counter. Where no branch
    /// precedes it, the first reading may be taken early, and the bracket is wider. The last one is
    /// not: the OS clock ends with a branch that depends on its own reading (the vDSO's loop on the
    /// sequence number, or a system call's return), and readings of one counter by one thread are
    /// in the program's order.
    #[inline(always)]
    fn bracket_at_once(&self) -> Result<Bracket, Errno> {
        let before = self.counter.before_os();
        let inner = self.os_ns_at_once()?;
        Ok(Bracket { before, inner, after: self.counter.ordered() })
    }

    /// Time that the machine has spent suspended, in ns, plus 1; 0 if unknown.
    #[inline(never)]
    pub(super) fn suspended_ns(&self) -> u64 {
        self.os.suspended_ns().map_or(0, |ns| ns.saturating_add(1))
    }

    /// Returns the cost of [`OWN_READS`] reads of the counter, in ticks: the shorter of two rounds.
    #[inline(never)]
    pub(super) fn own_ticks(&self) -> u64 {
        let [first, second] = [(); 2].map(|()| {
            let start = self.counter.ordered();
            let end = (0..OWN_READS).fold(start, |_, _| self.counter.ordered());
            end.wrapping_sub(start).saturating_add(1)
        });
        first.min(second)
    }

    /// Raises the largest error to this one, at this time.
    pub(super) fn raise_largest_error(&self, ns: u64, at_ns: u64) {
        let page = &self.page;
        if page.largest_error_ns.fetch_max(ns, Ordering::Relaxed) < ns {
            page.largest_error_at_ns.store(at_ns, Ordering::Relaxed);
        }
    }

    /// Shortest time between two brackets that show a rate, in ns.
    pub(super) fn shortest_ns(&self) -> f64 {
        self.window_ns() as f64 / 4.0
    }

    /// Longest duration of an uninterrupted question, in ns. A longer one shows no bound that lasts
    /// a second.
    pub(super) fn interrupted_ns(&self) -> u64 {
        self.window_ns() / 8
    }

    /// The timeline's lead over the OS clock since that stepped back, in ns; zero if it never did.
    pub(crate) fn timeline_offset_ns(&self) -> u64 {
        self.page.offset()
    }

    /// The error by the narrowest of several brackets whose ends one line covers.
    pub(super) fn error_by_line(&self, tick_ns: u64) -> Option<u64> {
        let (_, error) = (0..ANSWER_TRIES).filter_map(|_| self.error_by_bracket(tick_ns)).min()?;
        Some(error)
    }

    /// The width of one bracket whose ends one line covers, and the error by it.
    fn error_by_bracket(&self, tick_ns: u64) -> Option<(u64, u64)> {
        let snapshot = self.snapshot();
        // Without a line, the counter may not even be permitted.
        snapshot.line.at(snapshot.tick)?;
        let bracket = self.narrowest_bracket(1, 0).ok()?;
        let [first, last] = [bracket.before, bracket.after].map(|tick| snapshot.line.at(tick));
        let error = error_ns(first?.max(snapshot.floor), last?.max(snapshot.floor), bracket.inner, tick_ns);
        Some((bracket.width(), error))
    }

    /// Returns the sum of both clocks' ticks in ns, the counter's by the line that is served.
    pub(super) fn ticks_by_line(&self, os_tick_ns: u64) -> u64 {
        let snapshot = self.snapshot();
        let [this, next] = [snapshot.tick, snapshot.tick.wrapping_add(1)].map(|tick| snapshot.line.at(tick));
        let tick_ns = this.zip(next).map_or(0, |(this, next)| next.saturating_sub(this));
        os_tick_ns.saturating_add(tick_ns)
    }

    /// Reason why the counter is not used; `None` if it may be.
    pub(crate) fn barred(&self) -> Option<Demotion> {
        match self.page.mode() {
            ServingMode::Barred(reason) => Some(reason),
            ServingMode::New | ServingMode::Open => None,
        }
    }
}
