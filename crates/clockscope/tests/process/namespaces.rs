//! Another time namespace, whose CLOCK_MONOTONIC is another one.

use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

use clockscope_testing::skip;

use super::{assert_right, forked, in_a_process, monotonic_by_syscall, read, settle};

#[test]
fn a_time_namespace() {
    let through = ["unshare", "--time", "--monotonic", "86400", "--boottime", "86400"];
    if !Command::new(through[0]).args(&through[1..]).arg("true").status().is_ok_and(|status| status.success()) {
        return skip("unshare --time needs root and Linux 5.6");
    }
    let outside = monotonic_by_syscall();
    let status = in_a_process(here!(a_time_namespace), &through, || {
        assert_right();
        settle();
        read(1000);
        assert_right();
    });
    assert!(status.success(), "{status}");
    assert!(monotonic_by_syscall() - outside < 80_000_000_000_000, "the namespace is the child's alone");
}

/// Has children, and whoever joins it, see a CLOCK_MONOTONIC that is half as far as ours. `false`
/// where that is not possible. For a process of one thread.
fn make_an_earlier_namespace() -> Option<u64> {
    let back_s = monotonic_by_syscall() / 2_000_000_000;
    // SAFETY: takes a number.
    let is_made = unsafe { libc::unshare(CLONE_NEWTIME) } == 0;
    let is_set = is_made && std::fs::write("/proc/self/timens_offsets", format!("monotonic -{back_s} 0\n")).is_ok();
    (is_set && back_s > 1).then_some(back_s * 1_000_000_000)
}

/// Of a child of one thread: there was no such namespace to be had.
const NO_NAMESPACE: i32 = 77;

/// clone(2): since Linux 5.6.
const CLONE_NEWTIME: libc::c_int = 0x80;

/// Runs `body` in a child of one thread; `false` if it had no namespace.
fn had_a_namespace(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child has one thread, as this process has, and ends in there.
    match unsafe { libc::fork() } {
        0 => {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: ends the child.
            unsafe { libc::_exit(outcome.map_or(1, |had| if had { 0 } else { NO_NAMESPACE })) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the kernel writes the status of our child.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert!(libc::WIFEXITED(status) && [0, NO_NAMESPACE].contains(&libc::WEXITSTATUS(status)), "{status:#x}");
            libc::WEXITSTATUS(status) == 0
        }
    }
}

/// The process moves into another time namespace while it reads: CLOCK_MONOTONIC steps back.
#[test]
fn a_process_that_joins_a_time_namespace_goes_on() {
    let status = in_a_process(here!(a_process_that_joins_a_time_namespace_goes_on), &[], || {
        let had = had_a_namespace(|| {
            settle();
            let Some(back_ns) = make_an_earlier_namespace() else { return false };
            let before = (clockscope::now(), monotonic_by_syscall());
            // SAFETY: opens a file and joins what it is.
            let is_joined = unsafe {
                let file = libc::open(c"/proc/self/ns/time_for_children".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
                libc::setns(file, CLONE_NEWTIME) == 0
            };
            if !is_joined {
                return false;
            }
            let passed_ns = || monotonic_by_syscall() + back_ns - before.1;
            assert!(passed_ns() < back_ns, "it did step back");
            // The longest time between two readings is the machine's, and not the clock's. The
            // first is that of joining, in which a busy machine takes the CPU away as well.
            let mut last = passed_ns();
            let mut longest_ns = last;
            while clockscope::timeline_offset().is_zero() {
                assert!(read(1) >= before.0);
                let now = passed_ns();
                longest_ns = longest_ns.max(now - last);
                last = now;
                assert!(now < 12_000_000 + 3 * longest_ns, "no end after {now} ns, of which {longest_ns} not run");
            }
            settle();
            read(1000);
            let (ours, offset) = (clockscope::now() - before.0, clockscope::timeline_offset());
            let stuck = Duration::from_nanos(passed_ns()).saturating_sub(ours);
            assert!(stuck.as_millis() < 13 + u128::from(2 * longest_ns) / 1_000_000, "stuck for {stuck:?}");
            // What is served is the namespace's clock and the offset.
            let here = monotonic_by_syscall();
            let now = (clockscope::now().as_ns() - offset.as_nanos() as u64, monotonic_by_syscall());
            assert!((here - 1_000..=now.1 + 1_000).contains(&now.0), "{here} {now:?} {offset:?}");
            // A timespec is the namespace's, too.
            let (seconds, _) = clockscope::now().as_timespec();
            assert!(monotonic_by_syscall() / 1_000_000_000 - seconds as u64 <= 1);
            true
        });
        if !had {
            skip("joining a time namespace needs root and Linux 5.6");
        }
    });
    assert!(status.success(), "{status}");
}

/// A child in another time namespace starts on that one's clock, however often its parent has read
/// its own.
#[test]
fn a_child_in_a_time_namespace_starts_on_its_own_clock() {
    let status = in_a_process(here!(a_child_in_a_time_namespace_starts_on_its_own_clock), &[], || {
        // Each in a process whose first reading is its first: this one never reads.
        let had = [0, 1, 2, 3, u32::MAX].map(|readings| {
            had_a_namespace(|| {
                match readings {
                    u32::MAX => settle(),
                    readings => (0..readings).for_each(|_| _ = black_box(clockscope::now())),
                }
                let before = monotonic_by_syscall();
                make_an_earlier_namespace().is_some_and(|_| {
                    assert!(forked(|| {
                        assert!(clockscope::now().as_ns() < before, "nothing of the parent's time is left");
                        assert_right();
                        settle();
                        assert_right();
                        assert!(clockscope::timeline_offset().is_zero());
                    }));
                    true
                })
            })
        });
        if had.contains(&false) {
            skip("a time namespace needs root and Linux 5.6");
        }
    });
    assert!(status.success(), "{status}");
}
