//! Record of what was found about a clock's tick: in ns, exactly, by name.

use clockscope_records::{ExactTick, Figure, Strength, TickEvidence, TickReason, TimeUnit, Unknown, texts};
use clockscope_statistics::{Lattice, MIN_PERIOD_UNITS, Tick, Weight};
use clockscope_system::{ClockBasis, ClockInfo, Resolution, Unit};

use crate::instrument::context::Context;

/// Largest share by which a tick differs from a frequency that is known by name: oscillators are
/// off by up to 100 ppm, and the system's clocks are steered.
const MAX_NOMINAL_ERROR: f64 = 200e-6;
/// Most counts of the counter that a tick is taken for: more could have come about by chance.
const MAX_COUNTS: f64 = 100.0;
/// Largest denominator of a fraction of ns.
const MAX_DENOMINATOR: u32 = 12;

/// Frequencies that are known by name, in Hz, and the exact period.
const KNOWN: [(f64, ExactTick, &str); 16] = [
    (3_579_545.454_5, period(3_579_545.454_5), "ACPI PM timer"),
    (14_318_181.818_2, period(14_318_181.818_2), "HPET"),
    (10e6, fraction(100, 1, TimeUnit::Ns), "10 MHz: QueryPerformanceCounter, .NET's tick"),
    (24e6, fraction(125, 3, TimeUnit::Ns), "24 MHz: Apple's counter, HPET of some PCs"),
    (1e9, fraction(1, 1, TimeUnit::Ns), "1 GHz: Arm generic timer from Armv8.6 on"),
    (62.5e6, fraction(16, 1, TimeUnit::Ns), "62.5 MHz: Arm generic timer"),
    (54e6, fraction(500, 27, TimeUnit::Ns), "54 MHz: Arm generic timer"),
    (25e6, fraction(40, 1, TimeUnit::Ns), "25 MHz: Arm generic timer, HPET of AMD's chips"),
    (19.2e6, fraction(625, 12, TimeUnit::Ns), "19.2 MHz: Arm generic timer, HPET of Intel's chips"),
    (100e6, fraction(10, 1, TimeUnit::Ns), "100 MHz: HPET of QEMU, Arm generic timer"),
    (1e6, fraction(1000, 1, TimeUnit::Ns), "whole microseconds"),
    (1e3, fraction(1, 1, TimeUnit::Ms), "whole milliseconds, or a kernel's timer tick at 1000 Hz"),
    (250.0, fraction(4, 1, TimeUnit::Ms), "kernel's timer tick at 250 Hz"),
    (300.0, fraction(10, 3, TimeUnit::Ms), "kernel's timer tick at 300 Hz"),
    (100.0, fraction(10, 1, TimeUnit::Ms), "kernel's timer tick or USER_HZ at 100 Hz"),
    (1.0, fraction(1, 1, TimeUnit::S), "whole seconds"),
];

const fn fraction(numerator: u64, denominator: u32, unit: TimeUnit) -> ExactTick {
    ExactTick::Fraction { numerator, denominator, unit }
}

const fn period(frequency_hz: f64) -> ExactTick {
    ExactTick::Period { frequency_hz }
}

/// A tick in records.
pub(crate) struct TickRecord {
    pub(crate) tick_ns: Figure<f64>,
    pub(crate) evidence: TickEvidence,
}

/// Record of what readings showed about a tick, in the clock's unit of `ns_per_unit`.
pub(crate) fn record(tick: Tick, info: &ClockInfo, ns_per_unit: Option<f64>, context: &Context<'_>) -> TickRecord {
    let source = TickSource {
        ns_per_count: match info.unit {
            Unit::Counts(_) => ns_per_unit,
            Unit::Nanoseconds if matches!(info.basis, ClockBasis::Clocksource | ClockBasis::Scheduler) => {
                context.counter_under_the_kernel()
            }
            Unit::Nanoseconds => None,
        },
        is_counter: matches!(info.unit, Unit::Counts(_)),
        // The length of a counter's unit was measured, unless the hardware states it.
        unit_error: if info.unit == Unit::Counts(None) { context.timer.rate().bound_ppm * 1e-6 } else { 0.0 },
        nominal_ns: match info.resolution {
            Resolution::Nanoseconds(ns) => Some(ns),
            Resolution::OneCount | Resolution::Unknown(_) => None,
        },
    };
    source.record(tick, ns_per_unit)
}

