//! The bounds of civil time, in worlds whose true time is known.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod world;

use clockscope::Source;
use clockscope::disciplined::{BoundedAt, Disciplined, State};
use proptest::prelude::*;
use world::watch::Watch;
use world::{MILLISECOND, Moment, SECOND, World};

type Clock = Disciplined<&'static World, &'static World>;

/// An interval. The true time at some moment of the call must be inside.
fn ask(world: &World, clock: &Clock) -> BoundedAt {
    let before = world.civil_ns();
    let at = clock.bounded();
    let after = world.civil_ns();
    let (earliest, latest) = (i128::from(at.earliest_ns), i128::from(at.latest_ns));
    assert!(earliest <= after && before <= latest, "{before} to {after} is not in {at:?}");
    assert!(at.state.is_bounded() || (at.earliest_ns, at.latest_ns) == (i64::MIN, i64::MAX), "{at:?}");
    at
}

fn run(watch: &Watch<&'static World>, ns: u64, every: u64) -> BoundedAt {
    let mut last = ask(watch.world, &watch.clock);
    for turn in 0..ns / every {
        watch.world.pass(every + (turn ^ turn >> 7).wrapping_mul(0xd6e8_feb8_6659_fd93) % 64);
        last = ask(watch.world, &watch.clock);
    }
    last
}

#[test]
fn the_system_is_asked_once_a_second_by_who_asks_often() {
    let mut watch = Watch::ordinary();
    watch.settle();
    run(&watch, 20 * MILLISECOND, 5_000);
    let statements = watch.world.statements.get();
    run(&watch, 5 * SECOND, 5_000);
    let asked = watch.world.statements.get() - statements;
    // Twice each time: before and after a bracket.
    assert!((8..=14).contains(&asked), "{asked} questions in five seconds");
}

#[test]
fn who_asks_rarely_is_answered_by_the_system() {
    let watch = Watch::ordinary();
    let statements = watch.world.statements.get();
    run(&watch, 100 * MILLISECOND, MILLISECOND);
    assert!(watch.world.statements.get() - statements >= 100);
    assert_eq!(watch.clock.source(), Source::OsClock);
}

#[test]
fn questions_alone_make_the_counter_serve_them() {
    let watch = Watch::ordinary();
    run(&watch, 200 * MILLISECOND, 3_000);
    assert_eq!(watch.clock.source(), Source::Counter);
    let statements = watch.world.statements.get();
    run(&watch, 100 * MILLISECOND, 3_000);
    assert!(watch.world.statements.get() - statements <= 4);
}

#[test]
fn an_interval_grows_and_is_no_wider_than_it_must_be() {
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.world.margin_ns.set(10_000);
    run(&watch, 20 * MILLISECOND, 5_000);
    for _ in 0..400 {
        let at = run(&watch, 5 * MILLISECOND, 5_000);
        let width = at.latest_ns - at.earliest_ns;
        assert!((20_000..=20_000 + 1_010_000 + 10_000).contains(&width), "{width} ns");
        assert_eq!(at.state, State::Synchronized);
    }
}

/// The clock is off by less than what counts as a slew. Asked exactly, and wrong by 90 µs a second later.
#[test]
fn a_rate_that_is_a_little_off_is_covered_by_the_growth() {
    for share in [90e-6, -90e-6] {
        let mut watch = Watch::ordinary();
        watch.world.slew(share);
        watch.settle();
        run(&watch, 3 * SECOND, 8_000);
        let statements = watch.world.statements.get();
        assert_eq!(run(&watch, 500 * MILLISECOND, 8_000).state, State::Synchronized);
        assert!(watch.world.statements.get() - statements <= 6);
    }
}

/// What the system says changes within the second: the interval that was carried on is still right, and
/// the state follows in a window or two where the clocks show that something happened.
#[test]
fn a_slew_that_begins_within_the_second_is_noticed() {
    for share in [0.083, -0.083, 0.001, -0.001] {
        for after in (0..1_200).step_by(37) {
            let mut watch = Watch::ordinary();
            watch.settle();
            run(&watch, 20 * MILLISECOND + after * 1_000, 5_000);
            watch.world.slew(share);
            run(&watch, 4 * MILLISECOND, 5_000);
            assert_eq!(run(&watch, 5_000, 5_000).state, State::Slewing, "{share} {after}");
            watch.world.slew(0.0);
            run(&watch, 1_200 * MILLISECOND, 20_000);
            assert_eq!(run(&watch, 30_000, 5_000).state, State::Synchronized);
        }
    }
}

#[test]
fn a_wall_clock_that_is_set_takes_the_truth_out_of_no_interval() {
    for step in [-5 * SECOND as i64, 5 * SECOND as i64, 3 * MILLISECOND as i64] {
        let mut watch = Watch::ordinary();
        watch.settle();
        run(&watch, 30 * MILLISECOND, 5_000);
        watch.world.step_wall(step);
        // Whoever sets a clock by hand takes its error away (STA_UNSYNC).
        watch.world.states.set(Some(State::Unsynchronized));
        run(&watch, 3 * MILLISECOND, 5_000);
        assert_eq!(run(&watch, 30_000, 5_000).state, State::Unsynchronized);
        watch.world.states.set(Some(State::Synchronized));
        run(&watch, 1_100 * MILLISECOND, 10_000);
        assert!(run(&watch, 30_000, 5_000).state.is_bounded());
    }
}

