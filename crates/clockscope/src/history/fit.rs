//! From observations to pieces: each goes on straight for as long as the brackets allow it.
//!
//! A stored piece changes only at its end, where it is prolonged along itself, so that a count is
//! always converted to the same time.

use clockscope_core::brackets::Bracket;

use super::piece::{Ahead, Piece, same_wall};
use crate::disciplined::{
    Calibration, ClockOffset, MAX_DRIFT, MAX_SLOWDOWN, MAX_SPEEDUP, Observation, error_ns, was_suspended,
};
use crate::tick_length::TickLength;

/// Largest distance of a piece from the middle of a bracket at which it goes on, in ns. Half of the
/// excess width of a wide bracket is added.
const MAX_DISTANCE_NS: f64 = 20.0;

/// Shortest interval, in ns. It is also no shorter than half of the one before: the bounds of an
/// interval depend on its neighbors.
const MIN_INTERVAL_NS: f64 = 250_000.0;

/// Largest change of the OS clock's rate by a daemon, as a share (MAXFREQ of include/linux/timex.h,
/// twice).
const MAX_STEERED: f64 = 1e-3;

/// Difference of two errors, in ns, up to which they are alike; up to a factor of two they are as
/// well.
const MAX_ALIKE_NS: u64 = 50;

/// The content of a history's lock. All zero before the first observation, so that a static one
/// is in memory of the process's own, and in no file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    has_last: bool,
    has_piece: bool,
    /// The piece goes on straight: it did not only come back to the brackets.
    goes_on: bool,
    calibration: Calibration,
    last: Observation,
    /// The count and the time at which the next piece begins.
    end: (u64, u64),
    /// The last piece; the width of the true time's bounds when it began, and the OS clock's
    /// largest distance from a straight line in its first interval, in ns.
    piece: Piece,
    bounds_width_ns: u64,
    drift_ns: u64,
    /// The rate over the last piece that went on, in ns a count; 0 before one has.
    straight_rate: f64,
    /// The bracket with which the current interval begins.
    anchor: Bracket,
    /// The largest error at the brackets since then, in ns.
    worst_ns: u64,
    /// The interval before the current one.
    before: Option<Interval>,
    /// [`Step::tail`] of the last step.
    tail: (u64, u64),
}

/// The time between two brackets, and the line's errors in it.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from: u64,
    length_ns: f64,
    /// The OS clock's rate, in ns a count, and its uncertainty, as a share.
    rate: f64,
    uncertain: f64,
    worst_ns: u64,
    /// Largest change of the OS clock's rate in it, as a share; infinite without a neighbor.
    bend: f64,
}

impl Interval {
    /// From `anchor` to `bracket`, after the interval `before`.
    fn new(anchor: &Bracket, bracket: &Bracket, os_tick_ns: u64, before: Option<Self>) -> Self {
        let ticks = bracket.middle_since(anchor).max(1.0);
        let length_ns = bracket.inner_since(anchor).max(1.0);
        let widths = (anchor.width() + bracket.width()) as f64 / 2.0;
        let interval = Self {
            from: anchor.middle(),
            length_ns,
            rate: length_ns / ticks,
            uncertain: widths / ticks + os_tick_ns as f64 / length_ns,
            worst_ns: 0,
            bend: f64::INFINITY,
        };
        Self { bend: before.map_or(f64::INFINITY, |before| before.bend_to(&interval)), ..interval }
    }

    /// The OS clock's largest distance from a straight line in it, in ns.
    ///
    /// Both ends are known. Where the OS clock's rate changes once in between, from r to s, it is
    /// off the straight line by no more than length × |mean − r|, and by no more than length ×
    /// |mean − s|: so either neighbor bounds it, as long as the rate changes at most once in any
    /// two intervals that follow each other. Without a neighbor only adjtimex(2)'s limits do.
    fn drift_ns(&self) -> u64 {
        let bend = if self.bend.is_finite() { self.bend } else { MAX_SPEEDUP + self.uncertain };
        (self.length_ns * bend) as u64
    }

    /// The largest error in it, in ns.
    fn error_ns(&self) -> u64 {
        self.worst_ns.saturating_add(self.drift_ns()).saturating_add(1)
    }

    /// Largest difference of the rates of two intervals, as a share.
    fn bend_to(&self, other: &Self) -> f64 {
        (other.rate / self.rate - 1.0).abs() + self.uncertain + other.uncertain
    }

