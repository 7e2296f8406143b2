//! The step that a clock moves in, by which a reading may be late.

use clockscope_system::Errno;

use crate::instrument::bench::Bench;
use crate::instrument::catalog::CatalogEntry;
use crate::instrument::measured_clock::is_counter;
use crate::instrument::step;
use crate::instrument::timer::read;
use crate::platform::{Platform, ReferenceClock};

/// Readings that the step is found from.
const READINGS: usize = 1 << 12;
/// Steps that a clock must take.
const STEPS: usize = 3;
/// Time for which a clock is looked at that has not stepped so often, in ns: no clock whose nominal
/// resolution is fine is known to take longer steps than 100 ms.
const PATIENCE_NS: f64 = 500e6;
/// Two readings further apart than this, in ns, were made by a thread that did not run in between.
const UNINTERRUPTED_NS: f64 = 100e3;

/// Readings in a row for which the clock that times the looking may show the same, if it is fine.
/// After more it stands still.
const TURNS: u64 = 1 << 14;
/// Shortest time of such a reading, in ns.
const TURN_NS: f64 = 50.0;

/// A clock's step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ClockStep {
    /// In the clock's own unit.
    Step(f64),
    /// Its nominal resolution is finer, but it was not seen to step for `ns`: its step may be
    /// anything.
    Unseen { ns: f64 },
}

/// The step of a clock: what its readings show, and no less than what its interface states. For one
/// that hides its step it is the smallest that was seen. Takes half a second for one that is not
/// seen to step, less than a millisecond for a fine one.
///
/// # Errors
/// A read failed.
pub(crate) fn clock_step<P: Platform>(
    row: &CatalogEntry<P>,
    ns_per_unit: f64,
    bench: &Bench<'_, P>,
) -> Result<ClockStep, Errno> {
    let nominal_ns = row.info.nominal_resolution_ns(Some(ns_per_unit)).get().unwrap_or(0.0);
    let nominal = (nominal_ns / ns_per_unit).max(1.0);
    let Ok(sampler) = &row.sampler else { return Ok(ClockStep::Step(nominal)) };
    let readings = (0..READINGS).map(|_| sampler.now()).collect::<Result<Vec<u64>, Errno>>()?;
    // Steps as long as the nominal ones are not waited for.
    if step::positive(&readings).count() >= STEPS || nominal_ns * STEPS as f64 > PATIENCE_NS {
        return Ok(ClockStep::Step(step::of_readings(&readings).max(nominal)));
    }
    // The clock that stands still must not time this: a counter is timed by the reference, and what
    // may be the reference by the timer.
    let seen = if is_counter(row) {
        let (max_turns, start) = (turns(bench.reference.tick_ns()), read(&bench.reference));
        read_until_steps(
            max_turns,
            || sampler.now(),
            || read(&bench.reference).wrapping_sub(start) as i64 as f64,
            || bench.is_stopped(),
        )?
    } else {
        let (max_turns, start) = (turns(bench.timer.tick_ns()), bench.timer.now());
        read_until_steps(max_turns, || sampler.now(), || bench.ns_since(start), || bench.is_stopped())?
    };
    Ok(match seen.steps {
        0 => ClockStep::Unseen { ns: seen.observed_ns },
        STEPS => ClockStep::Step((seen.smallest as f64).max(nominal)),
        // Fewer bound it only by the largest, and by how long none came.
        _ => ClockStep::Step((seen.largest as f64).max(seen.unchanged_ns / ns_per_unit).max(nominal)),
    })
}

/// Returns the number of equal readings in a row that a clock of this step may show without
/// standing still.
fn turns(tick_ns: f64) -> u64 {
    TURNS.max((tick_ns / TURN_NS) as u64)
}

/// Observations of a clock's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ObservedSteps {
    steps: usize,
    smallest: u64,
    largest: u64,
    /// For how long it was looked at, and for how long without a step at most, in ns.
    observed_ns: f64,
    unchanged_ns: f64,
}

/// Reads until the clock has stepped three times, or the time to wait for it is over. Time in which
/// the thread did not run is no time in which it looked.
fn read_until_steps(
    longest: u64,
    mut read: impl FnMut() -> Result<u64, Errno>,
    mut elapsed_ns: impl FnMut() -> f64,
    mut is_stopped: impl FnMut() -> bool,
) -> Result<ObservedSteps, Errno> {
    let (mut seen, mut last, mut last_ns, mut unchanged_ns) = (ObservedSteps::default(), read()?, elapsed_ns(), 0.0);
    let mut turns = 0;
    while seen.steps < STEPS && seen.observed_ns < PATIENCE_NS && !is_stopped() {
        let now_ns = elapsed_ns();
        let observed_ns = (now_ns - last_ns).clamp(0.0, UNINTERRUPTED_NS);
        turns = if observed_ns > 0.0 { 0 } else { turns + 1 };
        if turns == longest {
            break;
        }
        let next = read()?;
        let step = next.wrapping_sub(last) as i64;
        (last, last_ns) = (next, now_ns);
        seen.observed_ns += observed_ns;
        unchanged_ns = if step > 0 { 0.0 } else { unchanged_ns + observed_ns };
        seen.unchanged_ns = seen.unchanged_ns.max(unchanged_ns);
        if step > 0 {
            let step = step as u64;
            seen.smallest = if seen.steps == 0 { step } else { seen.smallest.min(step) };
            seen.largest = seen.largest.max(step);
            seen.steps += 1;
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of this step that is read every 25 ns, by a thread that loses so much time every now
    /// and then.
    fn seen(step: u64, lost_every: u64, lost: u64) -> ObservedSteps {
        let time = std::cell::Cell::new(123_456_789_u64);
        let start = time.get();
        let read = || {
            let next = time.get() + 25;
            time.set(if next % lost_every < 25 { next + lost } else { next });
            Ok(time.get() / step * step)
        };
        read_until_steps(TURNS, read, || (time.get() - start) as f64, || false).unwrap()
    }

    #[test]
    fn a_coarse_clock_is_read_until_it_steps() {
        for step in [100, 200_000, 1_000_000, 4_000_000, 100_000_000] {
            let seen = seen(step, 12_500_000, 3_000_000);
            assert_eq!((seen.steps, seen.smallest), (STEPS, step));
        }
        let once = seen(350_000_000, u64::MAX, 0);
        assert_eq!((once.steps, once.largest), (1, 350_000_000));
        assert!(once.unchanged_ns <= 350e6, "{once:?}");
    }

    /// It was looked at without end.
    #[test]
    fn reading_ends_beside_a_reference_that_is_stuck() {
        assert_eq!(read_until_steps(TURNS, || Ok(7), || 1e9, || false), Ok(ObservedSteps::default()));
    }

    /// Stopped for a second, it has not looked for a second.
    #[test]
    fn time_without_readings_does_not_count() {
        let found = seen(1_000_000_000_000, 50_000_000, 1_000_000_000);
        assert!(found.steps == 0 && (found.observed_ns / PATIENCE_NS - 1.0).abs() < 0.01, "{found:?}");
        // A clock of 4 ms is seen to step between the stops.
        assert_eq!(seen(4_000_000, 50_000_000, 1_000_000_000).smallest, 4_000_000);
    }
}
