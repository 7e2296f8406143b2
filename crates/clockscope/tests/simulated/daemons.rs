//! The disciplined clock on an OS clock that time daemons steer, and machines that are suspended.

use std::collections::VecDeque;

use crate::world::watch::Watch;
use crate::world::{MILLISECOND, Moment, SECOND, World};
use clockscope::disciplined::Disciplined;
use clockscope::{Finding, Source};
use clockscope_testing::cases;
use proptest::prelude::*;

/// adjtimex(2) permits 100,000 ppm by ADJ_TICK and 500 by ADJ_FREQUENCY; chrony slews by up to
/// 83,333, NTP by 500, and adjtime(3) by 500 more.
const SLEWS_PPM: [f64; 11] =
    [0.0, 500.0, -500.0, 1_000.0, -1_000.0, 83_333.0, -83_333.0, 100_000.0, -100_000.0, 100_500.0, -100_500.0];

/// A line has three segments' worth of time from the bracket that it was drawn by to its end.
const SEGMENT_NS: u64 = 3 * MILLISECOND;

/// A program that reads often and asks for the bound now and then.
struct Bounded {
    watch: Watch<&'static World>,
    /// Readings whose bound was not asked for.
    unproven: VecDeque<Reading>,
    worst_ns: f64,
    /// True if the program asks for the time of day, too, at each reading.
    is_asking: bool,
    /// Until when the counter may be ahead of the OS clock, in ns of true time.
    is_ahead_until_ns: u64,
}

struct Reading {
    at_ns: u64,
    error_ns: f64,
    generation: u64,
}

impl Bounded {
    fn new(watch: Watch<&'static World>, is_asking: bool) -> Self {
        Self { watch, unproven: VecDeque::new(), worst_ns: 0.0, is_asking, is_ahead_until_ns: 0 }
    }

    fn run(&mut self, ns: u64, every: u64) {
        for _ in 0..ns / every {
            self.watch.world.pass(every);
            let error_ns = self.watch.read();
            if self.is_asking {
                self.ask_for_the_time_of_day();
            }
            let (at_ns, generation) = (self.watch.world.true_ns(), self.watch.clock.generation());
            self.unproven.push_back(Reading { at_ns, error_ns, generation });
        }
    }

    /// Asserts that the true time of day is in the interval that is returned now.
    fn ask_for_the_time_of_day(&self) {
        let before = self.watch.world.true_utc_ns();
        let at = self.watch.clock.bounded();
        let after = self.watch.world.true_utc_ns();
        let is_inside = i128::from(at.earliest_ns) <= after && before <= i128::from(at.latest_ns);
        let is_ahead = self.watch.world.true_ns() <= self.is_ahead_until_ns;
        assert!(is_inside || is_ahead, "{before} to {after} is not in {at:?}");
    }

    /// See [`step`]. A counter that steps ahead takes the interval of the time of day with it, as
    /// it takes readings, until the line is renewed.
    fn step(&mut self, ns: i64) {
        step(self.watch.world, ns);
        if ns > 0 {
            self.is_ahead_until_ns = self.watch.world.true_ns() + 2 * MILLISECOND;
        }
    }

    /// Asserts that no reading whose segment has ended was further off than the bound says:
    /// readings of this generation, and of the segment in which the one before ended.
    fn ask(&mut self) {
        let bound = self.watch.clock.error_bound().unwrap();
        let (now, generation) = (self.watch.world.true_ns(), self.watch.clock.generation());
        let former = self.unproven.iter().rfind(|reading| reading.generation < generation);
        let ended = former.map_or(u64::MAX, |reading| reading.at_ns);
        while self.unproven.front().is_some_and(|reading| now - reading.at_ns > SEGMENT_NS) {
            let Some(reading) = self.unproven.pop_front() else { break };
            let is_of_this = reading.generation == generation
                || reading.generation + 1 == generation && ended - reading.at_ns < MILLISECOND / 2;
            let largest = bound.largest.as_nanos() as f64;
            assert!(
                !is_of_this || reading.error_ns <= largest + 1.0,
                "{} ns, {} ns ago, with {bound:?}",
                reading.error_ns,
                now - reading.at_ns
            );
            self.worst_ns = self.worst_ns.max(reading.error_ns);
        }
    }

