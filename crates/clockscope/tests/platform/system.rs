//! The library's promises on every system, by the system's own clocks. Nothing here depends on how
//! fast the machine is: times are nested in others.

use std::time::Duration;

use clockscope::{Source, WallTime};

/// The clocks that the library's are compared with: std's.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod host {
    pub(super) use std::time::Instant;
    use std::time::{SystemTime, UNIX_EPOCH};

    pub(super) fn unix_ns() -> i128 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128
    }
}

/// JavaScript's, where std has none.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod host {
    use std::time::Duration;

    pub(super) struct Instant(f64);

    impl Instant {
        pub(super) fn now() -> Self {
            Self(js_sys::Date::now())
        }

        pub(super) fn elapsed(&self) -> Duration {
            Duration::from_secs_f64((js_sys::Date::now() - self.0).max(0.0) / 1e3)
        }
    }

    pub(super) fn unix_ns() -> i128 {
        (js_sys::Date::now() * 1e6) as i128
    }
}

/// Steps of the clocks that are compared, and what they may part in by while one of them is
/// steered.
const SLACK: Duration = Duration::from_millis(20);

#[test]
fn readings_never_go_back() {
    let mut last = clockscope::now();
    for _ in 0..200_000 {
        let now = clockscope::now();
        assert!(now >= last, "{now:?} after {last:?}");
        last = now;
    }
}

#[test]
fn the_time_passes_as_it_does_for_the_host() {
    let (outer, start) = (host::Instant::now(), clockscope::now());
    let inner = host::Instant::now();
    while inner.elapsed() < Duration::from_millis(30) {
        std::hint::black_box(clockscope::now());
    }
    let inside = inner.elapsed();
    let ours = clockscope::now().duration_since(start);
    let outside = outer.elapsed();
    assert!(inside <= ours + SLACK && ours <= outside + SLACK, "{inside:?} {ours:?} {outside:?}");
}

#[test]
fn there_is_a_clock() {
    let before = clockscope::now();
    let reading = clockscope::try_now().unwrap();
    assert!(reading >= before && clockscope::now() >= reading);
    assert_ne!(clockscope::source(), Source::Nothing);
    assert!(clockscope::error_bound().is_some());
}

#[test]
fn time_of_day_is_the_systems() {
    let ours = |time: WallTime| i128::from(time.as_unix_ns());
    let slack = SLACK.as_nanos() as i128;
    let before = host::unix_ns();
    let now = ours(clockscope::wall::now());
    let after = host::unix_ns();
    assert!(before - slack <= now && now <= after + slack, "{before} {now} {after}");
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
#[test]
fn moments_of_std_are_converted() {
    let (before, std, after) = (clockscope::now(), std::time::Instant::now(), clockscope::now());
    let moment = clockscope::Instant::from_std(std).unwrap();
    assert!(before <= moment + SLACK && moment <= after + SLACK, "{before:?} {moment:?} {after:?}");
}

/// Nothing panics where a system has no counter, no threads, or no file of the kernel's.
#[test]
fn every_question_is_answered() {
    clockscope::prepare();
    assert!(!clockscope::evidence().is_empty());
    let _ = (clockscope::frequency(), clockscope::conversion(), clockscope::resolution(), clockscope::generation());
    let _ = (clockscope::recheck(), clockscope::is_high_resolution(), clockscope::timeline_offset());
    let _ = (clockscope::utc_now(), clockscope::tai_now(), clockscope::bounded::now(), clockscope::wall::error_bound());
    let _ = clockscope::calibrate_blocking(Duration::from_millis(2));
    let _ = clockscope::survive_disabled_counter();
    let _ = clockscope::Upkeep::start(Duration::from_millis(1)).map(|upkeep| upkeep.recent());
}

/// Outside of Linux the counter is used only where the program says so, and the system does.
#[test]
fn the_counter_is_not_used_by_itself() {
    if cfg!(any(target_os = "linux", target_os = "android")) {
        // The kernel names its clocksource: there is nothing to admit.
        assert_eq!(clockscope::admit_counter(), clockscope::recheck());
        return;
    }
    let read = || (0..50_000).for_each(|_| _ = std::hint::black_box(clockscope::now()));
    read();
    assert_eq!(clockscope::source(), Source::OsClock);
    let is_admitted = clockscope::admit_counter();
    read();
    assert!(is_admitted || clockscope::source() == Source::OsClock);
}

/// A reading that another thread has seen is not larger than one that it takes after that.
#[cfg(not(target_family = "wasm"))]
#[test]
fn threads_see_one_order() {
    use std::sync::atomic::{AtomicU64, Ordering};

    const READINGS: usize = 50_000;
    let latest = AtomicU64::new(0);
    let read = || {
        for _ in 0..READINGS {
            let seen = latest.load(Ordering::Acquire);
            let now = clockscope::now().as_ns();
            assert!(now >= seen, "{now} after {seen}");
            latest.fetch_max(now, Ordering::AcqRel);
        }
    };
    std::thread::scope(|scope| (0..3).for_each(|_| _ = scope.spawn(read)));
}
