//! Which clock to use for intervals, in words.

use clockscope_records::{Recommendation, RecommendationProse};

use crate::reason::why;
use crate::text::grouped;
use crate::units::{percent, time};

/// Puts the words beside the data of a recommendation.
pub(crate) fn explain(recommendation: &mut Recommendation) {
    recommendation.prose = Some(RecommendationProse { sentence: sentence(recommendation) });
}

/// Words a recommendation in at most two sentences: the clock, for which intervals and what to
/// expect of it, and the clock for shorter ones.
pub(crate) fn sentence(recommendation: &Recommendation) -> String {
    let Recommendation { error, clock, interval_ns, cost_ns, reads, shorter, .. } = recommendation;
    let Some(clock) = clock.known() else {
        let reason = why(clock).unwrap_or_default();
        return format!("No clock is recommended for intervals: {}.", reason);
    };
    let from = interval_ns.map_or_else(String::new, |ns| format!(" of {} and more", time(ns)));
    let mut expected = vec![format!("a reading error of at most {}", percent(error * 100.0))];
    expected.extend(cost_ns.map(|cost_ns| format!("{cost_ns:.1} ns per read")));
    expected.extend(reads.map(|reads| format!("no step back or jump in {} reads on one CPU", grouped(reads))));
    let shorter = match shorter {
        Some(shorter) => format!("use {}, and see how often to repeat", shorter.clock),
        None => "see how often to repeat".to_owned(),
    };
    format!(
        "For intervals{from} use {clock}: {}. For shorter ones {shorter}: clockscope advise --interval 100ns.",
        expected.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use clockscope_records::{AdviceReason, Figure, ForShorter};

    use super::*;

    #[test]
    fn a_clock_is_named_with_its_intervals_and_what_to_expect() {
        let known = Recommendation {
            error: 0.01,
            clock: Figure::Known("monotonic".to_owned()),
            interval_ns: Some(5_228.0),
            reading_error_ns: Some(52.28),
            cost_ns: Some(22.24),
            reads: Some(430_074),
            ..Recommendation::default()
        };
        let expected = "For intervals of 5.23 µs and more use monotonic: a reading error of at most 1%, 22.2 ns per read, \
                        no step back or jump in 430,074 reads on one CPU.";
        let shorter = Some(ForShorter { clock: "rdtscp".to_owned(), reading_error_ns: 18.2 });
        for (recommendation, then) in [
            (known.clone(), " For shorter ones see how often to repeat: clockscope advise --interval 100ns."),
            (
                Recommendation { shorter, ..known },
                " For shorter ones use rdtscp, and see how often to repeat: clockscope advise --interval 100ns.",
            ),
        ] {
            assert_eq!(sentence(&recommendation), format!("{expected}{then}"));
        }
    }

    #[test]
    fn no_clock_has_its_reason() {
        let none = |reason: AdviceReason| {
            sentence(&Recommendation { clock: Figure::unknown(reason), ..Recommendation::default() })
        };
        for (reason, words) in [
            (AdviceReason::Emulated, "costs under emulation are the emulator's"),
            (AdviceReason::NothingFit, "no clock that was measured is fit for intervals (see their events)"),
            (AdviceReason::NothingMeasured, "no clock that intervals can be measured with was measured"),
        ] {
            assert_eq!(none(reason), format!("No clock is recommended for intervals: {words}."));
        }
    }
}