    /// Slews by `ppm` for `ns`.
    fn slew(&mut self, ppm: f64, ns: u64, every: u64) {
        self.watch.world.slew(ppm * 1e-6);
        self.run(ns, every);
        self.ask();
    }
}

#[test]
fn every_slew_is_followed_from_every_other_one() {
    let pairs = SLEWS_PPM.into_iter().flat_map(|from| SLEWS_PPM.map(|to| (from, to)));
    for ((from, to), is_asking) in pairs.flat_map(|pair| [(pair, false), (pair, true)]) {
        let mut bounded = Bounded::new(Watch::ordinary(), is_asking);
        bounded.watch.settle();
        for (ppm, ms) in [(from, 40), (to, 40), (from, 2), (to, 2), (from, 3), (to, 2), (0.0, 40)] {
            bounded.slew(ppm, ms * MILLISECOND, 5_000);
            assert_eq!(bounded.watch.clock.source(), Source::Counter, "from {from} to {to} ppm");
        }
        let settled = bounded.watch.run(100 * MILLISECOND, 5_000);
        assert!(settled <= 60.0, "{settled} ns after {from} and {to} ppm");
        assert_eq!(bounded.watch.clock.generation(), 1, "from {from} to {to} ppm");
        // Some segments go by before a change is known, in each of which it adds up.
        assert!(bounded.worst_ns <= 3.5e6 * (from - to).abs().max(from.abs()) * 1e-6 + 60.0, "{}", bounded.worst_ns);
    }
}

/// While the clock is slewed at a constant rate, the time is as right as ever.
#[test]
fn a_constant_slew_is_no_error() {
    for ppm in SLEWS_PPM {
        let mut watch = Watch::ordinary();
        watch.settle();
        watch.world.slew(ppm * 1e-6);
        watch.run(20 * MILLISECOND, 5_000);
        let settled = watch.run(SECOND, 10_000);
        assert!(settled <= 60.0, "{settled} ns at a constant {ppm} ppm");
        assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, 1));
    }
}

/// A slew begins while nobody reads.
#[test]
fn a_slew_that_began_in_a_pause_is_followed() {
    for (ppm, pause_ms) in SLEWS_PPM.into_iter().flat_map(|ppm| [1, 3, 10, 1_000, 100_000].map(|ms| (ppm, ms))) {
        let mut watch = Watch::ordinary();
        watch.settle();
        for slew in [ppm, 0.0] {
            watch.world.slew(slew * 1e-6);
            watch.world.pass(pause_ms * MILLISECOND);
            let worst = watch.run(20 * MILLISECOND, 5_000);
            assert!(worst <= 2.5e6 * ppm.abs() * 1e-6 + 60.0, "{worst} ns after {pause_ms} ms at {slew} ppm");
            let settled = watch.run(20 * MILLISECOND, 5_000);
            assert!(settled <= 60.0, "{settled} ns after {pause_ms} ms at {slew} ppm");
            assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, 1), "{pause_ms} ms");
        }
    }
}

/// Steps the counter ahead by `ns`. For a step back the OS clock steps ahead instead, because no
/// reading shows a small step back (docs/concepts/library/monotonic.md).
fn step(world: &World, ns: i64) {
    if ns < 0 {
        world.step_os(-ns);
    } else {
        world.step_counter((ns as f64 / world.ns_per_tick()) as i64);
    }
}

/// A change that is no slew is a step, however small, and ends the generation: the counter is used
/// again at once, and again and again where steps are rare.
#[test]
fn a_step_is_no_slew() {
    for step_ns in [30_000, -30_000, 100_000, -100_000, 190_000, 1_000_000, -1_000_000, 400_000_000, -400_000_000i64] {
        let mut watch = Watch::ordinary();
        watch.settle();
        for generation in 2..8 {
            watch.run(11 * SECOND, 10_000);
            step(watch.world, step_ns);
            watch.run(20 * MILLISECOND, 5_000);
            assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, generation), "{step_ns} ns");
            assert!(watch.run(10 * MILLISECOND, 5_000) <= 60.0);
        }
    }
}

