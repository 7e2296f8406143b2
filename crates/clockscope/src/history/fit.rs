//! From observations to pieces: each goes on straight for as long as the brackets allow it.
//!
//! A piece that was kept never changes but at its end, where it is prolonged along itself, so that
//! a count that was converted once is converted to the same time later.

use clockscope_core::brackets::Bracket;

use super::piece::{Ahead, Piece};
use crate::disciplined::{Calibration, FASTER, GROWS, Observation, SLOWER, WallOffset, error_ns};
use crate::tick_length::TickLength;

/// A piece goes on while it is no further than this from the middle of each bracket, in ns; from
/// that of a wide one by half of what it is wider than others.
const TOLERANCE_NS: f64 = 20.0;

/// An interval that is shorter than this, in ns, says nothing of a rate.
const SHORT_NS: f64 = 250_000.0;

/// Share by which the OS clock's rate may wander within a window of the calibration.
const WANDER: f64 = 0.2e-6;

/// A suspend is longer than this, in ns.
const SHORTEST_SUSPEND_NS: u64 = 1_000_000;

/// What the lock of a history guards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    calibration: Calibration,
    last: Option<Observation>,
    /// The count and the time at which the next piece begins.
    end: (u64, u64),
    /// The last piece, whether it goes on straight (one that only came back to the brackets does
    /// not), and how wide the bounds of the true time were as it began.
    piece: Option<Piece>,
    goes_on: bool,
    civil_width_ns: u64,
    /// The rate over the last piece that went on, in ns a count; 0 before one has.
    straight_rate: f64,
    /// The bracket with which the interval begins that the next one may end, and what is known of
    /// the one before that.
    anchor: Bracket,
    /// The largest error at the brackets since then, in ns.
    worst_ns: u64,
    before: Option<Interval>,
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
    /// Share by which the OS clock's rate may have been another in a part of it.
    bend: f64,
}

impl Interval {
    /// The largest error in it, in ns.
    ///
    /// Both ends are known. Where the OS clock's rate changes once in between, from r to s, it is
    /// off the straight line by no more than length × |mean − r|, and by no more than length ×
    /// |mean − s|: so either neighbor bounds it, as long as the rate changes at most once in any
    /// two intervals that follow each other.
    fn error_ns(&self) -> u64 {
        self.worst_ns.saturating_add((self.length_ns * self.bend) as u64).saturating_add(1)
    }

    /// Share by which the rates of two intervals may differ.
    fn bend_to(&self, other: &Self) -> f64 {
        (other.rate / self.rate - 1.0).abs() + self.uncertain + other.uncertain
    }
}

/// What follows from an observation for the pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// The counter went back: nothing up to this count is known any more.
    pub(crate) forget: Option<u64>,
    /// The last piece is this one now.
    pub(crate) replace: Option<Piece>,
    /// A piece follows.
    pub(crate) push: Option<Piece>,
    /// The error from this count on is at least so large, in ns.
    pub(crate) settled: Option<(u64, u64)>,
    /// The same of the last intervals, which the next observation may settle otherwise.
    pub(crate) tail: (u64, u64),
}

impl Fit {
    pub(crate) const NONE: Self = Self {
        calibration: Calibration::ZERO,
        last: None,
        end: (0, 0),
        piece: None,
        goes_on: false,
        civil_width_ns: 0,
        straight_rate: 0.0,
        anchor: Bracket::ZERO,
        worst_ns: 0,
        before: None,
    };

    /// Width of a bracket that is narrow enough, in ticks; 0 where none is known.
    pub(crate) fn enough(&self) -> u64 {
        if self.last.is_none() {
            return 0;
        }
        let narrowest = self.calibration.narrowest();
        narrowest.saturating_add(narrowest / 8)
    }

    /// Returns true if a bracket was interrupted, as far as others show.
    pub(crate) fn is_interrupted(&self, bracket: &Bracket) -> bool {
        self.last.is_some() && bracket.width() > self.calibration.narrowest().saturating_mul(4)
    }

