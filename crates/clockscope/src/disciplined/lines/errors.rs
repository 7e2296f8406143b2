//! The largest error, which brackets prove for the readings between them.

use clockscope_core::brackets::Bracket;

use crate::disciplined::page::line::ServedLine;

/// adjtimex(2) changes the OS clock's rate by up to 10 % (ADJ_TICK) and 500 ppm (ADJ_FREQUENCY) in
/// either direction. From one end to the other, the clock becomes faster or slower by these shares.
const MAX_SLEW: f64 = 0.1005;
pub(crate) const MAX_SPEEDUP: f64 = (1.0 + MAX_SLEW) / (1.0 - MAX_SLEW) - 1.0;
pub(crate) const MAX_SLOWDOWN: f64 = 1.0 - (1.0 - MAX_SLEW) / (1.0 + MAX_SLEW);

/// The time between two brackets of a line, and the errors of the readings in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BracketInterval {
    /// The bracket at which it ends and the next one begins, and the error there, in ns.
    end: Bracket,
    end_error_ns: u64,
    /// The largest error at its ends and where segments meet, in ns.
    worst_ns: u64,
    length_ns: f64,
    /// The OS clock's mean rate in it, in ns a tick, and its uncertainty, as a share; 0 if it is
    /// not known.
    rate: f64,
    uncertain: f64,
}

impl BracketInterval {
    const NONE: Self =
        Self { end: Bracket::ZERO, end_error_ns: 0, worst_ns: 0, length_ns: 0.0, rate: 0.0, uncertain: 0.0 };

    /// The one that ends where a line begins, of a rate that is known.
    fn before(line_begins: Bracket, rate: f64, error_ns: u64) -> Self {
        Self { end: line_begins, end_error_ns: error_ns, worst_ns: error_ns, rate, ..Self::NONE }
    }

    /// The one that follows and ends with `bracket`, at which the error was `error_ns`; where
    /// segments meet in it, it was `at_joint_ns`.
    fn followed_by(&self, bracket: &Bracket, error_ns: u64, at_joint_ns: u64) -> Self {
        let ticks = bracket.middle_since(&self.end);
        let widths = (self.end.width() + bracket.width()) as f64 / 2.0;
        let length_ns = bracket.inner_since(&self.end);
        Self {
            end: *bracket,
            end_error_ns: error_ns,
            worst_ns: error_ns.max(at_joint_ns).max(self.end_error_ns),
            length_ns,
            rate: length_ns / ticks,
            uncertain: widths / ticks,
        }
    }

    pub(crate) fn end(&self) -> &Bracket {
        &self.end
    }

    /// Returns true if the OS clock's rate in it is known; `uncertain` is the share by which it may
    /// be off.
    pub(crate) fn is_known(&self) -> bool {
        self.rate > 0.0 && self.length_ns > 0.0
    }

    pub(crate) fn uncertain(&self) -> f64 {
        self.uncertain
    }

    /// Returns true if the OS clock's rate in it was this one, within that share, and where its
    /// rate is not known.
    pub(crate) fn is_at(&self, rate: f64, share: f64) -> bool {
        self.rate <= 0.0 || (self.rate / rate - 1.0).abs() <= self.uncertain + share
    }

    /// The largest difference of the rates of two intervals, if they certainly differ; else 0. As a
    /// share of the lower rate, so that it is no less than that of either.
    fn bend(&self, next: &Self) -> f64 {
        if self.rate <= 0.0 || next.rate <= 0.0 {
            return 0.0;
        }
        let lower = if self.rate < next.rate { self.rate } else { next.rate };
        let difference = (self.rate - next.rate).abs() / lower;
        let uncertain = self.uncertain + next.uncertain;
        if difference > uncertain { difference + uncertain } else { 0.0 }
    }

    /// The largest error of its readings, in ns, if the rates of the OS clock in it and in a
    /// neighbor differ by the share `bend`.
    ///
    /// Between two moments at which the errors are known, the largest error is one of these if the
    /// OS clock's rate is constant. Where that rate changes once, from r to s, the OS clock is up
    /// to length × |mean − r| off the straight line, and up to length × |mean − s|. One of the two
    /// neighbors has that rate throughout, as long as two windows lie between two changes.
    fn largest_ns(&self, bend: f64) -> u64 {
        self.worst_ns.saturating_add((self.length_ns * bend) as u64)
    }
}