/// The error that ended a generation is not forgotten with it, wherever in a segment the step came.
#[test]
fn the_error_that_ends_a_generation_is_retained() {
    let steps = [-1_000_000, -100_000, 100_000, 700_000, 1_000_000, 1_500_000, 2_500_000i64];
    for (step_ns, at) in steps.into_iter().flat_map(|step_ns| (0..20).map(move |at| (step_ns, at))) {
        let phase = at * 100_000;
        let mut bounded = Bounded::new(Watch::ordinary(), at % 2 == 1);
        bounded.watch.settle();
        bounded.run(5 * MILLISECOND + phase, 5_000);
        bounded.step(step_ns);
        bounded.run(20 * MILLISECOND, 5_000);
        assert_eq!(bounded.watch.clock.generation(), 2, "{step_ns} ns");
        bounded.ask();
    }
}

/// The errors of readings before a pause are retained when a generation ends after it, although no
/// bracket was taken between these readings and the end.
#[test]
fn readings_before_a_pause_are_not_forgotten() {
    for (step_ns, phase) in
        [-1_000_000, -50_000_000, 300_000i64].into_iter().flat_map(|ns| (0..20).map(move |at| (ns, at)))
    {
        let mut bounded = Bounded::new(Watch::ordinary(), phase % 2 == 1);
        bounded.watch.settle();
        bounded.run(5 * MILLISECOND + phase * 100_000, 5_000);
        bounded.step(step_ns);
        bounded.run(100_000, 5_000);
        bounded.watch.world.pass(2 * MILLISECOND);
        bounded.run(20 * MILLISECOND, 5_000);
        bounded.ask();
    }
}

/// Each slew is larger than the one before, so that each must raise the bound; also where the OS
/// clock's rate changes between two brackets and the error is largest there.
#[test]
fn the_bound_grows_with_the_slews() {
    for (phase, window) in (0..40).flat_map(|phase| [2_000_000, 2_300_000, 2_700_000].map(|ns| (phase, ns))) {
        let mut bounded = Bounded::new(Watch::ordinary(), phase % 2 == 1);
        bounded.watch.settle();
        bounded.run(phase * 50_000, 5_000);
        let mut ppm = 200.0;
        while f64::abs(ppm) < 80_000.0 {
            bounded.slew(ppm, window, 5_000);
            ppm *= -1.4;
        }
        bounded.slew(0.0, 10 * MILLISECOND, 5_000);
        assert_eq!(bounded.watch.clock.generation(), 1);
    }
}

/// A slew that is short, or small, or lies in a pause or beside an interruption, is no step: it
/// lasts for two windows.
#[test]
fn a_short_slew_is_no_step() {
    let slews = [4_000.0, 4_200.0, -4_500.0, 4_800.0, 50_000.0, -83_333.0];
    let others = [(0, 0), (0, 500_000), (0, 1_000_000), (300_000, 0), (1_200_000, 0)];
    for (ppm, (interrupted_ns, pause_ns)) in slews.into_iter().flat_map(|ppm| others.map(|other| (ppm, other))) {
        for phase in 0..20 {
            let mut watch = Watch::ordinary();
            watch.settle();
            watch.run(phase * 100_000, 5_000);
            let world = watch.world;
            world.slew(ppm * 1e-6);
            if interrupted_ns > 0 {
                world.interrupt_at(10 * phase, Moment::Before, move || world.pass(interrupted_ns));
            }
            watch.run(2 * MILLISECOND - pause_ns, 5_000);
            watch.world.pass(pause_ns);
            watch.world.slew(0.0);
            watch.world.pass(pause_ns);
            watch.run(20 * MILLISECOND, 5_000);
            assert_eq!(watch.clock.generation(), 1, "{ppm} ppm, {interrupted_ns} ns, {pause_ns} ns, phase {phase}");
        }
    }
}

/// Nor is one that ends in a pause, however long that is.
#[test]
fn a_slew_that_ends_in_a_pause_is_no_step() {
    for (phase, slewed_us) in (0..20).flat_map(|phase| [600, 1_000, 1_500, 1_800].map(|us| (phase, us))) {
        for pause_ms in [10, 100, 1_000] {
            let mut watch = Watch::ordinary();
            watch.settle();
            watch.run(phase * 100_000, 5_000);
            watch.world.slew(0.083_333);
            watch.run(slewed_us * 1_000, 5_000);
            watch.world.pass(2 * MILLISECOND);
            watch.world.slew(0.0);
            watch.world.pass(pause_ms * MILLISECOND);
            watch.run(20 * MILLISECOND, 5_000);
            assert_eq!(watch.clock.generation(), 1, "phase {phase}, {slewed_us} us, {pause_ms} ms");
        }
    }
}