    /// The interval once the next one is known.
    fn beside(self, next: &Self) -> Self {
        Self { bend: self.bend.min(self.bend_to(next)), ..self }
    }
}

/// Counts of which there may be two moments, because the counter may have gone back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubtful {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// All pieces have such counts.
    pub(crate) forgets_all: bool,
}

/// The consequences of an observation for the pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) doubtful: Option<Doubtful>,
    /// The last piece is this one now.
    pub(crate) replace: Option<Piece>,
    /// A piece follows.
    pub(crate) push: Option<Piece>,
    /// The smallest error between these counts, in ns.
    pub(crate) settled: Option<(u64, u64, u64)>,
    /// The error from this count on, until the next observation.
    pub(crate) tail: (u64, u64),
}

impl Fit {
    pub(crate) const NONE: Self = Self {
        has_last: false,
        has_piece: false,
        goes_on: false,
        calibration: Calibration::ZERO,
        last: Observation::NONE,
        end: (0, 0),
        piece: Piece::NONE,
        bounds_width_ns: 0,
        drift_ns: 0,
        straight_rate: 0.0,
        anchor: Bracket::ZERO,
        worst_ns: 0,
        before: None,
        tail: (0, 0),
    };

    /// Width of a bracket that is narrow enough, in ticks; 0 where none is known.
    pub(crate) fn enough(&self) -> u64 {
        let narrowest = self.calibration.narrowest();
        if self.has_last { narrowest.saturating_add(narrowest / 8) } else { 0 }
    }

    /// Returns true if a bracket was interrupted, as far as others show.
    pub(crate) fn is_interrupted(&self, bracket: &Bracket) -> bool {
        self.has_last && bracket.width() > self.calibration.narrowest().saturating_mul(4)
    }

    /// Returns true if the OS clock is behind the last observation: it stepped back, and the
    /// timeline waits for it.
    pub(crate) fn is_behind(&self, seen: &Observation) -> bool {
        self.has_last && seen.bracket.inner_since(&self.last.bracket) < 0.0
    }

    /// Takes an observation that is not behind.
    pub(crate) fn take(&mut self, seen: Observation) -> Step {
        if !self.has_last {
            self.begin(seen);
            return Step::default();
        }
        let last = self.last;
        let since_last = seen.bracket.middle_since(&last.bracket);
        if since_last == 0.0 {
            // A coarse clock has not advanced.
            return Step { tail: self.tail, ..Step::default() };
        }
        if since_last < 0.0 || self.is_broken(&last, &seen) {
            return self.break_off(&last, &seen);
        }
        self.calibration.add(seen.bracket, seen.os_tick_ns);
        let interval = Interval::new(&self.anchor, &seen.bracket, seen.os_tick_ns, self.before);
        let ends = interval.length_ns >= self.before.map_or(0.0, |before| before.length_ns / 2.0).max(MIN_INTERVAL_NS);
        let mut step = self.go_on(&last, &seen, if ends { Some(interval.drift_ns()) } else { None });
        self.judge(&seen, interval, ends, &mut step);
        self.last = seen;
        step
    }

    /// Begins with this observation: the time before it is unknown.
    fn begin(&mut self, seen: Observation) {
        let (_, value) = self.end;
        let bracket = seen.bracket;
        *self = Self {
            has_last: true,
            last: seen,
            end: (bracket.middle(), value.max(bracket.inner.saturating_add(seen.os_tick_ns / 2))),
            anchor: bracket,
            ..Self::NONE
        };
        self.calibration.add(bracket, seen.os_tick_ns);
    }

    /// The clocks were interrupted. Settles the errors of the last intervals; and if the counter
    /// may have gone back, stamps since the last observation may have counts that come again.
    fn break_off(&mut self, last: &Observation, seen: &Observation) -> Step {
        let mut settled = self.tail;
        if let Some(before) = self.before
            && !before.bend.is_finite()
        {
            // The first interval may be the one with the step.
            let next = Interval::new(&self.anchor, &seen.bracket, seen.os_tick_ns, None);
            settled.1 = settled.1.max(before.beside(&next).error_ns());
        }
        let rate = self.calibration.unconfirmed().map_or(0.0, |mean| mean.rate.low * (1.0 - MAX_STEERED));
        let passed_ns = seen.bracket.inner_since(&last.bracket).max(0.0);
        let passed = if rate > 0.0 { (passed_ns / rate) as u64 } else { 0 };
        let used_to = last.bracket.after.wrapping_add(passed.min(u64::MAX / 4));
        let first = seen.bracket.before;
        let may_come_again = (used_to.wrapping_sub(first) as i64) >= 0;
        let forgets_all = seen.bracket.middle_since(&last.bracket) < 0.0;
        self.begin(*seen);
        Step {
            doubtful: if may_come_again { Some(Doubtful { first, last: used_to, forgets_all }) } else { None },
            settled: if settled.1 > 0 { Some((settled.0, last.bracket.after, settled.1)) } else { None },
            ..Step::default()
        }
    }

