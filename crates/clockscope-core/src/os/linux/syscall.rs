//! A system call without the C library: no symbol that a preloaded library could replace takes
//! part.

#![allow(unsafe_code, reason = "a system call is an instruction that acts on whatever its arguments point to")]

use crate::Errno;

/// Makes system call `number` with two arguments.
///
/// # Errors
/// The kernel's error number.
///
/// # Safety
/// The arguments must be what that system call may be given; memory that it writes must be the
/// caller's to write.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn two(number: libc::c_long, first: usize, second: usize) -> Result<(), Errno> {
    let mut answer = number as isize;
    // SAFETY: the kernel overwrites RCX and R11, declared here, and keeps every other register;
    // what it does with the arguments is the caller's promise.
    unsafe {
        core::arch::asm!("syscall", inlateout("rax") answer, in("rdi") first, in("rsi") second, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    outcome(answer)
}

/// Makes system call `number` with two arguments.
///
/// # Errors
/// The kernel's error number.
///
/// # Safety
/// The arguments must be what that system call may be given; memory that it writes must be the
/// caller's to write.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(super) unsafe fn two(number: libc::c_long, first: usize, second: usize) -> Result<(), Errno> {
    let mut answer = first as isize;
    // SAFETY: the kernel answers in X0 and keeps every other register; what it does with the
    // arguments is the caller's promise.
    unsafe {
        core::arch::asm!("svc 0", in("x8") number, inlateout("x0") answer, in("x1") second, options(nostack));
    }
    outcome(answer)
}

/// The kernel answers failure with a negative error number.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn outcome(answer: isize) -> Result<(), Errno> {
    if answer >= 0 { Ok(()) } else { Err(Errno::new(-answer as i32)) }
}

/// Makes system call `number` with two arguments, through the C library's `syscall`.
///
/// # Errors
/// The kernel's error number.
///
/// # Safety
/// The arguments must be what that system call may be given; memory that it writes must be the
/// caller's to write.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
pub(super) unsafe fn two(number: libc::c_long, first: usize, second: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise about the arguments is what `syscall` asks for.
    if unsafe { libc::syscall(number, first, second) } >= 0 { Ok(()) } else { Err(Errno::last()) }
}
