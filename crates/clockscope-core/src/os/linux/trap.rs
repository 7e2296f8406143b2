//! Survives that the time-stamp counter is disabled while the program runs.
//!
//! After `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)` every RDTSC of the process is a segmentation fault,
//! those of the vDSO included. The handler here answers such an instruction with zero. Our own
//! clock then finds that it may not read the counter and goes on with the system call. The vDSO
//! takes zero for a moment before its last update and returns that update's time, so that the C
//! library's and std's clocks go on as coarse ones. Every other SIGSEGV, sent or a fault, goes to
//! the action that was there before.

#![allow(unsafe_code, reason = "a signal handler decodes an instruction and changes registers")]

use core::ffi::{c_int, c_void};
use core::mem::{transmute, zeroed};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::errno::keep_errno;
use crate::Errno;

/// The action that ours replaced.
struct Former {
    action: libc::sigaction,
    /// A handler with SA_RESETHAND was called: the default action is next.
    is_spent: AtomicBool,
}

impl Former {
    /// Returns true if the handler's SA_RESETHAND is used up, which its first call does.
    fn take_reset(&self) -> bool {
        self.action.sa_flags & libc::SA_RESETHAND != 0 && self.is_spent.swap(true, Ordering::Relaxed)
    }
}

/// Null before the first installation. Never freed: a handler may be running.
static FORMER: AtomicPtr<Former> = AtomicPtr::new(null_mut());

/// Called when the counter turns out to be disabled.
static NOTIFY: OnceLock<fn()> = OnceLock::new();

/// Handlers may be left by an exception of another language, or by unwinding from a cancellation.
type WithInfo = extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);
type WithoutInfo = extern "C-unwind" fn(c_int);

const RDTSC: [u8; 2] = [0x0f, 0x31];
const RDTSCP: [u8; 3] = [0x0f, 0x01, 0xf9];

/// si_code of a fault that has no address (asm-generic/siginfo.h).
const SI_KERNEL: c_int = 0x80;

/// The processor's number of a general protection fault, such as a read of a disabled counter.
const PROTECTION_FAULT: i64 = 13;

/// Installs the handler, once. The handler calls `notify`, which must be async-signal-safe and must
/// not read the counter, whenever it answers a read of the disabled counter.
///
/// # Errors
/// sigaction was refused. A later call tries again.
pub fn install(notify: fn()) -> Result<(), Errno> {
    static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
    static TURN: Mutex<()> = Mutex::new(());
    if IS_INSTALLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // The second of two racing installers returns after the handler is in place.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if IS_INSTALLED.load(Ordering::Acquire) {
        return Ok(());
    }
    // The handler may run before sigaction returns: all that it needs is published first.
    NOTIFY.get_or_init(|| notify);
    let former = exchange(None)?;
    publish(former);
    let replaced = exchange(Some(&ours(&former)))?;
    if !are_equal(&replaced, &former) {
        // Another thread installed a handler since the first call.
        publish(replaced);
        adjust_flags(&former, &replaced);
    }
    IS_INSTALLED.store(true, Ordering::Release);
    Ok(())
}

/// Gives our action the flags for `replaced` if those for `former` differ.
fn adjust_flags(former: &libc::sigaction, replaced: &libc::sigaction) {
    let adjusted = ours(replaced);
    if adjusted.sa_flags == ours(former).sa_flags {
        return;
    }
    // Ours works without this as well: a refusal is not an error.
    let Ok(current) = exchange(Some(&adjusted)) else { return };
    if current.sa_sigaction != adjusted.sa_sigaction {
        // Installed over ours meanwhile. It stays on top, and its former action is ours.
        let _ = exchange(Some(&current));
    }
}

/// Returns the current action of SIGSEGV, and replaces it by `new` in the same step.
fn exchange(new: Option<&libc::sigaction>) -> Result<libc::sigaction, Errno> {
    // SAFETY: sigaction is a C struct of integers, for which all-zero is valid. Both pointers are
    // null or to whole structs. `new` is `ours` or what this function returned: its handler has the
    // signature that its flags announce.
    unsafe {
        let mut old: libc::sigaction = zeroed();
        match libc::sigaction(libc::SIGSEGV, new.map_or(null(), core::ptr::from_ref), &raw mut old) {
            0 => Ok(old),
            _ => Err(Errno::last()),
        }
    }
}

/// Our action in place of `former`.
fn ours(former: &libc::sigaction) -> libc::sigaction {
    let inherited = match former.sa_sigaction {
        // The program's stack may be what is at fault. An ignored signal interrupts no system call.
        libc::SIG_DFL | libc::SIG_IGN => libc::SA_ONSTACK | libc::SA_RESTART,
        // The handler runs on the stack that it asked for, and interrupts system calls as before.
        _ => former.sa_flags & (libc::SA_ONSTACK | libc::SA_RESTART),
    };
    // SAFETY: as in `exchange`; sigemptyset writes the set that it is given.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handle as WithInfo as usize;
        // SA_NODEFER and an empty mask: a handler of another signal may interrupt ours and read the
        // disabled counter, too. `call` blocks the signals of the former handler's mask.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | inherited;
        libc::sigemptyset(&raw mut action.sa_mask);
        action
    }
}

fn publish(action: libc::sigaction) {
    let former = Box::leak(Box::new(Former { action, is_spent: AtomicBool::new(false) }));
    FORMER.store(former, Ordering::Release);
}

