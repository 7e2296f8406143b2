//! A piece of the function from counts to time, with the errors of the readings in it.

use clockscope_core::WallState;

use crate::disciplined::{BoundedAt, ClockOffset};
use crate::tick_length::TickLength;

/// From `start` on for `counts` counts, its end included: `value` ns, and a tick's length more with
/// each. Its end is the start of the next one, or of a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    pub(crate) start: u64,
    /// Less than 2^55: 83 days of a counter of 5 GHz.
    pub(crate) counts: u64,
    pub(crate) value: u64,
    pub(crate) tick_length: TickLength,
    /// The largest distance from the OS clock, in ns.
    pub(crate) error_ns: u64,
    /// The wall clock's lead over the timeline; unknown if it was set in this piece.
    pub(crate) wall: ClockOffset,
    pub(crate) wall_error_ns: u64,
    pub(crate) bounds: Ahead,
}

/// Bounds of the true time's lead over the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ahead {
    pub(crate) least_ns: i64,
    /// Less than 2^56 ns, two years; more is not bounded.
    pub(crate) width_ns: u64,
    pub(crate) state: WallState,
}

/// A piece in words.
pub(crate) type Words = [u64; Piece::WORDS];

/// The word that holds [`CONVERTED`].
pub(crate) const FLAGS: usize = 1;
/// A count was converted by this piece, which is not joined to another any more.
pub(crate) const CONVERTED: u64 = 1 << 55;

const SHIFT_BITS: u32 = 56;
const MAX_WIDTH_NS: u64 = (1 << 56) - 1;
const MAX_ERROR_NS: u64 = u32::MAX as u64;

impl Piece {
    /// Number of words that a piece is kept in: a cache line.
    pub(crate) const WORDS: usize = 8;

    pub(crate) fn words(&self) -> Words {
        [
            self.start,
            u64::from(self.tick_length.shift) << SHIFT_BITS | self.counts & Self::MAX_COUNTS,
            self.value,
            self.tick_length.mantissa,
            self.error_ns.min(MAX_ERROR_NS) << 32 | self.wall_error_ns.min(MAX_ERROR_NS),
            self.wall.0,
            self.bounds.least_ns as u64,
            (self.bounds.state as u64) << 56 | self.bounds.width_ns.min(MAX_WIDTH_NS),
        ]
    }

    pub(crate) fn from_words(words: Words) -> Self {
        let [start, packed, value, mantissa, errors, wall, least, bounds] = words;
        Self {
            start,
            counts: packed & Self::MAX_COUNTS,
            value,
            tick_length: TickLength { mantissa, shift: (packed >> SHIFT_BITS) as u32 & 127 },
            error_ns: unsaturated(errors >> 32),
            wall: ClockOffset(wall),
            wall_error_ns: unsaturated(errors & MAX_ERROR_NS),
            bounds: Ahead {
                least_ns: least as i64,
                width_ns: bounds & MAX_WIDTH_NS,
                state: WallState::of_number(bounds >> 56),
            },
        }
    }

    /// No piece: all zero.
    pub(crate) const NONE: Self = Self {
        start: 0,
        counts: 0,
        value: 0,
        tick_length: TickLength { mantissa: 0, shift: 0 },
        error_ns: 0,
        wall: ClockOffset::UNKNOWN,
        wall_error_ns: 0,
        bounds: Ahead { least_ns: 0, width_ns: 0, state: WallState::Synchronized },
    };

    /// Length of the longest piece.
    pub(crate) const MAX_COUNTS: u64 = CONVERTED - 1;

    /// The time at `since` counts after the start.
    #[inline(always)]
    pub(crate) fn at(&self, since: u64) -> u64 {
        self.value.saturating_add(self.tick_length.ns(since))
    }

    /// Returns true if it has the time of a count, and no later piece has.
    #[inline(always)]
    #[must_use]
    pub fn is_of(&self, count: u64) -> bool {
        count.wrapping_sub(self.start) < self.counts
    }

    /// The piece up to a count that it covers.
    pub(crate) fn up_to(self, count: u64) -> Self {
        Self { counts: self.counts.min(count.wrapping_sub(self.start)), ..self }
    }

    /// The time at a count in ns, if the piece covers it.
    #[inline(always)]
    #[must_use]
    pub fn time_of(&self, count: u64) -> Option<u64> {
        let since = count.wrapping_sub(self.start);
        if since <= self.counts { Some(self.at(since)) } else { None }
    }

    /// The largest distance of the time from the OS clock's, in ns.
    #[must_use]
    pub fn error_ns(&self) -> u64 {
        self.error_ns
    }

    /// The wall clock's time in ns since the Unix epoch where ours is `ns`, and its largest error
    /// beyond our own; `None` if that clock was set, or none answered.
    #[must_use]
    pub fn wall_at(&self, ns: u64) -> Option<(i64, u64)> {
        if self.wall.is_known() { Some((self.wall.clock_ns(ns), self.wall_error_ns)) } else { None }
    }

