//! The protocol under loom: every interleaving of two threads, and every stale value that the
//! memory model allows, with a limited number of preemptions. clockscope-models compiles and runs
//! it.

use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::offsets::Distance;
use super::page::line::ServedLine;
use super::page::shared_statement::{ClockSnapshot, SharedStatement, Statement};
use super::page::statement::WallStatement;
use super::page::version::{ServingMode, Version};
use super::page::{BesideLine, ClockOffset, OffsetClock, Page};
use super::{Counter, Disciplined, OsClock};
use crate::{Errno, Source};
use clockscope_core::WallState;
use clockscope_core::brackets::Bracket;

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 100_000;
    builder.check(model);
}

/// The version of a page that was opened.
fn opened(page: &Page) -> Version {
    let mut version = Version::NEW;
    page.replace(&mut version, Version::NEW.without_line(ServingMode::Open));
    version
}

/// Checks `read` on a page while three lines are published one after another. Each shows 100 ns at
/// tick 100, and only when it is complete.
fn a_line_is_whole(read: fn(&Page) -> Option<u64>) {
    check(2, move || {
        let page = Arc::new(Page::new());
        let line = |start| ServedLine::single(start, start, 1.0, 1000);
        let mut version = opened(&page);
        page.publish(&mut version, &line(10), &BesideLine::default());
        let publisher = {
            let page = page.clone();
            thread::spawn(move || {
                page.publish(&mut version, &line(20), &BesideLine::default());
                page.publish(&mut version, &line(30), &BesideLine::default());
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

/// Wall time is of one version: each line shows 100 ns at tick 100 and is published with an offset,
/// and the next one is 1000 ns further, less as much.
#[test]
fn wall_time_is_of_one_version() {
    check(2, || {
        let page = Arc::new(Page::new());
        let published = |start: u64, ahead: u64| {
            let wall = ClockOffset::from_ns(5_000 - ahead as i64);
            (ServedLine::single(start, start + ahead, 1.0, 1000), BesideLine { wall, ..BesideLine::default() })
        };
        let mut version = opened(&page);
        let (line, bounds) = published(10, 0);
        page.publish(&mut version, &line, &bounds);
        let publisher = {
            let page = page.clone();
            thread::spawn(move || {
                for (start, ahead) in [(20, 1_000), (30, 2_000)] {
                    let (line, bounds) = published(start, ahead);
                    page.publish(&mut version, &line, &bounds);
                }
            })
        };
        assert!(matches!(page.read_offset_clock(OffsetClock::Wall, || 100), None | Some(5_100)));
        publisher.join().unwrap();
        assert_eq!(page.read_offset_clock(OffsetClock::Wall, || 100), Some(5_100));
    });
}

#[test]
fn a_snapshot_of_a_line_is_whole() {
    a_line_is_whole(|page| page.snapshot(|| 100).line.at(100));
}

/// A line comes to its second segment while threads read and replace it: a reader gets a complete
/// line, and no reader keeps the next line from being published.
#[test]
fn a_line_that_moves_on_is_whole() {
    check(3, || {
        let page = Arc::new(Page::new());
        let first = ServedLine::single(0, 0, 1.0, 100);
        let [second, third] = [first.followed_by(1.0, 100), first.followed_by(1.0, 100).followed_by(1.0, 100)];
        let mut version = opened(&page);
        page.publish(&mut version, &first, &BesideLine::default());
        page.publish(&mut version, &second, &BesideLine::default());
        let reader = {
            let page = page.clone();
            thread::spawn(move || {
                let snapshot = page.snapshot(|| 120);
                if snapshot.line.is_at_second(snapshot.tick) {
                    page.move_on(snapshot.version);
                }
                assert!(matches!(page.read(|| 120), None | Some(120)));
            })
        };
        let publisher = {
            let page = page.clone();
            thread::spawn(move || {
                assert!(
                    page.publish(&mut version, &third, &BesideLine::default()),
                    "readers kept it from being published"
                )
            })
        };
        assert!(matches!(page.read(|| 120), None | Some(120)));
        reader.join().unwrap();
        publisher.join().unwrap();
        assert_eq!(page.snapshot(|| 220).line.at(220), Some(220));
    });
}

#[test]
fn a_floor_that_was_heard_of_is_seen() {
    check(3, || {
        let page = Arc::new(Page::new());
        let heard = Arc::new(AtomicU64::new(0));
        page.publish(&mut opened(&page), &ServedLine::single(0, 5, 1.0, 100), &BesideLine::default());
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

/// A counter and an OS clock that advance by their reads. Reading them orders nothing else, like
/// RDTSC.
#[derive(Clone)]
struct Machine {
    counter: Arc<AtomicU64>,
    /// Ticks that a read takes.
    step: Arc<AtomicU64>,
    /// The OS clock's lead over the counter, in ns.
    ahead: Arc<AtomicU64>,
    /// True if others may run at each point of preemption, too.
    has_points: bool,
}

impl Counter for Machine {
    fn ordered(&self) -> u64 {
        self.counter.fetch_add(self.step.load(Ordering::Relaxed), Ordering::Relaxed)
    }
    crate::disciplined::trusted_counter!();
}

impl OsClock for Machine {
    fn now_ns(&self) -> Result<u64, Errno> {
        Ok(self.ordered() + self.ahead.load(Ordering::Relaxed))
    }
    fn tick_ns(&self, _: bool) -> u64 {
        1
    }
    /// Loom lets others run at an access to an atomic.
    fn preemption_point(&self) {
        if self.has_points {
            self.ahead.fetch_add(0, Ordering::Relaxed);
        }
    }
}

/// Length of a segment in ns, and in ticks.
const WINDOW_NS: u64 = 1_000;
/// Duration of a read at first, in ticks.
const STEP: u64 = 10;
/// Lead of the OS clock at first, in ns.
const AHEAD_NS: u64 = 1_000_000;

/// Two threads pass each other what they read, from `start` ticks after the end of a line on
/// (negative: before it). The OS clock has jumped by `jump_ns`, and reads take `step` ticks, of
/// which a hundred outlast a line.
fn readings_are_ordered(start: i64, jump_ns: i64, step: u64) {
    check(2, move || {
        let shared = |value| Arc::new(AtomicU64::new(value));
        let machine =
            Machine { counter: shared(1_000_000), step: shared(STEP), ahead: shared(AHEAD_NS), has_points: false };
        let clock = Arc::new(Disciplined::new(machine.clone(), machine.clone()).with_window_ns(WINDOW_NS));
        assert!(clock.frequency().is_some() && clock.source() == Source::Counter);
        let end = clock.layers.page.snapshot(|| 0).line.end();
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
#[ignore = "half a minute of interleavings"]
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
#[ignore = "half a minute of interleavings"]
fn a_contradiction_after_the_end_is_ordered() {
    for jump_ns in [-100_000, 100_000] {
        readings_are_ordered(100, jump_ns, STEP);
    }
}

/// A machine that has run for a while.
fn machine() -> Machine {
    let shared = |value| Arc::new(AtomicU64::new(value));
    Machine { counter: shared(1_000_000), step: shared(STEP), ahead: shared(0), has_points: false }
}

/// A reading of the OS clock that was not written down is below no line that begins later; and one
/// that may be is.
#[test]
fn an_unwritten_reading_is_below_the_line_that_begins() {
    check(3, || {
        let machine = machine();
        let clock = Arc::new(Disciplined::new(machine.clone(), machine.clone()));
        clock.prepare();
        // So that a reading need not be written down.
        clock.layers.page.record(1_000_000);
        let known = Arc::new(AtomicU64::new(0));
        let reader = {
            let (clock, known) = (clock.clone(), known.clone());
            thread::spawn(move || {
                let version = clock.layers.page.version();
                if !version.has_line() {
                    let os_ns = clock.layers.os_ns().unwrap();
                    known.store(clock.layers.serve_os(version, os_ns), Ordering::Release);
                }
            })
        };
        let beginner = {
            let clock = clock.clone();
            thread::spawn(move || {
                let mut guard = clock.layers.try_lock().unwrap();
                clock.layers.announce(&mut guard);
                let os_ns = clock.layers.os_ns().unwrap();
                assert!(clock.layers.publish(&mut guard, &ServedLine::single(0, os_ns, 1.0, 1000)));
            })
        };
        let least = known.load(Ordering::Acquire);
        if let Some(ns) = clock.layers.page.read(|| 0) {
            assert!(ns >= least, "{ns} was read after {least}");
        }
        reader.join().unwrap();
        beginner.join().unwrap();
    });
}

/// Of a holder that lost the lock nothing is published any more, and its successor finds nobody in
/// its place.
#[test]
fn a_lock_is_taken_over_once_and_for_good() {
    check(3, || {
        let machine = Machine { has_points: true, ..machine() };
        let clock = Arc::new(Disciplined::new(machine.clone(), machine.clone()));
        clock.prepare();
        let [late, next] = [10, 20].map(|value| ServedLine::single(0, value, 1.0, 100));
        let former = {
            let clock = clock.clone();
            thread::spawn(move || {
                let Some(mut guard) = clock.layers.try_lock() else { return };
                clock.layers.publish(&mut guard, &late);
            })
        };
        let successor = {
            let clock = clock.clone();
            thread::spawn(move || {
                let state = match clock.layers.shared.steering.try_lock() {
                    Ok(_) => return false,
                    Err(state) => state,
                };
                let Some(mut guard) = clock.layers.take_over(state) else { return false };
                // Only what was published before may have been seen: that line has ended.
                assert!(clock.layers.publish(&mut guard, &next));
                true
            })
        };
        let taken_over = successor.join().unwrap();
        if taken_over {
            assert_eq!(clock.layers.page.snapshot(|| 0).line.at(0), Some(20), "the former holder's line came later");
        }
        former.join().unwrap();
        if taken_over {
            assert_eq!(clock.layers.page.snapshot(|| 0).line.at(0), Some(20), "the former holder's line came later");
        }
        assert!(clock.layers.try_lock().is_some(), "it was released");
    });
}

/// A thread that gives the counter up does not wait for one that publishes, and nothing is
/// published after that; what was read before is no more than what is served then.
#[test]
fn a_counter_that_was_given_up_is_not_served() {
    check(2, || {
        let machine = machine();
        let clock = Arc::new(Disciplined::new(machine.clone(), machine.clone()));
        clock.prepare();
        let known = Arc::new(AtomicU64::new(0));
        let publisher = {
            let (clock, known) = (clock.clone(), known.clone());
            thread::spawn(move || {
                let mut guard = clock.layers.try_lock().unwrap();
                for value in [1_000_500, 1_000_600] {
                    clock.layers.publish(&mut guard, &ServedLine::single(0, value, 1.0, 100));
                    if let Some(ns) = clock.layers.page.read(|| 10) {
                        known.store(ns, Ordering::Release);
                    }
                }
            })
        };
        clock.give_up();
        assert_eq!(clock.layers.page.read(|| 10), None);
        let least = known.load(Ordering::Acquire);
        let ns = clock.now().as_ns();
        assert!(ns >= least, "{ns} was read after {least}");
        publisher.join().unwrap();
        assert_eq!(clock.layers.page.read(|| 10), None);
    });
}

/// A holder of the lock has compared the clocks before the wall clock was set, and publishes a line
/// at some time. Whoever finds the set meanwhile ends the line, or keeps it from being published:
/// from then on nothing is served with the offset of before.
#[test]
fn a_line_of_before_a_set_is_not_served_after_a_check() {
    check(2, || {
        let machine = machine();
        let clock = Arc::new(Disciplined::new(machine.clone(), machine));
        clock.prepare();
        let has_compared = Arc::new(AtomicU64::new(0));
        let publisher = {
            let (clock, has_compared) = (clock.clone(), has_compared.clone());
            thread::spawn(move || {
                let mut guard = clock.layers.try_lock().unwrap();
                clock.layers.announce(&mut guard);
                guard.beside.set_wall(ClockOffset::from_ns(5_000));
                has_compared.store(1, Ordering::Release);
                clock.layers.publish(&mut guard, &ServedLine::single(0, 1_000_500, 1.0, 100));
            })
        };
        if has_compared.load(Ordering::Acquire) != 0 {
            let seen = Distance::new(Bracket { before: 1_000_500, inner: 1_000_505, after: 1_000_510 }, 1);
            clock.layers.end_line_of_stopped_holder(OffsetClock::Wall, &seen);
            assert_eq!(clock.layers.page.read_offset_clock(OffsetClock::Wall, || 10), None);
            publisher.join().unwrap();
            assert_eq!(clock.layers.page.read_offset_clock(OffsetClock::Wall, || 10), None);
        }
    });
}

/// A statement whose every part depends on `number`.
fn statement(number: i64) -> Statement {
    let seen = ClockSnapshot {
        raw_ns: number as u64,
        before_ns: number as u64,
        after_ns: number as u64,
        wall_ns: number,
        disruptions: number as u64,
        counter_ticks: number as u64,
    };
    let rate_ppm = number as f64;
    let reported = WallStatement {
        earliest_ns: -number,
        latest_ns: number,
        lasts_ns: 1_000,
        rate_ppm,
        state: WallState::Synchronized,
    };
    Statement::new(reported, seen, number as u64, 0, 1_000).unwrap()
}

/// A thread reads while another keeps one statement after another: it finds one of them, or none.
#[test]
#[ignore = "seconds of interleavings"]
fn a_statement_is_read_whole() {
    check(2, || {
        let shared = Arc::new(SharedStatement::new());
        shared.keep(shared.turn(), &statement(1));
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || shared.keep(shared.turn(), &statement(2)))
        };
        let read = shared.load();
        assert!(read.is_none_or(|read| read == statement(1) || read == statement(2)), "{read:?}");
        writer.join().unwrap();
        assert_eq!(shared.load(), Some(statement(2)));
    });
}

/// Of two threads that write at once one does, and nothing of the other is read.
#[test]
#[ignore = "seconds of interleavings"]
fn a_statement_is_written_by_one() {
    check(2, || {
        let shared = Arc::new(SharedStatement::new());
        let writer = {
            let shared = shared.clone();
            thread::spawn(move || shared.keep(shared.turn(), &statement(1)))
        };
        shared.keep(shared.turn(), &statement(2));
        let read = shared.load();
        assert!(read.is_none_or(|read| read == statement(1) || read == statement(2)), "{read:?}");
        writer.join().unwrap();
        let read = shared.load();
        assert!(read.is_some_and(|read| read == statement(1) || read == statement(2)), "{read:?}");
    });
}

/// A statement that was asked for before all was forgotten is not read after that, whoever is
/// writing meanwhile; and one that is asked for later is kept.
#[test]
fn a_statement_that_was_forgotten_is_not_read() {
    check(2, || {
        let shared = Arc::new(SharedStatement::new());
        let since = shared.turn();
        let early = {
            let shared = shared.clone();
            thread::spawn(move || shared.keep(since, &statement(1)))
        };
        shared.forget();
        assert_eq!(shared.load(), None);
        early.join().unwrap();
        assert_eq!(shared.load(), None);
        shared.keep(shared.turn(), &statement(2));
        assert_eq!(shared.load(), Some(statement(2)), "the mark of being written was left");
    });
}
