//! From observations to pieces: each goes on straight for as long as the brackets allow it.
//!
//! A piece that was kept never changes but at its end, where it is prolonged along itself, so that
//! a count that was converted once is converted to the same time later.

use clockscope_core::brackets::Bracket;

use super::piece::{Ahead, Piece, same_wall};
use crate::disciplined::{Calibration, ClockOffset, FASTER, GROWS, Observation, SLOWER, error_ns};
use crate::tick_length::TickLength;

/// A piece goes on while it is no further than this from the middle of each bracket, in ns; from
/// that of a wide one by half of what it is wider than others.
const TOLERANCE_NS: f64 = 20.0;

/// An interval ends no sooner than after this, in ns, and no sooner than after half of the one
/// before: what follows a short one would be known as badly as that.
const SHORT_NS: f64 = 250_000.0;

/// A suspend is longer than this, in ns.
const SHORTEST_SUSPEND_NS: u64 = 1_000_000;

/// Share by which a daemon steers the OS clock at most from one end to the other (MAXFREQ of
/// include/linux/timex.h, twice).
const STEERED: f64 = 1e-3;

/// Errors that differ by less than this, in ns, or by a factor of two, are alike.
const ALIKE_NS: u64 = 50;

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
    /// The last piece; how wide the bounds of the true time were as it began, and how far the OS
    /// clock may have been from a straight line in its first interval, in ns.
    piece: Piece,
    civil_width_ns: u64,
    drift_ns: u64,
    /// The rate over the last piece that went on, in ns a count; 0 before one has.
    straight_rate: f64,
    /// The bracket with which the interval begins that the next one may end, and what is known of
    /// the one before that.
    anchor: Bracket,
    /// The largest error at the brackets since then, in ns.
    worst_ns: u64,
    before: Option<Interval>,
    /// [`Step::tail`] of the last step.
    tail: (u64, u64),
}