impl TickRecord {
    fn unknown(steps: u64, at_most_ns: Option<f64>, reason: impl Into<Unknown>) -> Self {
        let evidence = TickEvidence {
            strength: Strength::None,
            steps,
            at_most_ns,
            frequency_hz: None,
            error_ppm: None,
            spread_ns: None,
            agreement: None,
            exact_tick: None,
            recognized: None,
        };
        Self { tick_ns: Figure::unknown(reason), evidence }
    }
}

/// Source that a clock's tick can be of.
#[derive(Clone, Copy, Debug)]
struct TickSource {
    /// Length of one count of the counter that the clock is or is based on.
    ns_per_count: Option<f64>,
    is_counter: bool,
    /// Largest share by which the length of the clock's unit is off.
    unit_error: f64,
    /// Resolution that the interface states.
    nominal_ns: Option<f64>,
}

/// Returns true if a bound is that of readings too dense for any longer tick, and not of their
/// common divisor.
fn is_proved_fine(at_most_units: f64) -> bool {
    (at_most_units - MIN_PERIOD_UNITS).abs() < f64::EPSILON
}

impl TickSource {
    /// Record of what readings showed, in a unit of `ns_per_unit`.
    fn record(self, tick: Tick, ns_per_unit: Option<f64>) -> TickRecord {
        match (tick, ns_per_unit) {
            (Tick::Unknown(reason), _) => TickRecord::unknown(0, None, reason),
            (_, None) => TickRecord::unknown(0, None, texts::NO_LENGTH),
            // What a counter counts is whole, and finer than a few of these is only the one itself.
            // Where all readings are multiples of two or more, the bound is of these.
            (Tick::AtMost { units, steps }, Some(ns)) if self.is_counter && is_proved_fine(units) => {
                let lattice = Lattice { period: 1.0, error: 0.0, spread: 0.0, steps, agreement: 1.0 };
                self.found(lattice, ns)
            }
            (Tick::AtMost { units, steps }, Some(ns)) => {
                let most_ns = units * ns;
                let reason = match units.round() {
                    _ if is_proved_fine(units) => TickReason::TooFine { at_most_ns: most_ns },
                    counts if self.is_counter && (units - counts).abs() < 1e-3 * counts && counts >= 2.0 => {
                        TickReason::MultiplesOf { counts: counts as u64, at_most_ns: most_ns }
                    }
                    _ => TickReason::LikeCost { at_most_ns: most_ns },
                };
                TickRecord::unknown(steps, Some(most_ns), reason)
            }
            (Tick::Found(lattice), Some(ns)) if lattice.weight() == Weight::Weak && !self.is_nominal(lattice, ns) => {
                let at_most_ns = lattice.period * ns * (1.0 + lattice.error + self.unit_error);
                TickRecord::unknown(lattice.steps, Some(at_most_ns), TickReason::FewEqualSteps { at_most_ns })
            }
            (Tick::Found(lattice), Some(ns)) => self.found(lattice, ns),
        }
    }

    /// Returns true if a lattice has the nominal resolution: then few steps suffice. Without that,
    /// equal steps may be as long as the pauses between the reads.
    fn is_nominal(self, lattice: Lattice, ns_per_unit: f64) -> bool {
        let Some(nominal_ns) = self.nominal_ns else { return false };
        (lattice.period * ns_per_unit / nominal_ns - 1.0).abs() <= MAX_NOMINAL_ERROR + lattice.error + self.unit_error
    }

