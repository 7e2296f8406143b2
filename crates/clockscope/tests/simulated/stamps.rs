//! Stamps that are converted later, in worlds whose true time is known.

use crate::world::{GHZ, MILLISECOND, SECOND, World, in_f64};
use clockscope::disciplined::{Counter, Disciplined};
use clockscope::history::{History, Piece, Uncovered};
use clockscope_testing::cases;
use clockscope_testing::simulation::Random;
use proptest::prelude::*;

mod disturbed;

/// A count with the OS clock's time, the wall clock's and the true one before and after it was
/// read, in ns.
#[derive(Clone, Copy, Debug)]
struct Stamped {
    count: u64,
    os_ns: (f64, f64),
    wall_ns: (f64, f64),
    true_utc_ns: (i128, i128),
}

/// A world, its clock, and a history of `N` pieces.
struct Run<const N: usize> {
    world: &'static World,
    clock: Disciplined<&'static World, &'static World>,
    history: Box<History<N>>,
}

fn stamp(world: &World) -> Stamped {
    let now = || (in_f64(world.os_ps()) / 1000.0, in_f64(world.wall_ps()) / 1000.0, world.true_utc_ns());
    let before = now();
    let count = world.ordered();
    let after = now();
    let (os_ns, wall_ns, true_utc_ns) = ((before.0, after.0), (before.1, after.1), (before.2, after.2));
    Stamped { count, os_ns, wall_ns, true_utc_ns }
}

impl<const N: usize> Run<N> {
    fn new(hz: f64) -> Self {
        let world: &'static World = Box::leak(Box::new(World::new(hz, 1 << 40, 5 * SECOND)));
        let run = Self { world, clock: Disciplined::new(world, world), history: Box::new(History::new()) };
        run.renew();
        run
    }

    fn renew(&self) {
        self.history.renew(&self.clock).expect("nothing is in the way");
    }

    fn stamp(&self) -> Stamped {
        stamp(self.world)
    }

    /// An excerpt from the first of these stamps on says the same of all.
    fn check_excerpt(&self, stamps: &[Stamped]) {
        let excerpt = self.history.excerpt(stamps[0].count).expect("nothing is in the way");
        for stamped in stamps {
            assert_eq!(excerpt.find(stamped.count), self.find(stamped), "{stamped:?}");
        }
    }

    fn find(&self, stamped: &Stamped) -> Result<Piece, Uncovered> {
        self.history.find(stamped.count)
    }

    /// Converts a stamp, if it is covered, and compares all that is said of it with the truth.
    fn check(&self, stamped: &Stamped) -> Option<(u64, u64)> {
        let piece = self.find(stamped).ok()?;
        let ns = piece.time_of(stamped.count).expect("it is covered");
        let bound = piece.error_ns() as f64 + 1.0;
        let time = ns as f64;
        let (before, after) = stamped.os_ns;
        let off = (before - time).max(time - after);
        assert!(off <= bound, "{off} ns off, and the bound is {bound}: {piece:?}");
        if let Some((wall_ns, error_ns)) = piece.wall_at(ns) {
            let (before, after) = stamped.wall_ns;
            let off = (before - wall_ns as f64).max(wall_ns as f64 - after);
            // Of the 2^-52 parts of 1.7e18 some hundred ns are lost in the comparison.
            assert!(off <= bound + error_ns as f64 + 600.0, "{off} ns off the wall clock, {bound} + {error_ns}");
        }
        let bounded = piece.bounded_at(ns);
        let (before, after) = stamped.true_utc_ns;
        assert!(i128::from(bounded.earliest_ns) <= after && before <= i128::from(bounded.latest_ns), "{bounded:?}");
        Some((ns, piece.error_ns()))
    }
}

