//! An adversary that slews the OS clock within what Linux permits, and steps it ahead and sets the
//! wall clock, when it does the most harm: the bound holds all the same, and is as small as before
//! soon after.

use crate::world::watch::Watch;
use crate::world::{MILLISECOND, SECOND};
use clockscope_testing::cases;
use proptest::prelude::*;

/// A line has three segments' worth of time from the bracket that it was drawn by to its end.
const SEGMENT_NS: u64 = 3 * MILLISECOND;

/// From one end of what adjtimex(2) permits to the other.
const SLEWED: f64 = 1.1005 / 0.8995 - 1.0;

/// Largest rate, relative to the OS clock, of a line that makes up for a slew, as a share: the line
/// goes at half to one and a half times the known rate, and the OS clock is slewed itself.
const STEEPEST: f64 = 0.5 * (1.0 + SLEWED) + SLEWED;

/// A spell of readings, and what the OS clock does in it and in the pause before.
#[derive(Clone, Debug)]
struct Spell {
    /// Slews in the pause: ppm and length in µs of each.
    unseen: Vec<(f64, u64)>,
    pause_us: u64,
    /// Step of the OS clock at the end of the pause, in ns, as after a suspend.
    step_ns: i64,
    /// The wall clock is set there, and a caller has it compared at once.
    is_set: bool,
    /// Slews while it is read, no two of them in two windows.
    seen: Vec<(f64, u64)>,
    /// Time between two readings, in ns.
    every_ns: u64,
}

fn ppm() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        -20f64..20.0,
        -600f64..600.0,
        proptest::sample::select(&[-100_500.0, -83_333.0, 83_333.0, 100_500.0][..]),
        -100_500f64..100_500.0,
    ]
}

fn spell() -> impl Strategy<Value = Spell> {
    let unseen = proptest::collection::vec((ppm(), 1u64..60_000), 0..4);
    let pause_us = prop_oneof![Just(0u64), 0u64..20_000, 20_000u64..1_000_000, 1_000_000u64..60_000_000];
    let step_ns = prop_oneof![8 => Just(0i64), 1 => 0i64..3_000, 1 => 0i64..20_000_000];
    let is_set = prop_oneof![6 => Just(false), 1 => Just(true)];
    let seen = proptest::collection::vec((ppm(), 2_500u64..10_000), 1..4);
    let every_ns = prop_oneof![4 => 1_000u64..10_000, 1 => 10_000u64..100_000, 1 => 100_000u64..2_000_000];
    (unseen, pause_us, step_ns, is_set, seen, every_ns).prop_map(
        |(unseen, pause_us, step_ns, is_set, seen, every_ns)| Spell {
            unseen,
            pause_us,
            step_ns,
            is_set,
            seen,
            every_ns,
        },
    )
}

/// A program that reads and asks, and its readings: when, and how far off.
struct Victim {
    watch: Watch<&'static crate::world::World>,
    readings: Vec<(u64, f64)>,
    former_worst_ns: f64,
    generation: u64,
    stepped_at_ns: u64,
}

impl Victim {
    fn new() -> Self {
        let mut watch = Watch::ordinary();
        watch.settle();
        let generation = watch.clock.generation();
        Self { watch, readings: Vec::new(), former_worst_ns: 0.0, generation, stepped_at_ns: 0 }
    }

    fn read(&mut self, ns: u64, every_ns: u64, ask_every: u64) {
        for turn in 1..=(ns / every_ns).max(1) {
            self.watch.world.pass(every_ns + self.watch.jitter_ns());
            let error_ns = self.watch.read();
            self.readings.push((self.watch.world.true_ns(), error_ns));
            if turn % ask_every == 0 {
                self.ask();
            }
        }
    }

