//! The clock of the process on counters that are broken as those of real machines are: by a rig
//! that answers every RDTSC (`trap.c` of clockscope-testing). Each fault in a process of its own,
//! watched by `watch` of machines/programs.
//!
//! A reading costs 10 to 25 µs there, and a bracket some 50 µs, so that the clocks contradict each
//! other only when they are apart by a hundred µs or more. What the library must do does not depend
//! on that.
//!
//! Where the rig reaches the vDSO, the OS clock is computed from the same lie: nothing contradicts
//! it, the time is as wrong as CLOCK_MONOTONIC by the vDSO, and all that is asserted is that it
//! never goes back. Where it does not (`vdso=no`), the fault must be found, and the time must be
//! right from then on.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and says what it saw")]

#[allow(dead_code, reason = "its main is for the program")]
#[path = "../../../../machines/programs/src/bin/watch.rs"]
mod watch;

use std::process::{Command, Output};
use std::time::Duration;

use clockscope::{Finding, Source, ticks};
use clockscope_core::os;
use clockscope_testing::{
    Granted, TRAP_FAULTS, demand, granted, granted_so_far, on_cpu, rig, skip, thread_time, two_cpus,
};
use serial_test::serial;
use watch::Seen;

/// Set in the process that a test starts of itself.
const CHILD: &str = "CLOCKSCOPE_TEST_CHILD";

/// Largest distance of the time from the OS clock when a fault is found: it stands still at the
/// line's end until the OS clock is there, and a line ends two windows of a millisecond after it
/// was begun, each of which rises by half as much again at most.
const HOLD_NS: u64 = 3_000_000;

/// More ticks than any counter counts in the two milliseconds of a line and in a time in which a
/// busy machine runs no thread of the test: a step back into a line that is still published may
/// show as one (docs/concepts/library/monotonic.md).
const FAR: i64 = 10_000_000_000;

/// Ticks between the counters of CPUs that differ, and between their OS clocks where the rig
/// reaches the vDSO. Less than ten seconds in all, or no step back would come soon after the one
/// before.
const APART: i64 = 200_000_000;

/// Runs the rig's process to its end: this program again, with that one test.
fn start(test: &str, faults: &str) -> (Output, Granted) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("trap::{test}"), "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, test);
    command.env("LD_PRELOAD", rig("trap")).env(TRAP_FAULTS, faults);
    granted(&mut command)
}

/// Returns true if this is the process of that test with these faults, and not the one that starts
/// it; `None` if it is one with others.
fn is_started(test: &str, faults: &str) -> Option<bool> {
    let is_child = std::env::var(CHILD).is_ok_and(|name| name == test);
    let is_meant = std::env::var(TRAP_FAULTS).is_ok_and(|set| set == faults);
    (is_child == is_meant).then_some(is_child)
}

