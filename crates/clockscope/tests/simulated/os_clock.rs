//! The disciplined clock where its OS clock steps back or becomes slower, and what system and
//! hardware are asked, and when.

use std::time::Duration;

use crate::world::watch::Watch;
use crate::world::{COUNTER_READ_PS, MILLISECOND, OS_READ_PS, SECOND, World};
use clockscope::Source;

/// The OS clock that a kernel serves by the HPET: 1.2 µs a read.
const SLOW_OS_READ_PS: u64 = 1_200_000;

type Clocks = Watch<&'static World>;

/// The time stands still for so long at most, in ns of the OS clock, when that stepped back; and
/// for what is left of a line.
const HOLD_NS: u64 = 10 * MILLISECOND;
const LINE_NS: u64 = 2 * MILLISECOND;

/// Whatever happens, and however long: system calls are made when the process begins, and never
/// again.
#[test]
fn no_question_follows_the_first_calibration() {
    for is_prepared in [false, true] {
        let mut watch = Watch::ordinary();
        if is_prepared {
            watch.clock.prepare();
            assert_eq!(watch.world.counter_reads.get(), 0, "it reads no clock");
        } else {
            watch.read();
            assert_eq!(watch.world.questions.get(), 0, "the first reading asks nothing");
            watch.read();
        }
        let questions = watch.world.questions.get();
        watch.settle();
        watch.run(130 * SECOND, 10_000);
        // New generations: by a step of the counter, by a question's answer, by a step of the OS
        // clock.
        watch.world.step_counter(-20_000_000);
        watch.run(SECOND, 10_000);
        watch.clock.give_up();
        assert!(watch.clock.readmit());
        watch.settle();
        watch.world.step_os(-(100 * SECOND as i64));
        watch.run(SECOND, 10_000);
        watch.world.os_read_ps.set(SLOW_OS_READ_PS);
        watch.run(10 * SECOND, 10_000);
        watch.world.os_read_ps.set(OS_READ_PS);
        watch.run(70 * SECOND, 10_000);
        watch.settle();
        assert!(watch.clock.generation() >= 5);
        std::hint::black_box((watch.clock.error_bound(), watch.clock.frequency(), watch.clock.resolution()));
        assert_eq!(watch.world.questions.get(), questions, "prepared: {is_prepared}");
    }
}

/// The first reading after a pause is one of the OS clock, in cold code: it leaves the line to the
/// next ones, and these have it again soon.
#[test]
fn the_first_reading_after_a_pause_begins_no_line() {
    for phase in 0..20 {
        let mut watch = Watch::ordinary();
        watch.settle();
        watch.run(20 * MILLISECOND + phase * 100_000, 5_000);
        assert_eq!(watch.clock.source(), Source::Counter);
        watch.world.pass(500 * MILLISECOND);
        let (start, reads) = (watch.world.true_ns(), watch.world.counter_reads.get());
        watch.read();
        let took_ns = watch.world.true_ns() - start;
        assert!(took_ns <= (OS_READ_PS + 4 * COUNTER_READ_PS) / 1000, "{took_ns} ns: more than one reading");
        assert!(watch.world.counter_reads.get() - reads <= 3);
        watch.run(MILLISECOND, 5_000);
        assert_eq!(watch.clock.source(), Source::Counter, "it is resumed");
    }
}

/// After a chroot, or without a file descriptor to spare, the kernel cannot be asked.
#[test]
fn a_question_without_an_answer_changes_nothing() {
    let mut watch = Watch::ordinary();
    watch.settle();
    for answer in [&watch.world.clocksource, &watch.world.permitted, &watch.world.invariant] {
        answer.set(None);
        assert!(watch.clock.recheck());
    }
    watch.run(SECOND, 10_000);
    assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, 1));
}

#[test]
fn a_kernel_that_turns_away_unseen_is_found_by_who_asks() {
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.world.clocksource.set(Some(false));
    watch.run(130 * SECOND, 10_000);
    assert_eq!(watch.clock.source(), Source::Counter, "nobody asked");
    assert!(!watch.clock.recheck());
    assert_eq!(watch.clock.generation(), 2);
    watch.assert_demoted();
    assert!(!watch.clock.recheck());
    assert_eq!(watch.clock.generation(), 2, "the same answer is no news");
    watch.world.clocksource.set(Some(true));
    assert!(watch.clock.recheck());
    watch.settle();
    // What a test of its own has found is not undone by the kernel's word.
    watch.clock.give_up();
    assert!(!watch.clock.recheck());
    watch.assert_demoted();
}

