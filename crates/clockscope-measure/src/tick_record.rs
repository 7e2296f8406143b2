//! What was found about a clock's tick, as its record: in ns, as a fraction, by name.

use std::borrow::Cow;

use clockscope_records::{Figure, Strength, TickEvidence};
use clockscope_sources::{ClockBasis, ClockInfo, Unit};
use clockscope_statistics::{Lattice, SHORTEST_TICK, Tick, Weight};

use crate::context::Context;
use crate::distribution::NO_LENGTH;
use crate::platform::Platform;

/// By what share a tick may differ from a frequency that is known by name: oscillators are off by
/// up to 100 ppm, and the system's clocks are steered.
const SAME: f64 = 200e-6;
/// A tick is so many counts of the counter only if as many could not have come about by chance.
const MOST_COUNTS: f64 = 100.0;
/// Largest denominator of a fraction of ns.
const DENOMINATOR: u32 = 12;

/// Frequencies that are known by name, in Hz, and how the period is written.
const KNOWN: [(f64, &str, &str); 16] = [
    (3_579_545.454_5, "1/3.579545 MHz", "ACPI PM timer"),
    (14_318_181.818_2, "1/14.31818 MHz", "HPET"),
    (10e6, "100 ns", "10 MHz: QueryPerformanceCounter, .NET's tick"),
    (24e6, "125/3 ns", "24 MHz: Apple's counter, HPET of some PCs"),
    (1e9, "1 ns", "1 GHz: Arm generic timer from Armv8.6 on"),
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

/// A tick in records.
pub(crate) struct TickRecord {
    pub(crate) tick_ns: Figure<f64>,
    pub(crate) evidence: TickEvidence,
}

/// What readings showed about a tick, in the clock's unit of so many ns.
pub(crate) fn record<P: Platform>(
    tick: Tick,
    info: &ClockInfo,
    ns_per_unit: Option<f64>,
    context: &Context<'_, P>,
) -> TickRecord {
    let stands_on = TickSource {
        ns_per_count: match info.unit {
            Unit::Counts(_) => ns_per_unit,
            Unit::Nanoseconds if matches!(info.basis, ClockBasis::Clocksource | ClockBasis::Scheduler) => {
                context.counter_under_the_kernel()
            }
            Unit::Nanoseconds => None,
        },
        is_counter: matches!(info.unit, Unit::Counts(_)),
        // The length of a counter's unit was measured, unless the hardware states it.
        unit_error: if info.unit == Unit::Counts(None) { context.rate.bound_ppm * 1e-6 } else { 0.0 },
    };
    stands_on.record(tick, ns_per_unit)
}

impl TickRecord {
    fn unknown(steps: u64, at_most_ns: Option<f64>, reason: impl Into<Cow<'static, str>>) -> Self {
        let evidence = TickEvidence {
            strength: Strength::None,
            steps,
            at_most_ns,
            frequency_hz: None,
            error_ppm: None,
            spread_ns: None,
            agreement: None,
            period: None,
            recognised: None,
        };
        Self { tick_ns: Figure::unknown(reason), evidence }
    }
}

/// What a clock's tick can be a tick of.
#[derive(Clone, Copy, Debug)]
struct TickSource {
    /// Length of one count of the counter that the clock is or stands on.
    ns_per_count: Option<f64>,
    is_counter: bool,
    /// By what share the length of the clock's unit may be off.
    unit_error: f64,
}

impl TickSource {
    /// What readings showed, in a unit of so many ns.
    fn record(self, tick: Tick, ns_per_unit: Option<f64>) -> TickRecord {
        match (tick, ns_per_unit) {
            (Tick::Unknown(reason), _) => TickRecord::unknown(0, None, reason.reason()),
            (_, None) => TickRecord::unknown(0, None, NO_LENGTH),
            // What a counter counts is whole, and finer than a few of these is only the one itself.
            // Where all readings are multiples of more, the bound is of these.
            (Tick::AtMost { units, steps }, Some(ns)) if self.is_counter && units <= SHORTEST_TICK => {
                let lattice = Lattice { period: 1.0, error: 0.0, spread: 0.0, steps, agreement: 1.0 };
                self.found(lattice, ns)
            }
            (Tick::AtMost { units, steps }, Some(ns)) => {
                let most_ns = units * ns;
                let why = if units <= SHORTEST_TICK {
                    "too fine to be separated from the clock's unit"
                } else {
                    "too few readings to separate a tick from the read's own cost"
                };
                let reason = format!("{why}: at most {most_ns:.3} ns");
                TickRecord::unknown(steps, Some(most_ns), reason)
            }
            (Tick::Found(lattice), Some(ns)) => self.found(lattice, ns),
        }
    }

    fn found(self, lattice: Lattice, ns_per_unit: f64) -> TickRecord {
        // A counter delivers whole numbers. Most of them step by a whole number, too; a counter
        // that is scaled by its firmware does not.
        let whole = lattice.period.round();
        let is_whole = self.is_counter && (lattice.period - whole).abs() <= (lattice.period * lattice.error).max(1e-6);
        let (period, error) = if is_whole { (whole, 0.0) } else { (lattice.period, lattice.error) };
        let (tick_ns, error) = (period * ns_per_unit, error + self.unit_error);
        let known = KNOWN.iter().find(|(hz, ..)| (tick_ns * hz / 1e9 - 1.0).abs() <= SAME + error);
        let counts = self.counts(tick_ns).filter(|counts| *counts > 1.0 || known.is_none());
        // What the kernel makes of the counter is a multiple of its counts, whatever else that may
        // look like.
        let written = match (counts, known) {
            (Some(counts), _) => Some(written_in_counts(counts, self.ns_per_count)),
            (None, Some((_, written, _))) => Some((*written).to_owned()),
            (None, None) => fraction(tick_ns, error),
        };
        let strength = match lattice.weight() {
            Weight::Strong => Strength::Strong,
            Weight::Fair => Strength::Fair,
            Weight::Weak => Strength::Weak,
        };
        TickRecord {
            tick_ns: Figure::Known(tick_ns),
            evidence: TickEvidence {
                strength,
                steps: lattice.steps,
                at_most_ns: None,
                frequency_hz: Some(1e9 / tick_ns),
                error_ppm: Some(error * 1e6),
                spread_ns: Some(lattice.spread * ns_per_unit),
                agreement: Some(lattice.agreement),
                period: written,
                recognised: known.filter(|_| counts.is_none()).map(|(_, _, name)| (*name).to_owned()),
            },
        }
    }

    /// The tick in counts of the hardware, if it is a whole number of them.
    fn counts(self, tick_ns: f64) -> Option<f64> {
        let counts = tick_ns / self.ns_per_count?;
        let whole = counts.round();
        ((counts - whole).abs() <= whole * SAME && (1.0..=MOST_COUNTS).contains(&whole)).then_some(whole)
    }
}

fn written_in_counts(counts: f64, ns_per_count: Option<f64>) -> String {
    let plural = if counts == 1.0 { "" } else { "s" };
    ns_per_count.map_or_else(String::new, |ns| format!("{counts} count{plural} of {:.3} MHz", 1e3 / ns))
}

/// The simplest fraction of ns within the error, where it is so simple that it cannot be an
/// accident.
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
            if let Some(fraction) = fraction(1e9 / hz, 1e-9).filter(|_| written.ends_with(" ns")) {
                assert_eq!(fraction, written);
            }
        }
    }

    fn lattice(period: f64, error: f64) -> Lattice {
        Lattice { period, error, spread: 1.0, steps: 5000, agreement: 1.0 }
    }

    /// The tick, how it is written and by which name it is known.
    fn found(hardware: TickSource, period: f64, ns_per_unit: f64) -> (f64, Option<String>, Option<String>) {
        let TickRecord { tick_ns, evidence, .. } = hardware.found(lattice(period, 1e-7), ns_per_unit);
        (tick_ns.get().unwrap(), evidence.period, evidence.recognised)
    }

    /// All readings of an ordered counter share one residue: few of them prove no tick, and
    /// certainly not a single count.
    #[test]
    fn a_bound_of_many_counts_is_not_one_count() {
        let counter = TickSource { ns_per_count: Some(0.4), is_counter: true, unit_error: 1e-7 };
        let found = |units| counter.record(Tick::AtMost { units, steps: 900 }, Some(0.4));
        assert_eq!(found(SHORTEST_TICK).tick_ns.get(), Some(0.4));
        let TickRecord { tick_ns, evidence } = found(26.0 * SHORTEST_TICK);
        assert_eq!(evidence.strength, Strength::None);
        assert!((evidence.at_most_ns.unwrap() - 31.2).abs() < 1e-9);
        assert!(tick_ns.reason().unwrap().contains("at most 31.200 ns"));
    }

    #[test]
    fn ticks_are_written_as_what_they_are() {
        let counter = |ns: f64| TickSource { ns_per_count: Some(ns), is_counter: true, unit_error: 1e-7 };
        let kernels = |ns: f64| TickSource { is_counter: false, ..counter(ns) };
        let other = TickSource { ns_per_count: None, is_counter: false, unit_error: 0.0 };
        let tsc_ns = 1e3 / 2596.16;
        for (hardware, period, unit_ns, written, name) in [
            (counter(tsc_ns), 26.0, tsc_ns, "26 counts of 2596.160 MHz", None),
            (counter(tsc_ns), 1.0, tsc_ns, "1 count of 2596.160 MHz", None),
            (kernels(tsc_ns), 10.014_791, 1.0, "26 counts of 2596.160 MHz", None),
            // Arm: the counter itself, and the kernel's clock on it.
            (counter(125.0 / 3.0), 1.0, 125.0 / 3.0, "125/3 ns", Some("24 MHz")),
            (kernels(125.0 / 3.0), 125.0 / 3.0, 1.0, "125/3 ns", Some("24 MHz")),
            (counter(16.0), 1.0, 16.0, "16 ns", Some("62.5 MHz")),
            // A counter of 1 GHz, scaled from hardware of 24 MHz.
            (counter(1.0), 125.0 / 3.0, 1.0, "125/3 ns", Some("24 MHz")),
            (other, 69.841_279, 1.0, "1/14.31818 MHz", Some("HPET")),
            (other, 279.365, 1.0, "1/3.579545 MHz", Some("ACPI PM")),
            (other, 7.0, 1.0, "7 ns", None),
        ] {
            let (tick_ns, found_written, found_name) = found(hardware, period, unit_ns);
            assert!((tick_ns / (period * unit_ns) - 1.0).abs() < 1e-6, "{written}: {tick_ns}");
            assert_eq!(found_written.as_deref(), Some(written));
            assert_eq!(found_name.is_some(), name.is_some(), "{written}: {found_name:?}");
            assert!(name.is_none_or(|name| found_name.unwrap().starts_with(name)), "{written}");
        }
    }
}
