//! The wall clock by the counter, in worlds in which it is set, slewed, and slept through.

use std::cell::Cell;

use crate::world::watch::Watch;
use crate::world::{MILLISECOND, Moment, SECOND, World};
use clockscope::Source;
use clockscope::disciplined::Disciplined;
use clockscope_testing::cases;
use proptest::prelude::*;

type Clock = Disciplined<&'static World, &'static World>;

/// A segment is a tenth longer at most.
const WINDOW: u64 = 1_100_000;

/// Returns the distance of a reading from the range that the wall clock showed during the call, in
/// ns.
fn off_ns(world: &World, clock: &Clock) -> f64 {
    let before = world.wall_ps();
    let reading = i128::from(clock.wall_ns()) * 1000;
    let after = world.wall_ps();
    ((reading - after).max(before - reading).max(0)) as f64 / 1000.0
}

/// Reads the wall clock every `every` ns for `ns`, and returns the largest error.
fn run(watch: &Watch<&'static World>, ns: u64, every: u64) -> f64 {
    let mut worst = 0f64;
    for turn in 0..ns / every {
        watch.world.pass(every + (turn ^ turn >> 7).wrapping_mul(0xd6e8_feb8_6659_fd93) % 64);
        worst = worst.max(off_ns(watch.world, &watch.clock));
    }
    worst
}

fn settled() -> Watch<&'static World> {
    let mut watch = Watch::ordinary();
    watch.settle();
    run(&watch, 5 * MILLISECOND, 5_000);
    watch
}

#[test]
fn the_wall_clock_is_served_by_the_counter_to_who_reads_it_often() {
    let watch = Watch::ordinary();
    assert!(run(&watch, 100 * MILLISECOND, 5_000) <= 100.0);
    assert_eq!(watch.clock.source(), Source::Counter, "its readings are counted");
    let (reads, questions) = (watch.world.counter_reads.get(), watch.world.questions.get());
    assert!(run(&watch, SECOND, 5_000) <= 100.0);
    assert!(watch.world.counter_reads.get() - reads > 190_000);
    assert_eq!(watch.world.questions.get(), questions);
    assert_eq!(watch.clock.wall_generation(), 0);
}

#[test]
fn who_reads_it_rarely_is_served_the_wall_clock_itself() {
    let watch = Watch::ordinary();
    run(&watch, 10 * MILLISECOND, MILLISECOND);
    let reads = watch.world.counter_reads.get();
    for _ in 0..100 {
        watch.world.pass(MILLISECOND);
        assert!(off_ns(watch.world, &watch.clock) < 1.0);
        watch.world.step_wall(-123_456);
        assert!(off_ns(watch.world, &watch.clock) < 1.0, "a step shows at once");
    }
    assert_eq!(watch.world.counter_reads.get(), reads);
}

/// Whoever does not ask for the wall clock, or for the system's error, does not pay for it.
#[test]
fn nobody_else_pays() {
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.run(100 * MILLISECOND, 5_000);
    assert_eq!((watch.world.wall_reads.get(), watch.world.statements.get()), (0, 0));
    watch.clock.wall_ns();
    watch.run(100 * MILLISECOND, 5_000);
    let reads = watch.world.wall_reads.get();
    assert!((90..500).contains(&reads), "{reads} in a hundred renewals");
    assert_eq!(watch.world.statements.get(), 0);
}

#[test]
fn a_step_shows_within_two_windows_and_at_once_to_who_asks() {
    for step in [3600 * SECOND as i64, -3600 * SECOND as i64, 1_000_000, -1_000_000, 2_000, -2_000] {
        for after in [0, 100_000, 400_000, 900_000] {
            let watch = settled();
            run(&watch, 3 * MILLISECOND + after, 5_000);
            let generation = watch.clock.wall_generation();
            watch.world.step_wall(step);
            let start = watch.world.true_ns();
            while off_ns(watch.world, &watch.clock) > 500.0 {
                watch.world.pass(5_000);
                let took = watch.world.true_ns() - start;
                assert!(took <= 2 * WINDOW, "{took} ns after a step of {step} ns");
            }
            assert_eq!(watch.clock.wall_generation(), generation + 1);
            assert!(run(&watch, 20 * MILLISECOND, 5_000) <= 100.0);
            watch.world.step_wall(step);
            watch.clock.check_wall();
            assert!(run(&watch, 3 * MILLISECOND, 5_000) <= 100.0, "whoever asks notices at once");
            assert_eq!(watch.clock.wall_generation(), generation + 2);
            watch.world.step_wall(step);
            watch.clock.recheck();
            assert!(run(&watch, 3 * MILLISECOND, 5_000) <= 100.0, "so does a recheck");
            assert_eq!(watch.clock.generation(), 1, "our own timeline goes on");
        }
    }
}

