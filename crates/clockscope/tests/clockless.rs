//! A host of WebAssembly without a clock: the library is compiled without the feature `js`, or the
//! host has no `performance`. Every question has its documented answer, and nothing panics.

#![cfg(all(target_family = "wasm", target_os = "unknown"))]

use std::time::Duration;

use clockscope::{Clock, Errno, Instant, ProcessClock, Source, WallTime};

#[test]
fn the_time_is_stuck_and_try_now_says_why() {
    for _ in 0..1000 {
        assert_eq!(clockscope::now(), Instant::from_ns(0));
        assert_eq!(clockscope::now_unordered(), Instant::from_ns(0));
        assert_eq!(clockscope::try_now(), Err(Errno::UNSUPPORTED));
    }
    assert_eq!(ProcessClock.now(), Instant::from_ns(0));
    assert_eq!(clockscope::source(), Source::Nothing);
}

#[test]
fn nothing_is_claimed_of_a_clock_that_is_not_there() {
    assert_eq!(clockscope::error_bound(), None);
    assert_eq!(clockscope::frequency(), None);
    assert_eq!(clockscope::resolution(), None);
    assert!(clockscope::conversion().is_none());
    assert!(!clockscope::is_high_resolution());
    assert!(clockscope::calibrate_blocking(Duration::from_millis(2)).is_err());
    assert!(!clockscope::evidence().is_empty());
}

#[test]
fn no_counter_is_admitted_and_no_thread_is_started() {
    clockscope::prepare();
    assert!(!clockscope::admit_counter());
    assert!(!clockscope::recheck());
    assert!(clockscope::survive_disabled_counter().is_err());
    assert!(clockscope::Upkeep::start(Duration::from_millis(1)).is_err());
    assert_eq!(clockscope::now(), Instant::from_ns(0));
}

/// JavaScript may have a wall clock without `performance`; of its error nobody states anything.
#[test]
fn time_of_day_promises_nothing() {
    assert!(clockscope::utc_now().is_err() && clockscope::tai_now().is_err());
    let interval = clockscope::bounded::now();
    assert_eq!((interval.earliest, interval.latest), (WallTime::MIN, WallTime::MAX));
    assert_eq!(clockscope::wall::error_bound(), None);
    // Without one it is the timeline, which stands still at zero.
    let has_wall_clock = clockscope::wall::now() > WallTime::from_unix_ns(0);
    assert_eq!(has_wall_clock, cfg!(feature = "js"));
}
