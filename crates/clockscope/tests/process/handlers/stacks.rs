//! The stack of a former handler, the system calls that it interrupts, and handlers over ours.

use std::hint::black_box;
use std::os::fd::{AsRawFd, FromRawFd};

use super::*;

/// Has this thread's handlers with SA_ONSTACK run in memory of ours, and returns where that is.
fn alternate_stack() -> std::ops::Range<usize> {
    let memory = Box::leak(vec![0_u8; 1 << 18].into_boxed_slice());
    let range = memory.as_ptr_range();
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
    // SAFETY: the memory is never freed, and nobody else uses it.
    assert_eq!(unsafe { libc::sigaltstack(&raw const stack, null_mut()) }, 0);
    range.start.addr()..range.end.addr()
}

#[test]
fn a_former_handler_runs_on_its_stack() {
    let status = in_a_process(here!(a_former_handler_runs_on_its_stack), &[], || {
        for (is_alternate, flag) in [(true, libc::SA_ONSTACK), (false, 0)] {
            let status = ended(|| {
                let stack = alternate_stack();
                set(informed as *const () as usize, libc::SA_SIGINFO | flag);
                clockscope::survive_disabled_counter().unwrap();
                for _ in 0..2 {
                    Sent::Raise.send(0);
                    assert_eq!(stack.contains(&FRAME.load(Ordering::Relaxed)), is_alternate);
                    Fault::NonCanonical.raise(Fault::NonCanonical.address());
                    assert_eq!(stack.contains(&FRAME.load(Ordering::Relaxed)), is_alternate);
                    assert_survives();
                }
                assert_eq!(CALLS.load(Ordering::Relaxed), 4);
            });
            assert!(status.success(), "{flag:#x}: {status}");
        }
    });
    assert!(status.success(), "{status}");
}

/// A recursion that the compiler cannot make a loop.
fn recurse(depth: usize) -> usize {
    let frame = black_box([depth; 64]);
    if depth == usize::MAX { 0 } else { recurse(depth + 1) + frame[depth % 64] }
}

/// Status with which the process ended, and what it wrote to its standard error.
fn overflow_a_stack(before: fn()) -> (ExitStatus, String) {
    // SAFETY: a new file descriptor, ours alone.
    let mut file = unsafe {
        let descriptor = libc::memfd_create(c"stderr".as_ptr(), 0);
        assert!(descriptor >= 0);
        std::fs::File::from_raw_fd(descriptor)
    };
    let status = ended(|| {
        // SAFETY: takes two descriptors.
        assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), 2) }, 2);
        before();
        std::thread::spawn(|| black_box(recurse(0))).join().unwrap();
    });
    let mut text = String::new();
    std::io::Seek::rewind(&mut file).unwrap();
    std::io::Read::read_to_string(&mut file, &mut text).unwrap();
    (status, text)
}

/// Rust's std handles SIGSEGV to report it, and is a former handler in every Rust program.
#[test]
fn a_stack_overflow_is_reported_as_without_us() {
    let status = in_a_process(here!(a_stack_overflow_is_reported_as_without_us), &[], || {
        let (without, text_without) = overflow_a_stack(|| ());
        let (with, text) = overflow_a_stack(|| {
            clockscope::survive_disabled_counter().unwrap();
            assert_survives();
        });
        assert_eq!((with, with.signal()), (without, Some(libc::SIGABRT)), "{text_without}\n{text}");
        assert!(text.contains("has overflowed its stack"), "{text}");
    });
    assert!(status.success(), "{status}");
}

static OURS: AtomicUsize = AtomicUsize::new(0);
static PASSED: AtomicI32 = AtomicI32::new(0);
static CHANGED_MASKS: AtomicI32 = AtomicI32::new(0);