/// The errors of readings by the lines of a generation. All zero is the state before the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineErrors {
    interval: BracketInterval,
    /// The time at the end of the line that was published last: no reading by it was later. 0 where
    /// a bracket was taken after that.
    line_end_ns: u64,
}

impl LineErrors {
    pub(crate) const NONE: Self = Self { interval: BracketInterval::NONE, line_end_ns: 0 };

    /// The interval that ends with the last bracket.
    pub(crate) fn interval(&self) -> &BracketInterval {
        &self.interval
    }

    /// The largest error at the ends of that interval and where segments meet, in ns.
    pub(crate) fn worst_ns(&self) -> u64 {
        self.interval.worst_ns
    }

    /// A first line begins with this bracket, of a rate that is known.
    pub(crate) fn begin(&mut self, line_begins: Bracket, ns_per_tick: f64, error_ns: u64) {
        self.interval = BracketInterval::before(line_begins, ns_per_tick, error_ns);
    }

    /// A line was published that ends then, in ns.
    pub(crate) fn line_ends(&mut self, line_end_ns: u64) {
        self.line_end_ns = line_end_ns;
    }

    /// Returns true if readings may have been taken by the line after this bracket.
    pub(crate) fn are_open_since(&self, last: &Bracket) -> bool {
        self.lasted_ns(last) > 0
    }

    /// All readings by the line lie before a bracket.
    pub(crate) fn close(&mut self) {
        self.line_end_ns = 0;
    }

    /// Takes a bracket of `line`, where the line was at `first` before and at `last` after the OS
    /// clock was read. Returns the error there, and the largest that the readings since the bracket
    /// before had, in ns.
    pub(crate) fn record(
        &mut self,
        line: &ServedLine,
        bracket: &Bracket,
        (first, last): (u64, u64),
        ticks_ns: u64,
        window_ns: u64,
    ) -> (u64, u64) {
        let before = self.interval;
        let error = error_ns(first, last, bracket.inner, ticks_ns);
        let at_joint = error_at_joint(line, &before.end, bracket, ticks_ns).unwrap_or(0);
        let mut largest = error.max(at_joint);
        if bracket.inner_since(&before.end) < window_ns as f64 / 4.0 {
            // Too short to show a rate. (A question came just after a renewal.)
            self.interval.worst_ns = before.worst_ns.max(largest);
        } else {
            let interval = before.followed_by(bracket, error, at_joint);
            let bend = before.bend(&interval);
            largest = largest.max(before.largest_ns(bend)).max(interval.largest_ns(bend));
            self.interval = interval;
        }
        (error, largest)
    }

    /// Largest error, in ns, of readings that were taken by a line since the bracket `last`, after
    /// one of the clocks stepped. None is later than the line's end; and if the counter went back,
    /// none was taken by the line; nor if it ended before that bracket. Slews since then may hide a
    /// part of the step.
    pub(crate) fn unseen_ns(&self, last: &Bracket, bracket: &Bracket, ns_per_tick: f64) -> u64 {
        let ticks = bracket.middle().wrapping_sub(last.middle()) as i64;
        let passed_ns = ticks as f64 * ns_per_tick;
        let excess_ns = bracket.inner_since(last) - passed_ns;
        let slewed_ns = passed_ns.max(0.0) * MAX_SPEEDUP;
        let error = if ticks < 0 || !self.are_open_since(last) {
            0
        } else if excess_ns < 0.0 {
            self.lasted_ns(last).min((slewed_ns - excess_ns) as u64)
        } else {
            (excess_ns + slewed_ns) as u64
        };
        error.saturating_add(self.worst_ns())
    }

    /// Largest error, in ns, of readings that were taken by a line since the bracket `last`, while
    /// no clock stepped. The OS clock may have been slewed from one end to the other until the line
    /// ended. Its advance by the next bracket does not show that: slews may undo each other.
    pub(crate) fn unseen_slew_ns(&self, last: &Bracket) -> u64 {
        ((self.lasted_ns(last) as f64 * MAX_SPEEDUP) as u64).saturating_add(self.worst_ns())
    }

