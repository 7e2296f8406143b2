use super::*;
use proptest::prelude::*;

fn counted(differences: &[i64]) -> Differences {
    let mut counted = Differences::default();
    let mut readings = vec![1u64 << 40];
    for difference in differences {
        readings.push(readings[readings.len() - 1].wrapping_add_signed(*difference));
    }
    counted.push(&readings);
    counted
}

#[test]
fn figures_of_a_known_sample() {
    // pandas.Series([0, 1, 2, 4, 8, 100_000, -3]).describe(percentiles=[.25, .5, .75, .99, .999])
    let summary = counted(&[0, 1, 2, 4, 8, 100_000, -3]).summary().unwrap();
    assert_eq!((summary.count, summary.min, summary.max), (7, -3.0, 100_000.0));
    assert_eq!((summary.p25, summary.p50, summary.p75), (0.5, 2.0, 6.0));
    assert!((summary.mean - 14_287.428_571_428_57).abs() < 1e-6 && (summary.p99 - 94_000.48).abs() < 1e-6);
    assert!((summary.std.unwrap() - 37_795.691_526).abs() < 1e-3, "{summary:?}");
}

/// A clock that jumps by centuries: the sum has more than 64 bits.
#[test]
fn the_mean_lies_between_least_and_most() {
    let summary = counted(&[5_000_000_000_000_000_000; 70]).summary().unwrap();
    assert_eq!([summary.mean, summary.std.unwrap()], [5e18, 0.0]);
}

#[test]
fn zeros_are_left_out_where_they_should_be() {
    let counted = counted(&[0, 0, 0, 10, 10, 20]);
    assert_eq!(counted.summary().unwrap().p50, 5.0);
    let nonzero = counted.summary_nonzero().unwrap();
    assert_eq!((nonzero.count, nonzero.p50, nonzero.min), (3, 10.0, 10.0));
    assert!(super::tests::counted(&[0, 0]).summary_nonzero().is_none());
    assert!(super::tests::counted(&[]).summary().is_none());
}

/// More different values than can be kept: memory is bounded, what was rounded is said, the ends
/// are exact.
#[test]
fn many_different_differences_are_rounded() {
    let all: Vec<i64> = (0..200_000).map(|index| 20_000 + index * 7919 % 1_000_003).collect();
    let counted = counted(&all);
    assert!(counted.entries().len() < 60_000 && counted.rounded() > 100_000);
    assert_eq!(counted.entries().iter().map(|entry| entry.count).sum::<u64>(), 200_000);
    let (summary, mut sorted) = (counted.summary().unwrap(), all);
    sorted.sort_unstable();
    assert_eq!((summary.min, summary.max), (sorted[0] as f64, sorted[199_999] as f64));
    assert!((summary.p50 / sorted[100_000] as f64 - 1.0).abs() < 2e-3);
}

/// Differences that are spread evenly around centers: each has a width and a count.
fn around(centers: &[(i64, i64, usize)]) -> Vec<i64> {
    let spread = |&(center, width, count): &(i64, i64, usize)| {
        (0..count as i64).map(move |index| center + index * 7 % (2 * width + 1) - width)
    };
    centers.iter().flat_map(spread).collect()
}

fn modes(centers: &[(i64, i64, usize)], period: Option<f64>) -> Vec<f64> {
    counted(&around(centers)).modes(period, 2.0).iter().map(|mode| mode.ns).collect()
}

#[test]
fn modes_are_distinguished() {
    assert_eq!(modes(&[(25, 2, 50_000)], None).len(), 1);
    assert_eq!(modes(&[(25, 2, 50_000), (825, 20, 500)], None).len(), 2);
    assert_eq!(modes(&[(25, 2, 50_000), (36, 3, 20_000), (825, 20, 500)], None).len(), 3);
    // Too few for a mode.
    assert_eq!(modes(&[(25, 2, 50_000), (825, 20, 20)], None).len(), 1);
}

#[test]
fn neighboring_ticks_are_one_mode() {
    let ticks = [(20, 0, 30_000), (30, 0, 5000), (40, 0, 900)];
    assert_eq!(modes(&ticks, Some(10.0)), [40.0]);
    // A clock that stands still most of the time.
    assert_eq!(modes(&[(0, 0, 50_000), (1000, 0, 1500)], Some(1000.0)), [0.0]);
    assert_eq!(modes(&[(0, 0, 50_000), (7000, 0, 1500)], Some(1000.0)), [0.0, 14_000.0]);
}

proptest! {
    #[test]
    fn quantiles_are_those_of_the_sorted_sample(
        differences in prop::collection::vec(prop_oneof![0i64..50, -1000i64..100_000], 1..400),
        q in 0.0..=1.0_f64,
    ) {
        let counted = counted(&differences);
        let mut sorted: Vec<f64> = differences.iter().map(|difference| *difference as f64).collect();
        sorted.sort_by(f64::total_cmp);
        let found = quantile(&counted.entries(), counted.count(), q);
        prop_assert!((found - crate::quantile(&sorted, q).unwrap()).abs() <= 1e-9 * found.abs().max(1.0));
    }

    #[test]
    fn modes_hold_at_most_everything(differences in prop::collection::vec(-5i64..3000, 1..500)) {
        let shares: f64 = counted(&differences).modes(None, 1.0).iter().map(|mode| mode.share).sum();
        prop_assert!(shares <= 1.0 + 1e-9);
    }
}
