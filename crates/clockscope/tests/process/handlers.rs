//! The handler for a disabled counter passes every other SIGSEGV to the action that was there
//! before: sent in all ways, raised by faults of several kinds, once and again.
//!
//! Each case is a child of one thread, so that a signal sent to it arrives before the call that
//! sends it returns.

mod installing;
mod stacks;
mod traced;

use std::arch::asm;
use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

use clockscope_testing::skip;

use super::{disable_counter, in_a_process, read};

/// Runs `body` in a child of one thread, which panics or returns to end, and returns how it ended.
pub(super) fn ended(body: impl FnOnce()) -> ExitStatus {
    // SAFETY: the child has a copy of this thread alone; `in_a_process` sees to it that no other
    // thread of this process is in the middle of anything.
    match unsafe { libc::fork() } {
        0 => {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(outcome.is_err())) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the kernel writes the status of our child.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            ExitStatus::from_raw(status)
        }
    }
}

fn died(status: ExitStatus) -> bool {
    status.signal() == Some(libc::SIGSEGV)
}

/// A handler of the test ended the process.
const HANDLED: i32 = 42;

/// The last call of a handler of the test.
static CALLS: AtomicI32 = AtomicI32::new(0);
static CODE: AtomicI32 = AtomicI32::new(0);
static SENDER: AtomicI32 = AtomicI32::new(0);
static VALUE: AtomicUsize = AtomicUsize::new(0);
static ADDRESS: AtomicUsize = AtomicUsize::new(0);
static BLOCKED: AtomicU64 = AtomicU64::new(0);
static FRAME: AtomicUsize = AtomicUsize::new(0);

/// Number of calls of a handler that cannot move on from a fault before it ends the process.
static PATIENCE: AtomicI32 = AtomicI32::new(100);

/// A fault's code comes from the process itself: there is no instruction to skip.
static IS_FORGED: AtomicBool = AtomicBool::new(false);

/// errno after a handler of the test.
const LEFT: c_int = 77;

fn note() {
    let local = 0_u8;
    FRAME.store((&raw const local).addr(), Ordering::Relaxed);
    BLOCKED.store(blocked(), Ordering::Relaxed);
    let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: ends the process; and this thread's errno.
    unsafe {
        if calls >= PATIENCE.load(Ordering::Relaxed) {
            libc::_exit(HANDLED);
        }
        *libc::__errno_location() = LEFT;
    }
}

extern "C" fn simple(_: c_int) {
    note();
}

extern "C" fn informed(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's siginfo and context. A fault of `Fault::raise` goes on where RDX points.
    unsafe {
        let info = &*info;
        CODE.store(info.si_code, Ordering::Relaxed);
        SENDER.store(info.si_pid(), Ordering::Relaxed);
        VALUE.store(info.si_value().sival_ptr.addr(), Ordering::Relaxed);
        ADDRESS.store(info.si_addr().addr(), Ordering::Relaxed);
        if info.si_code > 0 && !IS_FORGED.load(Ordering::Relaxed) {
            let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            registers[libc::REG_RIP as usize] = registers[libc::REG_RDX as usize];
        }
    }
    note();
}

/// The signals that this thread blocks, as the kernel counts them.
fn blocked() -> u64 {
    // SAFETY: writes the set, and reads it.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, null(), &raw mut set);
        (1..=64).filter(|signal| libc::sigismember(&raw const set, *signal) == 1).map(|signal| 1 << (signal - 1)).sum()
    }
}

const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Sets the action of SIGSEGV, whose handler blocks SIGUSR1, and returns the one before.
fn set(handler: usize, flags: c_int) -> libc::sigaction {
    // SAFETY: the handlers of this file have the signature that their flags announce.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        let mut old: libc::sigaction = zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        libc::sigaddset(&raw mut action.sa_mask, libc::SIGUSR1);
        assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const action, &raw mut old), 0);
        old
    }
}