/// Rates change every third renewal at most, at any moment, and stamps are converted at once, after
/// the next renewal and at the end: the truth is inside every bound.
fn steered(hz: f64, every_ns: u64, ppm: f64, seed: u64) -> Vec<u64> {
    let run = Run::<2000>::new(hz);
    let mut random = Random::new(seed);
    let mut stamps = Vec::new();
    let mut bounds = Vec::new();
    for turn in 0..60 {
        let parts = 8;
        let bends_at = (turn % 3 == 0).then(|| random.below(parts));
        let first = stamps.len();
        for part in 0..parts {
            run.world.pass(every_ns / parts);
            if bends_at == Some(part) {
                run.world.slew(random.within(-ppm, ppm) * 1e-6);
            }
            stamps.push(run.stamp());
        }
        run.renew();
        for stamped in &stamps[first..] {
            run.check(stamped).expect("it was renewed after");
        }
    }
    run.check_excerpt(&stamps[stamps.len() / 3..]);
    for stamped in &stamps[8 * 8..8 * 58] {
        let (_, bound) = run.check(stamped).expect("it is kept");
        bounds.push(bound);
    }
    bounds.sort_unstable();
    bounds
}

/// The bounds of stamps in three worlds: the middle one, and the largest, in ns.
fn bounds(every_ns: u64, ppm: f64) -> (u64, u64) {
    let mut bounds: Vec<u64> = (0..3).flat_map(|seed| steered(2.4 * GHZ, every_ns, ppm, seed)).collect();
    bounds.sort_unstable();
    (bounds[bounds.len() / 2], bounds[bounds.len() - 1])
}

/// The table of docs/reference/stamps.md.
#[test]
fn the_truth_is_inside_every_bound() {
    let rows = [
        (MILLISECOND, [100, 120, 150, 400]),
        (10 * MILLISECOND, [100, 120, 200, 3_000]),
        (100 * MILLISECOND, [100, 150, 700, 30_000]),
        (SECOND, [100, 200, 6_000, 300_000]),
        (10 * SECOND, [100, 700, 60_000, 3_000_000]),
    ];
    for (every_ns, limits) in rows {
        for (ppm, limit) in [0.0, 0.1, 10.0, 500.0].into_iter().zip(limits) {
            let (middle, largest) = bounds(every_ns, ppm);
            println!("{every_ns} ns, {ppm} ppm: {middle} ns, {largest} ns at most");
            assert!(middle <= 150, "half of the stamps are in intervals of one rate: {middle} ns");
            assert!(largest <= limit, "{largest} ns at {ppm} ppm, renewed every {every_ns} ns");
        }
    }
}

/// A slow counter, and one that is about to wrap.
#[test]
fn other_counters_do_as_well() {
    for hz in [24e6, 1e9, 5e9] {
        steered(hz, MILLISECOND, 10.0, 7);
    }
}

/// A quiet day, renewed every second, is a few pieces.
#[test]
fn a_quiet_day_fits() {
    let run = Run::<200>::new(2.4 * GHZ);
    let first = run.stamp();
    for turn in 0..86_400 {
        run.world.pass(SECOND);
        run.renew();
        // A caller who converts each stamp at once.
        if turn % 100 == 0 {
            let stamped = run.stamp();
            run.world.pass(1_000);
            run.renew();
            run.check(&stamped).expect("it was renewed after");
        }
    }
    let (_, bound) = run.check(&first).expect("it is kept");
    assert!(bound < 200 && run.history.pieces() < 100, "{bound} ns, {} pieces", run.history.pieces());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    /// However the clock is steered, in a history that has room for a few pieces: whenever stamps
    /// are converted, earlier ones are no later times, and each has one time.
    #[test]
    fn order_holds_across_conversions_made_at_different_times(
        seed in any::<u64>(),
        ppm in prop_oneof![Just(0.1), Just(50.0), Just(500.0)],
        every_ns in prop_oneof![Just(300_000u64), Just(MILLISECOND), Just(50 * MILLISECOND)],
    ) {
        let run = Run::<12>::new(2.4 * GHZ);
        let mut random = Random::new(seed);
        let mut stamps: Vec<Stamped> = Vec::new();
        let mut times = std::collections::BTreeMap::new();
        for _ in 0..60 {
            for _ in 0..4 {
                run.world.pass(every_ns / 4);
                if random.happens(0.2) {
                    run.world.slew(random.within(-ppm, ppm) * 1e-6);
                }
                stamps.push(run.stamp());
            }
            run.renew();
            for _ in 0..random.below(6) {
                let stamped = stamps[random.below(stamps.len() as u64) as usize];
                let Ok(piece) = run.find(&stamped) else { continue };
                let ns = piece.time_of(stamped.count).expect("it is covered");
                prop_assert_eq!(*times.entry(stamped.count).or_insert(ns), ns, "it is another time now");
            }
        }
        let in_order: Vec<u64> = times.into_values().collect();
        prop_assert!(in_order.is_sorted(), "{:?}", in_order);
    }

    /// Pieces that nobody converted from are joined, and their bounds hold.
    #[test]
    fn joined_pieces_hold_the_truth(seed in any::<u64>(), ppm in prop_oneof![Just(5.0), Just(500.0)]) {
        let run = Run::<16>::new(2.4 * GHZ);
        let mut random = Random::new(seed);
        let mut stamps = Vec::new();
        for turn in 0..120 {
            let bends_at = (turn % 3 == 0).then(|| random.below(4));
            for part in 0..4 {
                run.world.pass(MILLISECOND);
                if bends_at == Some(part) {
                    run.world.slew(random.within(-ppm, ppm) * 1e-6);
                }
                stamps.push(run.stamp());
            }
            run.renew();
        }
        let covered = stamps.iter().filter(|stamped| run.check(stamped).is_some()).count();
        prop_assert!(covered > stamps.len() / 2, "{} of {} are covered", covered, stamps.len());
    }
}