    /// The bounds of the true time where ours is `ns`, in ns since the Unix epoch.
    #[must_use]
    pub fn bounded_at(&self, ns: u64) -> BoundedAt {
        let Ahead { least_ns, state, .. } = self.bounds;
        if !state.is_bounded() {
            return BoundedAt::nothing(state);
        }
        BoundedAt {
            earliest_ns: least_ns.saturating_add_unsigned(ns.saturating_sub(self.error_ns)),
            latest_ns: self.bounds.most_ns().saturating_add_unsigned(ns.saturating_add(self.error_ns)),
            state,
        }
    }

    /// The last count that it covers.
    pub(crate) fn end(&self) -> u64 {
        self.start.wrapping_add(self.counts)
    }

    /// The time there.
    pub(crate) fn end_value(&self) -> u64 {
        self.at(self.counts)
    }

    /// The piece that goes straight from the start of this one to the end of the next; `None` if
    /// one does not follow the other.
    pub(crate) fn joined(&self, next: &Self) -> Option<Self> {
        let counts = self.counts + next.counts;
        if self.end() != next.start || counts > Self::MAX_COUNTS {
            return None;
        }
        let walls = same_wall((self.wall, self.wall_error_ns), (next.wall, next.wall_error_ns));
        let (wall, wall_error_ns) = walls.unwrap_or((ClockOffset::UNKNOWN, 0));
        let rise = next.end_value() - self.value;
        // Rounded down, so that it ends no higher than the piece after the next begins.
        let tick_length = TickLength::new((rise as f64 / counts as f64).max(f64::MIN_POSITIVE) * (1.0 - 1e-15));
        let middle = self.value.saturating_add(tick_length.ns(self.counts)).abs_diff(next.value);
        let end = self.value.saturating_add(tick_length.ns(counts)).abs_diff(next.end_value());
        Some(Self {
            counts,
            tick_length,
            error_ns: self.error_ns.max(next.error_ns).saturating_add(middle.max(end)).saturating_add(1),
            wall,
            wall_error_ns,
            bounds: self.bounds.in_both(&next.bounds),
            ..*self
        })
    }
}

/// An error of half a word; one that did not fit is unknown.
fn unsaturated(ns: u64) -> u64 {
    if ns == MAX_ERROR_NS { u64::MAX } else { ns }
}

/// The first of two offsets, if both may be one, and its largest error, in ns.
pub(crate) fn same_wall(
    (one, one_ns): (ClockOffset, u64),
    (other, other_ns): (ClockOffset, u64),
) -> Option<(ClockOffset, u64)> {
    let difference_ns = one.ns().abs_diff(other.ns());
    let are_near = one.is_known() && other.is_known() && difference_ns <= one_ns.saturating_add(other_ns);
    if one == other || are_near { Some((one, one_ns.max(other_ns.saturating_add(difference_ns)))) } else { None }
}

impl Ahead {
    /// Nothing bounds the true time.
    pub(crate) const fn unbounded(state: WallState) -> Self {
        Self { least_ns: 0, width_ns: 0, state }
    }

    /// Between these two; not bounded if their difference is too large.
    pub(crate) fn between(least_ns: i64, most_ns: i64, state: WallState) -> Self {
        let width_ns = most_ns.wrapping_sub(least_ns) as u64;
        if !state.is_bounded() || most_ns < least_ns {
            return Self::unbounded(state);
        }
        if width_ns > MAX_WIDTH_NS { Self::unbounded(WallState::Worthless) } else { Self { least_ns, width_ns, state } }
    }

    /// The largest distance.
    pub(crate) fn most_ns(&self) -> i64 {
        self.least_ns.saturating_add_unsigned(self.width_ns)
    }

    /// These bounds, wider by `by_ns` at both ends.
    pub(crate) fn widened(&self, by_ns: u64) -> Self {
        let (least, most) =
            (self.least_ns.saturating_sub_unsigned(by_ns), self.most_ns().saturating_add_unsigned(by_ns));
        Self::between(least, most, self.state)
    }

    /// Bounds that hold at both; none if their states differ.
    pub(crate) fn in_both(&self, other: &Self) -> Self {
        let unbounded = if other.state.is_bounded() { self.state } else { other.state };
        self.union(other).unwrap_or(Self::unbounded(if unbounded.is_bounded() {
            WallState::Unavailable
        } else {
            unbounded
        }))
    }

    /// Bounds that hold at both; `None` if their states differ.
    pub(crate) fn union(&self, other: &Self) -> Option<Self> {
        if self.state != other.state {
            return None;
        }
        let (least, most) = (self.least_ns.min(other.least_ns), self.most_ns().max(other.most_ns()));
        Some(Self::between(least, most, self.state))
    }
}
