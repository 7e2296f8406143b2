//! A stamp, and the clocks that stamps are taken of.

/// A reading of a clock: a number of ticks, or of ns, without its unit.
///
/// It means nothing without the [`Stamps`](super::Stamps) that took it. Two of the same may be
/// compared by [`Stamp::is_before`] as long as they are less than half of 2^64 apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Stamp(pub(super) u64);

impl Stamp {
    /// Returns the stamp of a count that was kept elsewhere.
    #[inline(always)]
    #[must_use]
    pub const fn from_count(count: u64) -> Self {
        Self(count)
    }

    /// Returns the count, in ticks of the counter, or ns of the system's clock.
    #[inline(always)]
    #[must_use]
    pub const fn count(self) -> u64 {
        self.0
    }

    /// Returns whether this stamp was taken before the other one.
    #[inline(always)]
    #[must_use]
    pub const fn is_before(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i64) < 0
    }
}

/// The clock that stamps were taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampClock {
    /// The processor's counter.
    Counter,
    /// The system's clock: the count is the time.
    Os,
}

impl StampClock {
    /// Returns the word of a header.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Os => "os",
        }
    }
}
