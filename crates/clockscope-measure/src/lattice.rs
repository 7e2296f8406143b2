//! The step of a clock, by its readings alone.

use clockscope_statistics::{Tick, tick};

/// Returns the step that readings in a row show: where they hide it, the smallest difference, which is no less; 0 where
/// they show none.
pub(crate) fn of_readings(readings: &[u64]) -> f64 {
    match tick(readings) {
        Tick::Found(lattice) => lattice.period + lattice.spread,
        Tick::AtMost { units, .. } => units,
        Tick::Unknown(_) => steps(readings).min().unwrap_or(0) as f64,
    }
}

/// Returns the steps forward between readings in a row.
pub(crate) fn steps(readings: &[u64]) -> impl Iterator<Item = i64> {
    readings.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64).filter(|step| *step > 0)
}
