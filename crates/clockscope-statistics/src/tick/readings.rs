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
    /// The two shortest steps of which no more time passed than a single tick explains, the shorter
    /// one first; `u64::MAX` if there was none.
    pub(super) shortest_seen: [u64; 2],
    /// The least time that may have passed between two readings.
    pub(super) quietest: f64,
}

impl TickReadings {
    /// Takes a step of which no more time passed than a single tick explains.
    pub(super) fn see(&mut self, step: u64) {
        let [shortest, next] = self.shortest_seen;
        self.shortest_seen = if step < shortest { [step, shortest] } else { [shortest, next.min(step)] };
    }
}

impl Default for TickReadings {
    fn default() -> Self {
        Self { values: Vec::new(), repeats: 0, breaks: 0, shortest_seen: [u64::MAX; 2], quietest: f64::INFINITY }
    }
}