/// The brackets show it: they become wider, and the counter's own reads take as long as before.
#[test]
fn a_kernel_that_turns_away_is_noticed_where_its_clock_becomes_slower() {
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.world.os_read_ps.set(SLOW_OS_READ_PS);
    watch.run(100 * MILLISECOND, 5_000);
    assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::OsClock, 2));
    assert!(watch.run(500 * MILLISECOND, 5_000) <= 0.0, "it is the OS clock's time");
    // Tried again after 1, 2, 4, .. s, and then every quarter of an hour.
    let reads = watch.world.counter_reads.get();
    watch.run_in_spells(7200 * SECOND);
    let (reads, generation) = (watch.world.counter_reads.get() - reads, watch.clock.generation());
    assert_eq!(watch.clock.source(), Source::OsClock);
    assert!((10 * 40..20 * 100).contains(&reads), "{reads} reads of the counter in two hours");
    assert_eq!(generation, 2, "nothing was known meanwhile");
    // The kernel takes the counter back.
    watch.world.os_read_ps.set(OS_READ_PS);
    watch.run_in_spells(1100 * SECOND);
    watch.settle();
    assert!(watch.run(SECOND, 10_000) <= 60.0);
}

#[test]
fn a_slower_clock_that_the_kernel_stands_by_is_followed_after_a_recheck() {
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.world.os_read_ps.set(SLOW_OS_READ_PS);
    watch.run(100 * MILLISECOND, 10_000);
    assert_eq!(watch.clock.source(), Source::OsClock);
    assert!(watch.clock.recheck());
    watch.settle();
    assert!(watch.run(SECOND, 10_000) <= 1_300.0);
}

/// A hypervisor that traps the counter, or a processor at a quarter of its speed: brackets are
/// wider for that reason, and the OS clock is no better.
#[test]
fn a_counter_that_becomes_slower_itself_is_used_on() {
    for times in [5, 200] {
        let mut watch = Watch::ordinary();
        watch.settle();
        for cost in [&watch.world.counter_read_ps, &watch.world.os_read_ps] {
            cost.set(times * cost.get());
        }
        watch.run(100 * MILLISECOND, 5_000);
        let worst = watch.run(SECOND, 5_000);
        assert!(worst <= 60.0 * times as f64, "{worst} ns");
        assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::Counter, 1), "{times} times slower");
    }
}

/// A busy neighbor on the same core delays reads of the counter while the kernel turns away from
/// it: brackets are wider by far more than that explains.
#[test]
fn a_kernel_that_turns_away_is_noticed_while_the_counter_is_slower_too() {
    let mut watch = Watch::ordinary();
    watch.settle();
    watch.world.counter_read_ps.set(3 * watch.world.counter_read_ps.get());
    watch.world.os_read_ps.set(SLOW_OS_READ_PS);
    watch.run(100 * MILLISECOND, 5_000);
    assert_eq!((watch.clock.source(), watch.clock.generation()), (Source::OsClock, 2));
}

/// The OS clock is another time namespace's, or another machine's on which the process was
/// restored.
fn steps_back(watch: &mut Clocks, back_ns: u64, every: u64) {
    let generation = watch.clock.generation();
    let offset = watch.clock.timeline_offset();
    watch.read();
    let (before, start) = (watch.last, watch.world.os_reading());
    watch.world.step_os(-(back_ns as i64));
    // The OS clock's own time is what passes.
    let passed = |watch: &Clocks| watch.world.os_reading() + back_ns - start;
    while watch.clock.timeline_offset() == offset {
        watch.world.pass(every);
        watch.read();
        assert!(watch.last <= before + LINE_NS, "it stands still");
        assert!(passed(watch) <= HOLD_NS + 3 * LINE_NS + 3 * every, "it stands still for long");
    }
    assert!(watch.clock.generation() > generation);
    watch.world.pass(SECOND);
    watch.read();
    let stuck_ns = passed(watch) as i64 - (watch.last - before) as i64;
    // Of the time from the last reading before the step to the first one after it, nobody knows
    // anything.
    assert!((0..=(HOLD_NS + LINE_NS + every) as i64).contains(&stuck_ns), "it stood still for {stuck_ns} ns");
    let offset = watch.clock.timeline_offset() - offset;
    let expected = Duration::from_nanos(back_ns - stuck_ns as u64);
    assert!(offset.abs_diff(expected) <= Duration::from_micros(2), "an offset of {offset:?}, expected {expected:?}");
}

