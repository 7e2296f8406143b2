//! Readings during which the page changes.

use super::*;
use crate::disciplined::page::statement::WallStatement;
use clockscope_core::WallState;

/// The time that line `number` shows at tick 100, in ns.
const fn expected_ns(number: u64) -> u64 {
    1_000 * number + 100
}

/// Publishes line `number` with an offset and bounds of its own.
fn publish(page: &Page, version: &mut Version, number: u64) {
    let line = ServedLine::single(0, 1_000 * number, 1.0, 1_000);
    let wall_ns = 1_000_000 * number as i64;
    let statement = WallStatement::new(wall_ns, wall_ns, WallState::Synchronized);
    let boot = ClockOffset::from_ns(2 * wall_ns);
    let bounds = BesideLine { wall: ClockOffset::from_ns(wall_ns), boot, bounds: Bounds::new(&statement, 0, 1.0) };
    assert!(page.publish(version, &line, &bounds));
}

/// A page with line 1, and its version.
fn page_with_a_line() -> (Page, Version) {
    let page = Page::new();
    let mut version = Version::NEW;
    assert!(page.replace(&mut version, Version::NEW.without_line(ServingMode::Open)));
    publish(&page, &mut version, 1);
    (page, version)
}

/// Asserts that no reader serves a line if something happens to the page while the counter is
/// read, at tick 100.
fn assert_not_served(happens: impl Fn(&Page, &mut Version)) {
    let (page, mut version) = page_with_a_line();
    let ns = page.read(|| {
        happens(&page, &mut version);
        100
    });
    assert_eq!(ns, None);
    for clock in OffsetClock::ALL {
        let (page, mut version) = page_with_a_line();
        let clock_ns = page.read_offset_clock(clock, || {
            happens(&page, &mut version);
            100
        });
        assert_eq!(clock_ns, None);
    }
    let (page, mut version) = page_with_a_line();
    let bounds = page.read_bounds(|| {
        happens(&page, &mut version);
        100
    });
    assert_eq!(bounds, None);
}

#[test]
fn a_line_that_stays_is_served() {
    let (page, _) = page_with_a_line();
    assert_eq!(page.read(|| 100), Some(expected_ns(1)));
    for (clock, ahead_ns) in [(OffsetClock::Wall, 1_000_000), (OffsetClock::Boot, 2_000_000)] {
        assert_eq!(page.read_offset_clock(clock, || 100), Some(ahead_ns + expected_ns(1) as i64));
    }
    assert!(page.read_bounds(|| 100).is_some());
}

/// The second replacement writes over the words that the reader has begun to read.
#[test]
fn a_line_that_is_replaced_during_a_reading_is_not_served() {
    for replacements in 1..=2 {
        assert_not_served(|page, version| (0..replacements).for_each(|more| publish(page, version, 2 + more)));
    }
}

/// A reader that was interrupted must not serve less than others have been served since.
#[test]
fn a_line_that_is_withdrawn_during_a_reading_is_not_served() {
    assert_not_served(|page, version| {
        let next = version.without_line(ServingMode::Open);
        assert!(page.end_line_of(version, next));
    });
}

#[test]
fn a_snapshot_repeats_until_the_line_stays() {
    let (page, mut version) = page_with_a_line();
    let mut attempts = 0;
    let snapshot = page.snapshot(|| {
        attempts += 1;
        if attempts < 3 {
            publish(&page, &mut version, 1 + attempts);
        }
        100
    });
    assert_eq!((attempts, snapshot.version), (3, version));
    assert_eq!(
        (snapshot.line.at(snapshot.tick), snapshot.offset(OffsetClock::Wall).ns()),
        (Some(expected_ns(3)), 3_000_000)
    );
}
