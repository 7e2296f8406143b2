//! APIs of runtimes that are not as their users may expect, in words.

use clockscope_records::{ComparedApi, SurpriseProse, SurprisingApi, SurprisingFact};

use crate::text::grouped;
use crate::units::{figure, time};

/// Puts the words beside the data of a surprise.
pub(crate) fn explain(found: &mut SurprisingApi) {
    found.prose = Some(SurpriseProse { text: sentence(found) });
}

/// Words a surprise.
pub(crate) fn sentence(found: &SurprisingApi) -> String {
    let under = found.clocksource.as_ref().map_or_else(String::new, |source| format!(" on {source}"));
    let findings: Vec<String> = found.findings.iter().map(finding).collect();
    format!("{} {}{under}: {}.", found.runtime, found.api, findings.join("; "))
}

fn finding(fact: &SurprisingFact) -> String {
    match fact {
        SurprisingFact::Coarse { tick_ns, nominal_ns, finest, repeats_percent } => {
            let mut line = format!("its tick is {}", time(*tick_ns));
            if let Some(nominal_ns) = nominal_ns {
                line += &format!(" and not the {} that it states", time(*nominal_ns));
            }
            if let Some(finest) = finest {
                line += &format!(", and that of {} is {}", name(finest), time(finest.ns));
            }
            if let Some(percent) = repeats_percent {
                line += &format!("; {}", repeating(*percent));
            }
            line
        }
        SurprisingFact::Repeats { percent } => repeating(*percent),
        SurprisingFact::StoodStill { reads } => {
            format!("it stood still: all of its {} readings are the same", grouped(*reads))
        }
        SurprisingFact::Expensive { cost_ns, cheapest } => {
            let factor = times(cost_ns / cheapest.ns);
            format!("a read costs {}, {factor} one of {}", time(*cost_ns), name(cheapest))
        }
        SurprisingFact::WentBack { count, reads } => {
            format!("it went BACK {} times in {} reads", grouped(*count), grouped(*reads))
        }
    }
}

fn name(api: &ComparedApi) -> String {
    format!("{} {}", api.runtime, api.api)
}

fn repeating(percent: f64) -> String {
    // As tables round it, but only all of them are 100.
    let rounded = (percent * 10.0).round() / 10.0;
    let shown = if rounded >= 100.0 && percent < 100.0 { 99.9 } else { rounded };
    format!("{}% of its readings repeat the one before", figure(shown, 4))
}

fn times(factor: f64) -> String {
    match factor {
        factor if !factor.is_finite() => format!("{} times", figure(factor, 1)),
        factor if factor >= 10.0 => format!("{factor:.0} times"),
        _ => format!("{factor:.1} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_is_worded() {
        let c = |ns| ComparedApi { runtime: "C".to_owned(), api: "clock_gettime".to_owned(), ns };
        let coarse = |nominal_ns, finest, repeats_percent| SurprisingFact::Coarse {
            tick_ns: 101.0,
            nominal_ns,
            finest,
            repeats_percent,
        };
        for (fact, text) in [
            (
                coarse(Some(1.0), Some(c(10.1)), Some(72.0)),
                "its tick is 101 ns and not the 1 ns that it states, and that of C clock_gettime is 10.1 ns; \
                 72% of its readings repeat the one before",
            ),
            (coarse(None, None, None), "its tick is 101 ns"),
            (SurprisingFact::Repeats { percent: 99.99 }, "99.9% of its readings repeat the one before"),
            (SurprisingFact::Repeats { percent: 100.0 }, "100% of its readings repeat the one before"),
            (SurprisingFact::StoodStill { reads: 9 }, "it stood still: all of its 9 readings are the same"),
            (
                SurprisingFact::Expensive { cost_ns: 377.0, cheapest: c(22.0) },
                "a read costs 377 ns, 17 times one of C clock_gettime",
            ),
            (
                SurprisingFact::Expensive { cost_ns: 110.0, cheapest: c(22.0) },
                "a read costs 110 ns, 5.0 times one of C clock_gettime",
            ),
            (SurprisingFact::WentBack { count: 2, reads: 9 }, "it went BACK 2 times in 9 reads"),
        ] {
            assert_eq!(finding(&fact), text);
        }
    }

    #[test]
    fn a_surprise_names_its_api() {
        let [runtime, api, hpet] = ["Python 3.11", "time_ns", "hpet"].map(str::to_owned);
        let facts = [SurprisingFact::StoodStill { reads: 9 }, SurprisingFact::Repeats { percent: 50.0 }];
        let findings = facts.to_vec();
        let found = SurprisingApi { runtime, api, clocksource: Some(hpet), findings, prose: None };
        let text = "Python 3.11 time_ns on hpet: it stood still: all of its 9 readings are the same; 50% of its \
                    readings repeat the one before.";
        let mut worded = found.clone();
        explain(&mut worded);
        let written = serde_json::to_value(&worded).unwrap();
        assert_eq!(written["text"], text);
        assert_eq!(serde_json::from_value::<SurprisingApi>(written).unwrap(), found);
    }
}
