//! Our types in those of other crates.

#![cfg(all(unix, feature = "serde"))]

use clockscope::{AtomicInstant, Basis, Instant, Interval, Leap, WallState, WallTime};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant as StdInstant};

#[test]
fn moments_are_numbers_and_time_of_day_is_a_text() {
    let (moment, wall) = (Instant::MAX, WallTime::from_unix_ns(1_700_000_000_000_000_001));
    assert_eq!(
        serde_json::to_string(&(moment, wall)).unwrap(),
        "[9223372036854775807,\"2023-11-14T22:13:20.000000001Z\"]"
    );
    let read: (Instant, WallTime) =
        serde_json::from_str("[9223372036854775807,\"2023-11-14T23:13:20.000000001+01:00\"]").unwrap();
    assert_eq!(read, (moment, wall));
    let before = Instant::from_signed_ns(-5);
    assert_eq!(serde_json::to_string(&before).unwrap(), "-5");
    assert_eq!(serde_json::from_str::<Instant>("-5").unwrap(), before);
    for wrong in ["\"2023-11-14\"", "5", "null"] {
        assert!(serde_json::from_str::<WallTime>(wrong).is_err(), "{wrong}");
    }
}

/// An interval that one machine sends is what another reads, and nothing else is an interval.
#[test]
fn intervals_are_sent() {
    let [earliest, latest] = [1, 1_000_000_001].map(WallTime::from_unix_ns);
    let interval = Interval::new(earliest, latest, WallState::WhileNotSlewing).unwrap();
    let text = serde_json::to_string(&interval).unwrap();
    assert_eq!(
        text,
        r#"{"earliest":"1970-01-01T00:00:00.000000001Z","latest":"1970-01-01T00:00:01.000000001Z","state":"while_not_slewing","basis":null,"leap":null}"#
    );
    assert_eq!(serde_json::from_str::<Interval>(&text).unwrap(), interval);
    let known = text.replace(r#""basis":null,"leap":null"#, r#""basis":"kernel_loop","leap":"insert""#);
    let read: Interval = serde_json::from_str(&known).unwrap();
    assert_eq!((read.basis, read.leap), (Some(Basis::KernelLoop), Some(Leap::Insert)));
    assert_eq!(serde_json::to_string(&read).unwrap(), known);
    // What a machine sends that has neither, and what one reads of another's later fields.
    let bare = text.replace(r#","basis":null,"leap":null"#, r#","later":1"#);
    assert_eq!(serde_json::from_str::<Interval>(&bare).unwrap(), interval);
    let turned = text.replace("00:00:00.", "00:00:02.");
    assert!(serde_json::from_str::<Interval>(&turned).unwrap_err().to_string().contains("ends before it begins"));
}

/// tokio and parking_lot take std's `Instant`. No wait ends before its deadline.
#[test]
fn deadlines_of_other_crates_are_not_early() {
    let deadline = clockscope::now() + Duration::from_millis(2);
    let std = StdInstant::try_from(deadline).unwrap();
    // By half of a comparison of both clocks, which an interruption may make wide.
    let slack = Duration::from_millis(1);
    let (lock, condition) = (parking_lot::Mutex::new(()), parking_lot::Condvar::new());
    let mut guard = lock.lock();
    while !condition.wait_until(&mut guard, std).timed_out() {}
    assert!(clockscope::now() + slack >= deadline);
    let deadline = clockscope::now() + Duration::from_millis(2);
    let until = tokio::time::Instant::from_std(StdInstant::try_from(deadline).unwrap());
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(async { tokio::time::sleep_until(until).await });
    assert!(clockscope::now() + slack >= deadline);
}

#[test]
fn arithmetic_is_that_of_std() {
    let (start, second) = (Instant::from_ns(5), Duration::from_secs(1));
    let mut moment = start;
    moment += second;
    assert_eq!((moment - start, moment.checked_duration_since(start)), (second, Some(second)));
    moment -= second;
    assert_eq!((moment, start.saturating_duration_since(moment + second)), (start, Duration::ZERO));
    assert_eq!((Instant::MAX.checked_add(second), Instant::MAX.saturating_add(second)), (None, Instant::MAX));
    let last = AtomicInstant::new(start);
    let later = |by: u64| move |moment: Instant| moment.checked_add(Duration::from_nanos(by));
    assert_eq!(last.fetch_update(Ordering::AcqRel, Ordering::Acquire, later(3)), Ok(start));
    assert_eq!(
        last.fetch_update(Ordering::AcqRel, Ordering::Acquire, later(i64::MAX as u64)),
        Err(Instant::from_ns(8))
    );
    assert_eq!(last.fetch_max(Instant::from_ns(7), Ordering::AcqRel), Instant::from_ns(8));
    assert!(last.elapsed(Ordering::Acquire) > second && start.elapsed_unordered() > second);
    assert!(Instant::now_unordered() > start);
}
