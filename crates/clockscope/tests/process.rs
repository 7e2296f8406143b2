//! The clock of the process in processes to which something is done: the counter disabled, calls denied, a fork, another
//! time namespace, many threads at once. Each in a process of its own, whose first reading is its first.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(unsafe_code, reason = "prctl, fork and a counting allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use clockscope::{Finding, Instant, Source};
use clockscope_testing::{TRAP_FAULTS, rig, skip, thread_time};

/// Counts what the thread allocates.
struct Counting;

thread_local!(static ALLOCATIONS: Cell<u64> = const { Cell::new(0) });

// SAFETY: hands everything on to the system's allocator; the counter is no heap memory and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Set in the process that a test starts of itself.
const CHILD: &str = "CLOCKSCOPE_TEST_CHILD";

/// Runs `body` in a process of its own, started by `through` if that is not empty, and tells how it ended. That process
/// ends within `body`: the test harness would read clocks that may not be read any more.
fn in_a_process(test: &str, through: &[&str], body: impl FnOnce()) -> ExitStatus {
    if std::env::var(CHILD).is_ok_and(|name| name == test) {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        // SAFETY: ends the process; nothing has to be put in order.
        unsafe { libc::_exit(i32::from(outcome.is_err())) }
    }
    let program = std::env::current_exe().unwrap();
    let mut words: Vec<&std::ffi::OsStr> = through.iter().map(std::ffi::OsStr::new).collect();
    words.push(program.as_os_str());
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, test);
    command.status().unwrap()
}

/// From here on reading the counter is a fatal signal for this thread and those that it starts.
fn disable_counter() {
    // SAFETY: takes a number.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) }, 0);
}

/// From here on the kernel answers these calls with EPERM. The vDSO's are none of its business.
fn deny(calls: &[libc::c_long]) {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)];
    for call in calls {
        let mut compare = statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32);
        compare.jf = 1;
        filter.push(compare);
        filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter outlive the calls, which read them.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
    }
}

/// CLOCK_MONOTONIC by the system call, in ns.
fn monotonic_by_syscall() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the timespec.
    assert_eq!(unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut now) }, 0);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// So many readings, none smaller than the one before.
fn read(readings: u32) -> Instant {
    let mut last = clockscope::now();
    for _ in 0..readings {
        let now = clockscope::now();
        assert!(now >= last, "{now:?} came after {last:?}");
        last = now;
    }
    last
}

/// Reads until the counter is in use, unless the machine has none that is.
fn settle() {
    let usable = clockscope::evidence().iter().all(|evidence| evidence.name != "outcome");
    // Of this thread's own time: other programs may take as much as they like.
    let start = thread_time();
    while usable && clockscope::source() != Source::Counter {
        read(100);
        let ran = thread_time() - start;
        assert!(ran.as_secs() < 5, "the counter is not used after {ran:?}: {:?}", clockscope::evidence());
    }
}

/// The time is that of the system call, to within what happens between two reads of it.
fn assert_right() {
    let before = monotonic_by_syscall();
    let now = clockscope::now().as_ns();
    let after = monotonic_by_syscall();
    assert!((before.saturating_sub(1_000)..=after + 1_000).contains(&now), "{before} {now} {after}");
}

fn refuses_the_counter() -> bool {
    clockscope::evidence().iter().any(|evidence| evidence.name == "permission" && evidence.finding == Finding::Against)
}

