//! The time that counts suspends, by the counter, on machines that are suspended.

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

/// Returns the distance of a reading from the range that the boot clock showed during the call, in
/// ns.
fn off_ns(world: &World, clock: &Clock) -> f64 {
    let before = world.boot_ps();
    let reading = i128::from(clock.boot_ns()) * 1000;
    let after = world.boot_ps();
    ((reading - after).max(before - reading).max(0)) as f64 / 1000.0
}

/// Reads the boot clock every `every` ns for `ns`, and returns the largest error.
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
fn the_boot_clock_is_served_by_the_counter_to_who_reads_it_often() {
    let watch = Watch::ordinary();
    assert!(run(&watch, 100 * MILLISECOND, 5_000) <= 100.0);
    assert_eq!(watch.clock.source(), Source::Counter, "its readings are counted");
    let (reads, boot_reads) = (watch.world.counter_reads.get(), watch.world.boot_reads.get());
    assert!(run(&watch, SECOND, 5_000) <= 100.0);
    assert!(watch.world.counter_reads.get() - reads > 190_000);
    assert!(watch.world.boot_reads.get() - boot_reads < 5_000, "one comparison for each renewal");
    assert_eq!(watch.world.wall_reads.get(), 0, "nobody asked for the wall clock");
}

/// Whoever does not ask for the boot clock does not pay for it.
#[test]
fn callers_of_other_clocks_pay_nothing() {
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.run(100 * MILLISECOND, 5_000);
    watch.clock.wall_ns();
    watch.run(100 * MILLISECOND, 5_000);
    assert_eq!(watch.world.boot_reads.get(), 0);
}

/// The counter goes on, stands still, or begins anew while the machine sleeps, however long.
#[test]
fn a_suspend_shows_within_two_windows() {
    for slept in [10_000, 300_000, 900_000, 3 * MILLISECOND, SECOND, 3600 * SECOND] {
        for after in [0, 100_000, 400_000, 900_000] {
            for counter in [0, 1, 2] {
                let watch = settled();
                run(&watch, 3 * MILLISECOND + after, 5_000);
                watch.world.suspend(slept);
                match counter {
                    0 => {}
                    1 => watch.world.step_counter(-((slept as f64 / watch.world.ns_per_tick()) as i64)),
                    _ => watch.world.reset_counter(),
                }
                let start = watch.world.true_ns();
                while off_ns(watch.world, &watch.clock) > 500.0 {
                    watch.world.pass(5_000);
                    let took = watch.world.true_ns() - start;
                    assert!(took <= 2 * WINDOW, "{took} ns after {slept} ns of sleep, counter {counter}");
                }
                run(&watch, 20 * MILLISECOND, 5_000);
                assert!(run(&watch, 20 * MILLISECOND, 5_000) <= 150.0, "{slept} ns of sleep, counter {counter}");
            }
        }
    }
}

#[test]
fn a_suspend_shows_at_once_after_a_recheck_and_to_rare_callers() {
    for slept in [10_000, 300_000, SECOND] {
        let watch = settled();
        watch.world.suspend(slept);
        watch.world.step_counter(-((slept as f64 / watch.world.ns_per_tick()) as i64));
        watch.clock.recheck();
        assert!(run(&watch, 3 * MILLISECOND, 5_000) <= 150.0, "after {slept} ns of sleep");
        let rare = Watch::ordinary();
        assert!(run(&rare, 10 * MILLISECOND, MILLISECOND) < 1.0);
        for _ in 0..100 {
            rare.world.suspend(slept);
            rare.world.pass(MILLISECOND);
            assert!(off_ns(rare.world, &rare.clock) < 1.0, "after {slept} ns of sleep");
        }
        assert_eq!(rare.clock.source(), Source::OsClock);
    }
}

/// A suspend in a pause is no error of readings: the line from before it serves none of them.
#[test]
fn the_bound_leaves_a_suspend_in_a_pause_out() {
    let watch = settled();
    watch.world.suspend(3600 * SECOND);
    watch.world.pass(20 * MILLISECOND);
    for _ in 0..3 {
        let (now, largest) = watch.clock.boot_error_ns().unwrap();
        assert!(now <= largest && largest < MILLISECOND, "{now} {largest} ns");
        run(&watch, 5 * MILLISECOND, 5_000);
    }
}

#[test]
fn slews_are_followed_and_a_clock_that_refuses_is_survived() {
    let watch = settled();
    for (share, worst_ns) in [(500e-6, 2_000.0), (-0.083, 400_000.0), (0.0, 200_000.0)] {
        watch.world.slew(share);
        assert!(run(&watch, 50 * MILLISECOND, 5_000) <= worst_ns, "{share}");
        assert!(run(&watch, 50 * MILLISECOND, 5_000) <= 150.0, "{share}");
    }
    let before = watch.clock.boot_ns();
    watch.world.set_boot_refuses(true);
    run(&watch, 10 * MILLISECOND, 5_000);
    assert!(watch.clock.boot_ns() > before, "the last distance goes on");
    watch.world.set_boot_refuses(false);
    run(&watch, 10 * MILLISECOND, 5_000);
    assert!(run(&watch, 10 * MILLISECOND, 5_000) <= 100.0);
}

