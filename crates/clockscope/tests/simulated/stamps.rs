//! Stamps that are converted later, in worlds whose true time is known.

use crate::world::{GHZ, MILLISECOND, SECOND, World, in_f64};
use clockscope::disciplined::{Counter, Disciplined};
use clockscope::history::{History, Piece, Uncovered, Unrenewed};
use clockscope_testing::simulation::Random;
use proptest::prelude::*;

/// The process whose history it is.
const OWNER: u64 = 1;

/// A count with the OS clock's time, the wall clock's and the true one before and after it was
/// read, in ns.
#[derive(Clone, Copy, Debug)]
struct Stamped {
    count: u64,
    os_ns: (f64, f64),
    wall_ns: (f64, f64),
    civil_ns: (i128, i128),
}

/// A world, its clock, and a history of so many pieces.
struct Run<const N: usize> {
    world: &'static World,
    clock: Disciplined<&'static World, &'static World>,
    history: Box<History<N>>,
}

impl<const N: usize> Run<N> {
    fn new(hz: f64) -> Self {
        let world: &'static World = Box::leak(Box::new(World::new(hz, 1 << 40, 5 * SECOND)));
        let run = Self { world, clock: Disciplined::new(world, world), history: Box::new(History::new()) };
        run.renew();
        run
    }

    fn renew(&self) {
        self.history.renew(&self.clock, OWNER).expect("nothing is in the way");
    }

    fn stamp(&self) -> Stamped {
        let now =
            || (in_f64(self.world.os_ps()) / 1000.0, in_f64(self.world.wall_ps()) / 1000.0, self.world.civil_ns());
        let before = now();
        let count = self.world.ordered();
        let after = now();
        let (os_ns, wall_ns, civil_ns) = ((before.0, after.0), (before.1, after.1), (before.2, after.2));
        Stamped { count, os_ns, wall_ns, civil_ns }
    }