    /// The largest error, in ns, of the readings of a line that ends now: since the end of the last
    /// interval the OS clock may have been slewed, unless a bracket followed all readings.
    #[inline(never)]
    pub(crate) fn open_ns(&self) -> u64 {
        let last = self.interval.end();
        if self.are_open_since(last) { self.unseen_slew_ns(last) } else { self.worst_ns() }
    }

    /// Time from a bracket to the end of the line that was published last, in ns at most: the line
    /// may have been behind the OS clock there, and lasts longer by that.
    fn lasted_ns(&self, last: &Bracket) -> u64 {
        if self.line_end_ns == 0 {
            return 0;
        }
        self.line_end_ns.saturating_add(self.worst_ns()).saturating_sub(last.inner)
    }
}

/// |ours − OS| at worst, in ns, where the line's segments meet. No bracket is taken there, but the
/// line's slope changes: the error may be larger than at the brackets around it. The OS clock's
/// time there is interpolated between these. `None` where they do not enclose the joint.
fn error_at_joint(line: &ServedLine, earlier: &Bracket, later: &Bracket, os_tick_ns: u64) -> Option<u64> {
    let (tick, value) = line.joint()?;
    let elapsed = later.middle().wrapping_sub(earlier.middle());
    let before = tick.wrapping_sub(earlier.middle());
    if before >= elapsed {
        return None;
    }
    let os_ns = later.inner_since(earlier);
    let since_earlier_ns = os_ns * (before as f64 / elapsed as f64);
    let joint_os_ns = earlier.inner.wrapping_add(since_earlier_ns.max(0.0) as u64);
    // The moments of both brackets are known to half of their widths.
    let width_ns = (earlier.width().max(later.width()) as f64 / elapsed as f64 * os_ns.max(0.0)) as u64;
    Some(error_ns(value, value, joint_os_ns, os_tick_ns).saturating_add(width_ns / 2 + 1))
}

/// |ours − OS| at worst, in ns, when ours was `first` before and `last` after the OS clock showed `os_ns`.
pub(crate) fn error_ns(first: u64, last: u64, os_ns: u64, os_tick_ns: u64) -> u64 {
    let ahead = last.wrapping_sub(os_ns) as i64;
    let behind = os_ns.wrapping_add(os_tick_ns).wrapping_sub(first) as i64;
    ahead.max(behind).max(0) as u64
}

#[cfg(all(test, not(clockscope_models)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The OS clock runs at one rate before a knot somewhere between two brackets, and at
        /// another after it; ours runs at two others, before and after a joint. Nowhere is the
        /// error larger than what is recorded.
        #[test]
        fn no_error_between_two_brackets_is_larger(
            rates in (0.8f64..1.2, 0.8f64..1.2),
            ours in (0.8f64..1.2, 0.8f64..1.2),
            knot in 0.0f64..1.0,
            joint in 0.05f64..0.95,
            start_error in -1e5f64..1e5,
        ) {
            const LENGTH: f64 = 1e6;
            // In ticks of 1 ns from the first bracket on.
            let bent = |at: f64, (first, second): (f64, f64), knot: f64| first * at.min(knot) + second * (at - knot).max(0.0);
            let os = |at: f64| 1e9 + bent(at, rates, knot * LENGTH);
            let line = |at: f64| 1e9 + start_error + bent(at, ours, joint * LENGTH);
            let bracket = |at: f64| Bracket { before: 1_000_000 + at as u64, after: 1_000_000 + at as u64, inner: os(at) as u64 };
            let error = |at: f64| (line(at) - os(at)).abs();
            let chord = os(0.0) + (os(LENGTH) - os(0.0)) * joint;
            let at_joint = (line(joint * LENGTH) - chord).abs();

            let before = BracketInterval::before(bracket(0.0), rates.0, error(0.0) as u64);
            let interval = before.followed_by(&bracket(LENGTH), error(LENGTH) as u64, at_joint as u64);
            let after = BracketInterval { rate: rates.1, ..BracketInterval::NONE };
            let largest = interval.largest_ns(before.bend(&interval)).max(interval.largest_ns(interval.bend(&after)));
            for at in (0..=1000).map(|step| f64::from(step) * LENGTH / 1000.0) {
                prop_assert!(error(at) <= largest as f64 + 5.0, "{} ns at {at}, {largest} ns recorded", error(at));
            }
        }
    }
}
