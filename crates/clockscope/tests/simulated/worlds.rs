//! The disciplined clock in worlds where something is wrong: every failure by its name.

use std::cell::Cell;
use std::rc::Rc;

use crate::world::watch::Watch;
use crate::world::{GHZ, MILLISECOND, Moment, Narrow, SECOND, World, YEAR};
use clockscope::Source;
use clockscope::disciplined::{Counter, Disciplined};

#[test]
fn the_os_clock_is_served_first_and_the_counter_soon() {
    let mut watch = Watch::ordinary();
    watch.read();
    assert_eq!(watch.clock.source(), Source::OsClock);
    let start = watch.world.os_reading();
    while watch.clock.source() != Source::Counter {
        watch.world.pass(10_000);
        watch.read();
    }
    let took = watch.world.os_reading() - start;
    assert!(took <= 10 * MILLISECOND, "{took} ns");
    assert!(watch.run(SECOND, 10_000) <= 50.0);
    assert_eq!(watch.clock.generation(), 1);
}

#[test]
fn the_frequency_is_inside_its_bound_which_shrinks() {
    let mut watch = Watch::ordinary();
    for (ms, bound_ppm, error_ppm) in [(20, 10.0, 1.0), (980, 0.05, 0.005), (20_000, 0.005, 0.0005)] {
        watch.run(ms * MILLISECOND, 10_000);
        let frequency = watch.clock.frequency().unwrap();
        let hz = 1e9 / watch.world.ns_per_tick();
        assert!(frequency.lowest_hz <= hz && hz <= frequency.highest_hz, "{hz}: {frequency:?}");
        assert!(frequency.bound_ppm() <= bound_ppm, "{frequency}");
        assert!((frequency.hz / hz - 1.0).abs() * 1e6 <= error_ppm, "{hz}: {frequency:?}");
    }
}

#[test]
fn what_is_known_is_reported_after_a_pause() {
    let mut watch = Watch::ordinary();
    watch.settle();
    for _ in 0..3 {
        watch.world.pass(SECOND);
        assert!(watch.clock.frequency().is_some());
        assert!(watch.assert_bound() <= 60);
        assert_eq!(watch.clock.source(), Source::Counter);
        watch.world.pass(SECOND);
        assert!(watch.assert_bound() <= 1, "the OS clock is served");
    }
}

#[test]
fn who_calls_rarely_is_served_the_os_clock_at_its_cost() {
    for every in [2 * MILLISECOND, 10 * MILLISECOND, SECOND] {
        let mut watch = Watch::ordinary();
        watch.settle();
        watch.run(20 * every, every);
        let reads = watch.world.counter_reads.get();
        assert!(watch.run(100 * every, every) <= 1.0);
        assert_eq!(watch.world.counter_reads.get(), reads);
        watch.settle();
        assert_eq!(watch.clock.generation(), 1);
    }
}

/// CPUs whose counters differ by more than the window. (By less, only a test of the CPUs shows it.)
/// The counter is tried again after 1, 2, 4, .. s, in which nobody reads it.
#[test]
fn cpus_that_differ_lose_the_counter() {
    let mut watch = Watch::ordinary();
    watch.settle();
    let (mut generation, mut paused) = (1, 0);
    for spell in 0..6_000 {
        watch.world.step_counter(if spell % 2 == 0 { -20_000_000 } else { 20_000_000 });
        watch.run(5 * MILLISECOND, 10_000);
        if watch.clock.generation() > generation.max(3) {
            generation = watch.clock.generation();
            watch.assert_demoted();
            paused += 1;
        }
    }
    assert!((4..=8).contains(&paused), "{paused} pauses in half a minute");
}

/// CPUs whose counters differ lose the counter, also where the OS clock is read through these
/// counters and so differs as they do.
#[test]
fn cpus_whose_os_clocks_differ_as_well_lose_the_counter() {
    let mut watch = Watch::ordinary();
    watch.settle();
    for _ in 0..10 {
        for (ticks, ns) in [(-104_000_000, -40_000_000), (104_000_000, 40_000_000)] {
            watch.world.step_counter(ticks);
            watch.world.step_os(ns);
            watch.run(5 * MILLISECOND, 10_000);
        }
    }
    watch.assert_demoted();
}