    /// Returns true if the OS clock is behind the last observation: it stepped back, and the
    /// timeline waits for it.
    pub(crate) fn is_behind(&self, seen: &Observation) -> bool {
        self.last.is_some_and(|last| seen.bracket.inner_since(&last.bracket) < 0.0)
    }

    /// Takes an observation that is not behind.
    pub(crate) fn take(&mut self, seen: Observation) -> Step {
        let Some(last) = self.last else {
            self.begin(seen);
            return Step::default();
        };
        let is_back = seen.bracket.middle_since(&last.bracket) <= 0.0;
        if is_back || self.is_broken(&last, &seen) {
            let settled = self.before.map(|interval| (interval.from, interval.error_ns()));
            let forget = is_back.then_some(last.bracket.after);
            self.begin(seen);
            return Step { forget, settled, ..Step::default() };
        }
        let known = self.calibration.mean();
        self.calibration.add(seen.bracket, seen.os_tick_ns);
        let mut step = self.go_on(&last, &seen);
        self.judge(&seen, known.map(|mean| (mean.rate.middle(), mean.rate.relative() + WANDER)), &mut step);
        self.last = Some(seen);
        step
    }

    /// Nothing is known of the time between the last observation and this one.
    fn begin(&mut self, seen: Observation) {
        let (_, value) = self.end;
        let bracket = seen.bracket;
        *self = Self {
            last: Some(seen),
            end: (bracket.middle(), value.max(bracket.inner.saturating_add(seen.os_tick_ns / 2))),
            anchor: bracket,
            ..Self::NONE
        };
        self.calibration.add(bracket, seen.os_tick_ns);
    }

    /// Returns true if the clocks did not go on: a suspend, a move, a step that no slew explains.
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
        slept || moved || stepped
    }

    /// Prolongs the last piece, or begins one that ends with this observation.
    fn go_on(&mut self, last: &Observation, seen: &Observation) -> Step {
        let (count, (from, value)) = (seen.bracket.middle(), self.end);
        let counts = count.wrapping_sub(from);
        let wall = wall_between(last, seen);
        let length_ns = seen.bracket.inner_since(&last.bracket).max(0.0);
        let civil = civil_between(last, seen, (length_ns * GROWS) as u64 + 1);
        let mut step = Step::default();
        let straight = self.piece.filter(|_| self.goes_on).filter(|piece| {
            let since = count.wrapping_sub(piece.start);
            since <= Piece::MOST_COUNTS && ahead_ns(piece.at(since), seen).abs() <= self.allowed_ns(seen)
        });
        if let Some(piece) = straight
            && let Some(known) = together(&piece, wall, &civil, self.civil_width_ns)
        {
            let longer = Piece { counts: count.wrapping_sub(piece.start), ..known };
            let rise = piece.at(longer.counts) - piece.value;
            self.straight_rate = (rise as f64 - ahead_ns(longer.end_value(), seen)) / longer.counts as f64;
            (self.piece, self.end) = (Some(longer), (count, longer.end_value()));
            step.replace = self.piece;
            return step;
        }
        if counts == 0 || counts > Piece::MOST_COUNTS {
            // Beside itself a bracket may be interrupted; and nobody waits for years.
            return step;
        }
        let (tick_length, goes_on) = match straight {
            Some(piece) => (piece.tick_length, true),
            None => self.slope(seen, counts),
        };
        let (wall, wall_error_ns) = wall;
        let piece = Piece { start: from, counts, value, tick_length, error_ns: 0, wall, wall_error_ns, civil };
        (self.piece, self.end) = (Some(piece), (count, piece.end_value()));
        (self.goes_on, self.civil_width_ns) = (goes_on, civil.width_ns);
        step.push = self.piece;
        step
    }

    /// How far a piece may be from the middle of a bracket, in ns.
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
    fn judge(&mut self, seen: &Observation, known: Option<(f64, f64)>, step: &mut Step) {
        let Some(piece) = self.piece else { return };
        let bracket = &seen.bracket;
        let at = |count: u64| match count.wrapping_sub(piece.start) {
            since if since <= Piece::MOST_COUNTS => piece.at(since),
            _ => piece.value,
        };
        let error = error_ns(at(bracket.before), at(bracket.after), bracket.inner, seen.os_tick_ns);
        if self.before.is_none() && piece.start == self.anchor.middle() {
            self.worst_ns = self.worst_ns.max(error_at_start(&piece, &self.anchor, seen.os_tick_ns));
        }
        self.worst_ns = self.worst_ns.max(error);
        let (ticks, length_ns) = (bracket.middle_since(&self.anchor), bracket.inner_since(&self.anchor).max(1.0));
        let widths = (self.anchor.width() + bracket.width()) as f64 / 2.0;
        let mut interval = Interval {
            from: self.anchor.before,
            length_ns,
            rate: length_ns / ticks,
            uncertain: widths / ticks + seen.os_tick_ns as f64 / length_ns,
            worst_ns: self.worst_ns,
            bend: FASTER,
        };
        if let Some((rate, uncertain)) = known {
            interval.bend = interval.bend.min((interval.rate / rate - 1.0).abs() + interval.uncertain + uncertain);
        }
        let neighbor = self.before.map(|before| before.bend_to(&interval));
        interval.bend = interval.bend.min(neighbor.unwrap_or(f64::INFINITY));
        if length_ns < SHORT_NS {
            let from = self.before.map_or(interval.from, |before| before.from);
            let before_ns = self.before.map_or(0, |before| before.error_ns());
            step.tail = (from, before_ns.max(interval.error_ns()));
            return;
        }
        if let (Some(mut before), Some(bend)) = (self.before, neighbor) {
            before.bend = before.bend.min(bend);
            step.settled = Some((before.from, before.error_ns()));
        }
        step.tail = (interval.from, interval.error_ns());
        (self.before, self.anchor, self.worst_ns) = (Some(interval), *bracket, error);
    }
}