/// The action of SIGSEGV.
fn current() -> libc::sigaction {
    // SAFETY: writes the struct.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        assert_eq!(libc::sigaction(libc::SIGSEGV, null(), &raw mut action), 0);
        action
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Former {
    Default,
    Ignored,
    Simple,
    SimpleOnce,
    Informed,
    Once,
}

const FORMERS: [Former; 6] =
    [Former::Default, Former::Ignored, Former::Simple, Former::SimpleOnce, Former::Informed, Former::Once];

impl Former {
    fn set(self) {
        match self {
            Self::Default => set(libc::SIG_DFL, 0),
            Self::Ignored => set(libc::SIG_IGN, 0),
            Self::Simple => set(simple as *const () as usize, 0),
            Self::SimpleOnce => set(simple as *const () as usize, libc::SA_RESETHAND | libc::SA_NODEFER),
            Self::Informed => set(informed as *const () as usize, libc::SA_SIGINFO),
            Self::Once => set(informed as *const () as usize, libc::SA_SIGINFO | libc::SA_RESETHAND),
        };
    }

    fn is_informed(self) -> bool {
        matches!(self, Self::Informed | Self::Once)
    }

    fn is_once(self) -> bool {
        matches!(self, Self::SimpleOnce | Self::Once)
    }

    fn blocks(self) -> u64 {
        bit(libc::SIGUSR1) | if self == Self::SimpleOnce { 0 } else { bit(libc::SIGSEGV) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sent {
    Kill,
    KillByChild,
    Sigqueue,
    Tgkill,
    PthreadKill,
    Raise,
    Timer,
}

const SENT: [Sent; 7] =
    [Sent::Kill, Sent::KillByChild, Sent::Sigqueue, Sent::Tgkill, Sent::PthreadKill, Sent::Raise, Sent::Timer];

impl Sent {
    /// Sends SIGSEGV to this process of one thread, and returns the sender's process id.
    fn send(self, value: usize) -> i32 {
        let value = libc::sigval { sival_ptr: std::ptr::without_provenance_mut(value) };
        // SAFETY: takes numbers, and a value that nobody follows.
        unsafe {
            let own = libc::getpid();
            let answer = match self {
                Self::Kill => libc::kill(own, libc::SIGSEGV),
                Self::KillByChild => return Self::by_child(own),
                Self::Sigqueue => libc::sigqueue(own, libc::SIGSEGV, value),
                Self::Tgkill => {
                    libc::syscall(libc::SYS_tgkill, own, libc::syscall(libc::SYS_gettid), libc::SIGSEGV) as c_int
                }
                Self::PthreadKill => libc::pthread_kill(libc::pthread_self(), libc::SIGSEGV),
                Self::Raise => libc::raise(libc::SIGSEGV),
                // The code of a timer's signal, without a timer.
                Self::Timer => send_with_code(libc::SI_TIMER, value),
            };
            assert_eq!(answer, 0, "{self:?}");
            own
        }
    }

    /// The child ends after its signal has arrived, and its parent waits for that.
    fn by_child(parent: i32) -> i32 {
        // SAFETY: the child sends a signal and ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::kill(parent, libc::SIGSEGV);
                libc::_exit(0);
            }
            while libc::waitpid(child, null_mut(), 0) != child {}
            child
        }
    }

    fn code(self) -> c_int {
        match self {
            Self::Kill | Self::KillByChild => libc::SI_USER,
            Self::Sigqueue => libc::SI_QUEUE,
            Self::Tgkill | Self::PthreadKill | Self::Raise => libc::SI_TKILL,
            Self::Timer => libc::SI_TIMER,
        }
    }
}

/// Sends SIGSEGV with any code to this thread.
fn send_with_code(code: c_int, value: libc::sigval) -> c_int {
    // SAFETY: siginfo_t is a struct of integers; si_value is at its place for signals of this kind.
    unsafe {
        let mut info: libc::siginfo_t = zeroed();
        info.si_signo = libc::SIGSEGV;
        info.si_code = code;
        (&raw mut info).cast::<u8>().add(24).cast::<usize>().write(value.sival_ptr.addr());
        let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
        libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, libc::SIGSEGV, &raw const info) as c_int
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// A write to page zero.
    Null,
    /// A write to a non-canonical address: SI_KERNEL, as from a disabled counter.
    NonCanonical,
    /// A jump to such an address.
    Jump,
    /// A privileged instruction in the last byte of readable memory: SI_KERNEL.
    LastByte,
}

const FAULTS: [Fault; 4] = [Fault::Null, Fault::NonCanonical, Fault::Jump, Fault::LastByte];

impl Fault {
    fn address(self) -> usize {
        match self {
            Self::Null => 0x10,
            Self::NonCanonical | Self::Jump => 1 << 63,
            Self::LastByte => last_byte(),
        }
    }

    /// Goes on after a handler has set RIP to RDX.
    fn raise(self, address: usize) {
        // SAFETY: none of these instructions is ever done; the handler skips it.
        unsafe {
            match self {
                Self::Null | Self::NonCanonical => {
                    asm!("lea rdx, [rip + 2f]", "mov byte ptr [rdi], 0", "2:", in("rdi") address, out("rdx") _);
                }
                Self::Jump | Self::LastByte => {
                    asm!("lea rdx, [rip + 2f]", "jmp rdi", "2:", in("rdi") address, out("rdx") _);
                }
            }
        }
    }

    fn code(self) -> c_int {
        match self {
            Self::Null => 1, // SEGV_MAPERR
            _ => libc::SI_KERNEL,
        }
    }
}

/// The address of an HLT before a page that cannot be read.
fn last_byte() -> usize {
    // SAFETY: two new pages, which stay.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let memory = libc::mmap(null_mut(), 2 * page, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        let last = memory.cast::<u8>().add(page - 1);
        last.write(0xf4);
        assert_eq!(libc::mprotect(memory, page, libc::PROT_READ | libc::PROT_EXEC), 0);
        assert_eq!(libc::mprotect(last.add(1).cast(), page, libc::PROT_NONE), 0);
        last.addr()
    }
}

/// A read of the disabled counter returns zero and leaves errno alone, and our clock goes on.
fn assert_survives() {
    disable_counter();
    let mut processor = 0;
    // SAFETY: this thread's errno; and reads of a counter, which the handler answers.
    unsafe {
        *libc::__errno_location() = LEFT;
        let counter = std::arch::x86_64::_rdtsc();
        let ordered = std::arch::x86_64::__rdtscp(&raw mut processor);
        assert_eq!((counter, ordered, processor), (0, 0, 0));
        assert_eq!(*libc::__errno_location(), LEFT);
    }
    read(10);
    // SAFETY: takes a number.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) }, 0);
}

#[test]
fn a_sent_signal_reaches_the_former_action_every_time() {
    let status = in_a_process(here!(a_sent_signal_reaches_the_former_action_every_time), &[], || {
        for former in FORMERS {
            for sent in SENT {
                let status = ended(|| assert_passed_on(former, sent));
                let dies = former == Former::Default || former.is_once();
                assert!(if dies { died(status) } else { status.success() }, "{former:?}, {sent:?}: {status}");
            }
        }
    });
    assert!(status.success(), "{status}");
}

fn assert_passed_on(former: Former, sent: Sent) {
    former.set();
    clockscope::survive_disabled_counter().unwrap();
    for time in 1..=2 {
        let before = blocked();
        let sender = sent.send(0x1234 + time as usize);
        // Ended by the signal: a panic is another end.
        assert!(former != Former::Default && !(former.is_once() && time == 2), "still there");
        // SAFETY: this thread's errno.
        let left = unsafe { *libc::__errno_location() };
        assert_eq!(blocked(), before);
        if former != Former::Ignored {
            assert_eq!(CALLS.load(Ordering::Relaxed), time);
            assert_eq!(BLOCKED.load(Ordering::Relaxed), before | former.blocks());
            assert!(left == LEFT || sent == Sent::KillByChild, "{left}");
        }
        if former.is_informed() {
            assert_eq!(CODE.load(Ordering::Relaxed), sent.code());
            match sent {
                Sent::Timer => {}
                _ => assert_eq!(SENDER.load(Ordering::Relaxed), sender),
            }
            if matches!(sent, Sent::Sigqueue | Sent::Timer) {
                assert_eq!(VALUE.load(Ordering::Relaxed), 0x1234 + time as usize);
            }
        }
        assert_survives();
    }
}

#[test]
fn a_fault_reaches_the_former_action_every_time() {
    let status = in_a_process(here!(a_fault_reaches_the_former_action_every_time), &[], || {
        for former in FORMERS {
            for fault in FAULTS {
                let status = ended(|| assert_fault_passed_on(former, fault));
                let is_right = match former {
                    // Cannot skip the instruction, and sees it again.
                    Former::Simple => status.code() == Some(HANDLED),
                    Former::Informed => status.success(),
                    _ => died(status),
                };
                assert!(is_right, "{former:?}, {fault:?}: {status}");
            }
        }
    });
    assert!(status.success(), "{status}");
}

fn assert_fault_passed_on(former: Former, fault: Fault) {
    former.set();
    clockscope::survive_disabled_counter().unwrap();
    if former == Former::Simple {
        PATIENCE.store(2, Ordering::Relaxed);
    }
    assert_survives();
    let address = fault.address();
    for time in 1..=2 {
        fault.raise(address);
        assert!(former.is_informed() && !(former.is_once() && time == 2), "still there");
        // SAFETY: this thread's errno.
        assert_eq!(unsafe { *libc::__errno_location() }, LEFT);
        assert_eq!(CALLS.load(Ordering::Relaxed), time);
        assert_eq!(BLOCKED.load(Ordering::Relaxed), blocked() | former.blocks());
        assert_eq!(CODE.load(Ordering::Relaxed), fault.code());
        assert_eq!(ADDRESS.load(Ordering::Relaxed), if fault == Fault::Null { address } else { 0 });
        assert_survives();
    }
}

/// A process may send itself a signal that looks like a fault, as crash reporters do.
#[test]
fn a_signal_that_resembles_a_disabled_counter_is_passed_on() {
    let status = in_a_process(here!(a_signal_that_resembles_a_disabled_counter_is_passed_on), &[], || {
        let forged = || {
            // SAFETY: as in `send_with_code`. RDTSC is the first instruction after the handler.
            unsafe {
                let mut info: libc::siginfo_t = zeroed();
                info.si_signo = libc::SIGSEGV;
                info.si_code = libc::SI_KERNEL;
                let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
                let (low, high): (u64, u64);
                asm!("syscall", "rdtsc", inlateout("rax") libc::SYS_rt_tgsigqueueinfo => low, in("rdi") process,
                    in("rsi") thread, lateout("rdx") high, in("rdx") libc::SIGSEGV, in("r10") &raw const info,
                    lateout("rcx") _, lateout("r11") _);
                assert_ne!((low, high), (0, 0), "the counter was answered by the handler");
            }
        };
        let status = ended(|| {
            IS_FORGED.store(true, Ordering::Relaxed);
            Former::Informed.set();
            clockscope::survive_disabled_counter().unwrap();
            for time in 1..=2 {
                forged();
                assert_eq!(CALLS.load(Ordering::Relaxed), time);
            }
            assert_eq!(CODE.load(Ordering::Relaxed), libc::SI_KERNEL);
            assert_survives();
        });
        assert!(status.success(), "{status}");
        let status = ended(|| {
            Former::Default.set();
            clockscope::survive_disabled_counter().unwrap();
            forged();
        });
        assert!(died(status), "{status}");
    });
    assert!(status.success(), "{status}");
}

/// Returns to an address that no program can have, and from the fault there to where it was.
extern "C" fn detour(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's siginfo and context.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        if (*info).si_code <= 0 {
            registers[libc::REG_RDX as usize] = registers[libc::REG_RIP as usize];
            registers[libc::REG_RIP as usize] = NOWHERE;
        } else if registers[libc::REG_RIP as usize] == NOWHERE {
            registers[libc::REG_RIP as usize] = registers[libc::REG_RDX as usize];
        } else {
            libc::_exit(HANDLED);
        }
    }
    note();
}