#[test]
fn nothing_is_allocated() {
    let status = in_a_process("nothing_is_allocated", &[], || {
        let before = ALLOCATIONS.get();
        read(1_000_000);
        black_box((
            clockscope::now_unordered(),
            clockscope::error_bound(),
            clockscope::source(),
            clockscope::frequency(),
        ));
        assert_eq!(ALLOCATIONS.get(), before);
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_counter_disabled_before_the_first_reading() {
    let status = in_a_process("a_counter_disabled_before_the_first_reading", &[], || {
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

#[test]
fn a_counter_disabled_under_way_is_survived_with_the_handler() {
    let status = in_a_process("a_counter_disabled_under_way_is_survived_with_the_handler", &[], || {
        clockscope::survive_disabled_counter().unwrap();
        settle();
        let last = read(1000);
        disable_counter();
        let disabled = monotonic_by_syscall();
        assert!(read(1000) >= last);
        // The line may have been read to its end by others, so that the time stands still until the OS clock is there.
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
    let status = in_a_process("the_handler_leaves_other_faults_alone", &[], || {
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
    let status = in_a_process("a_counter_disabled_under_way_is_fatal_without", &[], || {
        settle();
        disable_counter();
        read(1);
    });
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
}

/// What is then served is not a monotonic clock, and says so.
#[test]
fn a_filter_that_denies_the_clock() {
    let status = in_a_process("a_filter_that_denies_the_clock", &[], || {
        disable_counter();
        deny(&[libc::SYS_clock_gettime, libc::SYS_clock_getres]);
        read(1000);
        assert_eq!(clockscope::source(), Source::OsClock);
        assert!(!clockscope::is_high_resolution());
        let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the kernel writes the timeval.
        unsafe { libc::syscall(libc::SYS_gettimeofday, &raw mut now, 0) };
        assert!(clockscope::now().as_timespec().0.abs_diff(now.tv_sec) <= 1);
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_filter_that_denies_every_clock() {
    let status = in_a_process("a_filter_that_denies_every_clock", &[], || {
        disable_counter();
        deny(&[libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_gettimeofday, libc::SYS_time]);
        let first = clockscope::now();
        assert_eq!(read(1000), first, "the time stands still");
        assert_eq!(clockscope::source(), Source::Nothing);
        assert!(clockscope::error_bound().is_none() && clockscope::resolution().is_none());
        assert!(clockscope::utc_now().is_err());
    });
    assert!(status.success(), "{status}");
}

/// A filter that comes when the counter is in use: the vDSO needs no call, so nothing changes.
#[test]
fn a_filter_under_way() {
    let status = in_a_process("a_filter_under_way", &[], || {
        settle();
        let generation = clockscope::generation();
        deny(&[libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_gettimeofday, libc::SYS_prctl]);
        read(1_000_000);
        assert_eq!(clockscope::generation(), generation);
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_time_namespace() {
    let through = ["unshare", "--time", "--monotonic", "86400", "--boottime", "86400"];
    if !Command::new(through[0]).args(&through[1..]).arg("true").status().is_ok_and(|status| status.success()) {
        return skip("unshare --time needs root and Linux 5.6");
    }
    let outside = monotonic_by_syscall();
    let status = in_a_process("a_time_namespace", &through, || {
        assert_right();
        settle();
        read(1000);
        assert_right();
    });
    assert!(status.success(), "{status}");
    assert!(monotonic_by_syscall() - outside < 80_000_000_000_000, "the namespace is the child's alone");
}

/// Forks and runs `body` in the child; whether that went well.
fn forked(body: impl FnOnce()) -> bool {
    // SAFETY: the child does nothing but read clocks and end, which async-signal-safe calls do.
    match unsafe { libc::fork() } {
        0 => {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(outcome.is_err())) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the kernel writes the status of our child.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            status == 0
        }
    }
}

#[test]
fn a_forked_child_begins_anew() {
    let status = in_a_process("a_forked_child_begins_anew", &[], || {
        settle();
        let (before, generation, source) = (clockscope::now(), clockscope::generation(), clockscope::source());
        assert!(forked(|| {
            assert!(clockscope::now() >= before);
            assert_eq!(clockscope::source(), Source::OsClock, "the parent's line is not the child's");
            assert_eq!(clockscope::generation(), generation + 1);
            settle();
            assert_eq!(clockscope::source(), source);
            assert_right();
        }));
        assert_eq!(clockscope::generation(), generation, "the parent's goes on");
    });
    assert!(status.success(), "{status}");
}

/// The rig of `tests/trap.rs` reaches threads and forked children, and their threads.
/// Whatever the system refuses, errno is what it was: a reading may be taken in a signal handler.
#[test]
fn errno_is_left_alone() {
    const NONE: libc::c_int = 4242;
    let status = in_a_process("errno_is_left_alone", &[], || {
        // SAFETY: takes nothing, and answers with an address.
        let errno = || unsafe { libc::__errno_location() };
        // No file can be opened any more, sysfs' among them, and the kernel tells nothing of the counter.
        let nothing = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: reads the limit.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const nothing) }, 0);
        deny(&[libc::SYS_prctl, libc::SYS_madvise, libc::SYS_adjtimex, libc::SYS_sched_setaffinity]);
        let calls: [(&str, fn()); 12] = [
            ("now", || _ = black_box(clockscope::now())),
            ("now_unordered", || _ = black_box(clockscope::now_unordered())),
            ("source", || _ = black_box(clockscope::source())),
            ("evidence", || _ = black_box(clockscope::evidence())),
            ("error_bound", || _ = black_box(clockscope::error_bound())),
            ("frequency", || _ = black_box(clockscope::frequency())),
            ("resolution", || _ = black_box(clockscope::resolution())),
            ("conversion", || _ = black_box(clockscope::conversion())),
            ("is_high_resolution", || _ = black_box(clockscope::is_high_resolution())),
            ("utc_now", || _ = black_box(clockscope::utc_now())),
            ("tai_now", || _ = black_box(clockscope::tai_now())),
            ("revalidate", || _ = black_box(clockscope::revalidate())),
        ];
        for (name, call) in calls {
            // SAFETY: this thread's errno.
            unsafe { *errno() = NONE };
            call();
            // SAFETY: as above.
            assert_eq!(unsafe { *errno() }, NONE, "{name}");
        }
    });
    assert!(status.success(), "{status:?}");
}

/// The flags of a mapping in /proc/self/smaps name what madvise asked for (proc(5): `wf`, wipe on fork).
fn is_anything_wiped_on_fork() -> bool {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    maps.lines().filter_map(|line| line.strip_prefix("VmFlags:")).any(|flags| flags.split(' ').any(|flag| flag == "wf"))
}

/// Whether the kernel does so with a page of the process's own.
fn can_wipe_on_fork() -> bool {
    let length = 1 << 16;
    let (readable, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping of our own, which nobody else knows, is given back.
    unsafe {
        let page = libc::mmap(std::ptr::null_mut(), length, readable, private, -1, 0);
        let is_wiped = page != libc::MAP_FAILED && libc::madvise(page, length, libc::MADV_WIPEONFORK) == 0;
        libc::munmap(page, length);
        is_wiped
    }
}

/// The kernel wipes memory of the process's own alone: a clock that is in memory of a file is inherited by children that the C
/// library does not make.
#[test]
fn the_kernel_wipes_the_clock_in_any_child() {
    let status = in_a_process("the_kernel_wipes_the_clock_in_any_child", &[], || {
        if is_anything_wiped_on_fork() {
            skip("something else is wiped on fork already");
            return;
        }
        black_box(clockscope::now());
        black_box(clockscope::now());
        if !can_wipe_on_fork() {
            skip("the kernel does not know MADV_WIPEONFORK");
            return;
        }
        assert!(is_anything_wiped_on_fork());
    });
    assert!(status.success(), "{status:?}");
}

#[test]
fn a_trapped_counter_is_that_of_all_threads_and_children() {
    let preload = format!("LD_PRELOAD={}", rig("trap").display());
    let faults = format!("{TRAP_FAULTS}=offset:ticks=4611686018427387904");
    let through = ["env", preload.as_str(), faults.as_str()];
    let status = in_a_process("a_trapped_counter_is_that_of_all_threads_and_children", &through, || {
        let is_trapped = || clockscope::ticks::now() >= 1 << 62;
        assert!(is_trapped());
        assert!(std::thread::spawn(is_trapped).join().unwrap());
        assert!(forked(|| assert!(is_trapped() && std::thread::spawn(is_trapped).join().unwrap())));
    });
    assert!(status.success(), "{status}");
}

/// Whatever the other threads were at when the process was forked, the child's clock works.
#[test]
fn a_fork_beside_busy_threads() {
    let status = in_a_process("a_fork_beside_busy_threads", &[], || {
        for _ in 0..4 {
            std::thread::spawn(|| {
                loop {
                    read(1000);
                    black_box(clockscope::frequency());
                }
            });
        }
        for _ in 0..200 {
            let before = clockscope::now();
            assert!(forked(|| {
                assert!(read(100) >= before);
                settle();
            }));
        }
    });
    assert!(status.success(), "{status}");
}

#[test]
fn sixty_four_threads_race_for_the_first_reading() {
    let status = in_a_process("sixty_four_threads_race_for_the_first_reading", &[], || {
        let (barrier, known) = (Barrier::new(64), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..2000 {
                        let least = known.load(Ordering::Acquire);
                        let now = clockscope::now().as_ns();
                        assert!(now >= least, "{now} was read after {least}");
                        known.store(now, Ordering::Release);
                    }
                });
            }
        });
        assert_eq!(clockscope::generation(), 1);
        assert_right();
    });
    assert!(status.success(), "{status}");
}