#[test]
fn every_state_is_a_value() {
    let mut watch = Watch::ordinary();
    watch.settle();
    let states = [State::Worthless, State::Unsynchronized, State::WhileNotSlewing, State::Slewing, State::Synchronized];
    for state in states {
        watch.world.states.set(Some(state));
        run(&watch, 1_050 * MILLISECOND, 10_000);
        assert_eq!(ask(watch.world, &watch.clock).state, state);
    }
    watch.world.states.set(None);
    run(&watch, 1_050 * MILLISECOND, 10_000);
    assert_eq!(ask(watch.world, &watch.clock).state, State::Unavailable);
    // Near a leap second nothing is carried on.
    watch.world.states.set(Some(State::LeapSecond));
    run(&watch, 1_050 * MILLISECOND, 10_000);
    let statements = watch.world.statements.get();
    assert_eq!(run(&watch, MILLISECOND, 10_000).state, State::LeapSecond);
    assert!(watch.world.statements.get() - statements >= 100);
}

#[derive(Clone, Debug)]
enum Event {
    Ask(u32, u64),
    Now(u32, u64),
    Wall(u32, u64),
    Slew(f64),
    Step(i64),
    Suspend(u64),
    Pass(u64),
    StepOs(i64),
    ResetCounter,
    State(State),
    Interrupt(u64, Moment, u64),
    Preempt(u64, Moment, u32, u64),
}

fn event() -> impl Strategy<Value = Event> {
    let moment = prop_oneof![Just(Moment::Before), Just(Moment::After)];
    let gap = || prop_oneof![Just(0), 1u64..20_000, 1u64..20_000, 1u64..3_000_000];
    let state = prop_oneof![Just(State::Synchronized), Just(State::Unsynchronized), Just(State::WhileNotSlewing)];
    prop_oneof![
        8 => (1u32..2000, gap()).prop_map(|(n, gap)| Event::Ask(n, gap)),
        2 => (1u32..2000, gap()).prop_map(|(n, gap)| Event::Now(n, gap)),
        2 => (1u32..2000, gap()).prop_map(|(n, gap)| Event::Wall(n, gap)),
        4 => prop_oneof![Just(0.0), Just(0.0), -90e-6f64..90e-6, -5e-4f64..5e-4, -0.1f64..0.1].prop_map(Event::Slew),
        1 => prop_oneof![-3_000i64..3_000, -4_000_000_000_000i64..4_000_000_000_000].prop_map(Event::Step),
        1 => (0u64..30_000_000_000).prop_map(Event::Suspend),
        1 => prop_oneof![0u64..30_000_000, 0u64..100 * SECOND].prop_map(Event::Pass),
        1 => (20_000i64..2_000_000_000).prop_map(Event::StepOs),
        1 => Just(Event::ResetCounter),
        1 => state.prop_map(Event::State),
        2 => (0u64..200, moment.clone(), 0u64..30_000_000).prop_map(|(at, moment, ns)| Event::Interrupt(at, moment, ns)),
        3 => (0u64..200, moment, 1u32..300, gap()).prop_map(|(at, moment, n, gap)| Event::Preempt(at, moment, n, gap)),
    ]
}

/// Whatever a script does: where an interval has ends, the true time is inside. Rates change at most once
/// in three windows, as docs/library.md says; a slew that begins and ends unseen between two comparisons
/// would be carried on.
fn play(script: Vec<Event>) {
    let world: &'static World = Box::leak(Box::new(World::new(2.596_159_9e9, 1 << 50, 12_345 * SECOND)));
    let clock: &'static Clock = Box::leak(Box::new(Disciplined::new(world, world)));
    for event in script {
        match event {
            Event::Ask(n, gap) => (0..n).for_each(|_| {
                world.pass(gap);
                ask(world, clock);
            }),
            Event::Now(n, gap) => (0..n).for_each(|_| {
                world.pass(gap);
                clock.now();
            }),
            Event::Wall(n, gap) => (0..n).for_each(|_| {
                world.pass(gap);
                clock.wall_ns();
            }),
            Event::Slew(share) => {
                for _ in 0..400 {
                    world.pass(10_000);
                    clock.now();
                }
                world.slew(share);
            }
            Event::Step(ns) => world.step_wall(ns),
            Event::Suspend(ns) => world.suspend(ns),
            Event::Pass(ns) => world.pass(ns),
            Event::StepOs(ns) => world.step_os(ns),
            Event::ResetCounter => world.reset_counter(),
            Event::State(state) => world.states.set(Some(state)),
            Event::Interrupt(at, moment, ns) => world.interrupt_at(at, moment, move || world.pass(ns)),
            Event::Preempt(at, moment, n, gap) => world.interrupt_at(at, moment, move || {
                for _ in 0..n {
                    world.pass(gap);
                    ask(world, clock);
                }
            }),
        }
        ask(world, clock);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_true_time_is_inside_whatever_happens(script in proptest::collection::vec(event(), 1..40)) {
        play(script);
    }
}
