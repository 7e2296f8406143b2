//! Readings as they come, as far as a tick can be found from them.

use super::readings::TickReadings;
use super::result::Tick;

/// Share of a clock's time that another one shows, at least: a kernel may steer a clock by a tenth
/// (adjtimex's `tick`).
const MIN_STEERED_SHARE: f64 = 0.9;

/// The most time that may have passed between two readings, in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// From the last reading that was taken before to the first.
    pub since_last: f64,
    /// From one reading to the next.
    pub between: f64,
    /// From one reading to the next where nothing interrupts: what could have been seen.
    pub undisturbed: f64,
}

/// Takes readings in the order in which they were made and keeps those that differ from the one
/// before, until it is full. All memory is taken at the start.
#[derive(Clone, Debug, Default)]
pub struct TickCollector {
    readings: TickReadings,
    capacity: usize,
    /// The last reading, and what it is kept as.
    last: Option<(u64, u64)>,
}

impl TickCollector {
    /// Room for `capacity` different readings; 8 bytes each.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            readings: TickReadings { values: Vec::with_capacity(capacity), ..TickReadings::default() },
            capacity,
            last: None,
        }
    }

    /// Takes readings, in the clock's unit, of which nothing else is known. Does not allocate. A
    /// step back is left out: what follows it is put as if it had followed at once.
    pub fn push(&mut self, readings: &[u64]) {
        self.push_timed(
            readings,
            Elapsed { since_last: f64::INFINITY, between: f64::INFINITY, undisturbed: f64::INFINITY },
        );
    }

    /// Takes readings of which another clock shows how much time may have passed between any two.
    /// A step of several ticks takes half of its length or more: one with less is a single tick.
    pub fn push_timed(&mut self, readings: &[u64], elapsed: Elapsed) {
        if self.is_full() {
            return;
        }
        self.readings.quietest = self.readings.quietest.min(elapsed.undisturbed);
        for (index, reading) in readings.iter().enumerate() {
            let Some((last, reported)) = self.last else {
                self.readings.values.push(0);
                self.last = Some((*reading, 0));
                continue;
            };
            let step = reading.wrapping_sub(last) as i64;
            if step == 0 {
                self.readings.repeats += 1;
                continue;
            }
            let reported = reported.saturating_add(step.max(0) as u64);
            if step > 0 {
                self.readings.values.push(reported);
                let passed = if index == 0 { elapsed.since_last } else { elapsed.between };
                if passed < MIN_STEERED_SHARE * step as f64 / 2.0 {
                    self.readings.see(step as u64);
                }
            } else {
                self.readings.breaks += 1;
            }
            self.last = Some((*reading, reported));
            if self.is_full() {
                return;
            }
        }
    }

    /// Counts readings that repeated the one before, where only the others are at hand.
    pub fn repeated(&mut self, times: u64) {
        self.readings.repeats = self.readings.repeats.saturating_add(times);
    }

    /// Returns true if it has no use for further readings.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.readings.values.len() >= self.capacity
    }

    /// The tick that the readings show.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.readings.tick()
    }
}