fn assert_success(faults: &str, output: &Output) {
    assert!(
        output.status.success(),
        "{faults}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs `body` in a process of its own whose counter has these faults.
fn under(test: &str, faults: &str, body: impl FnOnce()) {
    match is_started(test, faults) {
        Some(true) => body(),
        Some(false) => assert_success(faults, &start(test, faults).0),
        None => {}
    }
}

/// Watches the clock under a fault. No thread's reading is ever below its own last one.
fn watch_clock(test: &str, faults: &str, seconds: f64, check: impl FnOnce(&Seen)) {
    under(test, faults, || {
        let seen = watch::watch(&watch::reference(), seconds).unwrap();
        println!("{seen:?}, generation {}", clockscope::generation());
        assert_eq!(seen.own_regressions, 0, "{seen:?}");
        check(&seen);
    });
}

/// Returns true if the library would use this machine's counter.
fn is_used() -> bool {
    os::counter_is_clocksource() == Some(true)
}

/// Asserts that the counter is in use, or is again as soon as this thread has run for long enough:
/// a thread that was preempted is served the OS clock for a while. (One that is preempted all the
/// time may be served nothing else.)
fn assert_used() {
    let start = thread_time();
    while is_used() && watch::source() != Source::Counter {
        let ran = thread_time() - start;
        if ran > Duration::from_secs(5) {
            assert!(!granted_so_far().is_whole(), "not in use after {ran:?}: {:?}", clockscope::evidence());
            return skip("the thread did not get a CPU whenever it could run");
        }
    }
}

/// Asserts that nothing ended the first generation but a holder of the lock that got no CPU for 100
/// ms and lost it (docs/concepts/library/monotonic.md): readings take so long here that this
/// happens on busy machines. That thread read nothing for as long.
fn assert_first_generation(seen: &Seen) {
    assert!(clockscope::generation() == 1 || seen.pause_ns > 100_000_000, "{seen:?}: {:?}", clockscope::evidence());
}

/// Returns true if the counter was given up.
fn is_given_up() -> bool {
    let evidence = clockscope::evidence();
    watch::source() == Source::OsClock
        && evidence.iter().any(|evidence| evidence.name == "outcome" && evidence.finding == Finding::Against)
}

fn on_each_path(faults: &str) -> [String; 2] {
    [faults.to_owned(), format!("{faults};vdso=no")]
}

/// Faults that all CPUs share.
#[test]
#[ignore = "the rig makes a reading of the counter slow: needs a quiet machine"]
#[serial]
fn no_fault_makes_the_time_go_back() {
    let test = "no_fault_makes_the_time_go_back";
    for fault in [
        format!("jump:after=200ms,ticks={FAR}"),
        format!("jump:after=200ms,ticks=-{FAR}"),
        "rate:after=200ms,ppm=500".into(),
        "rate:after=200ms,ppm=-50000".into(),
        "freeze:after=200ms,for=50ms".into(),
        "reset:after=200ms".into(),
        "hide:every=100ms,ticks=20000000".into(),
        format!("host:after=200ms,ticks={FAR},ppm=50"),
        format!("host:after=200ms,ticks=-{FAR},ppm=-50"),
        "offset:ticks=1000000000000".into(),
        "offset:ticks=-1000000000000000000".into(),
    ] {
        for faults in on_each_path(&fault) {
            watch_clock(test, &faults, 0.4, |seen| assert_eq!(seen.regressions, 0, "{faults}: {seen:?}"));
        }
    }
}

/// Watches until the counter is given up, and then once more: nothing is left that goes back, and
/// the time is right where the OS clock is. A fault that comes while there is no line is rightly
/// not found, so that they all come again and again, and the third that is found ends it. No
/// reading goes back before that, either, unless `is_near`.
fn loses_the_counter(test: &str, faults: &str, is_near: bool) {
    under(test, faults, || {
        let reference = watch::reference();
        for _ in 0..100 {
            let seen = watch::watch(&reference, 0.2).unwrap();
            println!("{seen:?}, generation {}", clockscope::generation());
            assert_eq!(seen.own_regressions, 0, "{seen:?}");
            assert!(is_near || seen.regressions == 0, "{seen:?}");
            if is_given_up() {
                break;
            }
        }
        assert!(is_given_up(), "{:?}", clockscope::evidence());
        // By the third, or a few more where the machine was busy for seconds in between.
        assert!(clockscope::generation() <= 10, "generation {}", clockscope::generation());
        let seen = watch::watch(&reference, 0.1).unwrap();
        assert_eq!(seen.regressions, 0, "{seen:?}");
        assert!(!faults.ends_with("vdso=no") || seen.outside_ns <= HOLD_NS, "{seen:?}");
    });
}

/// Repeats a fault every 300 ms. `fault` has {} in the place of the time.
fn again_and_again(fault: &str, times: u32) -> String {
    let faults: Vec<String> = (1..=times).map(|time| fault.replace("{}", &format!("{}ms", 300 * time))).collect();
    faults.join(";")
}

/// The OS clock is right and contradicts the counter.
#[test]
#[ignore = "the rig makes a reading of the counter slow: needs a quiet machine"]
#[serial]
fn what_contradicts_the_os_clock_is_found_and_the_time_is_right_again() {
    for fault in [
        &format!("jump:after={{}},ticks={FAR}"),
        &format!("jump:after={{}},ticks=-{FAR}"),
        "freeze:after={},for=50ms",
        "reset:after={}",
        &format!("host:after={{}},ticks={FAR},ppm=50"),
        &format!("host:after={{}},ticks=-{FAR},ppm=-50"),
    ] {
        let faults = format!("{};vdso=no", again_and_again(fault, 16));
        loses_the_counter("what_contradicts_the_os_clock_is_found_and_the_time_is_right_again", &faults, false);
    }
}

#[test]
#[ignore = "the rig makes a reading of the counter slow: needs a quiet machine"]
#[serial]
fn time_that_firmware_hides_is_found() {
    loses_the_counter("time_that_firmware_hides_is_found", "hide:every=100ms,ticks=20000000;vdso=no", false);
}

/// A change of rate by what an OS clock may be slewed by is followed, and ends no generation.
#[test]
#[serial]
fn a_changed_rate_is_followed() {
    watch_clock("a_changed_rate_is_followed", "rate:after=300ms,ppm=500;vdso=no", 1.0, |seen| {
        let bound = clockscope::error_bound().unwrap();
        assert!(u128::from(seen.outside_ns) <= bound.largest.as_nanos(), "{seen:?} {bound:?}");
        assert_used();
        assert_first_generation(seen);
    });
}

/// A counter that is trapped by a hypervisor is slow, and right.
#[test]
#[serial]
fn a_slow_counter_is_used_and_its_bound_holds() {
    for faults in on_each_path("slow:ns=20us") {
        watch_clock("a_slow_counter_is_used_and_its_bound_holds", &faults, 0.5, |seen| {
            let bound = clockscope::error_bound().unwrap();
            assert!(u128::from(seen.outside_ns) <= bound.largest.as_nanos(), "{seen:?} {bound:?}");
            assert_eq!(seen.regressions, 0, "{seen:?}");
            assert_first_generation(seen);
            assert_used();
        });
    }
}

/// No reading finds that a counter stands still for ever, if the line was fresh then: each is on
/// the same fresh line. A question for the bound does.
#[test]
#[serial]
fn a_frozen_counter_is_found_by_who_asks() {
    let test = "a_frozen_counter_is_found_by_who_asks";
    watch_clock(test, "freeze:after=300ms;vdso=no", 0.5, |seen| {
        assert_eq!(seen.regressions, 0, "{seen:?}");
        assert!(clockscope::error_bound().is_some());
        // Where the line had ended before, nothing is served by the counter.
        assert!(!is_used() || clockscope::generation() > 1 || clockscope::source() == Source::OsClock);
        let reference = watch::reference();
        let before = reference.now_ns().unwrap();
        let now = clockscope::now().as_ns();
        assert!(before <= now && now <= reference.now_ns().unwrap());
    });
}

/// CPUs that are apart by more than a line is long: the first reading on the other CPU shows it.
/// Where the vDSO is reached, CLOCK_MONOTONIC goes back between them as well, and still no reading
/// of ours does.
#[test]
#[ignore = "the rig makes a reading of the counter slow: needs a quiet machine"]
#[serial]
fn cpus_that_are_far_apart_lose_the_counter() {
    let Some((_, cpu)) = two_cpus() else { return };
    for ticks in [APART, -APART] {
        for faults in on_each_path(&format!("offset:cpu={cpu},ticks={ticks}")) {
            loses_the_counter("cpus_that_are_far_apart_lose_the_counter", &faults, false);
        }
    }
}

/// As when a snapshot is restored and each virtual CPU gets a counter of its own.
#[test]
#[serial]
fn a_host_that_restores_its_cpus_unequally_loses_the_counter() {
    let test = "a_host_that_restores_its_cpus_unequally_loses_the_counter";
    let Some((one, other)) = two_cpus() else { return };
    let fault = format!(
        "host:after={{}},ticks=-10000000000,ppm=50,cpu={one};host:after={{}},ticks=-9000000000,ppm=-50,cpu={other}"
    );
    let fault = again_and_again(&fault, 8);
    loses_the_counter(test, &format!("{fault};vdso=no"), false);
    // The vDSO stands still while its counter is behind what the kernel saw last: it contradicts
    // nobody then.
    watch_clock(test, &fault, 0.8, |seen| assert_eq!(seen.regressions, 0, "{seen:?}"));
}

/// Apart by less than a line is long, which no reading shows by itself: until a bracket on the
/// other CPU does, readings on two CPUs may be out of order (docs/concepts/library/monotonic.md).
#[test]
#[serial]
fn cpus_that_drift_apart_lose_the_counter() {
    let Some((_, cpu)) = two_cpus() else { return };
    for fault in [format!("drift:cpu={cpu},ppm=2000"), format!("offset:cpu={cpu},ticks=-3000000")] {
        loses_the_counter("cpus_that_drift_apart_lose_the_counter", &format!("{fault};vdso=no"), true);
    }
}

/// The counter's frequency on this CPU.
fn hz(cpu: u32) -> f64 {
    on_cpu(cpu, || clockscope::calibrate_blocking(Duration::from_millis(50)).unwrap().frequency().hz)
}

/// The rig itself: the counter does what the rig was set to, and on that CPU alone. (That threads
/// and children are reached is seen in `tests/process/`.)
#[test]
#[serial]
fn the_rig_applies_its_settings() {
    let test = "the_rig_applies_its_settings";
    under(test, "reset:after=0;vdso=no", || assert!(ticks::now() < 1 << 40));
    under(test, "freeze:after=0;vdso=no", || assert_eq!(ticks::now(), ticks::now()));
    let Some((true_cpu, cpu)) = two_cpus() else { return };
    for (fault, fewest, most) in [
        ("drift:ppm=100000", 1.09, 1.11),
        ("rate:after=0,ppm=-100000", 0.89, 0.91),
        ("host:after=0,ppm=1000,ticks=-1000000000000", 1.0009, 1.0011),
        ("hide:every=10ms,ticks=10000000", 0.1, 0.9),
        ("offset:ticks=1000000000000", 0.9999, 1.0001),
    ] {
        let faults = format!("{fault},cpu={cpu};vdso=no");
        match is_started(test, &faults) {
            Some(true) => {
                let share = hz(cpu) / hz(true_cpu);
                assert!((fewest..most).contains(&share), "{faults}: {share}");
            }
            Some(false) => demand(|_| {
                let (output, granted) = start(test, &faults);
                let faults = &faults;
                (granted, move || assert_success(faults, &output))
            }),
            None => {}
        }
    }
}

#[test]
#[serial]
fn the_rig_refuses_what_it_does_not_understand() {
    for mistake in [
        "nonsense",
        "offset",
        "offset:ticks=many",
        "offset:ticks=1,color=2",
        "offset:ticks",
        "drift:ppm=1,ticks=2",
        "drift:ppm=-1000000",
        "jump:after=1h,ticks=3",
        "hide:every=1us,ticks=1000000",
        "offset:cpu=-1,ticks=1",
        "vdso=maybe",
    ] {
        let (output, _) = start("nothing", mistake);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(99) && said.contains("CLOCKSCOPE_TRAP"), "{mistake}: {output:?}");
    }
}