/// Firmware takes 100 µs and restores the counter, so that it misses them.
#[test]
fn time_hidden_from_the_counter_is_found() {
    let mut watch = Watch::ordinary();
    watch.settle();
    for hidden in 0..2 {
        watch.run(11 * SECOND, 10_000);
        assert_eq!(watch.clock.generation(), 1 + hidden);
        watch.world.pass(100_000);
        // Less than the window: the line itself goes back by it, which nobody can see before the
        // next bracket. Not read meanwhile, as firmware would have it.
        watch.world.step_counter(-259_616);
        watch.world.pass(500_000);
        watch.run(10 * MILLISECOND, 10_000);
        assert_eq!(watch.clock.generation(), 2 + hidden);
    }
    assert!(watch.run(SECOND, 10_000) <= 50.0);
    assert_eq!(watch.clock.source(), Source::Counter);
}

/// From the moment that the generation has moved, nobody is served by what was found to be wrong:
/// not even beside the thread that found it and is preempted before it is done.
#[test]
fn no_reading_of_a_new_generation_is_by_the_old_line() {
    let mut old = 0;
    for reads in 0..200 {
        let mut watch = Watch::ordinary();
        watch.settle();
        let clock: &'static Disciplined<_, _> = Box::leak(Box::new(watch.clock));
        watch.world.step_counter(-259_616);
        // Readings until it is found; at one of the moments in that another thread looks.
        let seen = Rc::new(Cell::new(None));
        let reported = Rc::clone(&seen);
        watch
            .world
            .interrupt_at(reads, Moment::Before, move || reported.set(Some((clock.generation(), clock.source()))));
        while clock.generation() == 1 {
            watch.world.pass(10_000);
            clock.now();
        }
        if let Some((generation, source)) = seen.take() {
            assert!(generation == 1 || source == Source::OsClock, "after {reads} reads");
            old += u32::from(generation == 1);
        }
    }
    assert!(old > 3, "nobody looked while it was found");
}

/// The kernel does not use the counter, rightly or not.
#[test]
fn a_counter_that_the_kernel_rejects_is_used_only_after_a_test() {
    for (invariant, accepted) in [(Some(true), true), (Some(false), false), (None, false)] {
        let mut watch = Watch::ordinary();
        watch.world.clocksource.set(Some(false));
        watch.world.invariant.set(invariant);
        watch.run(100 * MILLISECOND, 10_000);
        assert_eq!(watch.world.counter_reads.get(), 0);
        watch.assert_demoted();
        assert_eq!(watch.clock.readmit(), accepted);
        if accepted {
            watch.settle();
            assert!(watch.run(SECOND, 10_000) <= 50.0);
        } else {
            watch.assert_demoted();
        }
    }
}

#[test]
fn where_the_kernel_does_not_tell_the_os_clock_is_served() {
    let mut watch = Watch::ordinary();
    watch.world.clocksource.set(None);
    watch.run(100 * MILLISECOND, 10_000);
    watch.assert_demoted();
}