/// Readings by a line that a slew made wrong, which was never compared again: the next question
/// covers them.
#[test]
fn a_pause_hides_no_error() {
    for (ppm, read_us) in
        [500.0, -1_000.0, 83_333.0, -83_333.0].into_iter().flat_map(|ppm| [300, 900].map(|us| (ppm, us)))
    {
        for phase in 0..20 {
            let mut bounded = Bounded::new(Watch::ordinary(), phase % 2 == 1);
            bounded.watch.settle();
            bounded.run(phase * 100_000, 5_000);
            bounded.watch.world.slew(ppm * 1e-6);
            bounded.run(read_us * 1_000, 5_000);
            bounded.watch.world.pass(20 * MILLISECOND);
            if phase % 2 == 0 {
                bounded.run(20 * MILLISECOND, 5_000);
            }
            bounded.ask();
            assert!(bounded.worst_ns > 0.0, "no reading was proven");
        }
    }
}

/// Questions compare the clocks as well, at any distance: by a short one no rate is known.
#[test]
fn questions_in_a_slew_do_no_harm() {
    for (hz, tick) in
        [1.1e6, 3.579_545e6, 24e6, 2.596_159_9e9].into_iter().flat_map(|hz| [1, 100].map(|tick| (hz, tick)))
    {
        for (ppm, phase) in [5_000.0, 83_333.0, -83_333.0].into_iter().flat_map(|ppm| (0..10).map(move |at| (ppm, at)))
        {
            let world = World::new(hz, 1 << 50, 12_345 * SECOND);
            world.set_os_tick(tick);
            let mut bounded = Bounded::new(Watch::new(world), phase % 2 == 1);
            bounded.watch.settle();
            bounded.run(phase * 100_000, 5_000);
            bounded.watch.world.slew(ppm * 1e-6);
            for _ in 0..30 {
                bounded.run(97_000, 5_000);
                (0..3).for_each(|_| bounded.ask());
                // By two brackets that are close a slow counter has no rate.
                assert!(hz < 10e6 || bounded.watch.clock.frequency().is_some(), "the counter is in use");
            }
            assert_eq!(bounded.watch.clock.generation(), 1, "{hz} Hz, {tick} ns, {ppm} ppm, phase {phase}");
            assert!(bounded.worst_ns <= 200_000.0, "{}", bounded.worst_ns);
        }
    }
}

/// One reading of the counter is wrong by less than a bracket is wide, which makes that bracket the
/// narrowest.
#[test]
fn a_glitch_within_a_bracket_does_not_make_all_others_wide() {
    for (at, ticks) in (0..100).flat_map(|at| [(at, 40), (at, 70), (at, 90)]) {
        let mut watch = Watch::ordinary();
        let world = watch.world;
        world.interrupt_at(at, Moment::Before, move || world.step_counter(-ticks));
        world.interrupt_at(at + 1, Moment::Before, move || world.step_counter(ticks));
        watch.run(30 * MILLISECOND, 5_000);
        watch.run_in_spells(10 * SECOND);
        watch.settle();
    }
}

/// Many readings at once, with pauses in between.
#[test]
fn batches_are_served_by_the_counter() {
    for (readings, pause_ns) in [(200, 10_000), (200, 25_000), (200, 40_000), (1_000, 100_000)] {
        let mut watch = Watch::ordinary();
        let batches = |watch: &mut Watch<_>, count| {
            for _ in 0..count {
                watch.world.pass(pause_ns + watch.jitter_ns());
                (0..readings).for_each(|_| assert!(watch.read() <= 60.0));
            }
        };
        batches(&mut watch, 500);
        let reads = watch.world.counter_reads.get();
        batches(&mut watch, 1_000);
        let share = (watch.world.counter_reads.get() - reads) as f64 / 1_000.0 / readings as f64;
        assert!((0.9..1.2).contains(&share), "{share} reads of the counter a reading, {readings} every {pause_ns} ns");
    }
}

