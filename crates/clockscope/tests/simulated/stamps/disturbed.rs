//! Stamps where the clocks step, stop, move, or are not compared for long.

use std::cell::Cell;
use std::rc::Rc;

use super::{Run, Stamped, stamp};
use crate::world::{GHZ, MILLISECOND, Moment, SECOND, World};
use clockscope::disciplined::Counter;
use clockscope::history::{Uncovered, Unrenewed};

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
        let _ = run.history.renew(&run.clock);
    }
    let after = run.stamp();
    run.world.pass(MILLISECOND);
    run.renew();
    run.check_excerpt(&[before, between, after]);
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
}

/// Or the counter went back: no count shows which of both it was.
#[test]
fn an_os_clock_that_jumps_ahead_leaves_counts_in_doubt() {
    let (run, [before, between, after]) = around(|world| world.step_os(SECOND as i64));
    run.check(&before).expect("it was before");
    assert_eq!(run.find(&between).err(), Some(Uncovered::Gap));
    assert_eq!(run.find(&after).err(), Some(Uncovered::Twice));
    run.world.pass(2 * SECOND);
    run.renew();
    let later = run.stamp();
    run.world.pass(10 * MILLISECOND);
    run.renew();
    run.check(&later).expect("as far as it jumped, the counts are in doubt");
}

/// What a short interval has shown stays known where the clocks break off after it.
#[test]
fn a_break_after_a_short_interval_keeps_the_error() {
    let suspended = |run: &Run<100>, stamped: &Stamped| {
        run.world.pass(MILLISECOND);
        run.world.suspend(SECOND);
        run.renew();
        let (_, bound) = run.check(stamped).expect("it was before");
        assert!(bound > 20, "{bound} ns, which is less than any bracket");
    };
    let run = Run::<100>::new(2.4 * GHZ);
    run.world.pass(50_000);
    let stamped = run.stamp();
    run.world.pass(50_000);
    run.renew();
    suspended(&run, &stamped);
    let run = Run::<100>::new(2.4 * GHZ);
    for _ in 0..20 {
        run.world.pass(10 * MILLISECOND);
        run.renew();
    }
    run.world.pass(100_000);
    let stamped = run.stamp();
    run.world.step_os(40_000);
    run.world.pass(100_000);
    run.renew();
    suspended(&run, &stamped);
}

/// Nothing contradicts a step in the first interval before the second one.
#[test]
fn a_step_in_the_first_interval_is_in_the_bound() {
    type Event = fn(&World);
    let events: [Event; 2] = [|world| world.step_os(SECOND as i64), |world| world.step_counter(24_000_000_000)];
    for event in events {
        let run = Run::<100>::new(2.4 * GHZ);
        run.world.pass(9 * MILLISECOND);
        let stamped = run.stamp();
        event(run.world);
        run.world.pass(MILLISECOND);
        run.renew();
        for _ in 0..5 {
            run.world.pass(10 * MILLISECOND);
            run.renew();
        }
        assert!(run.check(&stamped).is_some() || run.find(&stamped).is_err());
    }
}

#[test]
fn the_largest_errors_are_not_cut_off() {
    let run = Run::<100>::new(2.4 * GHZ);
    for _ in 0..3 {
        run.world.pass(1000 * SECOND);
        run.renew();
    }
    run.world.pass(500 * SECOND);
    run.world.slew(0.05);
    let stamped = run.stamp();
    for pause in [500, 1000, 1000] {
        run.world.pass(pause * SECOND);
        run.renew();
        run.check(&stamped).expect("it was renewed after");
    }
}

/// Longer than a piece can be.
#[test]
fn a_pause_of_months_is_a_gap() {
    let run = Run::<100>::new(5.0 * GHZ);
    for _ in 0..20 {
        run.world.pass(SECOND);
        run.renew();
    }
    let between = run.stamp();
    run.world.pass(90 * 86_400 * SECOND);
    for _ in 0..100 {
        run.renew();
        run.world.pass(200 * SECOND);
    }
    let after = run.stamp();
    run.renew();
    assert_eq!(run.find(&between).err(), Some(Uncovered::Gap));
    run.check(&after).expect("it goes on");
}

/// Also by less than what has passed since the last renewal.
#[test]
fn a_counter_that_went_back_unseen_leaves_counts_in_doubt() {
    let run = Run::<100>::new(2.4 * GHZ);
    for _ in 0..20 {
        run.world.pass(10 * MILLISECOND);
        run.renew();
    }
    run.world.pass(SECOND);
    let stamped = run.stamp();
    run.world.step_counter(-1_200_000_000);
    for _ in 0..100 {
        run.renew();
        run.world.pass(10 * MILLISECOND);
    }
    assert_eq!(run.find(&stamped).err(), Some(Uncovered::Twice));
}

/// Whatever an observation is at when the wall clock is set: no stamp has a wall time by an offset
/// that was not in force.
#[test]
fn a_wall_clock_that_is_set_during_an_observation_is_noticed() {
    for reads in 1..80 {
        let run = Run::<100>::new(2.4 * GHZ);
        for _ in 0..5 {
            run.world.pass(MILLISECOND);
            run.renew();
        }
        run.world.pass(MILLISECOND);
        let (world, kept) = (run.world, Rc::new(Cell::new(None)));
        let keep = kept.clone();
        run.world.interrupt_at(reads, Moment::Before, move || {
            world.step_wall(-3 * SECOND as i64);
            world.pass(1_000);
            keep.set(Some(stamp(world)));
            world.pass(1_000);
        });
        for _ in 0..4 {
            run.renew();
            run.world.pass(MILLISECOND);
        }
        let stamped: Stamped = kept.get().expect("it was interrupted");
        run.check(&stamped);
    }
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
    let find = |count| run.history.find(count).err();
    assert_eq!(find(early), None);
    assert_eq!(find(early - 1_000_000), Some(Uncovered::Before));
    assert_eq!(find(early + 1_000_000_000), Some(Uncovered::After));
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
    assert!(matches!(run.history.renew(&run.clock), Err(Unrenewed::Unobserved(_))));
    assert_eq!(run.world.counter_reads.get(), reads);
    run.check(&stamped).expect("what was compared stays");
}

/// Each leaves counts in doubt, and none of those between them.
#[test]
fn two_moves_leave_the_time_between_them() {
    let run = Run::<100>::new(2.4 * GHZ);
    let mut kept = Vec::new();
    for turn in 0..60 {
        run.world.disruptions.set(Some(turn / 20));
        for _ in 0..5 {
            run.world.pass(20 * MILLISECOND);
            // The first one after a move finds that the counter is another one.
            let _ = run.history.renew(&run.clock);
        }
        kept.push(run.stamp());
        run.world.pass(20 * MILLISECOND);
        run.renew();
    }
    let covered = kept.iter().filter(|stamped| run.check(stamped).is_some()).count();
    assert_eq!(covered, kept.len());
}