/// A frequency that anything claims is compared and never used.
#[test]
fn a_nominal_frequency_is_not_used() {
    struct Claiming(&'static World);
    impl Counter for Claiming {
        fn ordered(&self) -> u64 {
            self.0.ordered()
        }
        fn is_permitted(&self) -> Option<bool> {
            Some(true)
        }
        fn is_clocksource(&self) -> Option<bool> {
            Some(true)
        }
        fn is_invariant(&self) -> Option<bool> {
            Some(true)
        }
        fn nominal_hz(&self) -> Option<(f64, &'static str)> {
            Some((24.1e6 * 100.0, "a register"))
        }
    }
    let mut watch = Watch::with(World::new(2.4 * GHZ, 0, 0), Claiming);
    watch.settle();
    assert!((watch.clock.frequency().unwrap().hz / 2.4e9 - 1.0).abs() < 1e-6);
    let nominal = watch.clock.evidence().into_iter().find(|evidence| evidence.name == "nominal frequency").unwrap();
    assert!(nominal.seen.starts_with("2410.000000 MHz is stated, +4166.6"), "{}", nominal.seen);
}

/// A bracket in whose middle the thread does not run, at every read of a long calibration in turn.
#[test]
fn an_interrupted_bracket_is_no_anchor() {
    for (at, lost) in (0..2000).flat_map(|at| [(at, 3_000), (at, 300_000), (at, 30 * MILLISECOND)]) {
        let mut watch = Watch::ordinary();
        let world = watch.world;
        world.interrupt_at(at, Moment::Before, move || world.pass(lost));
        watch.run(3 * MILLISECOND, 5_000);
        watch.settle();
        let worst = watch.run(5 * MILLISECOND, 5_000);
        assert!(worst <= 60.0, "{worst} ns after {lost} ns were lost in read {at}");
        assert_eq!(watch.clock.generation(), 1, "after {lost} ns were lost in read {at}");
    }
}

/// All tries of a bracket are interrupted, on a machine that is busy.
#[test]
fn brackets_that_are_all_interrupted_are_no_anchor() {
    for (at, lost) in (0..1000).step_by(3).flat_map(|at| [(at, 3_000), (at, 30_000)]) {
        let mut watch = Watch::ordinary();
        watch.settle();
        let world = watch.world;
        for read in 0..15 {
            world.interrupt_at(at + read, Moment::Before, move || world.pass(lost));
        }
        watch.run(2 * MILLISECOND, 5_000);
        let worst = watch.run(5 * MILLISECOND, 5_000);
        assert!(worst <= 60.0, "{worst} ns after {lost} ns were lost in each of 15 reads from {at} on");
    }
}

#[test]
fn a_step_within_the_first_calibration_is_not_taken_for_its_rate() {
    for every in [5_000, 10_000, 15_000] {
        for (calls, ticks) in
            (1..).step_by(4).flat_map(|calls| [100_000_000, 1 << 44, -100_000_000].map(|ticks| (calls, ticks)))
        {
            let mut watch = Watch::ordinary();
            watch.run(calls * every, every);
            if watch.clock.source() == Source::Counter {
                break;
            }
            // Seen by two brackets that are far apart, or not.
            watch.world.pass(calls % 2 * 5 * MILLISECOND);
            watch.world.step_counter(ticks);
            let worst = watch.run(30 * MILLISECOND, every);
            assert!(worst <= 60.0, "{worst} ns after {ticks} ticks after {calls} calls, one every {every} ns");
            watch.settle();
        }
    }
}

#[test]
fn a_slewed_os_clock_is_followed_within_a_microsecond() {
    for ppm in [500.0, -500.0] {
        let mut watch = Watch::ordinary();
        watch.settle();
        for slew in [ppm, 0.0, -ppm, 0.0] {
            watch.world.slew(slew * 1e-6);
            let worst = watch.run(50 * MILLISECOND, 10_000);
            assert!(worst <= 1000.0, "{worst} ns at {slew} ppm");
            let settled = watch.run(3 * SECOND, 10_000);
            assert!(settled <= 60.0, "{settled} ns at a constant {slew} ppm");
            watch.assert_bound();
        }
        assert_eq!(watch.clock.generation(), 1);
        assert_eq!(watch.clock.source(), Source::Counter);
    }
}

/// The largest error is one that readings never exceed, wherever in a segment the OS clock's rate
/// changes: also not at the end of a segment, where no bracket is taken.
#[test]
fn no_reading_is_further_off_than_the_largest_error() {
    for (ppm, phase) in [-900.0, -500.0, 500.0, 900.0].into_iter().flat_map(|ppm| (0..20).map(move |at| (ppm, at))) {
        let mut watch = Watch::ordinary();
        watch.settle();
        watch.run(phase * 100_000, 5_000);
        let mut worst = 0f64;
        for slew in [ppm, 0.0] {
            watch.world.slew(slew * 1e-6);
            worst = worst.max(watch.run(10 * MILLISECOND, 5_000));
            let largest = watch.clock.error_bound().unwrap().largest.as_nanos() as f64;
            assert!(worst <= largest, "{worst} ns with a largest error of {largest} ns at {ppm} ppm, phase {phase}");
        }
    }
}

/// Nothing overflows, and nothing is rounded away, from 80 to 280 years of uptime.
#[test]
fn two_hundred_years() {
    for hz in [1e6, 24e6, 2.4 * GHZ, 40.0 * GHZ] {
        let mut watch = Watch::new(World::new(hz, u64::MAX - 1_000_000, 80 * YEAR));
        let tick = 1e9 / hz;
        for _ in 0..6 {
            watch.run(20 * MILLISECOND, 5_000);
            let worst = watch.run(SECOND, 10_000);
            assert!(worst <= 60.0 + 2.0 * tick, "{worst} ns at {hz} Hz");
            // Nobody asks for half a lifetime. The counter of 40 GHz wraps meanwhile.
            watch.world.pass(40 * YEAR);
        }
    }
}

#[test]
fn counters_that_wrap_soon_are_not_used() {
    fn served<const BITS: u32>(hz: f64) -> Source {
        let mut watch = Watch::with(World::new(hz, (1 << BITS) - 1000, 77 * SECOND), Narrow::<BITS>);
        let worst = watch.run(SECOND, 5_000);
        assert!(worst <= 60.0 + 1e9 / hz, "{worst} ns with {BITS} bits");
        watch.clock.source()
    }
    assert_eq!(served::<24>(3_579_545.0), Source::OsClock);
    assert_eq!(served::<32>(14.318_18e6), Source::OsClock);
    assert_eq!(served::<32>(2.4 * GHZ), Source::OsClock);
    // Arm's 56 bits wrap after 95 years at 24 MHz. When they do, it is a step back like any other.
    assert_eq!(served::<56>(24e6), Source::Counter);
}

/// An OS clock of 4 ms, which by mistake even goes back by a tick.
#[test]
fn a_coarse_os_clock_is_served_as_it_is() {
    let mut watch = Watch::ordinary();
    watch.world.set_os_tick(4 * MILLISECOND);
    watch.run(100 * MILLISECOND, 10_000);
    watch.world.step_os(-4_000_000);
    watch.run(100 * MILLISECOND, 10_000);
    watch.assert_demoted();
    assert!(!watch.clock.is_high_resolution());
    assert_eq!(watch.clock.resolution(), Some(std::time::Duration::from_millis(4)));
}

/// The machine sleeps; the counter was reset, or stood still, or went on, and so did the OS clock.
#[test]
fn a_suspend_is_survived() {
    for counter_ns in [None, Some(0), Some(3600 * SECOND)] {
        for os_goes_on in [true, false] {
            let mut watch = Watch::ordinary();
            watch.settle();
            watch.run(11 * SECOND, 10_000);
            let world = watch.world;
            let generation = watch.clock.generation();
            match counter_ns {
                None => world.reset_counter(),
                Some(ns) => world.step_counter((ns as f64 / world.ns_per_tick()) as i64),
            }
            if os_goes_on {
                world.step_os(3_600_000_000_000);
            }
            watch.settle();
            assert!(watch.run(SECOND, 10_000) <= 60.0);
            let agree = (counter_ns == Some(3600 * SECOND)) == os_goes_on && counter_ns.is_some();
            assert_eq!(watch.clock.generation(), generation + u64::from(!agree), "{counter_ns:?} {os_goes_on}");
        }
    }
}

/// Another machine goes on with the process: value and rate of both clocks are others.
#[test]
fn a_restored_snapshot_is_survived() {
    for (ppm, ticks) in [(50.0, 0), (-50.0, 0), (50.0, 1i64 << 40), (-50.0, -(1i64 << 40)), (300_000.0, -(1i64 << 49))]
    {
        let mut watch = Watch::ordinary();
        watch.settle();
        watch.run(11 * SECOND, 10_000);
        let generation = watch.clock.generation();
        watch.world.set_hz(2.596_159_9 * GHZ * (1.0 + ppm * 1e-6));
        watch.world.step_counter(ticks);
        watch.world.pass(3 * SECOND);
        // One ms more than it takes to notice.
        let noticing = watch.run(50 * MILLISECOND, 10_000);
        watch.settle();
        let worst = watch.run(SECOND, 10_000);
        assert!(worst <= 60.0, "{worst} ns after {ppm} ppm");
        let hz = 1e9 / watch.world.ns_per_tick();
        let frequency = watch.clock.frequency().unwrap();
        assert!((frequency.hz / hz - 1.0).abs() < 1e-6, "{frequency} is {hz} Hz");
        // 50 ppm are less than an OS clock's slew, of which nothing accuses the counter.
        if ticks == 0 {
            assert!(noticing <= 1000.0, "{noticing} ns at {ppm} ppm");
        } else {
            assert!(watch.clock.generation() > generation);
        }
    }
}

#[test]
fn an_os_clock_that_refuses_is_reported_and_nothing_fails() {
    let mut watch = Watch::ordinary();
    watch.world.set_os_refuses(true);
    for _ in 0..1000 {
        watch.read();
    }
    assert_eq!(watch.clock.source(), Source::Nothing);
    assert_eq!((watch.clock.error_bound(), watch.clock.frequency()), (None, None));
    watch.world.set_os_refuses(false);
    watch.settle();
    // From one read to the next, a filter may be installed: the time stands still when the line is
    // spent.
    watch.world.set_os_refuses(true);
    watch.run(10 * MILLISECOND, 10_000);
    assert_eq!(watch.clock.source(), Source::Nothing);
    watch.world.set_os_refuses(false);
    watch.settle();
    assert!(watch.run(SECOND, 10_000) <= 60.0);
}

/// From the first reading on, by the OS clock, by a line, and when that is spent.
#[test]
fn a_time_that_is_stuck_is_an_error_to_who_asks_for_one() {
    let mut watch = Watch::ordinary();
    watch.world.set_os_refuses(true);
    for _ in 0..10 {
        assert_eq!(watch.clock.try_now(), Err(clockscope::Errno::new(1)));
    }
    watch.world.set_os_refuses(false);
    let first = watch.clock.try_now().unwrap();
    watch.settle();
    let by_line = watch.clock.try_now().unwrap();
    assert!(watch.clock.source() == Source::Counter && by_line > first);
    watch.world.set_os_refuses(true);
    watch.run(10 * MILLISECOND, 10_000);
    assert_eq!(watch.clock.try_now(), Err(clockscope::Errno::new(1)));
}

/// To read the counter would be fatal; the world asserts that nobody does.
#[test]
fn a_counter_that_may_not_be_read_is_not() {
    let mut watch = Watch::ordinary();
    watch.world.permitted.set(Some(false));
    watch.run(100 * MILLISECOND, 10_000);
    assert!(!watch.clock.readmit());
    assert!(watch.clock.frequency().is_none());
    assert_eq!(
        watch.clock.calibrate_blocking(std::time::Duration::from_millis(1)),
        Err(clockscope::Uncalibrated::NotPermitted)
    );
    watch.assert_demoted();
}

/// The counter is left for some time, because it contradicted the OS clock again and again, and
/// meanwhile the system takes the permission to read it away: it is not read after the pause.
#[test]
fn a_counter_that_is_forbidden_during_a_pause_stays_so() {
    let mut watch = Watch::ordinary();
    watch.settle();
    let mut steps = 0;
    while !watch.is_demoted_as("unsteady") {
        watch.world.step_counter(1 << 32);
        watch.run(100 * MILLISECOND, 10_000);
        steps += 1;
        assert!(steps < 20, "the counter is not left");
    }
    watch.world.permitted.set(Some(false));
    assert!(!watch.clock.recheck());
    watch.run(5 * SECOND, 10_000);
    assert!(watch.is_demoted_as("not_permitted"));
}

/// Single readings that are off by more than the window, in either direction.
#[test]
fn a_glitch_of_the_counter_is_no_step_back() {
    for (at, ticks) in
        (0..200).flat_map(|at| [(at, 1i64 << 32), (at, -(1i64 << 32)), (at, 8_000_000), (at, -8_000_000)])
    {
        let mut watch = Watch::ordinary();
        watch.settle();
        let world = watch.world;
        world.interrupt_at(at, Moment::Before, move || world.step_counter(ticks));
        world.interrupt_at(at + 1, Moment::Before, move || world.step_counter(-ticks));
        watch.run(5 * MILLISECOND, 10_000);
        watch.settle();
        let worst = watch.run(100 * MILLISECOND, 10_000);
        assert!(worst <= 60.0, "{worst} ns after {ticks} ticks at read {at}");
    }
}

#[test]
fn frozen_clocks_hang_nothing() {
    // The OS clock.
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.world.slew(-1.0);
    watch.run(100 * MILLISECOND, 10_000);
    watch.clock.error_bound();
    watch.world.slew(0.0);
    watch.run(100 * MILLISECOND, 10_000);
    assert!(watch.run(SECOND, 10_000) <= 60.0);
    // From the start.
    let mut watch = Watch::ordinary();
    watch.world.slew(-1.0);
    watch.run(100 * MILLISECOND, 10_000);
    assert_eq!(watch.clock.source(), Source::OsClock);
    // The counter: it is not seen before a caller asks.
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.world.set_hz(0.0);
    watch.run(100 * MILLISECOND, 10_000);
    watch.assert_bound();
    assert!(watch.run(SECOND, 10_000) <= 60.0, "the OS clock is served");
    let mut watch = Watch::new(World::new(0.0, 0, 0));
    assert!(watch.run(SECOND, 10_000) <= 1.0);
}

/// Each bracket shows it, so that it never serves.
#[test]
fn a_counter_that_runs_down_is_not_used() {
    let mut watch = Watch::ordinary();
    watch.world.run_down();
    assert!(watch.run(500 * MILLISECOND, 10_000) <= 1.0);
    watch.assert_demoted();
}

/// Both readings of a bracket are the same tick, most of the time: that one was not read in no
/// time.
#[test]
fn a_counter_that_ticks_slowly_is_used() {
    for hz in [1.1e6, 3.579_545e6, 24e6] {
        let mut watch = Watch::new(World::new(hz, 1 << 50, 12_345 * SECOND));
        watch.settle();
        let worst = watch.run(20 * SECOND, 10_000);
        assert!(worst <= 60.0 + 1.5e9 / hz, "{worst} ns at {hz} Hz");
        let frequency = watch.clock.frequency().unwrap();
        let true_hz = 1e9 / watch.world.ns_per_tick();
        assert!(frequency.lowest_hz <= true_hz && true_hz <= frequency.highest_hz, "{true_hz}: {frequency:?}");
        assert_eq!(watch.clock.generation(), 1);
    }
}

#[test]
fn a_counter_that_is_slow_is_not_used() {
    let mut watch = Watch::new(World::new(32_768.0, 0, 0));
    assert!(watch.run(SECOND, 10_000) <= 1.0);
    watch.assert_demoted();
}

#[test]
fn a_clock_given_up_is_not_read_any_more() {
    let mut watch = Watch::ordinary();
    watch.settle();
    let generation = watch.clock.generation();
    watch.clock.give_up();
    watch.read();
    assert_eq!(watch.clock.generation(), generation + 1);
    watch.assert_demoted();
    assert!(watch.clock.readmit());
    watch.settle();
}

/// Two copies of the crate in one process: each is a clock of its own, with its own line and floor.
#[test]
fn readings_of_two_clocks_are_ordered_within_both_bounds() {
    let first = Watch::ordinary();
    let world = first.world;
    let mut clocks = [first, Watch { world, clock: Disciplined::new(world, world), last: 0 }];
    // Together: a pause of either would hide what the OS clock does in it.
    for _ in 0..10_000 {
        world.pass(3_000);
        clocks.iter_mut().for_each(|watch| _ = watch.read());
    }
    // Before and after two readings that follow one another, the earlier one's by each clock in
    // turn.
    let mut pairs = Vec::new();
    for slew in [0.0, 500e-6, 0.0, -500e-6, 0.0] {
        world.slew(slew);
        for _ in 0..10_000 {
            world.pass(2_000 + clocks[0].jitter_ns());
            let before = world.os_ps();
            let earlier = clocks[0].clock.now().as_ns();
            let later = clocks[1].clock.now().as_ns();
            pairs.push((earlier, later, (world.os_ps() - before) / 1000));
            clocks.swap(0, 1);
        }
    }
    // Until the last of them is in the bounds.
    for _ in 0..1_000 {
        world.pass(5_000);
        clocks.iter_mut().for_each(|watch| _ = watch.read());
    }
    let largest = |watch: &Watch<_>| i128::from(watch.clock.error_bound().unwrap().largest.as_nanos() as u64);
    let bounds = clocks.iter().map(largest).sum::<i128>();
    assert!(clocks.iter().all(|watch| watch.clock.source() == Source::Counter && watch.clock.generation() == 1));
    let mut worst = 0;
    for (earlier, later, took) in pairs {
        let difference = i128::from(later) - i128::from(earlier);
        assert!(-bounds <= difference, "{earlier} was followed by {later}, with bounds of {bounds} ns");
        assert!(difference <= bounds + took + 1, "{later} is {difference} ns after {earlier}, and {took} ns passed");
        worst = worst.min(difference);
    }
    assert!(worst < 0, "they would be one clock");
    assert!(bounds <= 4_000, "{bounds} ns");
    println!("one went back by {} ns after the other; the bounds are {bounds} ns", -worst);
}
