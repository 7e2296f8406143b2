//! The disciplined clock while other threads preempt the one that reads, and in random scripts of
//! all that can go wrong.

use std::hint::black_box;

use crate::world::{MILLISECOND, Moment, SECOND, World, YEAR};
use clockscope::Source;
use clockscope::disciplined::Disciplined;
use clockscope_testing::cases;
use proptest::prelude::*;

/// Readings of several threads of which all but one are within a read of the one: each is no
/// smaller than any that had been finished when it began.
struct Order {
    clock: Disciplined<&'static World, &'static World>,
    finished: std::cell::Cell<u64>,
    /// Largest amount that a reading may go back by, in ns.
    slack: std::cell::Cell<u64>,
}

/// Steps back of the OS clock that are no larger, in ns, may pass while it is served
/// (docs/concepts/library/monotonic.md).
const PASSES_NS: u64 = 9_000;

impl Order {
    fn new(world: &'static World) -> &'static Self {
        Box::leak(Box::new(Self {
            clock: Disciplined::new(world, world),
            finished: Default::default(),
            slack: Default::default(),
        }))
    }

    fn read(&self) {
        let finished = self.finished.get();
        let ns = self.clock.now().as_ns();
        assert!(ns.saturating_add(self.slack.get()) >= finished, "{ns} was read after {finished}");
        self.finished.set(self.finished.get().max(ns));
    }
}

/// A thread is preempted at every moment in turn, for longer than its line lasts, while others go
/// on, on an OS clock whose rate has just changed. What it then finds out from what it held is
/// wrong of the line that is there now.
#[test]
fn a_thread_that_was_preempted_does_no_harm() {
    for (at, moment) in (0..300).flat_map(|at| [(at, Moment::Before), (at, Moment::After)]) {
        let others = [(30, 5_000), (300, 5_000), (500, 5_000), (1_500, 5_000), (5, 400_000)];
        // The line is in use, or has long been spent.
        for ((reads, gap), pause) in
            others.into_iter().flat_map(|other| [0, 500_000, 5 * MILLISECOND].map(|pause| (other, pause)))
        {
            let world: &'static World = Box::leak(Box::new(World::new(2.596_159_9e9, 1 << 50, 12_345 * SECOND)));
            let order = Order::new(world);
            let run = move |n, gap| {
                for _ in 0..n {
                    world.pass(gap);
                    order.read();
                }
            };
            run(3_000, 5_000);
            world.slew(500e-6);
            world.pass(pause);
            world.interrupt_at(at, moment, move || {
                run(reads, gap);
                world.slew(-500e-6);
            });
            for _ in 0..1_000 {
                run(1, 5_000);
                let error = world.ahead_ns(order.finished.get());
                assert!(error.abs() <= 2_000.0, "{error} ns after {reads} reads at {at}, {moment:?}, pause {pause}");
            }
            assert_eq!(order.clock.generation(), 1, "after {reads} reads at {at}, {moment:?}");
        }
    }
}

/// Something that happens to a world.
#[derive(Clone, Debug)]
enum Event {
    /// Reads: their number and distance in ns.
    Read(u32, u64),
    /// Bursts of reads: their number, reads of each, and distance of bursts in ns.
    Bursts(u32, u32, u64),
    /// A suspend of this many ns, which the OS clock leaves out.
    Suspend(u64),
    Pass(u64),
    /// In ticks: up to where readings are compared, but not back by less than the window.
    StepCounter(i64),
    ResetCounter,
    Hz(f64),
    RunDown,
    /// One reading is off: reads until then, and ticks.
    Glitch(u64, i64),
    Slew(f64),
    StepOs(i64),
    OsTick(u64),
    OsRefuses(bool),
    Clocksource(Option<bool>),
    /// The thread does not run: reads until then, moment in the read, and ns.
    Interrupt(u64, Moment, u64),
    /// Other threads read while this one does not run: reads until then, moment in the read, number
    /// of the others' reads and their distance in ns.
    Preempt(u64, Moment, u32, u64),
    Readmit,
    GiveUp,
    Recheck,
    Ask,
}

/// All of them together keep the OS clock's time between 0 and 584 years, where it may be.
fn event() -> impl Strategy<Value = Event> {
    let span = prop_oneof![0u64..2_000, 0u64..300_000, 0u64..30_000_000, Just(100 * SECOND), Just(YEAR)];
    let moment = prop_oneof![Just(Moment::Before), Just(Moment::After)];
    prop_oneof![
        6 => (1u32..2000, prop_oneof![Just(0), 1u64..20_000, 1u64..3_000_000]).prop_map(|(n, gap)| Event::Read(n, gap)),
        2 => (1u32..30, 1u32..100, 1u64..3_000_000).prop_map(|(n, reads, gap)| Event::Bursts(n, reads, gap)),
        2 => prop_oneof![0u64..30_000_000, 0u64..100 * SECOND].prop_map(Event::Suspend),
        2 => span.clone().prop_map(Event::Pass),
        2 => prop_oneof![0i64..(1 << 62), 0i64..5_000_000, (-1i64 << 62)..(-20_000_000)].prop_map(Event::StepCounter),
        1 => Just(Event::ResetCounter),
        1 => prop_oneof![Just(0.0), 1e5f64..5e9, Just(2.596_159_9e9), Just(1e9)].prop_map(Event::Hz),
        1 => Just(Event::RunDown),
        2 => (0u64..200, any::<i64>()).prop_map(|(at, ticks)| Event::Glitch(at, ticks)),
        3 => prop_oneof![Just(0.0), -1e-3f64..1e-3, -0.1005f64..0.1005, Just(0.083_333), Just(-1.0), -0.5f64..3.0]
            .prop_map(Event::Slew),
        2 => prop_oneof![-2_000i64..2_000, -2_000_000_000i64..2_000_000_000, 0i64..(1 << 56)].prop_map(Event::StepOs),
        1 => prop_oneof![Just(1u64), 1u64..500, Just(4_000_000)].prop_map(Event::OsTick),
        1 => any::<bool>().prop_map(Event::OsRefuses),
        1 => prop_oneof![Just(Some(true)), Just(Some(false)), Just(None)].prop_map(Event::Clocksource),
        3 => (0u64..200, moment.clone(), span).prop_map(|(at, moment, ns)| Event::Interrupt(at, moment, ns)),
        4 => (0u64..200, moment, 1u32..300, prop_oneof![Just(0), 1u64..20_000, 1u64..2_000_000])
            .prop_map(|(at, moment, n, gap)| Event::Preempt(at, moment, n, gap)),
        1 => Just(Event::Readmit),
        1 => Just(Event::GiveUp),
        1 => Just(Event::Recheck),
        2 => Just(Event::Ask),
    ]
}

/// Does what a script says. Nothing but a panic, or a reading that goes back, is wrong in such a
/// world. `strict`: the OS clock makes no small step back, so that no reading may.
fn play(hz: f64, origin: (u64, u64), strict: bool, script: Vec<Event>) {
    let world: &'static World = Box::leak(Box::new(World::new(hz, origin.0, origin.1)));
    let order = Order::new(world);
    let clock = &order.clock;
    for event in script {
        match event {
            Event::Read(n, gap) => {
                for _ in 0..n {
                    world.pass(gap);
                    order.read();
                }
            }
            Event::Bursts(n, reads, gap) => {
                for _ in 0..n {
                    world.pass(gap);
                    (0..reads).for_each(|_| order.read());
                }
            }
            Event::Suspend(ns) => world.suspend(ns),
            Event::Pass(ns) => world.pass(ns),
            Event::StepCounter(ticks) => world.step_counter(ticks),
            Event::ResetCounter => world.reset_counter(),
            Event::Hz(hz) => world.set_hz(hz),
            Event::RunDown => {
                // By less than a line is long, no reading shows it
                // (docs/concepts/library/monotonic.md): the question is whether anything fails.
                order.slack.set(u64::MAX);
                world.run_down();
            }
            Event::Glitch(at, ticks) => {
                // By less than a line is long, no reading shows it
                // (docs/concepts/library/monotonic.md): the question is whether anything fails.
                order.slack.set(u64::MAX);
                world.interrupt_at(at, Moment::Before, move || world.step_counter(ticks));
                world.interrupt_at(at + 1, Moment::Before, move || world.step_counter(ticks.wrapping_neg()));
            }
            Event::Slew(share) => world.slew(share),
            Event::StepOs(ns) if (-(PASSES_NS as i64)..0).contains(&ns) => {
                if strict {
                    world.step_os(ns - PASSES_NS as i64);
                } else {
                    order.slack.set(order.slack.get().max(PASSES_NS));
                    world.step_os(ns);
                }
            }
            Event::StepOs(ns) => world.step_os(ns),
            // What is rounded down to a longer tick goes back, too.
            Event::OsTick(ns) if !strict => {
                order.slack.set(order.slack.get().max(PASSES_NS));
                world.set_os_tick(ns);
            }
            Event::OsTick(_) => {}
            Event::OsRefuses(refuses) => world.set_os_refuses(refuses),
            Event::Clocksource(known) => world.clocksource.set(known),
            Event::Interrupt(at, moment, ns) => world.interrupt_at(at, moment, move || world.pass(ns)),
            Event::Preempt(at, moment, n, gap) => world.interrupt_at(at, moment, move || {
                for _ in 0..n {
                    world.pass(gap);
                    order.read();
                }
            }),
            Event::Readmit => drop(clock.readmit()),
            Event::GiveUp => clock.give_up(),
            Event::Recheck => drop(clock.recheck()),
            Event::Ask => {
                black_box((clock.error_bound(), clock.frequency(), clock.resolution(), clock.is_high_resolution()));
                black_box(clock.evidence());
                black_box(clock.conversion().map(|conversion| conversion.instant(u64::MAX / 2)));
            }
        }
        order.read();
    }
    // Whatever happened: when all is well again, so is the clock.
    world.set_os_refuses(false);
    world.set_os_tick(1);
    world.set_hz(2e9);
    world.slew(0.0);
    world.clocksource.set(Some(true));
    clock.recheck();
    let catches_up = order.finished.get().saturating_sub(world.os_reading());
    world.pass(catches_up);
    // Twice, so that what is known of the rate is of now, and not of years.
    for _ in 0..2 {
        world.pass(11 * SECOND);
        for _ in 0..10_000 {
            world.pass(5_000);
            order.read();
        }
    }
    let error = world.ahead_ns(clock.now().as_ns()) - clock.timeline_offset().as_nanos() as f64;
    // The OS clock's tick was up to 500 ns when the calibration began.
    assert!(error.abs() <= 600.0, "{error} ns in the end");
    let demoted = clock.evidence().iter().any(|evidence| evidence.name == "outcome");
    assert!(demoted || clock.source() == Source::Counter, "{:?}", clock.evidence());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(500), max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_script_makes_it_go_back_or_fail(
        hz in prop_oneof![1e6f64..5e9, Just(2.596_159_9e9)],
        origin in (any::<u64>(), prop_oneof![100 * SECOND..(1 << 40), Just(200 * YEAR)]),
        strict in any::<bool>(),
        script in proptest::collection::vec(event(), 1..40),
    ) {
        play(hz, origin, strict, script);
    }
}
