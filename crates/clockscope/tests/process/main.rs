//! The clock of the process in processes to which something is done: the counter disabled, calls
//! denied, a fork, another time namespace, many threads at once. Each in a process of its own,
//! whose first reading is its first.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(unsafe_code, reason = "prctl, fork and a counting allocator")]

/// The name of a test of this module, for [`in_a_process`].
macro_rules! here {
    ($test:ident) => {
        concat!(module_path!(), "::", stringify!($test))
    };
}

mod children;
mod confined;
#[path = "../shared/counters.rs"]
mod counters;
mod disabled;
mod hammer;
mod handlers;
mod machine;
mod namespaces;
mod page;
mod stamps;
mod threads;
mod trap;
mod upkeep;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::process::{Command, ExitStatus};

use clockscope::{Instant, Source};
use clockscope_testing::thread_time;

/// Counts what the thread allocates.
struct Counting;

thread_local!(static ALLOCATIONS: Cell<u64> = const { Cell::new(0) });

// SAFETY: hands everything on to the system's allocator; the counter is no heap memory and has no
// destructor.
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

/// Runs `body` in a process of its own, started by `through` if that is not empty, and returns how
/// it ended. That process ends within `body`: the test harness would read clocks that may not be
/// read any more.
fn in_a_process(test: &str, through: &[&str], body: impl FnOnce()) -> ExitStatus {
    // The harness leaves the crate's name out.
    let test = test.split_once("::").unwrap().1;
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
    install(calls, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, libc::SECCOMP_RET_ALLOW);
}

/// From here on the kernel answers these system calls with `these`, and all others with `others`.
fn install(calls: &[libc::c_long], these: u32, others: u32) {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)];
    for call in calls {
        let mut compare = statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32);
        compare.jf = 1;
        filter.push(compare);
        filter.push(statement(libc::BPF_RET | libc::BPF_K, these));
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, others));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter outlive the calls, which read them.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
    }
    // Freed where the process may not free any more.
    std::mem::forget(filter);
}

/// CLOCK_MONOTONIC by the system call, in ns.
fn monotonic_by_syscall() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the timespec.
    assert_eq!(unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut now) }, 0);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Takes `readings` readings, none smaller than the one before, and returns the last.
fn read(readings: u32) -> Instant {
    let mut last = clockscope::now();
    for _ in 0..readings {
        let now = clockscope::now();
        assert!(now >= last, "{now:?} came after {last:?}");
        last = now;
    }
    last
}

/// Returns true if nothing is said against the counter.
fn is_usable() -> bool {
    clockscope::evidence().iter().all(|evidence| evidence.name != "outcome")
}

/// Reads until the counter is in use, unless the machine has none that is.
fn settle() {
    // Of this thread's own time: other programs may take as much as they like.
    let start = thread_time();
    while is_usable() && clockscope::source() != Source::Counter {
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

#[test]
fn nothing_is_allocated() {
    let status = in_a_process(here!(nothing_is_allocated), &[], || {
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
