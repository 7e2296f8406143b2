//! One difference between successive readings.

/// A difference and its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The difference, in the clock's unit.
    pub value: i64,
    /// Number of times that it was seen.
    pub count: u64,
}
