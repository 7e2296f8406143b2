//! Survives that the time-stamp counter is disabled while the program runs.
//!
//! After `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)` every RDTSC of the process is a segmentation fault, those of the vDSO
//! included. The handler here answers such an instruction with zero: our own clock then finds that the counter may not be
//! read and goes on with the system call; the vDSO takes zero for a moment before its last update and answers with that
//! one, so that the C library's and std's clocks go on as coarse ones. Any other fault goes to the handler that was there
//! before.

#![allow(unsafe_code, reason = "a signal handler decodes an instruction and changes registers")]

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

use super::last_errno;
use crate::Errno;

/// What the handler needs. Written once, before the handler can run.
struct Known {
    /// What was there before us.
    former: UnsafeCell<MaybeUninit<libc::sigaction>>,
    /// Who is told that the counter is disabled.
    told: UnsafeCell<fn()>,
}

// SAFETY: written by the one thread that takes STATE from 0 to 1, before the handler is installed; only read afterwards.
unsafe impl Sync for Known {}

static KNOWN: Known = Known { former: UnsafeCell::new(MaybeUninit::zeroed()), told: UnsafeCell::new(|| ()) };
/// 0: not installed; 1: being installed; 2: installed.
static STATE: AtomicU32 = AtomicU32::new(0);

const RDTSC: [u8; 2] = [0x0f, 0x31];
const RDTSCP: [u8; 3] = [0x0f, 0x01, 0xf9];

/// Installs the handler, once, which calls `told` in a signal handler's context whenever the counter was read in vain.
///
/// # Errors
/// sigaction was refused.
pub(crate) fn install(told: fn()) -> Result<(), Errno> {
    if STATE.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return Ok(());
    }
    // SAFETY: the action is complete: a handler of the signature that SA_SIGINFO asks for, and an empty mask. KNOWN is
    // written here only, and nobody reads it before the handler is there.
    let answer = unsafe {
        *KNOWN.told.get() = told;
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = handle as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGSEGV, core::ptr::null(), KNOWN.former.get().cast());
        libc::sigaction(libc::SIGSEGV, &raw const action, core::ptr::null_mut())
    };
    STATE.store(if answer == 0 { 2 } else { 0 }, Ordering::Release);
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a ucontext_t to a handler with SA_SIGINFO, which is ours to change.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // A disabled counter is a general protection fault, which comes with SI_KERNEL and no address; anything else is not
    // looked at, because the instruction may be what cannot be read.
    // SAFETY: `info` is the kernel's.
    let is_protection_fault = unsafe { (*info).si_code } == SI_KERNEL;
    let length =
        if is_protection_fault { counter_instruction(registers[libc::REG_RIP as usize] as usize) } else { None };
    match length {
        Some(length) => {
            // SAFETY: written before this handler was installed.
            unsafe { (*KNOWN.told.get())() };
            registers[libc::REG_RAX as usize] = 0;
            registers[libc::REG_RDX as usize] = 0;
            if length == RDTSCP.len() {
                registers[libc::REG_RCX as usize] = 0;
            }
            registers[libc::REG_RIP as usize] += length as i64;
        }
        None => pass_on(signal, info, context),
    }
}

/// si_code of a fault that has no address (asm-generic/siginfo.h).
const SI_KERNEL: c_int = 0x80;

/// Length of the instruction at `address` if it reads the counter.
fn counter_instruction(address: usize) -> Option<usize> {
    // SAFETY: the processor has just fetched an instruction here. The third byte is read only after two that are no
    // complete instruction by themselves.
    unsafe {
        let code = address as *const u8;
        let first = [code.read(), code.add(1).read()];
        if first == RDTSC {
            Some(RDTSC.len())
        } else if first == [RDTSCP[0], RDTSCP[1]] && code.add(2).read() == RDTSCP[2] {
            Some(RDTSCP.len())
        } else {
            None
        }
    }
}

/// Does what the handler before us would have done.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: KNOWN was written before this handler was installed. Handlers have the signature that their flags say.
    // For the default action the signal is given back to the system: it comes again when this handler returns.
    unsafe {
        let former = &*KNOWN.former.get().cast::<libc::sigaction>();
        match former.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::sigaction(signal, former, core::ptr::null_mut());
            }
            handler if former.sa_flags & libc::SA_SIGINFO != 0 => {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = core::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(c_int) = core::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}