/// A line that was published before the wall clock is set shows the old time, until a caller
/// looks. Then it shows the new time at once: the next reading reads the counter alone.
#[test]
fn a_check_changes_the_line_that_there_is() {
    for step in [3600 * SECOND as i64, -3600 * SECOND as i64, 1_000_000, -1_000_000, 2_000, -2_000] {
        let watch = settled();
        let renewals = watch.world.wall_reads.get();
        while watch.world.wall_reads.get() == renewals {
            run(&watch, 5_000, 5_000);
        }
        let off_by_line = || {
            let reads = watch.world.wall_reads.get();
            let off_ns = off_ns(watch.world, &watch.clock);
            assert_eq!(watch.world.wall_reads.get(), reads, "the line was renewed");
            off_ns
        };
        watch.world.step_wall(step);
        assert!((off_by_line() - step.abs() as f64).abs() < 200.0, "a step of {step} ns shows without a look");
        watch.clock.check_wall();
        assert!(off_by_line() <= 100.0, "a step of {step} ns");
        assert_eq!(watch.clock.generation(), 1);
    }
}

/// Setting the wall clock is no matter of the timeline, nor of who only reads rarely.
#[test]
fn a_step_is_noticed_by_who_asks_where_no_line_is() {
    let watch = Watch::ordinary();
    assert_eq!(watch.clock.wall_generation(), 0);
    for steps in 1..5 {
        watch.world.step_wall(-10_000_000);
        run(&watch, 10 * MILLISECOND, MILLISECOND);
        assert_eq!(watch.clock.wall_generation(), steps);
        assert_eq!(watch.clock.wall_generation(), steps);
    }
}

/// A comparison that took a millisecond says little. It is neither served nor compared with.
#[test]
fn a_comparison_that_was_interrupted_is_not_used() {
    let watch = Watch::ordinary();
    let usual = watch.world.os_read_ps.replace(1_000_000_000);
    watch.clock.check_wall();
    watch.world.os_read_ps.set(usual);
    assert!(run(&watch, 10 * MILLISECOND, 5_000) <= 100.0);
    watch.world.os_read_ps.set(1_000_000_000);
    watch.clock.check_wall();
    watch.world.os_read_ps.set(usual);
    assert!(run(&watch, 10 * MILLISECOND, 5_000) <= 100.0);
    assert_eq!(watch.clock.wall_generation(), 0);
}

#[test]
fn slews_and_sleep_are_followed() {
    let watch = settled();
    for (share, worst_ns) in
        [(500e-6, 2_000.0), (-500e-6, 2_000.0), (0.083, 400_000.0), (-0.083, 400_000.0), (0.0, 200_000.0)]
    {
        watch.world.slew(share);
        assert!(run(&watch, 50 * MILLISECOND, 5_000) <= worst_ns, "{share}");
        assert!(run(&watch, 50 * MILLISECOND, 5_000) <= 150.0, "{share}");
    }
    assert_eq!(watch.clock.wall_generation(), 0, "no slew is a step");
    watch.world.suspend(3 * SECOND);
    watch.world.pass(3 * MILLISECOND);
    run(&watch, 5 * MILLISECOND, 5_000);
    assert!(run(&watch, 20 * MILLISECOND, 5_000) <= 150.0);
    assert_eq!(watch.clock.wall_generation(), 1);
}

#[test]
fn the_bound_holds_and_is_small() {
    let watch = settled();
    for _ in 0..100 {
        run(&watch, 10 * MILLISECOND, 5_000);
        let line = watch.clock.error_bound().unwrap().now.as_nanos() as u64;
        let (now, largest) = watch.clock.wall_error_ns().unwrap();
        let error = off_ns(watch.world, &watch.clock);
        assert!(error <= (line + now) as f64 + 2.0 && now <= largest, "{error} {line} {now}");
        assert!(line + now <= 200, "{line} {now}");
    }
}

#[test]
fn a_wall_clock_that_refuses_is_survived() {
    let watch = settled();
    let before = watch.clock.wall_ns();
    watch.world.set_wall_refuses(true);
    run(&watch, 10 * MILLISECOND, 5_000);
    assert!(watch.clock.wall_ns() > before, "the last offset goes on");
    assert_eq!(watch.clock.wall_error_ns(), None);
    watch.world.set_wall_refuses(false);
    run(&watch, 10 * MILLISECOND, 5_000);
    assert!(run(&watch, 10 * MILLISECOND, 5_000) <= 100.0);
    let none = Watch::ordinary();
    none.world.set_wall_refuses(true);
    run(&none, 10 * MILLISECOND, 5_000);
    assert!(none.clock.wall_ns() > 0);
}

