//! The disciplined clock where a thread that renews it does not come back, or comes back late.
//! Others run inside of one of its reads; to them it is a thread that was stopped there.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::world::watch::Watch;
use crate::world::{GHZ, MILLISECOND, Moment, SECOND, World, in_f64};
use clockscope::disciplined::Disciplined;
use clockscope::{Finding, Source};

type Clock = Disciplined<&'static World, &'static World>;

/// Readings that a stopped thread does not see: others read, each no less than any that was
/// finished before it began.
struct Others {
    world: &'static World,
    clock: &'static Clock,
    finished: Cell<u64>,
}

impl Others {
    fn new() -> &'static Self {
        let world: &'static World = Box::leak(Box::new(World::new(2.596_159_9 * GHZ, 1 << 50, 12_345 * SECOND)));
        let clock = Box::leak(Box::new(Disciplined::new(world, world)));
        Box::leak(Box::new(Self { world, clock, finished: Cell::new(0) }))
    }

    /// One reading, and how far it was from the OS clock while it was taken, in ns.
    fn read(&self) -> f64 {
        let (finished, before) = (self.finished.get(), self.world.os_ps());
        let ns = self.clock.now().as_ns();
        assert!(ns >= finished, "{ns} was read after {finished}");
        self.finished.set(self.finished.get().max(ns));
        self.world.ahead_ns(ns).max((in_f64(before - i128::from(ns) * 1000) / 1000.0).floor())
    }

    /// Reads every `every` ns for `ns`; the largest error seen.
    fn run(&self, ns: u64, every: u64) -> f64 {
        let mut worst = 0f64;
        for _ in 0..ns / every {
            self.world.pass(every);
            worst = worst.max(self.read());
        }
        worst
    }

    /// Stops a thread at a moment that is `reads` reads after now; whether it held the lock while
    /// `others` ran.
    fn stop_at(&'static self, reads: u64, others: impl FnOnce(&'static Self) + 'static) {
        self.world.interrupt_at(reads, Moment::After, move || others(self));
    }
}

/// The states that a thread may be stopped in, by what has happened before: it calibrates, renews,
/// or begins again.
const STATES: [(u64, u64); 3] = [(0, 0), (20 * MILLISECOND, 0), (20 * MILLISECOND, 5 * MILLISECOND)];

/// Whoever is stopped, wherever: after a tenth of a second others have the counter again, and when
/// that one comes back, nothing of what it does is seen.
#[test]
fn an_owner_that_does_not_come_back_loses_the_lock() {
    let mut taken_over = 0;
    // A line is renewed every 200 reads. Meanwhile others publish an even number of lines, or an
    // odd one.
    let moments = (0..40).map(|at| (0, at)).chain((0..210).map(|at| (1, at))).chain((0..40).map(|at| (2, at)));
    for ((state, at), stopped_ms) in moments.flat_map(|moment| [110, 111].map(|ms| (moment, ms))) {
        let others = Others::new();
        let (used_ns, pause_ns) = STATES[state];
        others.run(used_ns, 5_000);
        others.world.pass(pause_ns);
        let seen = Rc::new(Cell::new(None));
        let reported = Rc::clone(&seen);
        others.stop_at(at, move |others| {
            let generation = others.clock.generation();
            let worst = others.run(105 * MILLISECOND, 10_000) + others.run((stopped_ms - 105) * MILLISECOND, 10_000);
            assert!(worst <= 100.0, "{worst} ns while a holder is stopped at {at}, state {state}");
            assert_eq!(others.clock.source(), Source::Counter, "stopped at {at}, state {state}");
            reported.set(Some(others.clock.generation() - generation));
        });
        while seen.get().is_none() {
            others.run(5_000, 5_000);
        }
        // It has just come back, and what it did is nowhere in the line that is read now.
        assert_eq!(others.clock.source(), Source::Counter, "came back from {at}, state {state}");
        let worst = others.run(30 * MILLISECOND, 5_000);
        assert!(worst <= 100.0, "{worst} ns after a holder was stopped at {at}, state {state}");
        let generations = seen.get().unwrap();
        taken_over += generations;
        assert!(generations <= 1);
        // The one that came back may renew the line as any other.
        assert!(others.run(SECOND, 10_000) <= 100.0);
        assert_eq!(others.clock.source(), Source::Counter);
    }
    assert!(taken_over > 20, "the lock was taken over {taken_over} times: not much was tested");
}

