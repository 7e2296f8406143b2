use super::*;
use clockscope_testing::cases;
use proptest::prelude::*;

/// A clock and a reference that runs true, as they are read.
struct World {
    /// (from when on in ns, rate): the clock's rate as a function of true time.
    rates: Vec<(f64, f64)>,
    ticks: Ticks,
}

impl World {
    /// The clock's count at `time`.
    fn counted(&self, time: f64) -> f64 {
        let ends = self.rates.iter().skip(1).map(|(from, _)| *from).chain([f64::INFINITY]);
        self.rates.iter().zip(ends).map(|((from, rate), end)| (end.min(time) - from).max(0.0) * (1.0 + rate)).sum()
    }

    fn bracket(&self, time: f64, [until_clock, until_after]: [f64; 2]) -> BracketNs {
        let floored = |value: f64, tick: f64| if tick > 0.0 { (value / tick).floor() * tick } else { value };
        BracketNs {
            before: floored(time, self.ticks.outer),
            inner: floored(self.counted(time + until_clock), self.ticks.inner),
            after: floored(time + until_clock + until_after, self.ticks.outer),
        }
    }
}

/// Times that pass between the reads of a bracket, in ns: three in ten are interrupted.
fn passing() -> impl Strategy<Value = [f64; 2]> {
    let read = || 18.0..30.0_f64;
    prop_oneof![
        7 => [read(), read()],
        1 => (read(), 1e3..1e7_f64).prop_map(|(a, b)| [a, b]),
        1 => (1e3..1e7_f64, read()).prop_map(|(a, b)| [a, b]),
        1 => (50.0..400.0_f64, 50.0..400.0_f64).prop_map(|(a, b)| [a, b]),
    ]
}

fn ppm() -> impl Strategy<Value = f64> {
    // The last one counts backwards.
    prop_oneof![Just(0.0), Just(10e-6), Just(500e-6), Just(-0.1e-6), -1e-3..1e-3_f64, -1e-7..1e-7_f64, Just(-1.7)]
}

fn ticks() -> impl Strategy<Value = Ticks> {
    let tick = || prop_oneof![Just(0.0), Just(1.0), Just(10.0), 1.0..300.0_f64, Just(1e6), Just(1e9)];
    (tick(), tick()).prop_map(|(outer, inner)| Ticks { outer, inner })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    /// The truth is inside the bound in every case: with three in ten brackets interrupted, with
    /// rates that change during the run, with clocks that move in steps.
    #[test]
    fn the_truth_is_inside_the_bound(
        rate_before in ppm(),
        change in prop_oneof![Just(None), (0.05..0.95_f64, ppm()).prop_map(Some)],
        ticks in ticks(),
        spacing in 1e5..1e8_f64,
        reads in prop::collection::vec(passing(), 2..200),
    ) {
        let whole = spacing * reads.len() as f64;
        let mut rates = vec![(0.0, rate_before)];
        rates.extend(change.map(|(share, rate)| (share * whole, rate)));
        let world = World { rates, ticks };
        // One after the other: an interrupted one delays the next.
        let mut free = 0.0_f64;
        let mut moments = Vec::new();
        for (index, passing) in reads.iter().enumerate() {
            let time = free.max(spacing * index as f64);
            free = time + passing[0] + passing[1] + 100.0;
            moments.push((time, world.bracket(time, *passing)));
        }
        let brackets: Vec<BracketNs> = moments.iter().map(|(_, bracket)| *bracket).collect();
        let Some(found) = rate(&brackets, ticks) else { return Ok(()) };
        // The truth is the mean rate between the moments at which the clock was read in the two end
        // brackets.
        let (first, last) = ends(&brackets).unwrap();
        let read_at = |wanted: &BracketNs| {
            let index = brackets.iter().position(|bracket| std::ptr::eq(bracket, wanted)).unwrap();
            moments[index].0 + reads[index][0]
        };
        let (start, end) = (read_at(first), read_at(last));
        let truth = (world.counted(end) - world.counted(start)) / (end - start) - 1.0;
        prop_assert!(found.least - 1e-12 <= truth && truth <= found.most + 1e-12, "{found:?} {truth}");
        // A clock that counts backwards steps, and no line is asked for its phase.
        let is_forward = |rate: f64| rate > -1.0;
        if change.is_none() && is_forward(rate_before) {
            prop_assert!(!matches!(found.constancy, Constancy::Changed { .. }), "{found:?}");
            prop_assert!(found.step.is_none());
        }
        let all_forward = world.rates.iter().all(|(_, rate)| is_forward(*rate));
        if let Some((spacing, phases)) = even_phases(&brackets) {
            prop_assert!(spacing > 0.0 && phases.iter().all(|phase| phase.is_finite()), "{spacing} {phases:?}");
        }
        if let Constancy::Changed { from, until } = found.constancy
            && all_forward
        {
            let at = world.rates[1].0;
            prop_assert!(from <= at + 1e8 && at <= until + 1e8, "{at} {found:?}");
        }
    }

    /// No script of readings makes it fail.
    #[test]
    fn any_brackets_are_answered(
        readings in prop::collection::vec([-1e12..1e12_f64, -1e12..1e12_f64, -1e12..1e12_f64], 0..40)
    ) {
        let brackets: Vec<BracketNs> =
            readings.into_iter().map(|[before, inner, after]| BracketNs { before, inner, after }).collect();
        let ticks = Ticks { outer: 1.0, inner: 1.0 };
        if let Some(found) = rate(&brackets, ticks) {
            prop_assert!(found.least <= found.most, "{found:?}");
        }
        if let Some((spacing, phases)) = even_phases(&brackets) {
            prop_assert!(spacing > 0.0 && phases.iter().all(|phase| phase.is_finite()));
        }
    }
}

