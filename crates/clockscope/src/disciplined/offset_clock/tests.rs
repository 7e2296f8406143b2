//! The ends of the offset to the wall clock, and who announces a line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use core::cell::Cell;

use clockscope_core::brackets::Bracket;

use super::super::Disciplined;
use super::super::page::Page;
use super::super::page::line::ServedLine;
use super::super::page::version::ServingMode;
use super::*;
use crate::Errno;

/// A counter of 1 GHz whose reads take no time, an OS clock that shows the time at the end of
/// its read, and a wall clock that shows it at once: the true offset is the upper end of each
/// comparison.
struct Machine(Cell<u64>);

const OS_READ_NS: u64 = 100;
const WALL_AHEAD_NS: i64 = 5_000_000;
/// Comparisons are no wider than this.
const WIDE_NS: u64 = 10 * OS_READ_NS;

impl Counter for Machine {
    fn ordered(&self) -> u64 {
        self.0.get()
    }
    crate::disciplined::trusted_counter!();
}

impl OsClock for Machine {
    fn now_ns(&self) -> Result<u64, Errno> {
        self.0.set(self.0.get() + OS_READ_NS);
        Ok(self.0.get())
    }
    fn tick_ns(&self, _: bool) -> u64 {
        1
    }
    fn wall_ns(&self) -> Result<i64, Errno> {
        Ok(self.0.get() as i64 + WALL_AHEAD_NS)
    }
}

/// The time now, which no clock was read for.
fn now(clock: &Disciplined<&Machine, &Machine>) -> u64 {
    clock.layers.counter.0.get()
}

fn machine() -> Machine {
    Machine(Cell::new(1_000_000))
}

fn begun(machine: &Machine) -> Disciplined<&Machine, &Machine> {
    let clock = Disciplined::new(machine, machine);
    clock.prepare();
    clock.layers.page.want(OffsetClock::Wall);
    clock
}

/// A thread reads the wall clock after another one has announced a line and taken its bracket,
/// and before that line is published: later readings by the line are not below.
#[test]
fn a_reading_beside_a_line_that_begins_is_below_the_line() {
    for is_announced_before in [false, true] {
        let machine = machine();
        let clock = begun(&machine);
        assert!(clock.layers.learn_offset(OffsetClock::Wall, WIDE_NS).is_some());
        let mut guard = clock.layers.try_lock().unwrap();
        let version = clock.layers.page.version();
        clock.layers.announce(&mut guard);
        let version = if is_announced_before { clock.layers.page.version() } else { version };
        let bracket_ns = clock.layers.os_ns().unwrap();
        machine.0.set(now(&clock) + 5_000);
        let served = clock.layers.serve_itself(OffsetClock::Wall, version, clock.layers.os.wall_ns().unwrap()).unwrap();
        guard.beside.set_wall(clock.layers.page.offset_words(OffsetClock::Wall).known());
        assert!(clock.layers.publish(&mut guard, &ServedLine::single(now(&clock), bracket_ns, 1.0, 1_000_000)));
        let later = clock.wall_ns();
        assert!(later >= served, "{later} was read after {served}, announced before: {is_announced_before}");
    }
}

/// A line begins exactly, with the offset of a comparison: its readings are not below one of
/// the wall clock itself that was taken before.
#[test]
fn a_reading_by_the_line_is_not_below_one_of_the_wall_clock_itself() {
    let machine = machine();
    let clock = begun(&machine);
    let mut guard = clock.layers.try_lock().unwrap();
    guard.beside.set_wall(clock.layers.learn_offset(OffsetClock::Wall, WIDE_NS).unwrap());
    let served = clock.wall_ns();
    assert_eq!(served, now(&clock) as i64 + WALL_AHEAD_NS, "it is the wall clock's own");
    assert!(clock.layers.publish(&mut guard, &ServedLine::single(now(&clock), now(&clock), 1.0, 1_000_000)));
    let later = clock.wall_ns();
    assert!(later >= served, "{later} was read after {served}");
}