/// A suspend is a new generation also if it is short against the time in which nobody read.
#[test]
fn a_suspend_in_a_long_pause_is_noticed() {
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.world.pass(100 * SECOND);
    watch.world.suspend(10 * SECOND);
    watch.run(30 * MILLISECOND, 5_000);
    assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, 2));
}

/// Steps that come soon one after the other have the OS clock served: for a second, then for two,
/// four, .. , and the counter is taken back when they have ended.
#[test]
fn steps_in_a_row_are_waited_out() {
    let mut watch = Watch::ordinary();
    watch.settle();
    let mut on_counter = 0;
    for _ in 0..1_000 {
        watch.world.step_counter(40_000_000);
        watch.run(100 * MILLISECOND, 10_000);
        on_counter += u32::from(watch.clock.source() == Source::Counter);
    }
    assert!(on_counter <= 20, "the counter was in use after {on_counter} of 1000 steps");
    assert!(watch.clock.generation() <= 3 + 2 * 7, "generation {}", watch.clock.generation());
    // The next try is a minute away.
    for _ in 0..64 {
        watch.world.pass(SECOND);
        watch.run(MILLISECOND, 5_000);
    }
    watch.settle();
    assert!(watch.run(SECOND, 10_000) <= 60.0);
    assert!(watch.clock.evidence().iter().all(|evidence| evidence.name != "outcome"));
}

/// A machine that sleeps every few seconds, as phones do: the counter has gone on, or stood still,
/// or was reset, and CLOCK_MONOTONIC leaves the time out.
#[test]
fn suspends_are_no_steps() {
    // Whoever asks for other clocks, and has them compared at once, hides no suspend.
    let sleeps = [(1, false), (30, false), (3_600, false), (30, true)];
    for ((slept_s, reset), is_checked) in sleeps.into_iter().flat_map(|sleep| [(sleep, false), (sleep, true)]) {
        let mut watch = Watch::ordinary();
        watch.settle();
        if is_checked {
            watch.clock.boot_ns();
            watch.clock.wall_ns();
            watch.run(10 * MILLISECOND, 5_000);
        }
        for storm in 1..=20 {
            watch.world.suspend(slept_s * SECOND);
            if reset {
                watch.world.reset_counter();
            }
            if is_checked {
                watch.clock.recheck();
            }
            watch.run(30 * MILLISECOND, 5_000);
            assert_eq!(watch.clock.source(), Source::Counter, "after {storm} suspends of {slept_s} s");
            assert!(watch.run(2 * SECOND, 10_000) <= 60.0);
            assert_eq!(watch.clock.generation(), 1 + storm);
        }
    }
}

/// A machine that does not say that it slept.
#[test]
fn suspends_that_nobody_tells_are_steps() {
    let mut watch = Watch::ordinary();
    watch.world.tells_suspends.set(false);
    watch.settle();
    for _ in 0..4 {
        watch.world.suspend(30 * SECOND);
        watch.run(30 * MILLISECOND, 5_000);
    }
    watch.assert_demoted();
    let outcome = watch.clock.evidence().into_iter().find(|evidence| evidence.name == "outcome").unwrap();
    assert_eq!(outcome.finding, Finding::Against);
}

/// Callers that take one reading now and then never pay for the counter.
#[test]
fn light_callers_never_read_the_counter() {
    for every in [50_000, 200_000, 400_000, 600_000, 800_000, 950_000, 1_050_000, 1_500_000, 2_500_000] {
        // At once, or after the counter was in use; one reading, or two, before and after
        // something.
        for (was_used, burst) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
            let mut watch = Watch::ordinary();
            watch.run(if was_used { 20 * MILLISECOND } else { 100_000 }, 5_000);
            let read = |watch: &mut Watch<_>| {
                for _ in 0..500 {
                    watch.world.pass(every);
                    watch.world.pass(watch.jitter_ns());
                    (0..burst).for_each(|_| assert!(watch.read() <= 60.0));
                }
            };
            read(&mut watch);
            let reads = watch.world.counter_reads.get();
            read(&mut watch);
            let reads = watch.world.counter_reads.get() - reads;
            // Forty readings in a window may seem to be more for a while.
            let most = if burst * MILLISECOND / every < 40 { 0 } else { 100 };
            assert!(reads <= most, "{reads} reads of the counter in 500 times {burst} every {every} ns");
        }
    }
}

