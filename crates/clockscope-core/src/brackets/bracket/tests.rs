use super::*;
use crate::brackets::OffsetBounds;
use clockscope_testing::cases;
use proptest::prelude::*;

/// Counter values at which something ends: floats' whole numbers, signed numbers, all numbers.
fn origin() -> impl Strategy<Value = u64> {
    let edge = prop_oneof![Just(0u64), Just(1 << 53), Just(1 << 63)];
    prop_oneof![any::<u64>(), (edge, -(1i64 << 41)..(1 << 41)).prop_map(|(edge, by)| edge.wrapping_add_signed(by))]
}

/// In units. Both readings of a slow counter are mostly the same.
fn width() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0f64..5.0, 0.0f64..5000.0]
}

/// Two clocks whose true readings are known: the outer one counts true time.
#[derive(Clone, Copy, Debug)]
struct World {
    outer_origin: u64,
    inner_origin: u64,
    inner_per_outer: f64,
    inner_tick: u64,
}

impl World {
    /// A bracket from a moment on. The inner clock is read within `width` after it, at a share of
    /// that.
    fn bracket(&self, from: f64, width: f64, share: f64) -> Bracket {
        let inner = ((from + width * share) * self.inner_per_outer) as u64 / self.inner_tick * self.inner_tick;
        Bracket {
            before: self.outer_origin.wrapping_add(from as u64),
            inner: self.inner_origin.wrapping_add(inner),
            after: self.outer_origin.wrapping_add((from + width) as u64),
        }
    }

    fn ticks(&self) -> Ticks {
        Ticks { outer: 1.0, inner: self.inner_tick as f64 }
    }
}