/// Readings of several threads, of which all but one are within a read of the one.
struct Order {
    clock: Clock,
    world: &'static World,
    finished: Cell<i64>,
    /// The sum of the steps back so far, in ns: a reading may be smaller by so much.
    back: Cell<i64>,
}

impl Order {
    fn new() -> &'static Self {
        let world: &'static World = Box::leak(Box::new(World::new(2.596_159_9e9, 1 << 50, 12_345 * SECOND)));
        Box::leak(Box::new(Self {
            clock: Disciplined::new(world, world),
            world,
            finished: Cell::new(i64::MIN),
            back: Cell::new(0),
        }))
    }

    fn read(&self) {
        let (finished, from) = (self.finished.get(), self.world.wall_ps());
        let ns = self.clock.wall_ns();
        let to = self.world.wall_ps();
        assert!(ns >= finished, "{ns} was read after {finished}");
        // Ahead of the wall clock by no more than a line may be.
        let (ahead, behind) = (i128::from(ns) * 1000 - to, from - i128::from(ns) * 1000);
        assert!(ahead.max(behind) <= self.back.get() as i128 * 1000 + 15_000_000, "{ahead} {behind} ps off");
        self.finished.set(ns.max(finished));
    }
}

/// While the wall clock is not set, no reading is smaller than one that had been finished: wherever
/// a thread is preempted, whether a line begins, is renewed, or has ended meanwhile.
#[test]
fn no_reading_goes_back_unless_the_wall_clock_does() {
    for (at, moment) in (0..150).flat_map(|at| [(at, Moment::Before), (at, Moment::After)]) {
        for (reads, gap) in [(30, 5_000), (500, 5_000), (5, 400_000)] {
            for pause in [0, 500_000, 5 * MILLISECOND] {
                let order = Order::new();
                let run = move |n, gap| {
                    for _ in 0..n {
                        order.world.pass(gap);
                        order.read();
                    }
                };
                run(4_000, 5_000);
                assert_eq!(order.clock.source(), Source::Counter);
                order.world.slew(-500e-6);
                order.world.pass(pause);
                order.world.interrupt_at(at, moment, move || run(reads, gap));
                run(10, 3_000);
                run(300, 20_000);
                run(20, 2 * MILLISECOND);
                run(1_000, 5_000);
            }
        }
    }
}

/// The clocks are slowed down, so that the line is ahead of them, and the line is taken away: what
/// is served then waits for them.
#[test]
fn a_line_that_ends_ahead_of_the_clocks_does_not_let_it_go_back() {
    for after in (0..1_500_000).step_by(50_000) {
        let order = Order::new();
        let (world, clock) = (order.world, &order.clock);
        let run = |ns: u64, gap: u64| {
            for _ in 0..ns / gap {
                world.pass(gap);
                let finished = order.finished.get();
                let ns = clock.wall_ns();
                assert!(ns >= finished, "{ns} was read after {finished}");
                order.finished.set(ns);
            }
        };
        run(20 * MILLISECOND, 5_000);
        assert_eq!(clock.source(), Source::Counter);
        world.slew(-0.09);
        run(after + 1_000, 1_000);
        clock.give_up();
        run(5 * MILLISECOND, 500);
        assert_eq!(clock.source(), Source::OsClock);
        world.slew(0.0);
        run(5 * MILLISECOND, 5_000);
        assert!(off_ns(world, clock) < 1.0, "the wall clock has caught up");
        assert_eq!(clock.wall_generation(), 0);
    }
}

