//! A bracket: one clock read between two readings of another.

use crate::brackets::RateBounds;

/// The inner clock showed `inner` at some moment that is no earlier than the outer clock's reading
/// `before` and no later than its reading `after`.
///
/// Each clock may be as much as one of its own ticks further than it shows. `T` is a number of 64
/// bits, except where a clock shows no number (std's `Instant`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bracket<T = u64> {
    /// The outer clock, first.
    pub before: u64,
    /// The inner clock.
    pub inner: T,
    /// The outer clock, again.
    pub after: u64,
}

/// The ticks of both clocks, each in the unit of its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ticks {
    /// The clock that is read twice.
    pub outer: f64,
    /// The clock that is read in between.
    pub inner: f64,
}

/// Takes up to `tries` comparisons and returns the narrowest, the first of several as narrow. Stops
/// early with one that is no wider than `enough`; 0 is no width, so it stops none.
///
/// An interruption only ever widens a bracket, and the first after an idle spell is cold.
///
/// # Errors
/// A clock refused.
#[inline]
pub fn narrowest<B, E>(
    mut take: impl FnMut() -> Result<B, E>,
    width: impl Fn(&B) -> u64,
    tries: u32,
    enough: u64,
) -> Result<B, E> {
    let mut best = take()?;
    for _ in 1..tries {
        if width(&best) <= enough {
            break;
        }
        let next = take()?;
        if width(&next) < width(&best) {
            best = next;
        }
    }
    Ok(best)
}

impl<T> Bracket<T> {
    /// Returns the distance between the outer readings, without a tick: 0 where the outer clock did
    /// not move. A large number where it went back.
    #[inline]
    #[must_use]
    pub fn span(&self) -> u64 {
        self.after.wrapping_sub(self.before)
    }

    /// Returns the number of units of the outer clock in which the inner clock's moment may lie,
    /// one or more: the span, and the unit that the last reading is within.
    #[inline]
    #[must_use]
    pub fn width(&self) -> u64 {
        self.span().saturating_add(1)
    }

    /// Returns whether the outer clock went back from one reading to the next. Such a bracket shows
    /// nothing else.
    #[inline]
    #[must_use]
    pub fn went_back(&self) -> bool {
        (self.span() as i64) < 0
    }

    /// Returns the outer clock's reading in the middle, rounded down.
    #[inline]
    #[must_use]
    pub fn middle(&self) -> u64 {
        self.before.wrapping_add(self.span() / 2)
    }

    /// Returns the advance of the outer clock, of this tick, between the moments at which the inner
    /// clock was read: the fewest and the most units.
    #[inline]
    #[must_use]
    pub fn outer_since(&self, earlier: &Self, tick: f64) -> (f64, f64) {
        let shortest = difference(self.before, earlier.after) as f64 - tick;
        (shortest, difference(self.after, earlier.before) as f64 + tick)
    }

    /// Returns the advance of the outer clock from the middle of `earlier` to the middle of this
    /// bracket, in units, to half a unit.
    #[inline]
    #[must_use]
    pub fn middle_since(&self, earlier: &Self) -> f64 {
        let wider = self.span().wrapping_sub(earlier.span());
        difference(self.before, earlier.before) as f64 + wider as i64 as f64 / 2.0
    }
}

impl Bracket {
    /// Stands for a bracket that was not taken.
    pub const ZERO: Self = Self { before: 0, inner: 0, after: 0 };

    /// Returns the advance of the inner clock since `earlier`, in units. Negative where it went
    /// back.
    #[inline]
    #[must_use]
    pub fn inner_since(&self, earlier: &Self) -> f64 {
        difference(self.inner, earlier.inner) as f64
    }

    /// Returns the lead of the inner clock over the outer one, the least and the largest, without
    /// ticks. Both clocks count the same unit.
    #[inline]
    #[must_use]
    pub fn ahead(&self) -> (i64, i64) {
        (difference(self.inner, self.after), difference(self.inner, self.before))
    }

    /// Returns every mean rate from `earlier` to this bracket that both allow, in the inner clock's
    /// units per unit of the outer one. Assumes nothing about what lies between. `None` where the
    /// outer clock did not clearly advance.
    #[inline]
    #[must_use]
    pub fn rate_since(&self, earlier: &Self, ticks: Ticks) -> Option<RateBounds> {
        let (shortest, longest) = self.outer_since(earlier, ticks.outer);
        RateBounds::from_count(self.inner_since(earlier), ticks.inner, shortest, longest)
    }

    /// Returns this bracket's readings since those of `origin`, the outer clock's since the first
    /// one: `[before, inner, after]`.
    #[inline]
    #[must_use]
    pub fn since(&self, origin: &Self) -> [i64; 3] {
        [
            difference(self.before, origin.before),
            difference(self.inner, origin.inner),
            difference(self.after, origin.before),
        ]
    }
}

/// Returns the difference of two readings that wrap at 2^64, from −2^63 on and below 2^63.
#[inline]
fn difference(later: u64, earlier: u64) -> i64 {
    later.wrapping_sub(earlier) as i64
}

#[cfg(all(test, not(target_family = "wasm")))]
#[path = "bracket/tests.rs"]
mod tests;