/// Others take the lock over where they only ask and nobody reads: a signal handler that asks may
/// have interrupted the holder, so often that nothing else of its thread runs.
#[test]
fn questions_alone_take_the_lock_over() {
    let mut taken_over = 0;
    for at in 0..40 {
        let others = Others::new();
        others.run(20 * MILLISECOND, 5_000);
        others.world.pass(5 * MILLISECOND);
        let seen = Rc::new(Cell::new(None));
        let reported = Rc::clone(&seen);
        others.stop_at(at, move |others| {
            let generation = others.clock.generation();
            for _ in 0..30 {
                others.world.pass(7 * MILLISECOND);
                std::hint::black_box(others.clock.error_bound());
            }
            reported.set(Some(others.clock.generation() - generation));
        });
        while seen.get().is_none() {
            others.run(5_000, 5_000);
        }
        taken_over += seen.get().unwrap();
        assert!(others.run(SECOND, 10_000) <= 100.0, "after a holder was stopped at {at}");
        assert_eq!(others.clock.source(), Source::Counter);
    }
    assert!(taken_over > 5, "the lock was taken over {taken_over} times: not much was tested");
}

/// The OS clock steps back while a holder is away: neither keeps the other from being noticed.
#[test]
fn an_os_clock_that_steps_back_meanwhile_is_followed() {
    for at in 0..40 {
        let others = Others::new();
        others.run(20 * MILLISECOND, 5_000);
        others.world.pass(5 * MILLISECOND);
        others.stop_at(at, move |others| {
            others.run(MILLISECOND, 10_000);
            others.world.step_os(-(100 * SECOND as i64));
            let before = others.finished.get();
            others.run(300 * MILLISECOND, 10_000);
            assert!(others.finished.get() > before + 150 * MILLISECOND, "the time stands still, stopped at {at}");
        });
        others.run(30 * MILLISECOND, 5_000);
        let (before, offset) = (others.finished.get(), others.clock.timeline_offset());
        others.run(SECOND, 10_000);
        assert!(others.finished.get() - before > SECOND - 20 * MILLISECOND);
        assert!(others.clock.timeline_offset() - offset < std::time::Duration::from_millis(1), "stopped at {at}");
    }
}

/// Another thread's decision takes effect at once and permanently, whoever is about to publish
/// another line.
#[test]
fn a_decision_holds_beside_an_owner_that_is_stopped() {
    for (state, at) in (0..STATES.len()).flat_map(|state| (0..40).map(move |at| (state, at))) {
        let others = Others::new();
        let (used_ns, pause_ns) = STATES[state];
        others.run(used_ns, 5_000);
        others.world.pass(pause_ns);
        others.stop_at(at, move |others| {
            others.clock.give_up();
            assert_eq!(others.clock.source(), Source::OsClock, "at once");
            others.run(MILLISECOND, 10_000);
        });
        others.run(30 * MILLISECOND, 5_000);
        assert_eq!(others.clock.source(), Source::OsClock, "stopped at {at}, state {state}");
        let reads = others.world.counter_reads.get();
        others.run(30 * MILLISECOND, 5_000);
        assert_eq!(others.world.counter_reads.get(), reads, "stopped at {at}, state {state}");

        // And taken back: nobody has to come back for that.
        others.stop_at(at, move |others| {
            assert!(others.clock.readmit());
            others.run(105 * MILLISECOND, 10_000);
            others.run(10 * MILLISECOND, 10_000);
            assert_eq!(others.clock.source(), Source::Counter);
        });
        others.run(30 * MILLISECOND, 5_000);
        assert_eq!(others.clock.source(), Source::Counter, "stopped at {at}, state {state}");
    }
}