/// The wall clock is set at every moment of a reading and a renewal: a reading shows it as it was
/// before or after, and never a mixture.
#[test]
fn a_reading_beside_a_step_shows_one_of_both() {
    let step = -1_000 * SECOND as i64;
    for (at, moment) in (0..120).flat_map(|at| [(at, Moment::Before), (at, Moment::After)]) {
        let watch = settled();
        // A thread that is stopped for long after it has taken what it needs, while others go on.
        let (world, clock): (_, &'static Clock) = (watch.world, Box::leak(Box::new(watch.clock)));
        world.interrupt_at(at, moment, move || {
            world.step_wall(step);
            for _ in 0..600 {
                world.pass(5_000);
                clock.wall_ns();
            }
        });
        for _ in 0..400 {
            world.pass(5_000);
            let before = world.wall_ps();
            let ns = i128::from(clock.wall_ns()) * 1000;
            let after = world.wall_ps();
            let is_old = |moment: i128| (ns - moment).abs() < 2_300_000_000;
            // As it was when the call began or ended: with the step unseen for two windows at most.
            assert!(
                is_old(before) || is_old(after) || is_old(after - i128::from(step) * 1000),
                "{} ns off",
                (ns - after) / 1000
            );
            // Preempted readings are not of a time that the clock never showed in the call.
            let (low, high) = (before.min(after), before.max(after));
            assert!((low - 1_000_000..=high + 2_300_000_000).contains(&ns) || is_old(after - i128::from(step) * 1000));
        }
    }
}

#[derive(Clone, Debug)]
enum Event {
    Read(u32, u64),
    Step(i64),
    Slew(f64),
    Suspend(u64),
    Pass(u64),
    StepOs(i64),
    StepCounter(i64),
    WallRefuses(bool),
    Interrupt(u64, Moment, u64),
    Preempt(u64, Moment, u32, u64),
    Check,
    Now(u32, u64),
}

fn event() -> impl Strategy<Value = Event> {
    let moment = prop_oneof![Just(Moment::Before), Just(Moment::After)];
    let gap = || prop_oneof![Just(0), 1u64..20_000, 1u64..3_000_000];
    prop_oneof![
        8 => (1u32..2000, gap()).prop_map(|(n, gap)| Event::Read(n, gap)),
        3 => (1u32..2000, gap()).prop_map(|(n, gap)| Event::Now(n, gap)),
        2 => prop_oneof![-3_000i64..3_000, -4_000_000_000_000i64..4_000_000_000_000].prop_map(Event::Step),
        2 => prop_oneof![Just(0.0), -5e-4f64..5e-4, -0.1f64..0.1].prop_map(Event::Slew),
        1 => prop_oneof![0u64..30 * SECOND, 2 * WINDOW..6 * MILLISECOND].prop_map(Event::Suspend),
        1 => prop_oneof![0u64..30_000_000, 0u64..100 * SECOND].prop_map(Event::Pass),
        1 => prop_oneof![-2_000_000_000i64..-20_000, 20_000i64..2_000_000_000].prop_map(Event::StepOs),
        1 => (-1i64 << 40..(-1i64 << 30)).prop_map(Event::StepCounter),
        1 => any::<bool>().prop_map(Event::WallRefuses),
        2 => (0u64..200, moment.clone(), 0u64..30_000_000).prop_map(|(at, moment, ns)| Event::Interrupt(at, moment, ns)),
        3 => (0u64..200, moment, 1u32..300, gap()).prop_map(|(at, moment, n, gap)| Event::Preempt(at, moment, n, gap)),
        1 => Just(Event::Check),
    ]
}

/// Does what a script says. `is_set`: the wall clock is set, too, so that its readings may go back.
/// Then nothing but the end is judged: when all is well again, the reading is right.
fn play(is_set: bool, script: Vec<Event>) {
    let order = Order::new();
    let (world, clock) = (order.world, &order.clock);
    let is_ordered = !is_set;
    let refused = Cell::new(false);
    let read = move || {
        let finished = order.finished.get();
        let ns = clock.wall_ns();
        assert!(!is_ordered || ns >= finished, "{ns} was read after {finished}");
        order.finished.set(order.finished.get().max(ns));
    };
    for event in script {
        match event {
            Event::Read(n, gap) => (0..n).for_each(|_| {
                world.pass(gap);
                read();
            }),
            Event::Now(n, gap) => (0..n).for_each(|_| {
                world.pass(gap);
                clock.now();
            }),
            Event::Slew(share) => world.slew(share),
            Event::Pass(ns) => world.pass(ns),
            Event::Interrupt(at, moment, ns) => world.interrupt_at(at, moment, move || world.pass(ns)),
            Event::Preempt(at, moment, n, gap) => world.interrupt_at(at, moment, move || {
                for _ in 0..n {
                    world.pass(gap);
                    read();
                }
            }),
            Event::Check => clock.check_wall(),
            // A line that outlives a shorter one may let a reading go back.
            Event::Suspend(ns) if is_set || ns >= 2 * WINDOW => world.suspend(ns),
            Event::Step(ns) if is_set => world.step_wall(ns),
            Event::StepOs(ns) if is_set => world.step_os(ns),
            Event::StepCounter(ticks) if is_set => world.step_counter(ticks),
            Event::WallRefuses(refuses) if is_set => {
                refused.set(refuses);
                world.set_wall_refuses(refuses);
            }
            _ => {}
        }
        read();
    }
    world.set_wall_refuses(false);
    world.slew(0.0);
    for _ in 0..2 {
        world.pass(11 * SECOND);
        for _ in 0..5_000 {
            world.pass(5_000);
            read();
        }
    }
    for _ in 0..1_000 {
        world.pass(5_000);
        let off = off_ns(world, clock);
        assert!(off <= 300.0, "{off} ns off in the end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_script_makes_it_go_back_or_wrong(is_set in any::<bool>(), script in proptest::collection::vec(event(), 1..40)) {
        play(is_set, script);
    }
}
