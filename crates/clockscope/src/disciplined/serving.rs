//! Serves readings of the time: by a fresh line, by one that has nearly expired, or by the OS
//! clock.
//!
//! Owns the order in which these are tried, and the samples of how often the time is read.
//! `steering` begins and renews lines, `standstill` holds the time, and `admission` asks at first.

use core::sync::atomic::Ordering;

use super::layers::Serving;
use super::page::line::LinePosition;
use super::page::version::Version;
use super::page::{MAX_CPU_OFFSET_NS, MAX_UNRECORDED_NS};
use super::steering::{MAX_PAUSE_WINDOWS, Wanted};
use super::use_rate::Usage;
use super::{Counter, OsClock};
use crate::Errno;

impl<C: Counter, S: OsClock> Serving<C, S> {
    /// Reads the time, ordered, in ns: the fast path, and the slow one where that serves nothing.
    #[inline(always)]
    pub(super) fn read(&self) -> u64 {
        self.page.read(|| self.counter.ordered()).unwrap_or_else(|| self.slow())
    }

    /// Reads the time as [`Self::read`] does, or returns the OS clock's error while no clock
    /// answers and the time stands still.
    #[inline(always)]
    pub(super) fn try_read(&self) -> Result<u64, Errno> {
        self.page.read(|| self.counter.ordered()).map_or_else(|| self.try_slow(), Ok)
    }

    /// Reads the time by a bare read of the counter, in ns.
    #[inline(always)]
    pub(super) fn read_unordered(&self) -> u64 {
        self.page.read(|| self.counter.unordered()).unwrap_or_else(|| self.slow())
    }

    /// Serves readings without a fresh line, ordered. Rare callers come through here with cold
    /// caches, so their code is in one piece, and all other code is elsewhere.
    #[cold]
    #[inline(never)]
    fn slow(&self) -> u64 {
        let page = &self.page;
        let version = page.version();
        if !version.has_line() && !version.is_new() {
            if let Ok(raw_ns) = self.os.now_ns() {
                // The offset after the reading, which costs less than to keep it meanwhile. It is
                // replaced after the version, so the sum is used only if the version is unchanged.
                let os_ns = raw_ns.wrapping_add(page.offset());
                return self.serve_os(version, os_ns);
            }
        }
        self.slow_path(version)
    }

    /// Serves readings as [`Self::slow`] does, or returns the OS clock's error while no clock
    /// answers.
    #[cold]
    #[inline(never)]
    fn try_slow(&self) -> Result<u64, Errno> {
        let ns = self.slow();
        // A time that stands still is the floor. So is one that the OS clock has just caught up
        // with.
        let page = &self.page;
        if ns == page.floor() && !(page.version().has_line() && self.serve_line().is_some()) {
            self.os.now_ns()?;
        }
        Ok(ns)
    }

    /// Serves readings with a line, or without any clock, or at first.
    #[cold]
    #[inline(never)]
    fn slow_path(&self, version: Version) -> u64 {
        if version.has_line() {
            self.serve_by_line()
        } else if version.is_new() {
            self.serve_first(version)
        } else {
            self.serve_none()
        }
    }

    /// Serves a reading of the OS clock that was taken after `version` was loaded. It goes into the
    /// floor only if a line may begin that ignores it: threads that write one word at each reading
    /// would wait for each other.
    #[inline(always)]
    pub(super) fn serve_os(&self, version: Version, os_ns: u64) -> u64 {
        let page = &self.page;
        let is_quiet = page.version_after(os_ns).is_quietly(version);
        // Both differences wrap where the OS clock is behind. One branch for all, because a rare
        // caller's branches are not foreseen.
        let unrecorded_ns = os_ns.wrapping_sub(page.recorded());
        let is_behind = (unrecorded_ns | os_ns.wrapping_sub(page.floor())) > u64::MAX / 2;
        if !is_quiet | is_behind {
            return self.serve_again();
        }
        if unrecorded_ns >= MAX_UNRECORDED_NS {
            page.record_next(os_ns);
        }
        let is_sample = Usage::is_sample_after(os_ns, unrecorded_ns);
        // If the counter is barred, no word is written that other threads would wait for.
        if is_sample && version.is_tried() { self.serve_sample(os_ns) } else { os_ns }
    }

    /// Serves a reading of the OS clock that is a sample of how often it is read: begins a line if
    /// that is so often that it pays.
    #[cold]
    #[inline(never)]
    pub(super) fn serve_sample(&self, os_ns: u64) -> u64 {
        let page = &self.page;
        let usage = page.usage().after(os_ns);
        page.keep_usage(usage);
        let is_due = os_ns >= page.next_try_ns.load(Ordering::Relaxed);
        if usage.is_dense() && is_due { self.serve_often() } else { os_ns }
    }

    /// Counts a reading as one of the OS clock, so that a line begins for frequent callers.
    #[cold]
    #[inline(never)]
    pub(super) fn sample(&self) {
        if let Ok(os_ns) = self.os_ns() {
            self.serve_sample(os_ns);
        }
    }

    /// Reads the OS clock again and serves that.
    #[cold]
    #[inline(never)]
    fn serve_again(&self) -> u64 {
        self.os_ns().map_or_else(|_| self.serve_none(), |os_ns| self.serve_recorded(os_ns))
    }