const NOWHERE: i64 = i64::MIN;

/// The kernel raises SI_KERNEL for it, and the address cannot be read.
#[test]
fn a_return_to_an_impossible_address_is_passed_on() {
    let status = in_a_process(here!(a_return_to_an_impossible_address_is_passed_on), &[], || {
        let status = ended(|| {
            set(detour as *const () as usize, libc::SA_SIGINFO);
            clockscope::survive_disabled_counter().unwrap();
            for time in 1..=2 {
                // SAFETY: sends a signal to this thread, whose handlers change RDX alone.
                unsafe {
                    let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
                    asm!("syscall", inlateout("rax") libc::SYS_tgkill => _, in("rdi") process, in("rsi") thread,
                        inlateout("rdx") u64::from(libc::SIGSEGV.unsigned_abs()) => _, lateout("rcx") _,
                        lateout("r11") _);
                }
                assert_eq!(CALLS.load(Ordering::Relaxed), 2 * time);
                assert_survives();
            }
        });
        assert!(status.success(), "{status}");
    });
    assert!(status.success(), "{status}");
}

/// A filter that denies what ends a process by a sent signal does not keep it alive.
#[test]
fn a_confined_process_dies_of_a_sent_signal() {
    let status = in_a_process(here!(a_confined_process_dies_of_a_sent_signal), &[], || {
        let resend = libc::SYS_rt_tgsigqueueinfo;
        for denied in [&[resend][..], &[libc::SYS_rt_sigaction], &[resend, libc::SYS_rt_sigprocmask]] {
            let status = ended(|| {
                Former::Default.set();
                clockscope::survive_disabled_counter().unwrap();
                super::deny(denied);
                Sent::Kill.send(0);
            });
            assert!(died(status), "{denied:?}: {status}");
        }
    });
    assert!(status.success(), "{status}");
}