    /// Returns true if the clocks were interrupted: by a suspend, a move, a step that no slew
    /// explains, or a pause that is too long for a piece.
    fn is_broken(&self, last: &Observation, seen: &Observation) -> bool {
        let slept = was_suspended(last.suspended_ns, seen.suspended_ns);
        let moved = seen.disruptions != last.disruptions;
        let (ticks, ns) = (seen.bracket.middle_since(&last.bracket), seen.bracket.inner_since(&last.bracket));
        let width = (last.bracket.width() + seen.bracket.width()) as f64;
        let stepped = self.calibration.unconfirmed().is_some_and(|mean| {
            let (least, most) = (mean.rate.low * (1.0 - MAX_SLOWDOWN), mean.rate.high * (1.0 + MAX_SPEEDUP));
            let tick_ns = seen.os_tick_ns as f64;
            ns + tick_ns < (ticks - width) * least || ns - tick_ns > (ticks + width) * most
        });
        let is_long = seen.bracket.middle().wrapping_sub(self.end.0) > Piece::MAX_COUNTS;
        slept || moved || stepped || is_long
    }

    /// Prolongs the last piece, or begins one that ends with this observation. `drift_ns` is that
    /// of the interval, if it ends.
    fn go_on(&mut self, last: &Observation, seen: &Observation, drift_ns: Option<u64>) -> Step {
        let (count, (from, value)) = (seen.bracket.middle(), self.end);
        let counts = count.wrapping_sub(from);
        let wall = wall_between(last, seen);
        let length_ns = seen.bracket.inner_since(&last.bracket).max(0.0);
        let bounds = bounds_between(last, seen, (length_ns * MAX_DRIFT) as u64 + 1);
        let since = count.wrapping_sub(self.piece.start);
        let is_straight = self.goes_on
            && since <= Piece::MAX_COUNTS
            && ahead_ns(self.piece.at(since), seen).abs() <= self.allowed_ns(seen);
        let is_prolonged = is_straight && drift_ns.is_none_or(|drift_ns| are_alike(drift_ns, self.drift_ns));
        if is_prolonged && let Some(known) = together(&self.piece, wall, &bounds, self.bounds_width_ns) {
            self.piece = Piece { counts: since, ..known };
            self.end = (count, self.piece.end_value());
            let rise = self.end.1 - self.piece.value;
            self.straight_rate = (rise as f64 - ahead_ns(self.end.1, seen)) / since as f64;
            return Step { replace: Some(self.piece), ..Step::default() };
        }
        let (tick_length, goes_on) =
            if is_straight { (self.piece.tick_length, true) } else { self.slope(seen, counts.max(1)) };
        let (wall, wall_error_ns) = wall;
        self.piece = Piece { start: from, counts, value, tick_length, error_ns: 0, wall, wall_error_ns, bounds };
        self.end = (count, self.piece.end_value());
        (self.has_piece, self.goes_on, self.bounds_width_ns) = (true, goes_on, bounds.width_ns);
        self.drift_ns = drift_ns.unwrap_or(self.drift_ns);
        Step { push: Some(self.piece), ..Step::default() }
    }

    /// The largest distance of a piece from the middle of a bracket that is allowed, in ns.
    fn allowed_ns(&self, seen: &Observation) -> f64 {
        let wider = seen.bracket.width().saturating_sub(self.calibration.narrowest());
        MAX_DISTANCE_NS + wider as f64 / 2.0 * self.rate(seen) + seen.os_tick_ns as f64
    }

    /// The rate in ns a count: that of the last piece that went on, as long as the calibration
    /// allows it, which knows that of the last seconds.
    fn rate(&self, seen: &Observation) -> f64 {
        let Some(mean) = self.calibration.unconfirmed() else {
            return seen.bracket.inner_since(&self.anchor) / seen.bracket.middle_since(&self.anchor);
        };
        let is_allowed = mean.rate.low <= self.straight_rate && self.straight_rate <= mean.rate.high;
        if is_allowed { self.straight_rate } else { mean.rate.middle() }
    }

