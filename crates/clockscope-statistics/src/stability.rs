//! Stability of a clock over intervals of every length, from its phase at equal distances in time.

use clockscope_records::{Allan, Mtie};

/// The overlapping Allan deviation of a clock whose phase (reading less reference, in ns) was taken
/// every `spacing_ns`, for intervals of 1, 2, 4, … spacings as long as three of them fit.
///
/// `σ²(τ) = Σ (x[k+2m] - 2 x[k+m] + x[k])² / (2 τ² (N - 2m))` for τ = m spacings and N phases (IEEE
/// 1139; Riley, Handbook of Frequency Stability Analysis, NIST SP 1065, 5.2.4). Takes N steps for
/// each length.
#[must_use]
pub fn allan_deviation(phases_ns: &[f64], spacing_ns: f64) -> Vec<Allan> {
    let lengths = octaves().take_while(|averaged| 3 * averaged < phases_ns.len());
    let deviations = lengths.map(|averaged| {
        let tau_ns = averaged as f64 * spacing_ns;
        let terms = phases_ns.len() - 2 * averaged;
        let curvatures = (0..terms)
            .map(|start| phases_ns[start + 2 * averaged] - 2.0 * phases_ns[start + averaged] + phases_ns[start]);
        let sum: f64 = curvatures.map(|curvature| curvature.powi(2)).sum();
        Allan { tau_s: tau_ns / 1e9, adev: (sum / (2.0 * tau_ns * tau_ns * terms as f64)).sqrt() }
    });
    deviations.collect()
}

/// The maximum time interval error of such a clock: the largest difference between two phases
/// within any interval of that length (ITU-T G.810, II.5), for the same lengths, as long as two of
/// them fit.
#[must_use]
pub fn maximum_time_interval_error(phases_ns: &[f64], spacing_ns: f64) -> Vec<Mtie> {
    // Extremes of the windows of `averaged` phases from each one on, doubled from octave to octave.
    let (mut highest, mut lowest) = (phases_ns.to_vec(), phases_ns.to_vec());
    let mut found = Vec::new();
    for averaged in octaves().take_while(|averaged| 2 * averaged < phases_ns.len()) {
        let mut ns = 0.0_f64;
        for start in 0..phases_ns.len() - averaged {
            // An interval of `averaged` spacings has one phase more than the window.
            let last = phases_ns[start + averaged];
            ns = ns.max(highest[start].max(last) - lowest[start].min(last));
            highest[start] = highest[start].max(highest[start + averaged]);
            lowest[start] = lowest[start].min(lowest[start + averaged]);
        }
        found.push(Mtie { tau_s: averaged as f64 * spacing_ns / 1e9, ns });
    }
    found
}

fn octaves() -> impl Iterator<Item = usize> {
    (0..usize::BITS - 1).map(|power| 1 << power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Made by tests/fixtures/stability.py with allantools, an independent implementation.
    #[test]
    fn as_allantools_has_it() {
        let fixtures: serde_json::Value =
            serde_json::from_str(include_str!("../tests/fixtures/stability.json")).unwrap();
        let list = |value: &serde_json::Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
        };
        for series in fixtures["series"].as_array().unwrap() {
            let (phases, spacing) = (list(&series["phases"]), series["spacing"].as_f64().unwrap());
            let allan = allan_deviation(&phases, spacing).into_iter().map(|found| (found.tau_s * 1e9, found.adev));
            let mtie = maximum_time_interval_error(&phases, spacing).into_iter();
            let mtie = mtie.map(|found| (found.tau_s * 1e9, found.ns));
            for (question, found) in [("oadev", allan.collect::<Vec<_>>()), ("mtie", mtie.collect())] {
                let (taus, expected) = (list(&series[question]["tau"]), list(&series[question]["value"]));
                assert!(found.len() >= 8, "{question} of {}", series["name"]);
                for (tau_ns, value) in found {
                    let index = taus.iter().position(|tau| (tau - tau_ns).abs() <= 1e-9 * tau).unwrap();
                    let difference = (value - expected[index]).abs();
                    assert!(difference <= 1e-9 * expected[index].abs(), "{question} {value} {}", expected[index]);
                }
            }
        }
    }

    #[test]
    fn few_phases_tell_little() {
        assert!(allan_deviation(&[], 1.0).is_empty() && maximum_time_interval_error(&[1.0, 2.0], 1.0).is_empty());
        assert_eq!(allan_deviation(&[0.0, 0.0, 1.0, 1.0], 1.0).len(), 1);
        assert_eq!(
            maximum_time_interval_error(&[0.0, 3.0, 1.0, 1.0, 9.0], 5e8),
            [Mtie { tau_s: 0.5, ns: 8.0 }, Mtie { tau_s: 1.0, ns: 8.0 }]
        );
    }

    proptest! {
        /// A constant rate is no instability; it is all of the MTIE.
        #[test]
        fn a_straight_line(rate in -1e-3..1e-3_f64, start in -1e6..1e6_f64, count in 7usize..300) {
            let phases: Vec<f64> = (0..count).map(|index| start + rate * index as f64).collect();
            for deviation in allan_deviation(&phases, 1.0) {
                prop_assert!(deviation.adev < 1e-8);
            }
            for error in maximum_time_interval_error(&phases, 1.0) {
                prop_assert!((error.ns - rate.abs() * error.tau_s * 1e9).abs() < 1e-8);
            }
        }
    }
}