/// The time between two brackets, and how far the line may be from the OS clock in it.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from: u64,
    length_ns: f64,
    /// In ns a count, and the share by which that may be off.
    rate: f64,
    uncertain: f64,
    worst_ns: u64,
    /// Share by which the OS clock's rate may have been another in a part of it; infinite where it
    /// has no neighbor yet.
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
        let bend = if self.bend.is_finite() { self.bend } else { FASTER + self.uncertain };
        (self.length_ns * bend) as u64
    }

    /// The largest error in it, in ns.
    fn error_ns(&self) -> u64 {
        self.worst_ns.saturating_add(self.drift_ns()).saturating_add(1)
    }

    /// Share by which the rates of two intervals may differ.
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
    /// The error between these counts is at least so large, in ns.
    pub(crate) settled: Option<(u64, u64, u64)>,
    /// The error from this count on, which the next observation may settle otherwise.
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
        civil_width_ns: 0,
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
            // The same reading of a coarse clock.
            return Step { tail: self.tail, ..Step::default() };
        }
        if since_last < 0.0 || self.is_broken(&last, &seen) {
            return self.break_off(&last, &seen);
        }
        self.calibration.add(seen.bracket, seen.os_tick_ns);
        let interval = Interval::new(&self.anchor, &seen.bracket, seen.os_tick_ns, self.before);
        let ends = interval.length_ns >= self.before.map_or(0.0, |before| before.length_ns / 2.0).max(SHORT_NS);
        let mut step = self.go_on(&last, &seen, if ends { Some(interval.drift_ns()) } else { None });
        self.judge(&seen, interval, ends, &mut step);
        self.last = seen;
        step
    }

    /// Nothing is known of the time between the last observation and this one.
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

    /// The clocks did not go on. What was known of the last intervals is settled; and where the
    /// counter may have gone back, stamps since the last observation may have counts that come
    /// again.
    fn break_off(&mut self, last: &Observation, seen: &Observation) -> Step {
        let mut settled = self.tail;
        if let Some(before) = self.before.filter(|before| !before.bend.is_finite()) {
            // The first interval may be what had the step in it.
            let next = Interval::new(&self.anchor, &seen.bracket, seen.os_tick_ns, None);
            settled.1 = settled.1.max(before.beside(&next).error_ns());
        }
        let rate = self.calibration.unconfirmed().map_or(0.0, |mean| mean.rate.low * (1.0 - STEERED));
        let passed_ns = seen.bracket.inner_since(&last.bracket).max(0.0);
        let passed = if rate > 0.0 { (passed_ns / rate) as u64 } else { 0 };
        let used_to = last.bracket.after.wrapping_add(passed.min(u64::MAX / 4));
        let first = seen.bracket.before;
        let may_come_again = (used_to.wrapping_sub(first) as i64) >= 0;
        let forgets_all = seen.bracket.middle_since(&last.bracket) < 0.0;
        self.begin(*seen);
        Step {
            doubtful: may_come_again.then_some(Doubtful { first, last: used_to, forgets_all }),
            settled: (settled.1 > 0).then_some((settled.0, last.bracket.after, settled.1)),
            ..Step::default()
        }
    }

    /// Returns true if the clocks did not go on: a suspend, a move, a step that no slew explains, a
    /// pause that no piece is long enough for.
    fn is_broken(&self, last: &Observation, seen: &Observation) -> bool {
        let asleep = seen.suspended_ns.wrapping_sub(last.suspended_ns) as i64;
        let slept = last.suspended_ns != 0 && seen.suspended_ns != 0 && asleep.unsigned_abs() > SHORTEST_SUSPEND_NS;
        let moved = seen.disruptions != last.disruptions;
        let (ticks, ns) = (seen.bracket.middle_since(&last.bracket), seen.bracket.inner_since(&last.bracket));
        let width = (last.bracket.width() + seen.bracket.width()) as f64;
        let stepped = self.calibration.unconfirmed().is_some_and(|mean| {
            let (least, most) = (mean.rate.low * (1.0 - SLOWER), mean.rate.high * (1.0 + FASTER));
            let tick_ns = seen.os_tick_ns as f64;
            ns + tick_ns < (ticks - width) * least || ns - tick_ns > (ticks + width) * most
        });
        let is_long = seen.bracket.middle().wrapping_sub(self.end.0) > Piece::MOST_COUNTS;
        slept || moved || stepped || is_long
    }

    /// Prolongs the last piece, or begins one that ends with this observation. `drift_ns` is that
    /// of the interval, if it ends.
    fn go_on(&mut self, last: &Observation, seen: &Observation, drift_ns: Option<u64>) -> Step {
        let (count, (from, value)) = (seen.bracket.middle(), self.end);
        let counts = count.wrapping_sub(from);
        let wall = wall_between(last, seen);
        let length_ns = seen.bracket.inner_since(&last.bracket).max(0.0);
        let civil = civil_between(last, seen, (length_ns * GROWS) as u64 + 1);
        let since = count.wrapping_sub(self.piece.start);
        let is_straight = self.goes_on
            && since <= Piece::MOST_COUNTS
            && ahead_ns(self.piece.at(since), seen).abs() <= self.allowed_ns(seen);
        let is_prolonged = is_straight && drift_ns.is_none_or(|drift_ns| are_alike(drift_ns, self.drift_ns));
        let known = together(&self.piece, wall, &civil, self.civil_width_ns).filter(|_| is_prolonged);
        if let Some(known) = known {
            self.piece = Piece { counts: since, ..known };
            self.end = (count, self.piece.end_value());
            let rise = self.end.1 - self.piece.value;
            self.straight_rate = (rise as f64 - ahead_ns(self.end.1, seen)) / since as f64;
            return Step { replace: Some(self.piece), ..Step::default() };
        }
        let (tick_length, goes_on) =
            if is_straight { (self.piece.tick_length, true) } else { self.slope(seen, counts.max(1)) };
        let (wall, wall_error_ns) = wall;
        self.piece = Piece { start: from, counts, value, tick_length, error_ns: 0, wall, wall_error_ns, civil };
        self.end = (count, self.piece.end_value());
        (self.has_piece, self.goes_on, self.civil_width_ns) = (true, goes_on, civil.width_ns);
        self.drift_ns = drift_ns.unwrap_or(self.drift_ns);
        Step { push: Some(self.piece), ..Step::default() }
    }

    /// The largest distance of a piece from the middle of a bracket that is allowed, in ns.
    fn allowed_ns(&self, seen: &Observation) -> f64 {
        let wider = seen.bracket.width().saturating_sub(self.calibration.narrowest());
        TOLERANCE_NS + wider as f64 / 2.0 * self.rate(seen) + seen.os_tick_ns as f64
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

    /// The slope of a piece that ends with this observation after so many counts, and whether it
    /// goes on: the rate that is known; or what comes back to the bracket, where that misses it.
    fn slope(&self, seen: &Observation, counts: u64) -> (TickLength, bool) {
        let (rate, rise) = (self.rate(seen), -ahead_ns(self.end.1, seen));
        let goes_on = (rate * counts as f64 - rise).abs() <= self.allowed_ns(seen);
        let slope = if goes_on { rate } else { rise.max(0.0) / counts as f64 };
        (TickLength::new(slope.max(1e-9)), goes_on)
    }

    /// Says how large the error may be since the bracket before.
    fn judge(&mut self, seen: &Observation, interval: Interval, ends: bool, step: &mut Step) {
        let (bracket, piece) = (&seen.bracket, &self.piece);
        let at = |count: u64| match count.wrapping_sub(piece.start) {
            since if since <= Piece::MOST_COUNTS => piece.at(since),
            _ => piece.value,
        };
        let error = error_ns(at(bracket.before), at(bracket.after), bracket.inner, seen.os_tick_ns);
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

/// Returns true if two errors are about as large.
fn are_alike(one_ns: u64, other_ns: u64) -> bool {
    let is_below = |one: u64, other: u64| one <= other.saturating_mul(2).saturating_add(ALIKE_NS);
    is_below(one_ns, other_ns) && is_below(other_ns, one_ns)
}

/// The distance by which a time is ahead of the OS clock's at the middle of a bracket, in ns.
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

/// By how much the true time is ahead between two observations, where it may have moved by so much.
fn civil_between(last: &Observation, seen: &Observation, moved_ns: u64) -> Ahead {
    let [last, seen] =
        [last, seen].map(|Observation { civil: (least, most, state), .. }| Ahead::between(*least, *most, *state));
    last.in_both(&seen).widened(moved_ns)
}

/// What holds of the true time in a piece that goes on with this; `None` if another has to begin,
/// because the wall clock was set, or the bounds would be twice as wide as at first.
fn together(piece: &Piece, wall: (ClockOffset, u64), civil: &Ahead, first_width_ns: u64) -> Option<Piece> {
    let civil = piece.civil.union(civil).filter(|union| union.width_ns <= 2 * first_width_ns)?;
    let (_, wall_error_ns) = same_wall((piece.wall, piece.wall_error_ns), wall)?;
    Some(Piece { civil, wall_error_ns, ..*piece })
}