/// A line ends ahead of the OS clock, by less than a comparison is wide: readings of the wall
/// clock itself are not below those by the line.
#[test]
fn a_reading_of_the_wall_clock_itself_is_not_below_one_by_a_line_that_ended() {
    for lead_ns in [2, OS_READ_NS / 2, OS_READ_NS, 3 * OS_READ_NS] {
        let machine = machine();
        let clock = begun(&machine);
        let mut guard = clock.layers.try_lock().unwrap();
        guard.beside.set_wall(clock.layers.learn_offset(OffsetClock::Wall, WIDE_NS).unwrap());
        let start = now(&clock);
        assert!(clock.layers.publish(&mut guard, &ServedLine::single(start, start + lead_ns, 1.0, 1_000)));
        let served = clock.layers.page.read_offset_clock(OffsetClock::Wall, || start + 1).unwrap();
        let next = guard.version.without_line(ServingMode::Open);
        // Only what was read is ended: the end of the line would be further ahead.
        clock.layers.page.raise_floor(start + 1 + lead_ns);
        assert!(clock.layers.page.replace(&mut guard.version, next));
        let later = clock.wall_ns();
        assert!(later >= served, "{later} was read after {served}, {lead_ns} ns ahead");
    }
}

/// Two threads replace the offset at once, and the first one's width is kept last.
#[test]
fn the_width_of_another_offset_contradicts_nothing() {
    let page = Page::new();
    let words = page.offset_words(OffsetClock::Wall);
    let (stored, other) = (ClockOffset::from_ns(1_000_000), ClockOffset::from_ns(999_500));
    assert!(words.replace(ClockOffset::UNKNOWN, stored, 600));
    assert!(!words.replace(ClockOffset::UNKNOWN, other, 40));
    assert_eq!(words.known_with_width(), (stored, Some(600)));
    words.keep_width(other, 40);
    assert_eq!(words.known_with_width(), (stored, None));
    let seen = |least, most| Distance { least, most, bracket: Bracket::ZERO };
    let true_one = seen(999_450, 999_490);
    assert!(true_one.agrees(stored, None) && true_one.agrees(stored, Some(600)) && !true_one.agrees(stored, Some(40)));
    assert!(!seen(-1_000_040, -1_000_000).agrees(stored, None), "that was set");
    words.keep_width(stored, stored.ns().abs_diff(true_one.least));
    assert!(true_one.agrees(stored, words.known_with_width().1));
}

/// A machine on which another thread replaces the version in each reading of the wall clock, so
/// often.
struct Restless {
    machine: Machine,
    ahead_ns: Cell<i64>,
    replacements: Cell<u32>,
    clock: Cell<Option<&'static RestlessClock>>,
    is_steered_alike: Cell<bool>,
}

type RestlessClock = Disciplined<&'static Machine, &'static Restless>;

impl OsClock for Restless {
    fn now_ns(&self) -> Result<u64, Errno> {
        self.machine.now_ns()
    }
    fn tick_ns(&self, _: bool) -> u64 {
        1
    }
    fn wall_ns(&self) -> Result<i64, Errno> {
        if let Some((clock, left)) = self.clock.get().zip(self.replacements.get().checked_sub(1)) {
            self.replacements.set(left);
            let mut version = clock.layers.page.version();
            let next = version.without_line(ServingMode::Open);
            assert!(clock.layers.page.replace(&mut version, next));
        }
        Ok(self.machine.0.get() as i64 + self.ahead_ns.get())
    }
    fn is_wall_steered_alike(&self) -> bool {
        self.is_steered_alike.get()
    }
}

fn restless() -> (&'static Restless, &'static RestlessClock) {
    let restless: &'static Restless = Box::leak(Box::new(Restless {
        machine: machine(),
        ahead_ns: Cell::new(WALL_AHEAD_NS),
        replacements: Cell::new(0),
        clock: Cell::new(None),
        is_steered_alike: Cell::new(true),
    }));
    let clock: &'static RestlessClock = Box::leak(Box::new(Disciplined::new(&restless.machine, restless)));
    clock.prepare();
    clock.layers.page.want(OffsetClock::Wall);
    (restless, clock)
}