/// How far a time is ahead of the OS clock's at the middle of a bracket, in ns.
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
fn wall_between(last: &Observation, seen: &Observation) -> (WallOffset, u64) {
    match (last.wall, seen.wall) {
        (Some(before), Some(after)) => same_wall(before, after).unwrap_or((WallOffset::UNKNOWN, 0)),
        _ => (WallOffset::UNKNOWN, 0),
    }
}

/// The first of two offsets, if both may be one, and how far that may be off, in ns.
fn same_wall((one, one_ns): (WallOffset, u64), (other, other_ns): (WallOffset, u64)) -> Option<(WallOffset, u64)> {
    let apart_ns = one.ns().abs_diff(other.ns());
    let is_same = one == other || one.is_known() && other.is_known() && apart_ns <= one_ns.saturating_add(other_ns);
    is_same.then(|| (one, one_ns.max(other_ns.saturating_add(apart_ns))))
}

/// By how much the true time is ahead between two observations, where it may have moved by so much.
fn civil_between(last: &Observation, seen: &Observation, moved_ns: u64) -> Ahead {
    let [last, seen] =
        [last, seen].map(|Observation { civil: (least, most, state), .. }| Ahead::between(*least, *most, *state));
    last.in_both(&seen).widened(moved_ns)
}

/// What holds of the true time in a piece that goes on with this; `None` if another has to begin,
/// because the wall clock was set, or the bounds would be twice as wide as at first.
fn together(piece: &Piece, wall: (WallOffset, u64), civil: &Ahead, first_width_ns: u64) -> Option<Piece> {
    let civil = piece.civil.union(civil).filter(|union| union.width_ns <= 2 * first_width_ns)?;
    let (_, wall_error_ns) = same_wall((piece.wall, piece.wall_error_ns), wall)?;
    Some(Piece { civil, wall_error_ns, ..*piece })
}
