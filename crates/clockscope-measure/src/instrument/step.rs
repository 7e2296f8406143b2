//! The step in which a clock moves, by its readings alone.

use clockscope_statistics::{Tick, tick};

/// The step by readings alone; 0 where these say nothing.
pub(crate) fn of_readings(readings: &[u64]) -> f64 {
    match tick(readings) {
        Tick::Found(lattice) => lattice.period + lattice.spread,
        Tick::AtMost { units, .. } => units,
        Tick::Unknown(_) => positive(readings).min().unwrap_or(0) as f64,
    }
}

/// The differences by which readings grow.
pub(crate) fn positive(readings: &[u64]) -> impl Iterator<Item = i64> {
    readings.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64).filter(|step| *step > 0)
}
