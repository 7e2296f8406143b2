//! One difference between successive readings.

/// How often a difference was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The difference, in the clock's unit.
    pub value: i64,
    /// How often.
    pub count: u64,
}
