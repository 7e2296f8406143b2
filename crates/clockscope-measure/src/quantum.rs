//! By how much a reading may be late: the step that a clock moves in.

use clockscope::Errno;
use clockscope_records::Unknown;
use clockscope_statistics::{Tick, tick};

use crate::catalogue::Row;

/// Readings that the step is found from.
const READINGS: usize = 1 << 12;

/// The step of a clock in its own unit: what its readings tell, and no less than what its interface claims. For one that
/// hides its step it is the smallest that was seen.
///
/// # Errors
/// A read failed.
pub(crate) fn quantum(row: &Row, ns_per_unit: f64) -> Result<f64, Errno> {
    let claimed = row.nominal_resolution_ns(Some(ns_per_unit), &mut Unknown::new()).unwrap_or(0.0) / ns_per_unit;
    let Ok(sampler) = &row.sampler else { return Ok(claimed) };
    let readings = (0..READINGS).map(|_| sampler.now()).collect::<Result<Vec<u64>, Errno>>()?;
    Ok(of_readings(&readings).max(claimed).max(1.0))
}

/// The same of readings alone; 0 where these say nothing.
pub(crate) fn of_readings(readings: &[u64]) -> f64 {
    match tick(readings) {
        Tick::Found(lattice) => lattice.period + lattice.spread,
        Tick::AtMost { units, .. } => units,
        Tick::Unknown(_) => {
            let steps = readings.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64);
            steps.filter(|step| *step > 0).min().unwrap_or(0) as f64
        }
    }
}