#[test]
fn an_os_clock_that_steps_back_is_waited_for_ten_milliseconds() {
    for back_ns in [15 * MILLISECOND, 833 * SECOND] {
        let mut watch = Watch::ordinary();
        watch.settle();
        watch.run(11 * SECOND, 10_000);
        for _ in 0..3 {
            steps_back(&mut watch, back_ns, 10_000);
            watch.settle();
            assert!(watch.run(11 * SECOND, 10_000) <= 60.0, "right again, at that offset");
            assert!(watch.assert_bound() <= 60);
            let said = watch.clock.evidence().into_iter().find(|evidence| evidence.name == "steps of the OS clock");
            assert!(said.unwrap().value.is_some());
        }
        // Forward it is followed, as ever.
        watch.world.step_os((3 * back_ns) as i64);
        watch.run(SECOND, 10_000);
        watch.settle();
        assert!(watch.run(SECOND, 10_000) <= 60.0);
    }
}

/// A program that reads rarely, or is served the OS clock alone, is served no less.
#[test]
fn it_is_waited_for_no_longer_by_who_is_served_the_os_clock() {
    for every in [5 * MILLISECOND, 300 * MILLISECOND, 3 * SECOND] {
        let mut watch = Watch::ordinary();
        watch.run(20 * every, every);
        steps_back(&mut watch, 833 * SECOND, every);
    }
    let mut watch = Watch::ordinary();
    watch.world.clocksource.set(Some(false));
    watch.run(SECOND, 10_000);
    steps_back(&mut watch, 833 * SECOND, 10_000);
    watch.assert_demoted();
}

/// On another CPU, or for a moment: then there is nothing to go on from.
#[test]
fn an_os_clock_that_comes_back_soon_leaves_no_offset() {
    for (back_ns, after_ns) in
        [(40 * MILLISECOND, 5 * MILLISECOND), (833 * SECOND, 8 * MILLISECOND), (MILLISECOND, SECOND)]
    {
        for is_used in [true, false] {
            let mut watch = Watch::ordinary();
            watch.world.clocksource.set(Some(is_used));
            watch.run(100 * MILLISECOND, 10_000);
            watch.world.step_os(-(back_ns as i64));
            watch.run(after_ns, 10_000);
            watch.world.step_os(back_ns as i64);
            watch.run(20 * MILLISECOND, 10_000);
            assert_eq!(watch.clock.timeline_offset(), Duration::ZERO, "{back_ns} ns for {after_ns} ns");
            assert!(watch.run(SECOND, 10_000) <= 60.0);
        }
    }
}

/// CPUs whose OS clocks differ: the time stands still on one of them, and does not run away.
#[test]
fn an_os_clock_that_comes_and_goes_does_not_make_the_time_run_away() {
    for (is_used, apart_ns) in
        [(true, 77 * MILLISECOND), (false, 77 * MILLISECOND), (true, 19 * SECOND), (false, 19 * SECOND)]
    {
        let mut watch = Watch::ordinary();
        watch.world.clocksource.set(Some(is_used));
        watch.run(100 * MILLISECOND, 10_000);
        for _ in 0..100 {
            watch.world.step_os(-(apart_ns as i64));
            watch.run(100 * MILLISECOND, 10_000);
            watch.world.step_os(apart_ns as i64);
            watch.run(100 * MILLISECOND, 10_000);
        }
        let offset = watch.clock.timeline_offset();
        assert!(offset < Duration::from_nanos(4 * apart_ns), "{offset:?} ahead");
    }
}

/// The loss from not writing each of the OS clock's readings down: a step back of less than 9 µs
/// may pass, and no more of a larger one.
#[test]
fn of_a_step_back_no_more_passes_than_is_said() {
    for back_ns in [100, 4_000, 7_900, 8_500, 9_100, 20_000, 130_000, MILLISECOND] {
        for phase in (0..20_000).step_by(500) {
            let watch = Watch::ordinary();
            watch.world.clocksource.set(Some(false));
            let mut last = 0;
            for _ in 0..20 {
                watch.world.pass(900);
                last = watch.clock.now().as_ns();
            }
            watch.world.pass(phase);
            last = last.max(watch.clock.now().as_ns());
            watch.world.step_os(-(back_ns as i64));
            let lost = last.saturating_sub(watch.clock.now().as_ns());
            assert!(lost <= if back_ns < 9_000 { back_ns } else { 0 }, "{lost} ns of {back_ns} passed at {phase}");
        }
    }
}