    /// Serves a reading of the OS clock and raises the floor to it first: threads that know of it
    /// must not read less by the counter.
    fn serve_recorded(&self, os_ns: u64) -> u64 {
        let page = &self.page;
        if page.is_behind(os_ns) { self.serve_behind() } else { page.raise_floor(os_ns) }
    }

    /// Serves a reading while the OS clock is behind earlier readings: a line ended ahead of it, it
    /// stepped back, or other threads have served later readings meanwhile.
    #[cold]
    fn serve_behind(&self) -> u64 {
        let page = &self.page;
        // Both before the OS clock: only then does a smaller OS reading mean that it is behind.
        let (floor, recorded) = (page.floor(), page.recorded());
        let Ok(os_ns) = self.os_ns() else { return self.serve_none() };
        if os_ns >= floor && os_ns >= recorded {
            return page.raise_floor(os_ns);
        }
        // It stepped back, and unrecorded readings may have been later than the recorded one.
        // (Small differences of CPUs' OS clocks would hold the time again and again.)
        let stepped = recorded.saturating_sub(os_ns) > MAX_CPU_OFFSET_NS;
        let least = page.raise_floor(if stepped { recorded.saturating_add(MAX_UNRECORDED_NS) } else { recorded });
        self.raise_largest_error(least.saturating_sub(os_ns), os_ns);
        self.hold_at(least);
        least
    }

    /// No clock answers: the time stands still.
    #[cold]
    fn serve_none(&self) -> u64 {
        let page = &self.page;
        match page.recorded() {
            0 => page.floor(),
            recorded => page.raise_floor(recorded.saturating_add(MAX_UNRECORDED_NS)),
        }
    }

    /// The first readings of a process. The first one reads the OS clock and asks no question; the
    /// second asks all.
    #[cold]
    fn serve_first(&self, version: Version) -> u64 {
        let first = self.first();
        if !first.was_taken() {
            // If that clock does not answer, another way may be open. And the next call would be
            // the first one again.
            if let Ok(os_ns) = self.os_ns() {
                first.keep(os_ns, self.os.process());
                // Other threads may have begun meanwhile, and may ignore this reading.
                let is_as_before = self.page.version_after(os_ns) == version;
                return if is_as_before { os_ns } else { self.serve_recorded(os_ns) };
            }
        }
        self.prepare();
        // There was no line, so the caller knows of no reading by one, which may be later.
        self.serve_again()
    }

    /// Serves a frequent caller while there is no line: begins the next one if possible.
    #[cold]
    fn serve_often(&self) -> u64 {
        let Ok(os_ns) = self.os_ns() else { return self.serve_none() };
        self.resume(os_ns, Wanted::ByReadings);
        self.serve_line().unwrap_or_else(|| self.serve_recorded(os_ns))
    }

    /// There is a line that has expired, or nearly so, or does not cover the counter.
    #[cold]
    fn serve_by_line(&self) -> u64 {
        // In one piece with the code of a first reading after a pause.
        let snapshot = self.page.snapshot(|| self.counter.ordered());
        self.os.preemption_point();
        if snapshot.line.is_at_second(snapshot.tick) && snapshot.version != snapshot.version.at_second() {
            self.page.move_on(snapshot.version);
        }
        match snapshot.line.position(snapshot.tick) {
            LinePosition::Fresh(ns) => ns.max(snapshot.floor),
            LinePosition::NearlyExpired(ns) => {
                self.renew();
                // By what is published now, and by a fresh tick; the old one is as good if that one
                // is not covered.
                self.serve_line().unwrap_or(ns).max(self.page.floor())
            }
            LinePosition::Expired(end) => self.serve_expired(snapshot.version, end, snapshot.line.end()),
            LinePosition::Before => {
                let end = snapshot.line.end_value();
                let Ok(os_ns) = self.os_ns() else { return self.page.raise_floor(end) };
                self.step_back(os_ns);
                let least = self.page.raise_floor(os_ns.max(end));
                self.raise_largest_error(least.saturating_sub(os_ns), os_ns);
                least
            }
        }
    }

    /// Maintains the line as a reading of it does: comes to its second segment, renews it, or
    /// begins the next one.
    pub(super) fn advance(&self) {
        if self.page.version().has_line() {
            self.serve_by_line();
        }
    }

    /// The line of this version, which ends at this tick, has expired, and readings by it were as
    /// late as `end`: serves the OS clock, or the next line.
    #[inline(always)]
    fn serve_expired(&self, version: Version, end: u64, end_tick: u64) -> u64 {
        let os_ns = self.os_ns();
        if let Ok(os_ns) = os_ns {
            // The first reading after a pause leaves the line to the next ones, which are warm.
            if os_ns.saturating_sub(end) > MAX_PAUSE_WINDOWS * self.window_ns() {
                // The end of the line, which is earlier, is in the floor before the line is
                // removed.
                let ns = self.serve_recorded(os_ns);
                self.leave_expired(version, end_tick, os_ns);
                return ns;
            }
        }
        self.page.raise_floor(end);
        if os_ns.is_ok() { self.serve_often() } else { self.serve_none() }
    }
}