    fn found(self, lattice: Lattice, ns_per_unit: f64) -> TickRecord {
        // A counter delivers whole numbers. Most of them step by a whole number, too; a counter
        // that is scaled by its firmware does not.
        let whole = lattice.period.round();
        let is_whole = self.is_counter && (lattice.period - whole).abs() <= (lattice.period * lattice.error).max(1e-6);
        let (period, error) = if is_whole { (whole, 0.0) } else { (lattice.period, lattice.error) };
        let (tick_ns, error) = (period * ns_per_unit, error + self.unit_error);
        let known = KNOWN.iter().find(|(hz, ..)| (tick_ns * hz / 1e9 - 1.0).abs() <= MAX_NOMINAL_ERROR + error);
        let counts = self.counts(tick_ns).filter(|counts| *counts > 1.0 || known.is_none());
        // What the kernel makes of the counter is a multiple of its counts, whatever else that may
        // look like.
        let exact_tick = match (counts, known) {
            (Some(counts), _) => self.of_counts(counts),
            (None, Some((_, exact, _))) => Some(*exact),
            (None, None) => fraction_of_ns(tick_ns, error),
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
                exact_tick,
                recognized: known.filter(|_| counts.is_none()).map(|(_, _, name)| (*name).to_owned()),
            },
        }
    }

    /// The tick in counts of the hardware, if it is a whole number of them.
    fn counts(self, tick_ns: f64) -> Option<f64> {
        let counts = tick_ns / self.ns_per_count?;
        let whole = counts.round();
        ((counts - whole).abs() <= whole * MAX_NOMINAL_ERROR && (1.0..=MAX_COUNTS).contains(&whole)).then_some(whole)
    }

    /// A tick of `counts` counts of the hardware.
    fn of_counts(self, counts: f64) -> Option<ExactTick> {
        let frequency_hz = 1e9 / self.ns_per_count?;
        Some(ExactTick::Counts { counts: counts as u32, frequency_hz })
    }
}

/// The simplest fraction of ns within the error, where it is so simple that it cannot be an
/// accident.
fn fraction_of_ns(tick_ns: f64, error: f64) -> Option<ExactTick> {
    // What is known no better than this lies near some simple fraction anyway.
    let slack = tick_ns * error.max(1e-9);
    (1..=MAX_DENOMINATOR).find_map(|parts| {
        let whole = (tick_ns * f64::from(parts)).round();
        let is_near = (tick_ns - whole / f64::from(parts)).abs() <= slack;
        let by_chance = 2.0 * slack * f64::from(parts * parts);
        (is_near && by_chance < 1e-2).then_some(fraction(whole as u64, parts, TimeUnit::Ns))
    })
}

#[cfg(test)]
mod tests {
    use clockscope_records::Unknown;

    use super::*;

    const fn ns(numerator: u64, denominator: u32) -> ExactTick {
        fraction(numerator, denominator, TimeUnit::Ns)
    }

    #[test]
    fn fractions_are_found_where_they_are_no_accident() {
        for (tick_ns, error, exact) in [
            (125.0 / 3.0, 1e-7, Some(ns(125, 3))),
            (7.0, 0.0, Some(ns(7, 1))),
            (41.000_001, 1e-6, Some(ns(41, 1))),
            (69.841_279, 1e-7, None),
            (10.014_831, 1e-7, None),
            (10.01, 1e-2, None),
        ] {
            assert_eq!(fraction_of_ns(tick_ns, error), exact, "{tick_ns}");
        }
    }

    #[test]
    fn the_exact_ticks_of_known_frequencies_are_theirs() {
        for (hz, exact, name) in KNOWN {
            let exact_ns = match exact {
                ExactTick::Fraction { numerator, denominator, unit } => {
                    let unit_ns = unit.ns();
                    numerator as f64 / f64::from(denominator) * unit_ns
                }
                ExactTick::Period { frequency_hz } => 1e9 / frequency_hz,
                ExactTick::Counts { .. } => panic!("{name}: counts of which counter?"),
            };
            assert!((exact_ns * hz / 1e9 - 1.0).abs() < 1e-9, "{name}: {exact:?}");
            // A fraction that would be found without the name is the one that the name has.
            if let Some(found) = fraction_of_ns(1e9 / hz, 1e-9)
                .filter(|_| matches!(exact, ExactTick::Fraction { unit: TimeUnit::Ns, .. }))
            {
                assert_eq!(found, exact, "{name}");
            }
        }
    }

    fn lattice(period: f64, error: f64) -> Lattice {
        Lattice { period, error, spread: 1.0, steps: 5000, agreement: 1.0 }
    }

    /// The tick, its exact form and by which name it is known.
    fn found(hardware: TickSource, period: f64, ns_per_unit: f64) -> (f64, Option<ExactTick>, Option<String>) {
        let TickRecord { tick_ns, evidence, .. } = hardware.found(lattice(period, 1e-7), ns_per_unit);
        (tick_ns.get().unwrap(), evidence.exact_tick, evidence.recognized)
    }