/// A rate that goes back to what it was before: the mean over the interval is that of the quiet
/// time.
#[test]
fn a_rate_that_returns_is_noticed() {
    for (every_ns, turns, ppm) in [(MILLISECOND, 12_000, 500.0), (100 * MILLISECOND, 150, 10.0), (SECOND, 18, 1.4)] {
        let run = Run::<2000>::new(2.4 * GHZ);
        let turn = || {
            run.world.pass(every_ns);
            run.renew();
        };
        (0..turns).for_each(|_| turn());
        run.world.slew(ppm * 1e-6);
        turn();
        turn();
        run.world.pass(every_ns / 2);
        let stamped = run.stamp();
        run.world.slew(-ppm * 1e-6);
        run.world.pass(every_ns / 2);
        run.renew();
        run.check(&stamped).expect("it was renewed after");
        turn();
        turn();
        run.check(&stamped).expect("it is settled");
    }
}

/// A caller who converts soon after each renewal does not make the bounds worse for good.
#[test]
fn a_conversion_after_each_renewal_leaves_the_bounds_small() {
    let run = Run::<100>::new(2.4 * GHZ);
    run.world.pass(10_000);
    run.renew();
    let mut stamps = Vec::new();
    for _ in 0..20 {
        run.world.pass(SECOND / 2);
        stamps.push(run.stamp());
        run.world.pass(SECOND / 2);
        run.renew();
        run.world.pass(MILLISECOND);
        run.renew();
    }
    for stamped in &stamps[2..] {
        let (_, bound) = run.check(stamped).expect("it is kept");
        assert!(bound < 300, "{bound} ns");
    }
}

/// Every stamp that was ever converted beside every other one, at whatever times that was.
#[test]
fn order_holds_in_a_hundred_million_pairs() {
    let run = Run::<64>::new(2.4 * GHZ);
    let mut random = Random::new(11);
    let mut stamps: Vec<Stamped> = Vec::new();
    let mut times = std::collections::BTreeMap::new();
    while times.len() < 14_200 {
        run.world.pass(random.between(1_000, MILLISECOND));
        if random.happens(0.1) {
            run.world.slew(random.within(-500.0, 500.0) * 1e-6);
        }
        stamps.push(run.stamp());
        run.renew();
        for _ in 0..3 {
            // Mostly of late: the oldest that were converted are given up.
            let back = random.below(20.min(stamps.len() as u64)) as usize;
            let stamped = stamps[stamps.len() - 1 - back];
            if let Ok(piece) = run.find(&stamped) {
                let ns = piece.time_of(stamped.count).expect("it is covered");
                assert_eq!(*times.entry(stamped.count).or_insert(ns), ns);
            }
        }
    }
    let in_order: Vec<u64> = times.into_values().collect();
    assert!(in_order.is_sorted());
    assert!(in_order.len() * (in_order.len() - 1) / 2 > 100_000_000, "pairs");
}