    fn find(&self, stamped: &Stamped) -> Result<Piece, Uncovered> {
        self.history.find(stamped.count, OWNER)
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
        let (before, after) = stamped.civil_ns;
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

/// The table of docs/library.md, "Stamps".
#[test]
fn the_truth_is_inside_every_bound() {
    let rows = [
        (MILLISECOND, [100, 100, 150, 400]),
        (10 * MILLISECOND, [100, 100, 150, 3_000]),
        (100 * MILLISECOND, [100, 150, 600, 30_000]),
        (SECOND, [100, 200, 6_000, 300_000]),
        (10 * SECOND, [100, 1_000, 60_000, 3_000_000]),
    ];
    for (every_ns, limits) in rows {
        for (ppm, limit) in [0.0, 0.1, 10.0, 500.0].into_iter().zip(limits) {
            let (middle, largest) = bounds(every_ns, ppm);
            println!("{every_ns} ns, {ppm} ppm: {middle} ns, {largest} ns at most");
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
    assert!(bound < 200 && run.history.pieces() < 50, "{bound} ns, {} pieces", run.history.pieces());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

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

/// What a stamp shortly before and after the `event` is, and one between the renewals around it.
fn around(event: impl Fn(&World)) -> (Run<100>, [Stamped; 3]) {
    let run = Run::<100>::new(2.4 * GHZ);
    for _ in 0..20 {
        run.world.pass(10 * MILLISECOND);
        run.renew();
    }
    let before = run.stamp();
    run.world.pass(MILLISECOND);
    run.renew();
    run.world.pass(MILLISECOND);
    event(run.world);
    let between = run.stamp();
    for _ in 0..5 {
        run.world.pass(20 * MILLISECOND);
        // The timeline may have to wait.
        let _ = run.history.renew(&run.clock, OWNER);
    }
    let after = run.stamp();
    run.world.pass(MILLISECOND);
    run.renew();
    (run, [before, between, after])
}

#[test]
fn what_the_history_does_not_cover_is_an_error() {
    let gap = |name: &str, event: &dyn Fn(&World)| {
        let (run, [before, between, after]) = around(event);
        run.check(&before).unwrap_or_else(|| panic!("{name}: before"));
        run.check(&after).unwrap_or_else(|| panic!("{name}: after"));
        assert_eq!(run.find(&between).err(), Some(Uncovered::Gap), "{name}");
    };
    gap("a suspend", &|world| world.suspend(2 * SECOND));
    gap("a move", &|world| world.disruptions.set(Some(7)));
    gap("a counter that jumps ahead", &|world| world.step_counter(100_000_000_000));
    gap("an OS clock that jumps ahead", &|world| world.step_os(SECOND as i64));
}

#[test]
fn a_small_step_is_a_wider_bound() {
    let (run, stamps) = around(|world| world.step_os(50_000));
    for stamped in &stamps {
        run.check(stamped).expect("it is covered");
    }
    let (_, bound) = run.check(&stamps[1]).expect("it is covered");
    assert!((50_000..200_000).contains(&bound), "{bound} ns");
}

#[test]
fn a_counter_that_went_back_forgets() {
    let (run, [before, between, after]) = around(World::reset_counter);
    run.check(&after).expect("it was taken after");
    assert_eq!(run.find(&before).err(), Some(Uncovered::Twice));
    assert_eq!(run.find(&between).err(), Some(Uncovered::Before));
    // The counts that were used before come once more.
    run.world.step_counter(1 << 40);
    for _ in 0..3 {
        run.world.pass(10 * MILLISECOND);
        run.renew();
    }
    assert_eq!(run.find(&before).err(), Some(Uncovered::Twice));
    let again = run.stamp();
    run.world.pass(MILLISECOND);
    run.renew();
    assert_eq!(run.find(&again).err(), Some(Uncovered::Twice));
    run.world.pass(10 * SECOND);
    run.renew();
    let later = run.stamp();
    run.world.pass(MILLISECOND);
    run.renew();
    run.check(&later).expect("it was used once");
}

#[test]
fn an_os_clock_that_steps_back_is_waited_for() {
    let (run, [before, between, after]) = around(|world| world.step_os(-2 * SECOND as i64));
    let time = |stamped: &Stamped| run.find(stamped).map(|piece| piece.time_of(stamped.count).expect("covered"));
    let (first, last) = (time(&before).expect("it was before"), time(&after).expect("it was after"));
    assert!(first <= last);
    if let Ok(middle) = time(&between) {
        assert!(first <= middle && middle <= last);
    }
}

#[test]
fn a_wall_clock_that_is_set_is_not_known_in_between() {
    let (run, [before, between, after]) = around(|world| world.step_wall(-3 * SECOND as i64));
    let wall = |stamped: &Stamped| {
        let piece = run.find(stamped).expect("it is covered");
        run.check(stamped);
        piece.wall_at(piece.time_of(stamped.count).expect("it is covered"))
    };
    assert!(wall(&before).is_some() && wall(&after).is_some());
    assert_eq!(wall(&between), None);
}

#[test]
fn stamps_from_elsewhere_are_refused() {
    let run = Run::<100>::new(2.4 * GHZ);
    let early = run.world.ordered();
    run.world.pass(MILLISECOND);
    run.renew();
    let find = |count, owner| run.history.find(count, owner).err();
    assert_eq!(find(early, OWNER), None);
    assert_eq!(find(early, OWNER + 1), Some(Uncovered::None), "another process's");
    assert_eq!(find(early - 1_000_000, OWNER), Some(Uncovered::Before));
    assert_eq!(find(early + 1_000_000_000, OWNER), Some(Uncovered::After));
    // A child begins its own.
    run.history.renew(&run.clock, OWNER + 1).expect("it begins");
    assert_eq!(find(early, OWNER), Some(Uncovered::None));
    let count = run.world.ordered();
    run.world.pass(MILLISECOND);
    run.history.renew(&run.clock, OWNER + 1).expect("it goes on");
    assert_eq!((find(early, OWNER + 1), find(count, OWNER + 1)), (Some(Uncovered::Before), None));
}

#[test]
fn a_counter_that_is_given_up_is_not_compared_any_more() {
    let run = Run::<100>::new(2.4 * GHZ);
    let stamped = run.stamp();
    run.world.pass(MILLISECOND);
    run.renew();
    run.world.clocksource.set(Some(false));
    run.clock.recheck();
    let reads = run.world.counter_reads.get();
    assert!(matches!(run.history.renew(&run.clock, OWNER), Err(Unrenewed::Unobserved(_))));
    assert_eq!(run.world.counter_reads.get(), reads);
    run.check(&stamped).expect("what was compared stays");
}
