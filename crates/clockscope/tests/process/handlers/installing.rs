//! Events while the handler is being installed: other threads install theirs or ours, the
//! signal arrives, sigaction is refused. A sigaction of the test's own stands before the C
//! library's, so that each happens at its moment.

#![cfg(target_env = "gnu")]

use std::sync::atomic::AtomicPtr;

use super::stacks::{chain, chaining, is_asleep};
use super::*;

/// A moment of a call of sigaction that sets the action of SIGSEGV.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Before,
    After,
}

type Hook = fn(Moment, i32);

/// Called at both moments with the number of the call, counted from 1. Null: nothing is.
static HOOK: AtomicPtr<()> = AtomicPtr::new(null_mut());
static SETS: AtomicI32 = AtomicI32::new(0);

/// The calls below this number are refused.
static REFUSED: AtomicI32 = AtomicI32::new(0);

/// The hook's own calls pass.
static IS_IN_HOOK: AtomicBool = AtomicBool::new(false);

fn at_every_set(hook: Hook) {
    HOOK.store(hook as *mut (), Ordering::SeqCst);
}

/// The C library's, but for the moments.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    type Function = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    // SAFETY: the next symbol of this name is the C library's function; the arguments are the
    // caller's. `at_every_set` alone stores anything but null.
    unsafe {
        let next = std::mem::transmute::<*mut c_void, Function>(libc::dlsym(libc::RTLD_NEXT, c"sigaction".as_ptr()));
        let hook = HOOK.load(Ordering::SeqCst);
        if signal != libc::SIGSEGV || new.is_null() || hook.is_null() || IS_IN_HOOK.load(Ordering::SeqCst) {
            return next(signal, new, old);
        }
        let hook = std::mem::transmute::<*mut (), Hook>(hook);
        let call = |moment, number| {
            IS_IN_HOOK.store(true, Ordering::SeqCst);
            hook(moment, number);
            IS_IN_HOOK.store(false, Ordering::SeqCst);
        };
        let number = SETS.fetch_add(1, Ordering::SeqCst) + 1;
        call(Moment::Before, number);
        if number < REFUSED.load(Ordering::SeqCst) {
            *libc::__errno_location() = libc::EPERM;
            return -1;
        }
        let answer = next(signal, new, old);
        call(Moment::After, number);
        answer
    }
}

/// Another thread installs a handler after ours was chosen to replace an older one.
#[test]
fn a_handler_installed_at_the_last_moment_is_not_lost() {
    let status = in_a_process(here!(a_handler_installed_at_the_last_moment_is_not_lost), &[], || {
        let status = ended(|| {
            Former::Default.set();
            at_every_set(|moment, number| {
                if (moment, number) == (Moment::Before, 1) {
                    Former::Informed.set();
                }
            });
            clockscope::survive_disabled_counter().unwrap();
            for time in 1..=2 {
                Sent::Kill.send(0);
                assert_eq!(CALLS.load(Ordering::Relaxed), time);
                assert_survives();
            }
            // Its flags, and not the former one's.
            assert_eq!(current().sa_flags & (libc::SA_ONSTACK | libc::SA_RESTART), 0);
        });
        assert!(status.success(), "{status}");
    });
    assert!(status.success(), "{status}");
}

/// And a third one is installed over ours before the flags are right.
#[test]
fn a_handler_installed_over_ours_meanwhile_stays_there() {
    let status = in_a_process(here!(a_handler_installed_over_ours_meanwhile_stays_there), &[], || {
        let status = ended(|| {
            Former::Default.set();
            at_every_set(|moment, number| match (moment, number) {
                (Moment::Before, 1) => Former::Informed.set(),
                (Moment::Before, 2) => chain(),
                _ => {}
            });
            clockscope::survive_disabled_counter().unwrap();
            assert_eq!(current().sa_sigaction, chaining as *const () as usize);
            for time in 1..=2 {
                Sent::Kill.send(0);
                assert_eq!(CALLS.load(Ordering::Relaxed), time);
                assert_survives();
            }
        });
        assert!(status.success(), "{status}");
    });
    assert!(status.success(), "{status}");
}

#[test]
fn the_handler_works_before_its_installation_returns() {
    let status = in_a_process(here!(the_handler_works_before_its_installation_returns), &[], || {
        let status = ended(|| {
            Former::Informed.set();
            at_every_set(|moment, _| {
                if moment == Moment::After {
                    Sent::Kill.send(0);
                    assert_survives();
                }
            });
            clockscope::survive_disabled_counter().unwrap();
            assert_eq!(CALLS.load(Ordering::Relaxed), 1);
        });
        assert!(status.success(), "{status}");
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_refused_installation_can_be_tried_again() {
    let status = in_a_process(here!(a_refused_installation_can_be_tried_again), &[], || {
        let status = ended(|| {
            Former::Informed.set();
            REFUSED.store(3, Ordering::SeqCst);
            at_every_set(|_, _| ());
            for _ in 1..3 {
                assert_eq!(clockscope::survive_disabled_counter(), Err(clockscope::Errno::new(libc::EPERM)));
                assert_eq!(current().sa_sigaction, informed as *const () as usize);
            }
            clockscope::survive_disabled_counter().unwrap();
            Sent::Kill.send(0);
            assert_eq!(CALLS.load(Ordering::Relaxed), 1);
            assert_survives();
        });
        assert!(status.success(), "{status}");
    });
    assert!(status.success(), "{status}");
}

const THREADS: usize = 8;

/// The kernel's numbers of the threads that are about to install, and how many are back.
static INSTALLERS: [AtomicI32; THREADS] = [const { AtomicI32::new(0) }; THREADS];
static BACK: [AtomicBool; THREADS] = [const { AtomicBool::new(false) }; THREADS];

/// The first installer waits in sigaction until each of the others has returned or sleeps.
fn wait_for_the_others(moment: Moment, _: i32) {
    if moment == Moment::After {
        return;
    }
    // SAFETY: takes nothing.
    let own = unsafe { libc::syscall(libc::SYS_gettid) as i32 };
    let is_settled = |at: usize| match INSTALLERS[at].load(Ordering::SeqCst) {
        0 => false,
        id => id == own || BACK[at].load(Ordering::SeqCst) || is_asleep(id),
    };
    while !(0..THREADS).all(is_settled) {
        std::thread::yield_now();
    }
}

#[test]
fn racing_installers_return_after_the_handler_is_installed() {
    let status = in_a_process(here!(racing_installers_return_after_the_handler_is_installed), &[], || {
        let status = ended(|| {
            Former::Informed.set();
            at_every_set(wait_for_the_others);
            let install = |at: usize| {
                // SAFETY: takes nothing.
                INSTALLERS[at].store(unsafe { libc::syscall(libc::SYS_gettid) as i32 }, Ordering::SeqCst);
                // Without sleeping.
                while INSTALLERS.iter().any(|id| id.load(Ordering::SeqCst) == 0) {
                    std::thread::yield_now();
                }
                clockscope::survive_disabled_counter().unwrap();
                let action = current().sa_sigaction;
                BACK[at].store(true, Ordering::SeqCst);
                assert_ne!(action, informed as *const () as usize, "returned before the handler was there");
                assert_survives();
            };
            std::thread::scope(|scope| {
                for at in 0..THREADS {
                    scope.spawn(move || install(at));
                }
            });
            // Was installed once, over the former handler.
            assert_eq!(SETS.load(Ordering::SeqCst), 1);
            Sent::Kill.send(0);
            assert_eq!(CALLS.load(Ordering::Relaxed), 1);
        });
        assert!(status.success(), "{status}");
    });
    assert!(status.success(), "{status}");
}