/// The kernel gives the first process of a PID namespace (a container's) no sent signal whose
/// action is the default one.
#[test]
fn the_first_process_of_a_container_is_not_killed_by_a_sent_signal() {
    const NO_NAMESPACE: i32 = 77;
    let in_a_container = |body: &dyn Fn()| {
        ended(|| {
            // SAFETY: takes numbers; this process has one thread. Ends the process.
            unsafe {
                let is_made = libc::unshare(libc::CLONE_NEWPID) == 0
                    || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID) == 0;
                libc::_exit(if !is_made {
                    NO_NAMESPACE
                } else {
                    let status = ended(|| {
                        assert_eq!(libc::getpid(), 1);
                        body();
                    });
                    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
                });
            }
        })
    };
    if in_a_container(&|| ()).code() != Some(0) {
        return skip("a PID namespace needs root or user namespaces");
    }
    let status = in_a_process(here!(the_first_process_of_a_container_is_not_killed_by_a_sent_signal), &[], || {
        let twice = || {
            Former::Default.set();
            clockscope::survive_disabled_counter().unwrap();
            for _ in 0..2 {
                Sent::Kill.send(0);
                assert_survives();
            }
        };
        assert_eq!(in_a_container(&twice).code(), Some(0));
        let fault = || {
            Former::Default.set();
            clockscope::survive_disabled_counter().unwrap();
            Fault::Null.raise(Fault::Null.address());
        };
        assert_eq!(in_a_container(&fault).code(), Some(128 + libc::SIGSEGV));
    });
    assert!(status.success(), "{status}");
}