    /// The slope of a piece of `counts` that ends with this observation, and whether it goes on:
    /// the known rate, or the one that comes back to the bracket if the known one misses it.
    fn slope(&self, seen: &Observation, counts: u64) -> (TickLength, bool) {
        let (rate, rise) = (self.rate(seen), -ahead_ns(self.end.1, seen));
        let goes_on = (rate * counts as f64 - rise).abs() <= self.allowed_ns(seen);
        let slope = if goes_on { rate } else { rise.max(0.0) / counts as f64 };
        (TickLength::new(slope.max(1e-9)), goes_on)
    }

    /// Finds the largest error since the bracket before.
    fn judge(&mut self, seen: &Observation, interval: Interval, ends: bool, step: &mut Step) {
        let (bracket, piece) = (&seen.bracket, &self.piece);
        let [first, last] = [bracket.before, bracket.after].map(|count| match count.wrapping_sub(piece.start) {
            since if since <= Piece::MAX_COUNTS => piece.at(since),
            _ => piece.value,
        });
        let error = error_ns(first, last, bracket.inner, seen.os_tick_ns);
        if self.before.is_none() && piece.start == self.anchor.middle() {
            self.worst_ns = self.worst_ns.max(error_at_start(piece, &self.anchor, seen.os_tick_ns));
        }
        self.worst_ns = self.worst_ns.max(error);
        let interval = Interval { worst_ns: self.worst_ns, ..interval };
        if ends {
            let settled = self.before.map(|before| before.beside(&interval));
            step.settled = settled.map(|before| (before.from, interval.from, before.error_ns()));
            self.tail = (interval.from, interval.error_ns());
            (self.before, self.anchor, self.worst_ns) = (Some(interval), *bracket, error);
        } else {
            let (from, before_ns) = self.before.map_or((interval.from, 0), |before| (before.from, before.error_ns()));
            self.tail = (from, before_ns.max(interval.error_ns()));
        }
        step.tail = self.tail;
    }
}

/// Returns true if two errors are of about the same size.
fn are_alike(one_ns: u64, other_ns: u64) -> bool {
    one_ns.max(other_ns) <= one_ns.min(other_ns).saturating_mul(2).saturating_add(MAX_ALIKE_NS)
}

/// A time's lead over the OS clock at the middle of a bracket, in ns.
fn ahead_ns(value: u64, seen: &Observation) -> f64 {
    value.wrapping_sub(seen.bracket.inner) as i64 as f64 - seen.os_tick_ns as f64 / 2.0
}

/// The error at the bracket in whose middle a piece begins, in ns.
fn error_at_start(piece: &Piece, bracket: &Bracket, os_tick_ns: u64) -> u64 {
    let half_ns = piece.tick_length.ns(bracket.width() / 2 + 1);
    let (first, last) = (piece.value.saturating_sub(half_ns), piece.value.saturating_add(half_ns));
    error_ns(first, last, bracket.inner, os_tick_ns)
}

/// The offset of the wall clock between two observations, if it is the same at both.
fn wall_between(last: &Observation, seen: &Observation) -> (ClockOffset, u64) {
    // The offset before the earlier bracket is still that after the later one.
    match (last.wall[0], seen.wall[1]) {
        (Some(before), Some(after)) => same_wall(before, after).unwrap_or((ClockOffset::UNKNOWN, 0)),
        _ => (ClockOffset::UNKNOWN, 0),
    }
}

/// The true time's lead between two observations, in which it may have moved by `moved_ns`.
fn bounds_between(last: &Observation, seen: &Observation, moved_ns: u64) -> Ahead {
    let [last, seen] =
        [last, seen].map(|Observation { bounds: (least, most, state), .. }| Ahead::between(*least, *most, *state));
    last.in_both(&seen).widened(moved_ns)
}

/// The piece with this offset of the wall clock and these bounds of the true time, too; `None` if
/// another has to begin, because the wall clock was set, or the bounds would be twice as wide as at
/// first.
fn together(piece: &Piece, wall: (ClockOffset, u64), bounds: &Ahead, first_width_ns: u64) -> Option<Piece> {
    let bounds = piece.bounds.union(bounds)?;
    let (_, wall_error_ns) = same_wall((piece.wall, piece.wall_error_ns), wall)?;
    if bounds.width_ns > 2 * first_width_ns { None } else { Some(Piece { bounds, wall_error_ns, ..*piece }) }
}
