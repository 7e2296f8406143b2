//! Children, by all ways to make one, whatever the parent's threads are at.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clockscope::Source;
use clockscope::WallState;
use clockscope_testing::skip;

use super::{assert_right, deny, forked, in_a_process, is_usable, monotonic_by_syscall, read, settle};

#[test]
fn a_forked_child_starts_afresh() {
    let status = in_a_process(here!(a_forked_child_starts_afresh), &[], || {
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

/// The kernel's statement is carried on without a question, and not in a child.
#[test]
fn a_forked_child_asks_the_kernel_for_its_bound_again() {
    let status = in_a_process(here!(a_forked_child_asks_the_kernel_for_its_bound_again), &[], || {
        clockscope::prepare();
        let denied = || {
            deny(&[libc::SYS_adjtimex]);
            clockscope::bounded::now().state
        };
        let before = clockscope::bounded::now().state;
        if before == WallState::Unavailable || denied() == WallState::Unavailable {
            skip("nothing is stated, or nothing carries it on");
            return;
        }
        assert!(forked(|| assert_eq!(clockscope::bounded::now().state, WallState::Unavailable)));
        assert_eq!(clockscope::bounded::now().state, before, "the parent's is kept");
    });
    assert!(status.success(), "{status}");
}

/// The flags of a mapping in /proc/self/smaps name what madvise asked for (proc(5): `wf`, wipe on
/// fork).
fn is_anything_wiped_on_fork() -> bool {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    maps.lines().filter_map(|line| line.strip_prefix("VmFlags:")).any(|flags| flags.split(' ').any(|flag| flag == "wf"))
}

/// Returns true if the kernel does so with a page of the process's own.
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

/// The kernel wipes memory of the process's own alone: a clock that is in memory of a file is
/// inherited by children that the C library does not make.
#[test]
fn the_kernel_wipes_the_clock_in_any_child() {
    let status = in_a_process(here!(the_kernel_wipes_the_clock_in_any_child), &[], || {
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

/// Whatever the other threads were at when the process was forked, the child's clock works.
#[test]
fn a_fork_beside_busy_threads() {
    let status = in_a_process(here!(a_fork_beside_busy_threads), &[], || {
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

/// A way to make a child. What runs in it may neither allocate nor take a lock of the C library:
/// another thread may have held that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// fork(3), of the C library.
    Fork,
    /// _Fork(3), which calls no handlers.
    BareFork,
    /// clone(2) without the C library.
    RawClone,
    /// As vfork(2) and posix_spawn(3) do: in the parent's memory, while the parent waits.
    Vfork,
    /// In the parent's memory, while the parent goes on.
    SharedMemory,
}

impl Way {
    const ALL: [Self; 5] = [Self::Fork, Self::BareFork, Self::RawClone, Self::Vfork, Self::SharedMemory];

    fn shares_memory(self) -> bool {
        matches!(self, Self::Vfork | Self::SharedMemory)
    }

    /// Makes a child that runs `body` and ends with what that says. Its process id; `None` where
    /// there is no such way.
    fn start(self, stack: &mut Stack, body: extern "C" fn(*mut libc::c_void) -> libc::c_int) -> Option<libc::pid_t> {
        let flags = match self {
            Self::Vfork => libc::CLONE_VM | libc::CLONE_VFORK,
            Self::SharedMemory => libc::CLONE_VM,
            Self::Fork | Self::BareFork | Self::RawClone => 0,
        };
        // SAFETY: the child runs `body`, which touches nothing but clocks, and ends; one that
        // shares memory does so on a stack of its own, which the caller keeps until the child has
        // ended. `_Fork` has the signature of fork.
        let child = unsafe {
            match self {
                Self::Fork => libc::fork(),
                Self::BareFork => {
                    let fork = libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr());
                    if fork.is_null() {
                        return None;
                    }
                    std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> libc::pid_t>(fork)()
                }
                Self::RawClone => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t,
                Self::Vfork | Self::SharedMemory => {
                    libc::clone(body, stack.end(), flags | libc::SIGCHLD, std::ptr::null_mut())
                }
            }
        };
        if child == 0 {
            let outcome = body(std::ptr::null_mut());
            // SAFETY: ends the child.
            unsafe { libc::_exit(outcome) };
        }
        assert!(child > 0, "{self:?}: {}", std::io::Error::last_os_error());
        Some(child)
    }
}

/// A stack for a child that shares memory.
struct Stack(Vec<u8>);

impl Stack {
    fn new() -> Self {
        Self(vec![0; 1 << 18])
    }

    fn end(&mut self) -> *mut libc::c_void {
        // SAFETY: one past the end, rounded down to what a stack is aligned to.
        unsafe { self.0.as_mut_ptr().add(self.0.len()).map_addr(|address| address & !63).cast() }
    }
}

/// Status with which a child ended.
fn wait_for(child: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: the kernel writes the status of our child.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) }, child);
    status
}

/// Findings of a child: its exit status.
const FINE: libc::c_int = 0;
const WRONG_TIME: libc::c_int = 1;
const WENT_BACK: libc::c_int = 2;
const PARENTS_LINE: libc::c_int = 3;
const NO_COUNTER: libc::c_int = 4;

/// True if the parent has used the counter: then a child does, soon.
static IS_USED: AtomicBool = AtomicBool::new(false);
/// The parent's generation and its last reading.
static GENERATION: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);

/// Returns true if a reading is right, to what it and two system calls take.
fn is_right() -> bool {
    let before = monotonic_by_syscall();
    let now = clockscope::now().as_ns();
    (before.saturating_sub(1_000)..=monotonic_by_syscall() + 1_000).contains(&now)
}

/// In the parent's memory: the clock is the parent's.
extern "C" fn in_shared_memory(_: *mut libc::c_void) -> libc::c_int {
    if is_right() { FINE } else { WRONG_TIME }
}

/// In memory of its own: right at once, by nothing that the parent knew, and with the counter soon.
extern "C" fn in_memory_of_its_own(_: *mut libc::c_void) -> libc::c_int {
    let first = clockscope::now().as_ns();
    let (source, generation) = (clockscope::source(), clockscope::generation());
    if first < LAST.load(Ordering::Relaxed) {
        return WENT_BACK;
    }
    if source == Source::Counter || generation <= GENERATION.load(Ordering::Relaxed) {
        return PARENTS_LINE;
    }
    if !is_right() {
        return WRONG_TIME;
    }
    // Some thousand times as often as a quiet machine needs.
    for _ in 0..20_000_000 {
        black_box(clockscope::now());
        if !IS_USED.load(Ordering::Relaxed) || clockscope::source() == Source::Counter {
            return FINE;
        }
    }
    NO_COUNTER
}

/// 150 children of each kind, while threads of the parent hold the lock now and then.
/// `CLOCKSCOPE_CHILDREN` sets another number.
#[test]
fn every_child_has_a_clock_at_once() {
    let status = in_a_process(here!(every_child_has_a_clock_at_once), &[], || {
        if !can_wipe_on_fork() {
            return skip("the kernel does not know MADV_WIPEONFORK");
        }
        settle();
        IS_USED.store(is_usable(), Ordering::Relaxed);
        let children: u64 = std::env::var("CLOCKSCOPE_CHILDREN").map_or(150, |text| text.parse().unwrap());
        for _ in 0..2 {
            std::thread::spawn(|| {
                loop {
                    read(100);
                    black_box(clockscope::frequency());
                }
            });
        }
        let mut stack = Stack::new();
        for way in Way::ALL {
            let body = if way.shares_memory() { in_shared_memory } else { in_memory_of_its_own };
            let (mut made, mut wrong) = (0, 0);
            for _ in 0..children {
                GENERATION.store(clockscope::generation(), Ordering::Relaxed);
                LAST.store(clockscope::now().as_ns(), Ordering::Relaxed);
                let Some(child) = way.start(&mut stack, body) else { break };
                let status = wait_for(child);
                made += 1;
                if status != 0 {
                    wrong += 1;
                    println!("{way:?}: a child ended with {status:#x}");
                }
            }
            // `cargo xtask bench` reads these.
            println!("\nfigure made_by_{way:?} {made}\nfigure wrong_by_{way:?} {wrong}");
            assert_eq!(wrong, 0, "{way:?}");
            assert!(made == children || way == Way::BareFork);
        }
    });
    assert!(status.success(), "{status}");
}

/// In the parent's memory, until it is killed: most of the time it holds the lock.
extern "C" fn until_killed(_: *mut libc::c_void) -> libc::c_int {
    loop {
        black_box(clockscope::frequency());
    }
}

/// A child that shares memory and is killed with the lock in its hand takes nothing from the parent
/// but time: the lock is taken over, or after a few times the OS clock is served.
#[test]
fn a_killed_child_does_not_harm_the_parents_clock() {
    let status = in_a_process(here!(a_killed_child_does_not_harm_the_parents_clock), &[], || {
        settle();
        let generation = clockscope::generation();
        let mut stack = Stack::new();
        for turn in 0..100u32 {
            let child = Way::SharedMemory.start(&mut stack, until_killed).unwrap();
            std::thread::sleep(std::time::Duration::from_micros(u64::from(500 + turn % 7 * 100)));
            // SAFETY: our child, which was not waited for.
            assert_eq!(unsafe { libc::kill(child, libc::SIGKILL) }, 0);
            wait_for(child);
            read(1_000);
            assert_right();
        }
        // Time enough to see that the last of them does not come back.
        let start = monotonic_by_syscall();
        while monotonic_by_syscall() - start < 300_000_000 {
            read(1_000);
        }
        assert_right();
        // With the counter, unless too many were killed inside.
        settle();
        println!("generation {generation} to {}", clockscope::generation());
        let evidence = clockscope::evidence();
        let outcome = evidence.iter().find(|evidence| evidence.name == "outcome");
        assert!(outcome.is_none_or(|outcome| outcome.seen.contains("never finished")), "{evidence:?}");
    });
    assert!(status.success(), "{status}");
}

/// posix_spawn(3), by which std starts a program: nothing of the parent's clock is left in it.
#[test]
fn a_spawned_program_has_a_clock_at_once() {
    read(100_000);
    let status = in_a_process(here!(a_spawned_program_has_a_clock_at_once), &[], || {
        assert_right();
        settle();
        assert_right();
    });
    assert!(status.success(), "{status}");
}
