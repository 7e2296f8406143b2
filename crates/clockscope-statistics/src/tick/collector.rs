//! Readings as they come, as far as they tell about a tick.

use super::{Readings, Tick};

/// Takes readings in the order in which they were made and keeps those that differ from the one before, until it is
/// full. All memory is taken at the start.
#[derive(Clone, Debug, Default)]
pub struct TickCollector {
    readings: Readings,
    capacity: usize,
    /// The last reading, and what it is told as.
    last: Option<(u64, u64)>,
}

impl TickCollector {
    /// Room for so many different readings; 8 bytes each.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            readings: Readings { values: Vec::with_capacity(capacity), ..Readings::default() },
            capacity,
            last: None,
        }
    }

    /// Takes readings, in the clock's unit. Does not allocate. A step back is left out: what follows it is put as if
    /// it had followed at once.
    pub fn push(&mut self, readings: &[u64]) {
        if self.is_full() {
            return;
        }
        for reading in readings {
            let Some((last, told)) = self.last else {
                self.readings.values.push(0);
                self.last = Some((*reading, 0));
                continue;
            };
            let step = reading.wrapping_sub(last) as i64;
            if step == 0 {
                self.readings.repeats += 1;
                continue;
            }
            let told = told.saturating_add(step.max(0) as u64);
            if step > 0 {
                self.readings.values.push(told);
            } else {
                self.readings.breaks += 1;
            }
            self.last = Some((*reading, told));
            if self.is_full() {
                return;
            }
        }
    }

    /// Counts readings that repeated the one before, where only the others are at hand.
    pub fn repeated(&mut self, times: u64) {
        self.readings.repeats = self.readings.repeats.saturating_add(times);
    }

    /// Whether it has no use for further readings.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.readings.values.len() >= self.capacity
    }

    /// What the readings tell.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.readings.tick()
    }
}
