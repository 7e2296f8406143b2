//! Which clock to use for intervals, in words.

use clockscope_records::{NoRecommendation, Recommendation, RecommendationProse};

use crate::text::grouped;

/// Puts the words beside the data of a recommendation.
pub(crate) fn explain(recommendation: &mut Recommendation) {
    recommendation.prose = Some(RecommendationProse { sentence: sentence(recommendation) });
}

/// Words a recommendation in at most two sentences: the clock and what to expect of it, and what
/// the fastest counter would save.
pub(crate) fn sentence(recommendation: &Recommendation) -> String {
    let Recommendation { clock: Some(clock), cost_ns, reads, counter, .. } = recommendation else {
        return of_none(recommendation.none).to_owned();
    };
    let mut expected = Vec::new();
    expected.extend(cost_ns.map(|cost_ns| format!("{cost_ns:.1} ns per read")));
    expected.extend(reads.map(|reads| format!("no step back or jump in {} reads on one CPU", grouped(reads))));
    let expected = if expected.is_empty() { String::new() } else { format!(": {}", expected.join(", ")) };
    let counter = cost_ns.zip(counter.as_ref()).map(|(cost_ns, counter)| {
        let saved_ns = cost_ns - counter.cost_ns;
        format!(" {} saves {saved_ns:.1} ns per read; the kernel's own clock is based on it.", counter.name)
    });
    format!("For intervals use {clock}{expected}.{}", counter.unwrap_or_default())
}

const fn of_none(none: Option<NoRecommendation>) -> &'static str {
    match none {
        Some(NoRecommendation::Emulated) => "Measured under emulation: no clock is recommended from emulated costs.",
        Some(NoRecommendation::Unfit) => "No monotonic clock that was measured is fit for intervals: see their events.",
        Some(NoRecommendation::NotMeasured) => "No monotonic clock was measured, so none is recommended for intervals.",
        None => "No clock is recommended for intervals.",
    }
}

#[cfg(test)]
mod tests {
    use clockscope_records::FastestCounter;

    use super::*;

    fn of(clock: &str) -> Recommendation {
        Recommendation { clock: Some(clock.to_owned()), ..Recommendation::default() }
    }

    #[test]
    fn a_clock_is_named_with_what_to_expect_of_it() {
        let known =
            Recommendation { cost_ns: Some(22.24), step_ns: Some(20.0), reads: Some(430_074), ..of("monotonic") };
        let counter = Some(FastestCounter { name: "rdtscp".to_owned(), cost_ns: 18.2 });
        for (recommendation, expected) in [
            (
                known.clone(),
                "For intervals use monotonic: 22.2 ns per read, no step back or jump in 430,074 reads on one CPU.",
            ),
            (
                Recommendation { counter, step_ns: None, ..known },
                "For intervals use monotonic: 22.2 ns per read, no step back or jump in 430,074 reads on one CPU. \
                 rdtscp saves 4.0 ns per read; the kernel's own clock is based on it.",
            ),
            // As older records have it.
            (of("qpc"), "For intervals use qpc."),
        ] {
            assert_eq!(sentence(&recommendation), expected);
        }
    }

    #[test]
    fn no_clock_has_its_reason() {
        let none = |none| sentence(&Recommendation { none, ..Recommendation::default() });
        assert!(none(Some(NoRecommendation::Emulated)).contains("under emulation"));
        assert!(none(Some(NoRecommendation::Unfit)).contains("that was measured is fit"));
        assert!(none(Some(NoRecommendation::NotMeasured)).starts_with("No monotonic clock was measured"));
        assert_eq!(none(None), "No clock is recommended for intervals.");
    }
}
