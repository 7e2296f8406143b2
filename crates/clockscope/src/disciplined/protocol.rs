//! The protocol under loom: every interleaving of two threads, and every stale value that the memory model allows, with
//! up to so many preemptions. `cargo xtask loom` runs it.

use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::line::Line;
use super::page::Page;
use super::{Counter, Disciplined, OsClock};
use crate::{Errno, Source};

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 100_000;
    builder.check(model);
}

/// What `read` makes of a page while three lines are published one after another. Each shows 100 ns at tick 100, and only
/// when it is whole.
fn a_line_is_whole(read: fn(&Page) -> Option<u64>) {
    check(2, move || {
        let page = Arc::new(Page::new());
        let line = |start| Line::single(start, start, 1.0, 1000);
        page.publish(&line(10));
        let publisher = {
            let page = page.clone();
            thread::spawn(move || {
                page.publish(&line(20));
                page.publish(&line(30));
            })
        };
        assert!(matches!(read(&page), None | Some(100)));
        publisher.join().unwrap();
        assert_eq!(read(&page), Some(100));
    });
}

#[test]
fn a_line_is_read_whole() {
    a_line_is_whole(|page| page.read(|| 100));
}

#[test]
fn a_line_is_looked_at_whole() {
    a_line_is_whole(|page| page.look(|| 100).line.at(100));
}

#[test]
fn a_floor_that_was_heard_of_is_seen() {
    check(3, || {
        let page = Arc::new(Page::new());
        let heard = Arc::new(AtomicU64::new(0));
        page.publish(&Line::single(0, 5, 1.0, 100));
        let other = {
            let (page, heard) = (page.clone(), heard.clone());
            thread::spawn(move || heard.store(page.raise_floor(50), Ordering::Release))
        };
        let least = heard.load(Ordering::Acquire);
        if let Some(ns) = page.read(|| 10) {
            assert!(ns >= least);
        }
        other.join().unwrap();
    });
}

/// A counter and an OS clock that advance by their reads. Reading them orders nothing else, like RDTSC.
#[derive(Clone)]
struct Machine {
    counter: Arc<AtomicU64>,
    /// What a read takes.
    step: Arc<AtomicU64>,
    /// The OS clock is ahead of the counter by so many ns.
    ahead: Arc<AtomicU64>,
}

impl Counter for Machine {
    fn ordered(&self) -> u64 {
        self.counter.fetch_add(self.step.load(Ordering::Relaxed), Ordering::Relaxed)
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
}

impl OsClock for Machine {
    fn now_ns(&self) -> Result<u64, Errno> {
        Ok(self.ordered() + self.ahead.load(Ordering::Relaxed))
    }
    fn tick_ns(&self) -> u64 {
        1
    }
}

/// Length of a segment in ns, and in ticks.
const WINDOW_NS: u64 = 1_000;
/// What a read takes at first, in ticks.
const STEP: u64 = 10;
/// How far the OS clock is ahead at first, in ns.
const AHEAD_NS: u64 = 1_000_000;

/// Two threads tell each other what they read, from `start` ticks after the end of a line on (negative: before it). The
/// OS clock has jumped by `jump_ns`, and reads take `step` ticks, of which a hundred outlast a line.
fn readings_are_ordered(start: i64, jump_ns: i64, step: u64) {
    check(2, move || {
        let shared = |value| Arc::new(AtomicU64::new(value));
        let machine = Machine { counter: shared(1_000_000), step: shared(STEP), ahead: shared(AHEAD_NS) };
        let clock = Arc::new(Disciplined::new(machine.clone(), machine.clone()).with_window_ns(WINDOW_NS));
        while clock.source() != Source::Counter {
            machine.counter.fetch_add(WINDOW_NS / 4, Ordering::Relaxed);
            clock.now();
        }
        let end = clock.look_at_line().end();
        machine.counter.store(end.wrapping_add_signed(start), Ordering::Relaxed);
        machine.ahead.store(AHEAD_NS.wrapping_add_signed(jump_ns), Ordering::Relaxed);
        machine.step.store(step, Ordering::Relaxed);
        let known = shared(0);
        let read = {
            let (clock, known) = (clock.clone(), known.clone());
            move || {
                let least = known.load(Ordering::Acquire);
                let ns = clock.now().as_ns();
                assert!(ns >= least, "{ns} was read after {least}");
                known.store(ns, Ordering::Release);
            }
        };
        let other = thread::spawn(read.clone());
        read();
        other.join().unwrap();
        (0..4).for_each(|_| read());
    });
}

#[test]
fn a_renewal_is_ordered() {
    for jump_ns in [-30, 30] {
        readings_are_ordered(-200, jump_ns, 4 * STEP);
    }
}

#[test]
fn the_end_of_a_line_is_ordered() {
    for jump_ns in [-40, 0, 40] {
        readings_are_ordered(-15, jump_ns, STEP);
    }
}

#[test]
fn a_new_line_is_ordered() {
    for jump_ns in [-30, 30] {
        readings_are_ordered(100, jump_ns, 4 * STEP);
    }
}

#[test]
fn a_withdrawal_is_ordered() {
    for jump_ns in [-100_000, 100_000] {
        readings_are_ordered(-400, jump_ns, STEP);
    }
}

#[test]
fn a_contradiction_after_the_end_is_ordered() {
    for jump_ns in [-100_000, 100_000] {
        readings_are_ordered(100, jump_ns, STEP);
    }
}