/// Another thread is stopped with the lock just before it publishes a line that does not know that
/// the wall clock was set: after a check it does not publish that.
#[test]
fn a_check_stops_a_line_that_is_about_to_begin() {
    let (restless, clock) = restless();
    let mut guard = clock.layers.try_lock().unwrap();
    clock.layers.announce(&mut guard);
    guard.beside.set_wall(clock.layers.learn_offset(OffsetClock::Wall, WIDE_NS).unwrap());
    let now_ns = clock.layers.os_ns().unwrap();
    restless.ahead_ns.set(WALL_AHEAD_NS - 1_000_000);
    clock.check_wall();
    assert!(!clock.layers.publish(&mut guard, &ServedLine::single(now_ns, now_ns, 1.0, 50_000)));
    assert_eq!(clock.generation(), 1, "no line has served a reading");
}

/// Another thread is stopped with the lock while its line is served: a check shows at once that the
/// wall clock was set, all the same. What readings by the line may have been off is in the largest.
#[test]
fn a_check_shows_a_set_while_another_thread_holds_the_lock() {
    let (restless, clock) = restless();
    let mut guard = clock.layers.try_lock().unwrap();
    guard.beside.set_wall(clock.layers.learn_offset(OffsetClock::Wall, WIDE_NS).unwrap());
    let now_ns = clock.layers.os_ns().unwrap();
    let (generation, largest_ns) = (clock.generation(), clock.layers.page.largest_error_ns.load(Ordering::Relaxed));
    assert!(clock.layers.publish(&mut guard, &ServedLine::single(now_ns, now_ns, 1.0, 50_000)));
    let before = clock.wall_ns();
    restless.ahead_ns.set(WALL_AHEAD_NS - 1_000_000);
    assert!(clock.wall_ns() >= before, "the line shows it when it is renewed");
    clock.check_wall();
    let after = clock.wall_ns();
    assert!(after < before - 900_000, "{after} after {before}");
    assert_eq!(clock.generation(), generation + 1);
    assert!(clock.layers.page.largest_error_ns.load(Ordering::Relaxed) > largest_ns + 2 * 223_000);
}

/// The wall clock was set, and other threads replace the version however often meanwhile: a reading
/// shows the set in the end, and takes no more of the stack for each.
#[test]
fn a_reading_that_others_disturb_often_takes_no_stack() {
    let (restless, clock) = restless();
    assert!(clock.layers.learn_offset(OffsetClock::Wall, WIDE_NS).is_some());
    restless.clock.set(Some(clock));
    // No line begins.
    let _guard = clock.layers.try_lock().unwrap();
    restless.ahead_ns.set(WALL_AHEAD_NS - 1_000_000);
    restless.replacements.set(200_000);
    let served = clock.wall_ns();
    assert_eq!(restless.replacements.get(), 0, "each reading of the wall clock was disturbed");
    assert!((served - WALL_AHEAD_NS + 1_000_000).unsigned_abs().abs_diff(restless.machine.0.get()) < WIDE_NS);
}

/// A wall clock that is steered by itself is read itself, and nothing else is, beside a line as
/// well.
#[test]
fn a_clock_that_is_steered_by_itself_is_read_alone() {
    let (restless, clock) = restless();
    restless.is_steered_alike.set(false);
    let mut guard = clock.layers.try_lock().unwrap();
    for has_line in [false, true] {
        let now_ns = clock.layers.os_ns().unwrap();
        if has_line {
            assert!(clock.layers.publish(&mut guard, &ServedLine::single(now_ns, now_ns, 1.0, 1_000_000)));
        }
        let wall_ns = clock.wall_ns();
        assert_eq!(restless.machine.0.get(), now_ns, "another clock was read, with a line: {has_line}");
        assert_eq!(wall_ns, now_ns as i64 + WALL_AHEAD_NS);
    }
}