fn world() -> impl Strategy<Value = World> {
    let tick = prop_oneof![Just(1u64), 2u64..500];
    (origin(), origin(), 0.05f64..100.0, tick).prop_map(|(outer_origin, inner_origin, inner_per_outer, inner_tick)| {
        World { outer_origin, inner_origin, inner_per_outer, inner_tick }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    /// Whatever the moment at which the inner clock was read, wherever in its tick it was, and
    /// whatever the counters show.
    #[test]
    fn the_true_rate_is_never_outside(
        world in world(),
        between in 100_000u64..(1 << 40),
        widths in (width(), width()),
        shares in (0.0f64..1.0, 0.0f64..1.0),
        fractions in (0.0f64..1.0, 0.0f64..1.0),
    ) {
        let first = world.bracket(fractions.0, widths.0, shares.0);
        let second = world.bracket(between as f64 + fractions.1, widths.1, shares.1);
        // The inner clock's own readings have at most 2^47 units: exact to a hundredth.
        let (rate, truth) = (second.rate_since(&first, world.ticks()).unwrap().widened(1e-15), world.inner_per_outer);
        prop_assert!(rate.low <= truth && truth <= rate.high, "{rate:?} {truth}");
        // No wider than both spans and all ticks explain.
        let shortest = between as f64 - widths.0 - 2.0;
        let unsure = (widths.0 + widths.1 + 4.0) * rate.high + 2.0 * world.inner_tick as f64;
        prop_assert!(rate.high - rate.low <= unsure / shortest, "{rate:?} {unsure}");
    }

    /// Neither counter's origin changes anything: not a count is lost to a float.
    #[test]
    fn origins_make_no_difference(
        world in world(),
        between in 10_000u64..(1 << 40),
        widths in (width(), width()),
        shares in (0.0f64..1.0, 0.0f64..1.0),
    ) {
        let at_zero = World { outer_origin: 0, inner_origin: 0, ..world };
        let both = |world: World| {
            let first = world.bracket(5.0, widths.0, shares.0);
            let second = world.bracket(between as f64, widths.1, shares.1);
            (first, second)
        };
        let ((a, b), (first, second)) = (both(at_zero), both(world));
        prop_assert_eq!(second.rate_since(&first, world.ticks()), b.rate_since(&a, world.ticks()));
        prop_assert_eq!(second.inner_since(&first), (b.inner - a.inner) as f64);
        let middles = |bracket: &Bracket| (bracket.before + bracket.after) as f64 / 2.0;
        prop_assert_eq!(second.middle_since(&first), middles(&b) - middles(&a));
        prop_assert_eq!(first.middle_since(&second), middles(&a) - middles(&b));
        prop_assert_eq!(second.since(&first), [b.before - a.before, b.inner - a.inner, b.after - a.before].map(|n| n as i64));
        prop_assert_eq!((first.span(), first.width(), first.went_back()), (a.span(), a.width(), false));
        prop_assert_eq!(first.middle().wrapping_sub(world.outer_origin), a.middle());
    }

    /// A bracket is an exchange: the offset that it allows holds the true one.
    #[test]
    fn the_true_offset_is_never_outside(
        outer in origin(),
        skew in prop_oneof![-1000i64..1000, -(1i64 << 60)..(1 << 60)],
        legs in prop::collection::vec((0u64..1_000_000, 0u64..1_000_000), 1..20),
    ) {
        let mut bounds = OffsetBounds::default();
        let mut time = 0;
        for (there, back) in legs {
            let at = |time: u64| outer.wrapping_add(time);
            let inner = at(time + there).wrapping_add_signed(skew);
            let bracket = Bracket { before: at(time), inner, after: at(time + there + back) };
            let (least, most) = bracket.ahead();
            prop_assert!(least <= skew && skew <= most, "{least} {skew} {most}");
            prop_assert_eq!(most.abs_diff(least), bracket.span());
            bounds.push(&bracket);
            time += there + back;
        }
        let found = bounds.offset(0.0).unwrap();
        prop_assert!((found.offset - skew as f64).abs() <= found.bound, "{found:?} {skew}");
    }

    /// No readings make it fail.
    #[test]
    fn any_two_brackets_are_answered(a in any::<[u64; 3]>(), b in any::<[u64; 3]>(), tick in any::<u64>()) {
        let [first, second] = [a, b].map(|[before, inner, after]| Bracket { before, inner, after });
        if let Some(rate) = second.rate_since(&first, Ticks { outer: 1.0, inner: tick as f64 }) {
            prop_assert!(rate.low <= rate.high, "{rate:?}");
        }
        prop_assert!(second.width() > 0);
    }

    /// The narrowest of those that were taken, and none after one that is enough.
    #[test]
    fn the_narrowest_is_found(spans in prop::collection::vec(0u64..50, 1..20), enough in 0u64..50) {
        let mut taken = Vec::new();
        let take = || {
            let after = spans[taken.len()];
            taken.push(after);
            Ok::<_, ()>(Bracket { before: 0, inner: (), after })
        };
        let best = narrowest(take, Bracket::width, spans.len() as u32, enough).unwrap();
        prop_assert_eq!(best.span(), *taken.iter().min().unwrap());
        // The width counts a tick.
        let (last, before) = taken.split_last().unwrap();
        prop_assert!(before.iter().all(|span| *span >= enough), "it went on with enough");
        prop_assert!(taken.len() == spans.len() || *last < enough, "it ended too soon");
    }
}

#[test]
fn a_clock_that_refuses_is_an_error() {
    let mut turns = 0;
    let take = || {
        turns += 1;
        if turns < 3 { Ok(Bracket { before: 0, inner: 0, after: 10 }) } else { Err(turns) }
    };
    assert_eq!(narrowest(take, Bracket::width, 8, 0), Err(3));
}

/// A float of either absolute value would round to an even number.
#[test]
fn no_count_is_lost_however_large_the_counters_are() {
    let bracket =
        |before: u64, span| Bracket { before, inner: before.wrapping_add(3), after: before.wrapping_add(span) };
    for origin in [0, (1 << 53) - 7, (1 << 63) - 7, 0u64.wrapping_sub(7)] {
        let start = bracket(origin, 101);
        let end = bracket(origin.wrapping_add(1_000_001), 90);
        assert_eq!(end.middle_since(&start), 999_995.5, "{origin}");
        assert_eq!(start.middle_since(&end), -999_995.5, "{origin}");
        assert_eq!((end.inner_since(&start), start.inner_since(&end)), (1_000_001.0, -1_000_001.0), "{origin}");
        assert_eq!(start.ahead(), (-98, 3), "{origin}");
        let rate = end.rate_since(&start, Ticks { outer: 1.0, inner: 0.0 }).unwrap();
        assert_eq!((rate.low, rate.high), (1_000_001.0 / 1_000_092.0, 1_000_001.0 / 999_899.0), "{origin}");
    }
}

#[test]
fn a_counter_that_went_back_is_never_the_narrowest() {
    let back = Bracket { before: 100, inner: 0, after: 99 };
    assert!(back.went_back() && back.span() == u64::MAX && back.width() == u64::MAX);
    assert_eq!(back.rate_since(&back, Ticks::default()), None);
    let mut brackets = [back, Bracket { before: 0, inner: 0, after: 1 << 40 }].into_iter();
    let best = narrowest(|| brackets.next().ok_or(()), Bracket::width, 2, 0).unwrap();
    assert_eq!(best.after, 1 << 40);
}

#[test]
fn the_first_of_several_as_narrow_is_taken() {
    let mut spans = [9, 5, 5, 7].into_iter().enumerate();
    assert_eq!(narrowest(|| spans.next().ok_or(()), |(_, span)| *span, 4, 0), Ok((1, 5)));
}
