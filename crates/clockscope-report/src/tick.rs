//! A tick in words.

use clockscope_records::{ExactTick, TickEvidence, TickProse, TimeUnit};

use crate::units::significant;

/// Puts the words beside the data of a tick.
pub(crate) fn explain(evidence: &mut TickEvidence) {
    evidence.prose = Some(TickProse { period: evidence.exact_tick.as_ref().map(exact) });
}

/// Words an exact tick.
pub(crate) fn exact(tick: &ExactTick) -> String {
    match *tick {
        ExactTick::Fraction { numerator, denominator: 1, unit } => format!("{numerator} {}", name(unit)),
        ExactTick::Fraction { numerator, denominator, unit } => format!("{numerator}/{denominator} {}", name(unit)),
        ExactTick::Counts { counts, frequency_hz } => {
            let plural = if counts == 1 { "" } else { "s" };
            format!("{counts} count{plural} of {:.3} MHz", frequency_hz / 1e6)
        }
        ExactTick::Period { frequency_hz } => format!("1/{} MHz", significant(frequency_hz / 1e6, 7)),
    }
}

const fn name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Ns => "ns",
        TimeUnit::Ms => "ms",
        TimeUnit::S => "s",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_ticks_are_written_with_their_units() {
        let fraction = |numerator, denominator, unit| ExactTick::Fraction { numerator, denominator, unit };
        let counts = |counts| ExactTick::Counts { counts, frequency_hz: 2_596_160_000.0 };
        let period = |frequency_hz| ExactTick::Period { frequency_hz };
        for (tick, text) in [
            (fraction(125, 3, TimeUnit::Ns), "125/3 ns"),
            (fraction(16, 1, TimeUnit::Ns), "16 ns"),
            (fraction(1000, 1, TimeUnit::Ns), "1000 ns"),
            (fraction(10, 3, TimeUnit::Ms), "10/3 ms"),
            (fraction(1, 1, TimeUnit::S), "1 s"),
            (counts(26), "26 counts of 2596.160 MHz"),
            (counts(1), "1 count of 2596.160 MHz"),
            (period(14_318_181.818_2), "1/14.31818 MHz"),
            (period(3_579_545.454_5), "1/3.579545 MHz"),
        ] {
            assert_eq!(exact(&tick), text);
        }
    }
}
