//! By how much a reading may be late: the step that a clock moves in.

use clockscope::Errno;
use clockscope_records::Unknown;
use clockscope_statistics::{Tick, tick};

use crate::bench::Bench;
use crate::catalogue::Row;
use crate::timer::Calibration;

/// Readings that the step is found from.
const READINGS: usize = 1 << 12;
/// Steps that a clock must take.
const STEPS: usize = 3;
/// How long a clock is looked at that has not stepped so often, in ns: no clock that claims to be fine is known to take longer
/// steps than 100 ms.
const PATIENCE_NS: f64 = 500e6;

/// A clock's step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantum {
    /// In the clock's own unit.
    Step(f64),
    /// It claims to be finer, but was not seen to step for so many ns: its step may be anything.
    Unseen { ns: f64 },
}

/// The step of a clock: what its readings tell, and no less than what its interface claims. For one that hides its step it is
/// the smallest that was seen. Takes half a second for one that is not seen to step, less than a millisecond for a fine one.
///
/// # Errors
/// A read failed.
pub(crate) fn quantum(row: &Row, ns_per_unit: f64, bench: &Bench<'_>) -> Result<Quantum, Errno> {
    let claimed_ns = row.nominal_resolution_ns(Some(ns_per_unit), &mut Unknown::new()).unwrap_or(0.0);
    let claimed = (claimed_ns / ns_per_unit).max(1.0);
    let Ok(sampler) = &row.sampler else { return Ok(Quantum::Step(claimed)) };
    let readings = (0..READINGS).map(|_| sampler.now()).collect::<Result<Vec<u64>, Errno>>()?;
    // Steps as long as a clock claims to take are not waited for.
    if steps(&readings).count() >= STEPS || claimed_ns * STEPS as f64 > PATIENCE_NS {
        return Ok(Quantum::Step(of_readings(&readings).max(claimed)));
    }
    let start = Calibration::start(bench.timer, bench.reference);
    let is_over = || start.elapsed_ns() > PATIENCE_NS || bench.is_stopped();
    let seen = smallest_step(|| sampler.now(), is_over)?;
    Ok(seen
        .map_or_else(|| Quantum::Unseen { ns: start.elapsed_ns() }, |step| Quantum::Step((step as f64).max(claimed))))
}

/// The smallest of a clock's next steps forward, of three or as many as there are before the time is over.
fn smallest_step(
    mut read: impl FnMut() -> Result<u64, Errno>,
    mut is_over: impl FnMut() -> bool,
) -> Result<Option<u64>, Errno> {
    let (mut smallest, mut count, mut last) = (None, 0, read()?);
    while count < STEPS && !is_over() {
        let next = read()?;
        let step = next.wrapping_sub(last) as i64;
        last = next;
        if step > 0 {
            smallest = Some(smallest.map_or(step as u64, |least: u64| least.min(step as u64)));
            count += 1;
        }
    }
    Ok(smallest)
}

/// The step by readings alone; 0 where these say nothing.
pub(crate) fn of_readings(readings: &[u64]) -> f64 {
    match tick(readings) {
        Tick::Found(lattice) => lattice.period + lattice.spread,
        Tick::AtMost { units, .. } => units,
        Tick::Unknown(_) => steps(readings).min().unwrap_or(0) as f64,
    }
}

fn steps(readings: &[u64]) -> impl Iterator<Item = i64> {
    readings.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64).filter(|step| *step > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of this step that is read every 25 ns for half a second, but for the time that its thread loses.
    fn seen(step: u64, lost_every: u64, lost: u64) -> Option<u64> {
        let time = std::cell::Cell::new(123_456_789_u64);
        let end = time.get() + 500_000_000;
        let read = || {
            let next = time.get() + 25;
            time.set(if next.is_multiple_of(lost_every) { next + lost } else { next });
            Ok(time.get() / step * step)
        };
        smallest_step(read, || time.get() > end).unwrap()
    }

    #[test]
    fn a_coarse_clock_is_looked_at_until_it_steps() {
        for step in [100, 200_000, 1_000_000, 4_000_000, 100_000_000] {
            assert_eq!(seen(step, 12_500_000, 3_000_000), Some(step));
        }
        // Once is enough to know it, and never is not.
        assert_eq!(seen(350_000_000, u64::MAX, 0), Some(350_000_000));
        assert_eq!(seen(1_000_000_000_000, u64::MAX, 0), None);
    }
}