fn are_equal(one: &libc::sigaction, other: &libc::sigaction) -> bool {
    one.sa_sigaction == other.sa_sigaction
        && one.sa_flags == other.sa_flags
        // The C library's set has more bits than the kernel has signals, which may be anything.
        && (1..=64).all(|signal| blocks(one, signal) == blocks(other, signal))
}

/// Returns true if the action's mask has the signal.
fn blocks(action: &libc::sigaction, signal: c_int) -> bool {
    // SAFETY: reads a set.
    unsafe { libc::sigismember(&raw const action.sa_mask, signal) == 1 }
}

extern "C-unwind" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: `info` is the kernel's, or what a handler over ours passes on.
    let code = unsafe { (*info).si_code };
    // SAFETY: the kernel passes a ucontext_t to a handler with SA_SIGINFO, which is ours to change.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // A disabled counter raises a protection fault. For any other signal the instruction does not
    // matter, and may not be readable. A signal that the process sends to itself may have any code,
    // but it leaves the number of the last fault as it was.
    let is_protection_fault = code == SI_KERNEL && registers[libc::REG_TRAPNO as usize] == PROTECTION_FAULT;
    let length =
        if is_protection_fault { counter_instruction(registers[libc::REG_RIP as usize] as usize) } else { None };
    if let Some(length) = length {
        if let Some(notify) = NOTIFY.get() {
            keep_errno(notify);
        }
        registers[libc::REG_RAX as usize] = 0;
        registers[libc::REG_RDX as usize] = 0;
        if length == RDTSCP.len() {
            registers[libc::REG_RCX as usize] = 0;
        }
        registers[libc::REG_RIP as usize] += length as i64;
        return;
    }
    // SAFETY: written before this handler was installed, and never freed.
    let Some(former) = (unsafe { FORMER.load(Ordering::Acquire).as_ref() }) else { return };
    // kill, sigqueue, tgkill, timers and the like have a code of zero or less.
    let is_sent = code <= 0;
    // The kernel raises SI_KERNEL as well when it cannot build a signal's frame, for instance.
    let comes_again = !is_sent && (code != SI_KERNEL || is_protection_fault);
    match former.action.sa_sigaction {
        libc::SIG_IGN if is_sent => {}
        libc::SIG_DFL | libc::SIG_IGN => act_by_default(signal, info, is_sent, comes_again),
        _ if former.take_reset() => act_by_default(signal, info, is_sent, comes_again),
        handler => call(handler, &former.action, signal, info, context),
    }
}

/// Length of the instruction at `address`, which has just raised a protection fault, if it reads
/// the counter.
fn counter_instruction(address: usize) -> Option<usize> {
    // A handler may have returned to an address that no program can have: the fault is there.
    if address >> 47 != 0 {
        return None;
    }
    let code = address as *const u8;
    let mut instructions = [&RDTSC[..], &RDTSCP[..]].into_iter();
    let found = instructions.find(|instruction| {
        // SAFETY: the processor has just fetched an instruction here. Each further byte is read
        // only after those that are not a complete instruction without it: a page may end anywhere
        // else.
        instruction.iter().enumerate().all(|(offset, byte)| unsafe { code.add(offset).read() } == *byte)
    });
    found.map(<[u8]>::len)
}

/// Calls the former handler as the kernel would, with its mask.
fn call(handler: usize, action: &libc::sigaction, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let mut blocked = action.sa_mask;
    // SAFETY: the sets are this function's. A handler has the signature that its flags announce,
    // and gets what the kernel passed to us. No frame here has anything to drop, should it not
    // return.
    unsafe {
        if action.sa_flags & libc::SA_NODEFER == 0 {
            libc::sigaddset(&raw mut blocked, signal);
        }
        let mut before: libc::sigset_t = zeroed();
        let is_blocked = libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before) == 0;
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            transmute::<usize, WithInfo>(handler)(signal, info, context);
        } else {
            transmute::<usize, WithoutInfo>(handler)(signal);
        }
        // For a handler over ours that called this one. It leaves errno as the former handler did.
        if is_blocked {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut());
        }
    }
}

/// Ends the process by the default action, as soon as the handler returns. The registers and the
/// siginfo of its core dump are then those of the fault, not of this handler.
fn act_by_default(signal: c_int, info: *mut libc::siginfo_t, is_sent: bool, comes_again: bool) {
    // SAFETY: the sets and the action are this function's, and SIG_DFL needs nothing else. `info`
    // is a whole siginfo, and the kernel only reads it. HLT may not be executed here and is a
    // fault.
    unsafe {
        // The first process of a PID namespace (a container's) does not get a sent signal whose
        // action is the default one.
        if is_sent && libc::getpid() == 1 {
            return;
        }
        // Until this handler returns.
        let mut blocked: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut blocked);
        libc::sigaddset(&raw mut blocked, signal);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, null_mut());
        let mut default: libc::sigaction = zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        libc::sigemptyset(&raw mut default.sa_mask);
        let is_default = libc::sigaction(signal, &raw const default, null_mut()) == 0;
        // The instruction is executed again and faults again. The kernel's log has its usual line.
        if is_default && comes_again {
            return;
        }
        // To this very thread, which may be sent any code.
        let this = libc::syscall(libc::SYS_gettid);
        if is_default && libc::syscall(libc::SYS_rt_tgsigqueueinfo, libc::getpid(), this, signal, info) == 0 {
            return;
        }
        // A filter denies these calls. A fault while its signal is blocked ends the process.
        core::arch::asm!("hlt");
    }
}
