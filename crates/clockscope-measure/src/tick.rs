//! What was found about a clock's tick, as its record: in ns, as a fraction, by name.

use clockscope::{About, Kind, Unit};
use clockscope_records::{Strength, TickEvidence};
use clockscope_statistics::{Lattice, Tick};

use crate::record::Context;

/// By what share a tick may differ from a frequency that is known by name: oscillators are off by up to 100 ppm, and
/// the system's clocks are steered.
const SAME: f64 = 200e-6;
/// A tick is so many ticks of the counter only if as many could not have come about by chance.
const MOST_TICKS: f64 = 100.0;
/// Largest denominator of a fraction of ns.
const DENOMINATOR: u32 = 12;

/// Frequencies that are known by name, in Hz, and how the period is written.
const KNOWN: [(f64, &str, &str); 15] = [
    (3_579_545.454_5, "1/3.579545 MHz", "ACPI PM timer"),
    (14_318_181.818_2, "1/14.31818 MHz", "HPET"),
    (10e6, "100 ns", "10 MHz: QueryPerformanceCounter, .NET's tick"),
    (24e6, "125/3 ns", "24 MHz: Apple's counter, HPET of some PCs"),
    (62.5e6, "16 ns", "62.5 MHz: Arm generic timer"),
    (54e6, "500/27 ns", "54 MHz: Arm generic timer"),
    (25e6, "40 ns", "25 MHz: Arm generic timer, HPET of AMD's chips"),
    (19.2e6, "625/12 ns", "19.2 MHz: Arm generic timer, HPET of Intel's chips"),
    (100e6, "10 ns", "100 MHz: HPET of QEMU, Arm generic timer"),
    (1e6, "1000 ns", "whole microseconds"),
    (1e3, "1 ms", "whole milliseconds, or a kernel's timer tick at 1000 Hz"),
    (250.0, "4 ms", "kernel's timer tick at 250 Hz"),
    (300.0, "10/3 ms", "kernel's timer tick at 300 Hz"),
    (100.0, "10 ms", "kernel's timer tick or USER_HZ at 100 Hz"),
    (1.0, "1 s", "whole seconds"),
];

/// A tick in records, and why there is none.
pub(crate) struct TickRecord {
    pub(crate) tick_ns: Option<f64>,
    pub(crate) evidence: TickEvidence,
    pub(crate) unknown: Option<String>,
}

/// What readings told about a tick, in the clock's unit of so many ns.
pub(crate) fn record(tick: Tick, about: &About, ns_per_unit: Option<f64>, context: &Context<'_>) -> TickRecord {
    let none = |at_most_ns: Option<f64>, reason: String| TickRecord {
        tick_ns: None,
        evidence: TickEvidence {
            strength: Strength::None,
            steps: 0,
            at_most_ns,
            frequency_hz: None,
            error_ppm: None,
            spread_ns: None,
            agreement: None,
            period: None,
            recognised: None,
        },
        unknown: Some(reason),
    };
    match (tick, ns_per_unit) {
        (Tick::Unknown(reason), _) => none(None, reason.reason().to_owned()),
        (_, None) => none(None, "it counts core cycles, whose length changes".to_owned()),
        (Tick::AtMost(units), Some(ns)) => {
            let most_ns = units * ns;
            none(Some(most_ns), format!("too fine to be told from the clock's unit: at most {most_ns:.3} ns"))
        }
        (Tick::Found(lattice), Some(ns)) => found(lattice, about, ns, context),
    }
}

fn found(lattice: Lattice, about: &About, ns_per_unit: f64, context: &Context<'_>) -> TickRecord {
    // A counter delivers whole numbers, and every one of them may be one of its ticks.
    let counts = matches!(about.unit, Unit::Ticks(_));
    let period = if counts { lattice.period.round() } else { lattice.period };
    let tick_ns = period * ns_per_unit;
    let error = if counts { 0.0 } else { lattice.error };
    let counter = counter_ticks(tick_ns, about, ns_per_unit, context);
    let known = KNOWN.iter().find(|(hz, ..)| (tick_ns * hz / 1e9 - 1.0).abs() <= SAME + error);
    // What the kernel makes of the counter is a multiple of its ticks, whatever else that may look like.
    let (written, recognised) = match (counter, known) {
        (Some(ticks), _) => (Some(ticks), None),
        (None, Some((_, written, name))) => (Some((*written).to_owned()), Some((*name).to_owned())),
        (None, None) => (fraction(tick_ns, error), None),
    };
    let strength = match lattice.steps {
        1000.. if lattice.agreement >= 0.99 => Strength::Strong,
        8.. => Strength::Fair,
        _ => Strength::Weak,
    };
    TickRecord {
        tick_ns: Some(tick_ns),
        evidence: TickEvidence {
            strength,
            steps: lattice.steps,
            at_most_ns: None,
            frequency_hz: Some(1e9 / tick_ns),
            error_ppm: Some(error * 1e6),
            spread_ns: Some(lattice.spread * ns_per_unit),
            agreement: Some(lattice.agreement),
            period: written,
            recognised,
        },
        unknown: None,
    }
}

/// The tick in ticks of the processor's counter, for a clock that stands on it.
fn counter_ticks(tick_ns: f64, about: &About, ns_per_unit: f64, context: &Context<'_>) -> Option<String> {
    let ns_per_tick = match about.unit {
        Unit::Ticks(_) => ns_per_unit,
        _ if about.kind == Kind::CpuTime || about.on_clocksource => context.counter_under_the_kernel()?,
        _ => return None,
    };
    let ticks = tick_ns / ns_per_tick;
    let whole = ticks.round();
    let is_whole = (ticks - whole).abs() <= whole * SAME && (1.0..=MOST_TICKS).contains(&whole);
    let plural = if whole == 1.0 { "" } else { "s" };
    is_whole.then(|| format!("{whole} tick{plural} of {:.3} MHz", 1e3 / ns_per_tick))
}

/// The simplest fraction of ns within the error, where it is so simple that it cannot be an accident.
fn fraction(tick_ns: f64, error: f64) -> Option<String> {
    // What is known no better than this lies near some simple fraction anyway.
    let slack = tick_ns * error.max(1e-9);
    (1..=DENOMINATOR).find_map(|parts| {
        let whole = (tick_ns * f64::from(parts)).round();
        let is_near = (tick_ns - whole / f64::from(parts)).abs() <= slack;
        let by_chance = 2.0 * slack * f64::from(parts * parts);
        let written = if parts == 1 { format!("{whole} ns") } else { format!("{whole}/{parts} ns") };
        (is_near && by_chance < 1e-2).then_some(written)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_found_where_they_are_no_accident() {
        for (tick_ns, error, written) in [
            (125.0 / 3.0, 1e-7, Some("125/3 ns")),
            (7.0, 0.0, Some("7 ns")),
            (41.000_001, 1e-6, Some("41 ns")),
            (69.841_279, 1e-7, None),
            (10.014_831, 1e-7, None),
            (10.01, 1e-2, None),
        ] {
            assert_eq!(fraction(tick_ns, error).as_deref(), written, "{tick_ns}");
        }
    }

    #[test]
    fn known_frequencies_are_written_as_they_are() {
        for (hz, written, _) in KNOWN {
            let tick_ns = 1e9 / hz;
            if let Some(fraction) = fraction(tick_ns, 1e-9).filter(|_| written.ends_with(" ns")) {
                assert_eq!(fraction, written);
            }
        }
    }
}