    /// Asserts that the bound holds for the next reading, and the largest for all that are older
    /// than a line.
    fn ask(&mut self) {
        let began_ns = self.watch.world.true_ns();
        let bound = self.watch.clock.error_bound().unwrap();
        let (now_ns, largest_ns) = (bound.now.as_nanos() as f64, bound.largest.as_nanos() as f64);
        let next_ns = self.watch.read();
        let asked_ns = self.watch.world.true_ns();
        if self.watch.clock.generation() != self.generation {
            // It is the largest of this generation, and of the readings that ended the one before.
            self.generation = self.watch.clock.generation();
            self.former_worst_ns = 0.0;
            self.readings.retain(|(at_ns, _)| *at_ns > self.stepped_at_ns);
        }
        // It holds at some moment of the call, after which both clocks go on.
        let parted_ns = (asked_ns - began_ns) as f64 * STEEPEST;
        assert!(next_ns <= now_ns + parted_ns + 2.0, "{next_ns} ns just after {bound:?}");
        let former = self.readings.iter().filter(|(at_ns, _)| asked_ns - at_ns > SEGMENT_NS);
        self.former_worst_ns = former.map(|(_, error_ns)| *error_ns).fold(self.former_worst_ns, f64::max);
        self.readings.retain(|(at_ns, _)| asked_ns - at_ns <= SEGMENT_NS);
        let worst_ns = self.former_worst_ns;
        assert!(worst_ns <= largest_ns + 1.0, "{worst_ns} ns, with {bound:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_reading_is_beyond_the_bound(
        spells in proptest::collection::vec(spell(), 1..12),
        ask_every in prop_oneof![3 => 2u64..8, 1 => 30u64..3_000],
    ) {
        let mut victim = Victim::new();
        let mut steps = 0;
        for Spell { unseen, pause_us, step_ns, is_set, seen, every_ns } in spells {
            for (ppm, us) in unseen {
                victim.watch.world.slew(ppm * 1e-6);
                victim.watch.world.pass(us * 1_000);
            }
            victim.watch.world.pass(pause_us * 1_000);
            if step_ns != 0 {
                victim.watch.world.step_os(step_ns);
                victim.stepped_at_ns = victim.watch.world.true_ns();
                steps += 1;
            }
            if is_set {
                victim.watch.world.step_wall(-5_000_000);
                victim.watch.clock.check_wall();
            }
            for (ppm, us) in seen {
                victim.read(us * 1_000, every_ns, ask_every);
                victim.watch.world.slew(ppm * 1e-6);
            }
            victim.read(2_500_000, every_ns, ask_every);
            victim.ask();
        }
        // Slews in the pauses of a rare caller may be taken for a step: that ends a generation, and
        // the bounds hold all the same.
        prop_assert!(victim.watch.clock.generation() <= 2 + steps);
    }
}

/// The OS clock steps ahead while a line is served, and by so much that readings after that, which
/// are too rare for another line, take it for a pause: a question finds it.
#[test]
fn a_step_that_ends_the_use_of_the_line_is_in_the_largest() {
    for (step_ns, every_ns) in (0..40).flat_map(|tenth| [300_000, 733_000].map(|every| (tenth * 500_000, every))) {
        let mut victim = Victim::new();
        victim.read(5 * MILLISECOND, 5_000, 1_000);
        victim.watch.world.step_os(step_ns);
        victim.stepped_at_ns = victim.watch.world.true_ns();
        victim.read(5 * MILLISECOND, every_ns, 5);
        victim.ask();
        assert_eq!(victim.watch.clock.generation(), 1 + u64::from(step_ns != 0), "a step of {step_ns} ns");
    }
}

/// Patterns of use: for how long it reads, how often, and for how long it pauses, in ns.
const PATTERNS: [(u64, u64, u64); 5] = [
    (50 * MILLISECOND, 5_000, 0),
    (10 * MILLISECOND, 5_000, SECOND),
    (10 * MILLISECOND, 5_000, 10 * SECOND),
    (10 * MILLISECOND, 5_000, 60 * SECOND),
    (1, 1, SECOND),
];

/// One ordinary change of the rate in a pause raises the bound for a moment, and not for good.
#[test]
fn the_bound_recovers_in_every_pattern_of_use() {
    for ((ns, every_ns, pause_ns), ppm) in
        PATTERNS.into_iter().flat_map(|pattern| [10.0, -100.0, 500.0].map(|ppm| (pattern, ppm)))
    {
        let mut watch = Watch::ordinary();
        watch.settle();
        let spell = |watch: &mut Watch<_>| {
            watch.world.pass(pause_ns);
            watch.run(ns, every_ns);
            watch.clock.error_bound().unwrap().now.as_nanos() as u64
        };
        let before = (0..20).map(|_| spell(&mut watch)).max().unwrap();
        for _ in 0..5 {
            watch.world.slew(ppm * 1e-6);
            watch.world.pass(pause_ns);
            // A hundred readings, and so long that the line has been renewed some times.
            watch.run((100 * every_ns).max(10 * MILLISECOND.min(ns)), every_ns);
            let after = watch.clock.error_bound().unwrap().now.as_nanos() as u64;
            assert!(after <= 2 * before, "{after} ns after {before}, {ppm} ppm, {ns} ns each {pause_ns}");
            let spells = (0..20).map(|_| spell(&mut watch)).max().unwrap();
            assert!(spells <= 2 * before, "{spells} ns after {before}, {ppm} ppm, {ns} ns each {pause_ns}");
            watch.world.slew(0.0);
            spell(&mut watch);
        }
    }
}

/// In dense use the bound is small, and the largest of the past says when that was.
#[test]
fn the_bound_is_small_in_dense_use() {
    let mut watch = Watch::ordinary();
    watch.settle();
    let mut bounds: Vec<u64> = (0..1_000)
        .map(|_| {
            watch.run(MILLISECOND / 3, 5_000);
            watch.clock.error_bound().unwrap().now.as_nanos() as u64
        })
        .collect();
    bounds.sort_unstable();
    assert!(bounds[bounds.len() / 2] <= 25, "{} ns", bounds[bounds.len() / 2]);
    // A pause hides what the clock did after the last comparison.
    let paused_ns = watch.last;
    watch.world.pass(SECOND);
    watch.run(10 * MILLISECOND, 5_000);
    let bound = watch.clock.error_bound().unwrap();
    assert!(bound.largest.as_nanos() > 100_000 && bound.now.as_nanos() <= 60, "{bound:?}");
    assert!(bound.largest_at.as_ns().abs_diff(paused_ns) <= 2 * MILLISECOND, "{bound:?}, paused at {paused_ns}");
}

/// Slews that begin after the last comparison before a pause, and that nothing shows after it: they
/// are too small for its length, or undo each other.
#[test]
fn slews_that_a_pause_hides_are_in_the_largest() {
    let hidden: [&[(f64, u64)]; 3] = [
        &[(500.0, 50), (0.0, 60_000)],
        &[(100_000.0, 5), (-100_000.0, 5)],
        &[(-90_000.0, 3), (90_000.0, 3), (0.0, 900)],
    ];
    for (slews, phase) in hidden.into_iter().flat_map(|slews| (0..20).map(move |phase| (slews, phase))) {
        let mut watch = Watch::ordinary();
        watch.settle();
        watch.run(phase * 100_000 + MILLISECOND, 5_000);
        watch.world.slew(slews[0].0 * 1e-6);
        let worst_ns = watch.run(700_000, 5_000);
        for (ppm, ms) in slews {
            watch.world.slew(ppm * 1e-6);
            watch.world.pass(ms * MILLISECOND);
        }
        watch.world.slew(0.0);
        watch.run(10 * MILLISECOND, 5_000);
        let bound = watch.clock.error_bound().unwrap();
        assert!(worst_ns <= bound.largest.as_nanos() as f64 + 1.0, "{worst_ns} ns, with {bound:?}, {slews:?}");
    }
}

/// A slew begins just before the last brackets of a line, which falls behind by it. Readings go on
/// until the line, and not the OS clock, has reached its end; no bracket shows what their error is.
#[test]
fn a_line_that_is_behind_at_its_last_bracket_is_in_the_largest() {
    for phase in 0..40u64 {
        let mut victim = Victim::new();
        victim.read(3 * MILLISECOND + phase * 50_000, 29_540, 4);
        victim.watch.world.slew(0.1);
        victim.read(5 * MILLISECOND, 29_540, 4);
        victim.ask();
    }
}
