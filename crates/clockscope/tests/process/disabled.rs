//! The counter is disabled for the process (prctl PR_SET_TSC), before the first reading or after
//! it.

use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;

use clockscope::{Finding, Source};
use clockscope_testing::{TRAP_FAULTS, rig};

use super::{assert_right, disable_counter, forked, in_a_process, monotonic_by_syscall, read, settle};

fn refuses_the_counter() -> bool {
    clockscope::evidence().iter().any(|evidence| evidence.name == "permission" && evidence.finding == Finding::Against)
}

#[test]
fn a_counter_disabled_before_the_first_reading() {
    let status = in_a_process(here!(a_counter_disabled_before_the_first_reading), &[], || {
        disable_counter();
        read(1000);
        assert_right();
        assert_eq!(clockscope::source(), Source::OsClock);
        assert!(refuses_the_counter());
        assert!(clockscope::is_high_resolution());
        assert!(clockscope::error_bound().is_some() && clockscope::frequency().is_none());
        assert!(clockscope::calibrate_blocking(std::time::Duration::from_millis(1)).is_err());
        assert!(!clockscope::revalidate().passed);
    });
    assert!(status.success(), "{status}");
}

/// Whichever clock is read first, and whatever comes after it: no reading of the vDSO, which would
/// be fatal.
#[test]
fn a_first_reading_of_any_clock_survives_a_disabled_counter() {
    let firsts: [fn(); 6] = [
        || _ = black_box(clockscope::now_unordered()),
        || _ = black_box(clockscope::try_now()),
        || _ = black_box(clockscope::wall::now()),
        || _ = black_box(clockscope::boot::now()),
        || _ = black_box(clockscope::bounded::now()),
        || _ = black_box(clockscope::stamps::os().now()),
    ];
    for first in 0..firsts.len() {
        let in_child = || {
            let first: usize = std::env::var("CLOCKSCOPE_FIRST").unwrap().parse().unwrap();
            disable_counter();
            firsts[first]();
            firsts.iter().for_each(|read| (0..3).for_each(|_| read()));
            let fork = forked(|| firsts.iter().for_each(|read| read()));
            assert!(fork, "a child of it");
        };
        let name = here!(a_first_reading_of_any_clock_survives_a_disabled_counter);
        let status = in_a_process(name, &["env", &format!("CLOCKSCOPE_FIRST={first}")], in_child);
        assert!(status.success(), "{status}: number {first}");
    }
}

#[test]
fn a_counter_disabled_under_way_is_survived_with_the_handler() {
    let status = in_a_process(here!(a_counter_disabled_under_way_is_survived_with_the_handler), &[], || {
        clockscope::survive_disabled_counter().unwrap();
        settle();
        let last = read(1000);
        disable_counter();
        let disabled = monotonic_by_syscall();
        assert!(read(1000) >= last);
        // The line may have been read to its end by others, so that the time stands still until the
        // OS clock is there.
        while monotonic_by_syscall() - disabled < 3_000_000 {
            read(10);
        }
        assert_right();
        assert_eq!(clockscope::source(), Source::OsClock);
        assert!(refuses_the_counter());
    });
    assert!(status.success(), "{status}");
}

/// A fault that has nothing to do with the counter is what it was before.
#[test]
fn the_handler_leaves_other_faults_alone() {
    let status = in_a_process(here!(the_handler_leaves_other_faults_alone), &[], || {
        clockscope::survive_disabled_counter().unwrap();
        let nowhere: *const u8 = black_box(std::ptr::without_provenance(8));
        // SAFETY: none; the read is a fault, which is what is asked for.
        black_box(unsafe { nowhere.read_volatile() });
    });
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
}

/// As documented: without the handler every clock of the vDSO is as fatal.
#[test]
fn a_counter_disabled_under_way_is_fatal_without() {
    let status = in_a_process(here!(a_counter_disabled_under_way_is_fatal_without), &[], || {
        settle();
        disable_counter();
        read(1);
    });
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
}

/// The rig of `tests/process/trap.rs` reaches threads and forked children, and their threads.
#[test]
fn a_trapped_counter_is_that_of_all_threads_and_children() {
    let preload = format!("LD_PRELOAD={}", rig("trap").display());
    let faults = format!("{TRAP_FAULTS}=offset:ticks=4611686018427387904");
    let through = ["env", preload.as_str(), faults.as_str()];
    let status = in_a_process(here!(a_trapped_counter_is_that_of_all_threads_and_children), &through, || {
        let is_trapped = || clockscope::ticks::now() >= 1 << 62;
        assert!(is_trapped());
        assert!(std::thread::spawn(is_trapped).join().unwrap());
        assert!(forked(|| assert!(is_trapped() && std::thread::spawn(is_trapped).join().unwrap())));
    });
    assert!(status.success(), "{status}");
}