    /// All readings of an ordered counter share one residue: few of them prove no tick, and
    /// certainly not a single count.
    #[test]
    fn a_bound_of_many_counts_is_not_one_count() {
        let counter = TickSource { ns_per_count: Some(0.4), is_counter: true, unit_error: 1e-7, nominal_ns: None };
        let found = |units| counter.record(Tick::AtMost { units, steps: 900 }, Some(0.4));
        assert_eq!(found(MIN_PERIOD_UNITS).tick_ns.get(), Some(0.4));
        let TickRecord { tick_ns, evidence } = found(2.0 + 1e-6);
        assert!(!tick_ns.is_known() && (evidence.at_most_ns.unwrap() - 0.8).abs() < 1e-6, "{tick_ns:?}");
        let TickRecord { tick_ns, evidence } = found(26.0 * MIN_PERIOD_UNITS);
        assert_eq!(evidence.strength, Strength::None);
        assert!((evidence.at_most_ns.unwrap() - 31.2).abs() < 1e-9);
        let reason = tick_ns.reason();
        let found = matches!(reason, Some(Unknown::Tick(TickReason::MultiplesOf { counts: 78, at_most_ns })) if (at_most_ns - 31.2).abs() < 1e-9);
        assert!(found, "{tick_ns:?}");
    }

    /// A thread that seldom looks sees few steps, each of which may be several ticks.
    #[test]
    fn few_equal_steps_are_a_tick_only_if_the_interface_states_it() {
        let micros = |nominal_ns| TickSource { ns_per_count: None, is_counter: false, unit_error: 0.0, nominal_ns };
        let found = |steps, nominal_ns| {
            let three = Lattice { steps, ..lattice(1_000.0, 1e-7) };
            micros(nominal_ns).record(Tick::Found(three), Some(2.0))
        };
        assert_eq!(found(8, None).tick_ns.get(), Some(2_000.0));
        assert_eq!(found(7, Some(2_000.0)).tick_ns.get(), Some(2_000.0));
        for nominal_ns in [None, Some(1_000.0)] {
            let TickRecord { tick_ns, evidence } = found(7, nominal_ns);
            assert!(!tick_ns.is_known() && evidence.strength == Strength::None && evidence.steps == 7);
            assert!(evidence.at_most_ns.is_some_and(|ns| (2_000.0..2_000.01).contains(&ns)), "{evidence:?}");
        }
    }

    #[test]
    fn ticks_are_what_they_are_ticks_of() {
        let counter =
            |ns: f64| TickSource { ns_per_count: Some(ns), is_counter: true, unit_error: 1e-7, nominal_ns: None };
        let kernels = |ns: f64| TickSource { is_counter: false, ..counter(ns) };
        let other = TickSource { ns_per_count: None, is_counter: false, unit_error: 0.0, nominal_ns: None };
        let tsc_ns = 1e3 / 2596.16;
        let counts = |counts| ExactTick::Counts { counts, frequency_hz: 1e9 / tsc_ns };
        for (hardware, period_units, unit_ns, exact, name) in [
            (counter(tsc_ns), 26.0, tsc_ns, counts(26), None),
            (counter(tsc_ns), 1.0, tsc_ns, counts(1), None),
            (kernels(tsc_ns), 10.014_791, 1.0, counts(26), None),
            // Arm: the counter itself, and the kernel's clock on it.
            (counter(125.0 / 3.0), 1.0, 125.0 / 3.0, ns(125, 3), Some("24 MHz")),
            (kernels(125.0 / 3.0), 125.0 / 3.0, 1.0, ns(125, 3), Some("24 MHz")),
            (counter(16.0), 1.0, 16.0, ns(16, 1), Some("62.5 MHz")),
            // A counter of 1 GHz, scaled from hardware of 24 MHz.
            (counter(1.0), 125.0 / 3.0, 1.0, ns(125, 3), Some("24 MHz")),
            (other, 69.841_279, 1.0, period(14_318_181.818_2), Some("HPET")),
            (other, 279.365, 1.0, period(3_579_545.454_5), Some("ACPI PM")),
            (other, 7.0, 1.0, ns(7, 1), None),
        ] {
            let (tick_ns, found_exact, found_name) = found(hardware, period_units, unit_ns);
            assert!((tick_ns / (period_units * unit_ns) - 1.0).abs() < 1e-6, "{exact:?}: {tick_ns}");
            assert_eq!(found_exact, Some(exact));
            assert_eq!(found_name.is_some(), name.is_some(), "{exact:?}: {found_name:?}");
            assert!(name.is_none_or(|name| found_name.unwrap().starts_with(name)), "{exact:?}");
        }
    }
}
