//! Which clock to use for intervals, in words.

use clockscope_records::{NoRecommendation, Recommendation, RecommendationProse};

/// Puts the words beside the data of a recommendation.
pub(crate) fn explain(recommendation: &mut Recommendation) {
    recommendation.prose = Some(RecommendationProse { sentence: sentence(recommendation) });
}

/// Words a recommendation: the clock, and what to expect of it.
pub(crate) fn sentence(recommendation: &Recommendation) -> String {
    let Recommendation { clock: Some(clock), cost_ns, step_ns, reads, counter, .. } = recommendation else {
        return of_none(recommendation.none).to_owned();
    };
    let mut expected = Vec::new();
    expected.extend(cost_ns.map(|cost_ns| format!("a read costs {cost_ns:.1} ns")));
    expected.extend(step_ns.map(|step_ns| format!("its readings step by {step_ns:.0} ns or more")));
    expected.extend(reads.map(|reads| format!("and it never went back or jumped in {reads} reads on one CPU")));
    let expected = if expected.is_empty() { String::new() } else { format!(": {}", expected.join(", ")) };
    let counter = cost_ns.zip(counter.as_ref()).map(|(cost_ns, counter)| {
        format!(
            "; {} costs {:.1} ns, saves {:.1} ns per read, and the kernel's own clock is based on it",
            counter.name,
            counter.cost_ns,
            cost_ns - counter.cost_ns
        )
    });
    format!("For intervals use {clock}{expected}{}.", counter.unwrap_or_default())
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
        let known = Recommendation { cost_ns: Some(22.24), step_ns: Some(20.0), reads: Some(8), ..of("monotonic") };
        let counter = Some(FastestCounter { name: "rdtscp".to_owned(), cost_ns: 18.2 });
        for (recommendation, expected) in [
            (
                known.clone(),
                "For intervals use monotonic: a read costs 22.2 ns, its readings step by 20 ns or more, and it never \
                 went back or jumped in 8 reads on one CPU.",
            ),
            (
                Recommendation { counter, step_ns: None, ..known },
                "For intervals use monotonic: a read costs 22.2 ns, and it never went back or jumped in 8 reads on \
                 one CPU; rdtscp costs 18.2 ns, saves 4.0 ns per read, and the kernel's own clock is based on it.",
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