/// Passes on to ours.
pub(super) extern "C" fn chaining(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    PASSED.fetch_add(1, Ordering::Relaxed);
    let ours: usize = OURS.load(Ordering::Relaxed);
    let before = blocked();
    // SAFETY: ours was there before this one, and takes all three.
    unsafe {
        let ours = std::mem::transmute::<usize, extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)>(ours);
        ours(signal, info, context);
    }
    if blocked() != before {
        CHANGED_MASKS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Installs a handler over the current one, to which it passes on. SIGSEGV is not blocked in it.
pub(super) fn chain() {
    let ours = set(chaining as *const () as usize, libc::SA_SIGINFO | libc::SA_NODEFER);
    OURS.store(ours.sa_sigaction, Ordering::Relaxed);
}

#[test]
fn a_handler_over_ours_passes_on_to_it() {
    let status = in_a_process(here!(a_handler_over_ours_passes_on_to_it), &[], || {
        let status = ended(|| {
            Former::Informed.set();
            clockscope::survive_disabled_counter().unwrap();
            chain();
            // Ours does not go on top of one that passes on to it: they would pass on forever.
            clockscope::survive_disabled_counter().unwrap();
            assert_eq!(current().sa_sigaction, chaining as *const () as usize);
            for time in 1..=2 {
                Sent::Sigqueue.send(time);
                assert_eq!(CALLS.load(Ordering::Relaxed), 2 * time as i32 - 1);
                assert_eq!((CODE.load(Ordering::Relaxed), VALUE.load(Ordering::Relaxed)), (libc::SI_QUEUE, time));
                Fault::NonCanonical.raise(Fault::NonCanonical.address());
                assert_eq!(CALLS.load(Ordering::Relaxed), 2 * time as i32);
                let passed = PASSED.load(Ordering::Relaxed);
                assert_survives();
                assert!(PASSED.load(Ordering::Relaxed) >= passed + 2);
            }
            assert_eq!(blocked() & (bit(libc::SIGSEGV) | bit(libc::SIGUSR1)), 0);
            assert_eq!(CHANGED_MASKS.load(Ordering::Relaxed), 0);
        });
        assert!(status.success(), "{status}");
        for former in [Former::Default, Former::Ignored, Former::Once] {
            for sent in SENT {
                let status = ended(|| {
                    former.set();
                    clockscope::survive_disabled_counter().unwrap();
                    chain();
                    sent.send(1);
                    assert_ne!(former, Former::Default);
                    assert_survives();
                    sent.send(1);
                    assert_ne!(former, Former::Once);
                    assert_survives();
                });
                let is_right = if former == Former::Ignored { status.success() } else { died(status) };
                assert!(is_right, "{former:?}, {sent:?}: {status}");
            }
        }
    });
    assert!(status.success(), "{status}");
}

/// As documented: a handler over ours that does not pass on gets the counter's faults.
#[test]
fn a_handler_over_ours_that_does_not_pass_on_replaces_it() {
    let status = in_a_process(here!(a_handler_over_ours_that_does_not_pass_on_replaces_it), &[], || {
        let status = ended(|| {
            clockscope::survive_disabled_counter().unwrap();
            Former::Simple.set();
            clockscope::survive_disabled_counter().unwrap();
            PATIENCE.store(1, Ordering::Relaxed);
            assert_survives();
        });
        assert_eq!(status.code(), Some(HANDLED), "{status}");
    });
    assert!(status.success(), "{status}");
}

/// Returns whether the thread sleeps in the kernel or has ended.
pub(super) fn is_asleep(thread: libc::pid_t) -> bool {
    let state = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat"));
    // The name before the state may hold anything, also a parenthesis.
    state.map_or(true, |stat| stat.rsplit_once(')').is_none_or(|(_, fields)| fields.starts_with(" S")))
}

/// A former handler with SA_RESTART, and an ignored signal, do not interrupt read(2).
#[test]
fn a_sent_signal_interrupts_what_it_did_before() {
    let status = in_a_process(here!(a_sent_signal_interrupts_what_it_did_before), &[], || {
        let actions = [
            (informed as *const () as usize, libc::SA_SIGINFO | libc::SA_RESTART, true),
            (informed as *const () as usize, libc::SA_SIGINFO, false),
            (libc::SIG_IGN, 0, true),
        ];
        for (handler, flags, is_restarted) in actions {
            let status = ended(|| {
                set(handler, flags);
                clockscope::survive_disabled_counter().unwrap();
                let mut ends = [0; 2];
                // SAFETY: writes two descriptors.
                assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
                let (sender, receiver) = std::sync::mpsc::channel();
                let reader = std::thread::spawn(move || {
                    let mut byte = 0_u8;
                    // SAFETY: reads one byte into one.
                    unsafe {
                        sender.send((libc::syscall(libc::SYS_gettid) as libc::pid_t, libc::pthread_self())).unwrap();
                        libc::read(ends[0], (&raw mut byte).cast(), 1)
                    }
                });
                let (id, thread) = receiver.recv().unwrap();
                let settled = || {
                    while !is_asleep(id) && !reader.is_finished() {
                        std::thread::yield_now();
                    }
                };
                settled();
                // SAFETY: the thread is joined below; writes one byte.
                unsafe {
                    assert_eq!(libc::pthread_kill(thread, libc::SIGSEGV), 0);
                    settled();
                    assert_eq!(libc::write(ends[1], [1_u8].as_ptr().cast(), 1), 1);
                }
                assert_eq!(reader.join().unwrap(), if is_restarted { 1 } else { -1 });
            });
            assert!(status.success(), "{handler:#x}, {flags:#x}: {status}");
        }
    });
    assert!(status.success(), "{status}");
}