/// A program that asks for the frequency need not read often.
#[test]
fn a_question_calibrates_by_itself() {
    let watch = Watch::ordinary();
    let frequency = watch.clock.frequency().unwrap();
    let hz = 1e9 / watch.world.ns_per_tick();
    assert!(frequency.lowest_hz <= hz && hz <= frequency.highest_hz, "{hz}: {frequency:?}");
    assert!(frequency.bound_ppm() <= 100.0, "{frequency}");
    assert_eq!(watch.clock.source(), Source::Counter);
    let refused = Watch::ordinary();
    refused.world.clocksource.set(Some(false));
    let clock = Disciplined::new(refused.world, refused.world);
    assert_eq!((clock.frequency(), refused.world.counter_reads.get()), (None, 0));
}

/// Events of a machine, in any order.
#[derive(Clone, Debug)]
enum Change {
    /// A slew: ppm, and length in µs.
    Slew(f64, u64),
    /// A step of this many ns: see [`step`].
    Step(i64),
    Suspend(u64),
    /// A pause of this many µs, in which nobody reads.
    Pause(u64),
}

fn change() -> impl Strategy<Value = Change> {
    let ppm = prop_oneof![proptest::sample::select(&SLEWS_PPM[..]), -100_500f64..100_500.0];
    // Two windows at least.
    prop_oneof![
        8 => (ppm, 2_000u64..20_000).prop_map(|(ppm, us)| Change::Slew(ppm, us)),
        1 => prop_oneof![-2_000_000i64..2_000_000, -400_000_000i64..400_000_000].prop_map(Change::Step),
        1 => (0u64..100 * SECOND).prop_map(Change::Suspend),
        1 => (0u64..20_000).prop_map(Change::Pause),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Slews alone, in any order.
    #[test]
    fn no_chain_of_slews_loses_the_counter(
        slews in proptest::collection::vec((proptest::sample::select(&SLEWS_PPM[..]), 2_000u64..12_000), 1..20),
        every in 1_000u64..10_000,
        phase in 0u64..1_000_000,
        is_asking in any::<bool>(),
    ) {
        let mut bounded = Bounded::new(Watch::ordinary(), is_asking);
        bounded.watch.settle();
        bounded.run(phase, every);
        for (ppm, us) in slews {
            bounded.slew(ppm, us * 1_000, every);
            prop_assert_eq!(bounded.watch.clock.generation(), 1);
        }
        bounded.slew(0.0, 50 * MILLISECOND, every);
        prop_assert_eq!(bounded.watch.clock.source(), Source::Counter);
        prop_assert!(bounded.watch.run(10 * MILLISECOND, every) <= 60.0);
    }

    /// Whatever happens, every reading is inside the bound, and the counter is used again when all
    /// is well for a second, or for as long as the pause that it was given up for.
    #[test]
    fn every_reading_is_inside_the_bound(
        changes in proptest::collection::vec(change(), 1..12),
        every in 1_000u64..10_000,
        is_asking in any::<bool>(),
    ) {
        let mut bounded = Bounded::new(Watch::ordinary(), is_asking);
        bounded.watch.settle();
        for change in changes {
            match change {
                Change::Slew(ppm, us) => bounded.slew(ppm, us * 1_000, every),
                Change::Step(ns) => {
                    bounded.step(ns);
                    bounded.run(10 * MILLISECOND, every);
                }
                Change::Suspend(ns) => bounded.watch.world.suspend(ns),
                Change::Pause(us) => bounded.watch.world.pass(us * 1_000),
            }
            bounded.ask();
        }
        bounded.slew(0.0, 10 * MILLISECOND, every);
        for _ in 0..1_100 {
            bounded.watch.world.pass(SECOND);
            bounded.watch.run(2 * MILLISECOND, 5_000);
        }
        bounded.watch.settle();
        prop_assert!(bounded.watch.run(10 * MILLISECOND, every) <= 60.0);
    }
}