#[derive(Clone, Debug)]
enum Event {
    Read(u32, u64),
    Slew(f64),
    Suspend(u64),
    Pass(u64),
    Interrupt(u64, Moment, u64),
    Sleep(u64, Moment, u64),
    Preempt(u64, Moment, u32, u64),
    Recheck,
    Now(u32, u64),
    Wall(u32, u64),
}

fn event() -> impl Strategy<Value = Event> {
    let moment = || prop_oneof![Just(Moment::Before), Just(Moment::After)];
    let gap = || prop_oneof![Just(0), 1u64..20_000, 1u64..3_000_000];
    // A line that outlives a shorter one may let a reading go back.
    let sleep = || prop_oneof![2 * WINDOW..6 * MILLISECOND, 2 * WINDOW..30 * SECOND];
    prop_oneof![
        8 => (1u32..2000, gap()).prop_map(|(n, gap)| Event::Read(n, gap)),
        2 => (1u32..2000, gap()).prop_map(|(n, gap)| Event::Now(n, gap)),
        2 => (1u32..2000, gap()).prop_map(|(n, gap)| Event::Wall(n, gap)),
        2 => prop_oneof![Just(0.0), -5e-4f64..5e-4, -0.1f64..0.1].prop_map(Event::Slew),
        2 => sleep().prop_map(Event::Suspend),
        1 => prop_oneof![0u64..30_000_000, 0u64..100 * SECOND].prop_map(Event::Pass),
        2 => (0u64..200, moment(), 0u64..30_000_000).prop_map(|(at, moment, ns)| Event::Interrupt(at, moment, ns)),
        2 => (0u64..200, moment(), sleep()).prop_map(|(at, moment, ns)| Event::Sleep(at, moment, ns)),
        3 => (0u64..200, moment(), 1u32..300, gap()).prop_map(|(at, moment, n, gap)| Event::Preempt(at, moment, n, gap)),
        1 => Just(Event::Recheck),
    ]
}

/// A clock whose finished readings are known to later ones, on whatever thread.
struct Order {
    world: &'static World,
    clock: Clock,
    finished: Cell<i64>,
}

impl Order {
    fn read(&self) {
        let finished = self.finished.get();
        let ns = self.clock.boot_ns();
        assert!(ns >= finished, "{ns} was read after {finished}");
        self.finished.set(ns);
    }
}

/// Whatever happens, and however long the machine sleeps: no reading is smaller than one that had
/// been finished, and the clock is right in the end.
fn play(script: Vec<Event>) {
    let world: &'static World = Box::leak(Box::new(World::new(2.596_159_9e9, 1 << 50, 12_345 * SECOND)));
    let order: &'static Order =
        Box::leak(Box::new(Order { world, clock: Disciplined::new(world, world), finished: Cell::new(i64::MIN) }));
    for event in script {
        match event {
            Event::Read(n, gap) => (0..n).for_each(|_| {
                world.pass(gap);
                order.read();
            }),
            Event::Now(n, gap) => (0..n).for_each(|_| {
                world.pass(gap);
                order.clock.now();
            }),
            Event::Wall(n, gap) => (0..n).for_each(|_| {
                world.pass(gap);
                order.clock.wall_ns();
            }),
            Event::Slew(share) => world.slew(share),
            Event::Pass(ns) => world.pass(ns),
            Event::Suspend(ns) => world.suspend(ns),
            Event::Interrupt(at, moment, ns) => world.interrupt_at(at, moment, move || world.pass(ns)),
            Event::Sleep(at, moment, ns) => world.interrupt_at(at, moment, move || world.suspend(ns)),
            Event::Preempt(at, moment, n, gap) => world.interrupt_at(at, moment, move || {
                for _ in 0..n {
                    order.world.pass(gap);
                    order.read();
                }
            }),
            Event::Recheck => _ = order.clock.recheck(),
        }
        order.read();
    }
    world.slew(0.0);
    for _ in 0..2 {
        world.pass(11 * SECOND);
        for _ in 0..5_000 {
            world.pass(5_000);
            order.read();
        }
    }
    for _ in 0..1_000 {
        world.pass(5_000);
        let off = off_ns(world, &order.clock);
        assert!(off <= 300.0, "{off} ns off in the end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(100), max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_suspend_makes_it_go_back_or_wrong(script in proptest::collection::vec(event(), 1..40)) {
        play(script);
    }
}