fn quiet(rates: Vec<(f64, f64)>, count: usize) -> Vec<BracketNs> {
    let world = World { rates, ticks: Ticks::default() };
    (0..count).map(|index| world.bracket(1e7 * index as f64, [24.0, 24.0])).collect()
}

#[test]
fn a_change_is_found_and_located() {
    // A second, with a change of 1 ppm in the middle: it bends the line by 250 ns.
    let found = rate(&quiet(vec![(0.0, 0.0), (5e8, 1e-6)], 100), Ticks::default()).unwrap();
    let Constancy::Changed { from, until } = found.constancy else { panic!("{found:?}") };
    assert!(from <= 5e8 && 5e8 <= until && until - from <= 2.5e8, "{found:?}");
    assert!((found.least..=found.most).contains(&0.5e-6) && found.step.is_none(), "{found:?}");
}

#[test]
fn a_step_is_distinguished_from_a_rate() {
    let mut brackets = quiet(vec![(0.0, 20e-6)], 100);
    brackets.iter_mut().skip(40).for_each(|bracket| bracket.inner -= 5e6);
    let (at, by) = rate(&brackets, Ticks::default()).unwrap().step.unwrap();
    assert!((at - 4e8).abs() < 1e6 && (by + 5e6).abs() < 1e3, "{at} {by}");
}

#[test]
fn what_was_interrupted_is_left_out_of_the_estimate() {
    let world = World { rates: vec![(0.0, 10e-6)], ticks: Ticks::default() };
    let brackets: Vec<BracketNs> = (0..100)
        .map(|index| world.bracket(1e7 * f64::from(index), if index % 3 == 0 { [24.0, 1e6] } else { [24.0, 24.0] }))
        .collect();
    let found = rate(&brackets, Ticks::default()).unwrap();
    assert_eq!((found.used, found.dropped), (66, 34));
    assert!((found.least_squares.unwrap() - 10e-6).abs() < 1e-9, "{found:?}");
    let (spacing, phases) = even_phases(&brackets).unwrap();
    assert_eq!(phases.len(), 100);
    assert!(phases.windows(2).all(|pair| (pair[1] - pair[0] - 10e-6 * spacing).abs() < 1e-3));
}

#[test]
fn nothing_is_reported_of_too_little() {
    assert_eq!(rate(&[], Ticks::default()), None);
    assert_eq!(rate(&quiet(vec![(0.0, 0.0)], 1), Ticks::default()), None);
    assert_eq!(rate(&[BracketNs { before: 0.0, inner: 0.0, after: 50.0 }; 5], Ticks::default()), None);
    assert_eq!(rate(&quiet(vec![(0.0, 0.0)], 2), Ticks::default()).unwrap().constancy, Constancy::Untested);
    assert_eq!(even_phases(&quiet(vec![(0.0, 0.0)], 6)), None);
}

/// Counters of months and counters that wrap: floats do not hold their values, nor have to.
#[test]
fn a_bracket_in_ns_does_not_depend_on_what_the_counters_show() {
    use clockscope_core::brackets::Bracket;
    let unit = Ticks { outer: 0.5, inner: 2.0 };
    for (outer, inner) in [(0, 0), ((1 << 53) + 1, (1 << 63) - 2), (u64::MAX - 3, u64::MAX), ((1 << 63) - 5, 1 << 54)] {
        let at = |passed: u64| Bracket {
            before: outer.wrapping_add(passed),
            inner: inner.wrapping_add(3 * passed),
            after: outer.wrapping_add(passed + 9),
        };
        let found = BracketNs::since(&at(0), &at(1_000_001), unit);
        assert_eq!(found, BracketNs { before: 500_000.5, inner: 6_000_006.0, after: 500_005.0 }, "{outer} {inner}");
    }
}
