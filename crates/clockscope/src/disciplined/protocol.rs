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

/// A line whose words tell which one it is.
fn numbered(number: u64) -> Line {
    Line::of_words([number | number << 32; Line::WORDS])
}

#[test]
fn a_line_is_read_whole() {
    check(3, || {
        let page = Arc::new(Page::new());
        page.publish(&numbered(1), true);
        let publisher = {
            let page = page.clone();
            thread::spawn(move || {
                page.publish(&numbered(2), true);
                page.publish(&numbered(3), true);
            })
        };
        let look = page.look(|| 0);
        assert!((1..=3).any(|number| look.line == numbered(number)), "{look:?}");
        publisher.join().unwrap();
    });
}

#[test]
fn a_floor_that_was_heard_of_is_seen() {
    check(3, || {
        let page = Arc::new(Page::new());
        let heard = Arc::new(AtomicU64::new(0));
        page.publish(&Line::single(0, 5, 1.0, 100), true);
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

/// A counter and an OS clock that advance by their reads, by 10 ns each. Reading them orders nothing else, like RDTSC.
#[derive(Clone)]
struct Machine(Arc<AtomicU64>);

impl Counter for Machine {
    fn ordered(&self) -> u64 {
        self.0.fetch_add(10, Ordering::Relaxed)
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

/// The same, ahead by so many ns.
struct Os(Machine, Arc<AtomicU64>);

impl OsClock for Os {
    fn now_ns(&self) -> Result<u64, Errno> {
        Ok(self.0.ordered() + 1_000_000 + self.1.load(Ordering::Relaxed))
    }
    fn tick_ns(&self) -> u64 {
        1
    }
}

/// Two threads tell each other what they read, from `start_ns` after the end of a line on (negative: before it), when the
/// OS clock has jumped by `jump_ns`.
fn readings_are_ordered(preemptions: usize, start_ns: i64, jump_ns: u64) {
    const WINDOW_NS: u64 = 100_000;
    check(preemptions, move || {
        let machine = Machine(Arc::new(AtomicU64::new(1_000_000)));
        let jump = Arc::new(AtomicU64::new(0));
        let os = Os(machine.clone(), jump.clone());
        let clock = Arc::new(Disciplined::new(machine.clone(), os).with_window_ns(WINDOW_NS));
        while clock.source() != Source::Counter {
            machine.0.fetch_add(WINDOW_NS / 4, Ordering::Relaxed);
            clock.now();
        }
        let end = clock.look_at_line().end();
        machine.0.store(end.wrapping_add_signed(start_ns), Ordering::Relaxed);
        jump.store(jump_ns, Ordering::Relaxed);
        let known = Arc::new(AtomicU64::new(0));
        let other = {
            let (clock, known) = (clock.clone(), known.clone());
            thread::spawn(move || {
                known.store(clock.now().as_ns(), Ordering::Release);
            })
        };
        let least = known.load(Ordering::Acquire);
        let ns = clock.now().as_ns();
        assert!(ns >= least, "{ns} was read after {least}");
        other.join().unwrap();
        assert!(clock.now().as_ns() >= ns.max(known.load(Ordering::Acquire)));
    });
}

#[test]
fn a_renewal_is_ordered() {
    readings_are_ordered(2, -20_000, 0);
}

#[test]
fn the_end_of_a_line_is_ordered() {
    readings_are_ordered(2, -15, 0);
}

#[test]
fn a_new_line_is_ordered() {
    readings_are_ordered(2, 1000, 0);
}

#[test]
fn a_withdrawal_is_ordered() {
    readings_are_ordered(2, -20_000, 1_000_000);
}

#[test]
fn a_contradiction_is_ordered() {
    readings_are_ordered(2, 1000, 1_000_000);
}
