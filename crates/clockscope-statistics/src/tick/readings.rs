//! The readings that a tick is found from.

/// Readings without repeats and steps back, from the first on, and how many repeats there were.
#[derive(Clone, Debug)]
pub(crate) struct TickReadings {
    /// Ascending, from 0.
    pub(super) values: Vec<u64>,
    pub(super) repeats: u64,
    /// Steps back that were left out: each may have moved the phase by up to half a tick either
    /// way.
    pub(super) breaks: u64,
    /// The shortest step of which no more time passed than a single tick explains; `u64::MAX` if
    /// there was none.
    pub(super) shortest_seen: u64,
    /// The least time that may have passed between two readings.
    pub(super) quietest: f64,
}

impl Default for TickReadings {
    fn default() -> Self {
        Self { values: Vec::new(), repeats: 0, breaks: 0, shortest_seen: u64::MAX, quietest: f64::INFINITY }
    }
}