/// Stopped within each other's absence, as often as there is room for, and once more: the OS clock
/// is served. When they all come back, that is all.
#[test]
fn after_two_the_os_clock_is_served() {
    /// Stops a thread when it publishes the first line of a generation, and in its absence the
    /// next.
    fn stop(others: &'static Others, times: u32, sources: &Rc<RefCell<Vec<Source>>>) {
        let generation = others.clock.generation();
        let inner = Rc::clone(sources);
        let is_later = move || others.clock.generation() > generation;
        others.world.interrupt_at_point(is_later, move || {
            if times > 1 {
                stop(others, times - 1, &inner);
            }
            others.run(200 * MILLISECOND, 10_000);
            inner.borrow_mut().push(others.clock.source());
            if times == 1 && others.clock.source() == Source::OsClock {
                // Nobody can record how long the time stands still.
                let generation = others.clock.generation();
                others.world.step_os(-(100 * SECOND as i64));
                let before = others.finished.get();
                others.run(200 * MILLISECOND, 10_000);
                assert!(others.finished.get() - before > 190 * MILLISECOND);
                assert_eq!(others.clock.generation(), generation + 1);
            }
            if times == 1 {
                let has_room = inner.borrow()[0] == Source::Counter;
                assert_eq!(others.clock.readmit(), has_room, "while they are all away");
            }
        });
    }
    for (times, source) in [(1, Source::Counter), (2, Source::OsClock)] {
        let others = Others::new();
        let sources = Rc::default();
        stop(others, times, &sources);
        others.run(SECOND, 10_000);
        assert_eq!(sources.borrow().len(), times as usize);
        assert_eq!(sources.borrow()[0], source, "while {times} do not come back");
        assert_eq!(others.clock.source(), source, "after {times} came back");
        let offset = others.clock.timeline_offset().as_nanos() as f64;
        assert!((others.run(SECOND, 10_000) - offset).abs() <= 60.0);
        if source == Source::OsClock {
            let evidence = others.clock.evidence();
            let said = evidence.iter().find(|evidence| evidence.name == "outcome").unwrap();
            assert!(said.finding == Finding::Against && said.seen.contains("never finished"), "{said:?}");
            assert!(!others.clock.recheck(), "nobody asks the system about that");
            assert!(others.clock.readmit(), "they all came back");
            others.run(20 * MILLISECOND, 5_000);
            assert_eq!(others.clock.source(), Source::Counter);
        }
    }
}

/// A thread that is stopped for less is waited for.
#[test]
fn an_owner_that_comes_back_soon_keeps_the_lock() {
    for at in 0..60 {
        let mut watch = Watch::ordinary();
        watch.settle();
        let clock: &'static Clock = Box::leak(Box::new(watch.clock));
        let world = watch.world;
        world.interrupt_at(at, Moment::After, move || {
            for _ in 0..9_000 {
                world.pass(10_000);
                clock.now();
            }
            assert_eq!(clock.generation(), 1);
        });
        for _ in 0..1000 {
            world.pass(10_000);
            clock.now();
        }
        assert_eq!((clock.generation(), clock.source()), (1, Source::Counter), "stopped at {at}");
    }
}

/// Threads that read in bursts: whoever begins the next line is stopped for some microseconds, in
/// which others are served the OS clock. What they were served is no reason for the line to run
/// ahead.
#[test]
fn a_line_that_begins_beside_other_readings_is_not_ahead() {
    for (at, stopped_ns) in (0..60).flat_map(|at| [500, 4_000, 30_000].map(|stopped_ns| (at, stopped_ns))) {
        let others = Others::new();
        others.run(20 * MILLISECOND, 5_000);
        for _ in 0..3 {
            others.world.pass(2 * MILLISECOND + MILLISECOND / 2);
            others.stop_at(at, move |others| {
                others.run(stopped_ns, 250);
            });
            let worst = others.run(MILLISECOND, 2_000);
            let largest = others.clock.error_bound().unwrap().largest.as_nanos() as f64;
            assert!(worst <= largest, "{worst} ns with a bound of {largest}, stopped at {at} for {stopped_ns}");
            assert!(worst <= 100.0, "{worst} ns, stopped at {at} for {stopped_ns}");
        }
    }
}
