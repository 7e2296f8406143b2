//! The time of day and what the kernel says of its error: adjtimex(2), which is asked and changes
//! nothing.

#![allow(unsafe_code, reason = "adjtimex writes through a pointer")]

use super::errno::keep_errno;
use crate::Errno;
use crate::kernel_clock::{KernelClockState, Leap};

/// Returns CLOCK_REALTIME and the kernel's state, both of one moment. Two system calls, which no
/// disabled counter can make fatal.
///
/// # Errors
/// The call was refused.
pub fn read() -> Result<KernelClockState, Errno> {
    keep_errno(|| {
        // The rest first: what is handed over to the running second meanwhile is not missed.
        let adjust_us = read_timex(ADJ_OFFSET_SS_READ).map(|(_, timex)| wide(timex.offset)).ok();
        let (answer, timex) = read_timex(0)?;
        Ok(state(answer, &timex, adjust_us))
    })
}

/// Returns the kernel's state as it gives it. A system call.
///
/// # Errors
/// The call was refused.
pub fn adjtimex() -> Result<libc::timex, Errno> {
    keep_errno(|| read_timex(0).map(|(_, timex)| timex))
}

/// Mode that asks for the offset that adjtime(3) has still to work off, in µs (linux/timex.h).
const ADJ_OFFSET_SS_READ: libc::c_uint = 0xa001;

fn read_timex(modes: libc::c_uint) -> Result<(libc::c_int, libc::timex), Errno> {
    // SAFETY: all-zero is a timex.
    let mut timex: libc::timex = unsafe { core::mem::zeroed() };
    timex.modes = modes;
    // SAFETY: these modes ask for no change (0, and ADJ_OFFSET_SS_READ), and the kernel fills the
    // structure.
    match unsafe { call(&raw mut timex) } {
        answer if answer < 0 => Err(Errno::last()),
        answer => Ok((answer, timex)),
    }
}

/// The kernel's own call, whose structure is that of the C library on 64-bit systems. The library's
/// makes another one, clock_adjtime, which filters of containers deny more often.
#[cfg(target_pointer_width = "64")]
unsafe fn call(timex: *mut libc::timex) -> libc::c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_adjtimex, timex) as libc::c_int }
}

#[cfg(not(target_pointer_width = "64"))]
unsafe fn call(timex: *mut libc::timex) -> libc::c_int {
    // SAFETY: the caller's promise.
    unsafe { libc::adjtimex(timex) }
}

#[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
fn wide(field: libc::c_long) -> i64 {
    field as i64
}

/// The clock's ordinary tick in µs: 10,000 where programs count 100 ticks a second.
fn usual_tick_us() -> i64 {
    // SAFETY: sysconf takes any number.
    let hz = wide(unsafe { libc::sysconf(libc::_SC_CLK_TCK) });
    if hz > 0 { (1_000_000 + hz / 2) / hz } else { 10_000 }
}

fn state(answer: libc::c_int, timex: &libc::timex, adjust_us: Option<i64>) -> KernelClockState {
    let unit_ns = if has_flag(timex, libc::STA_NANO) { 1 } else { 1000 };
    let is_unsynchronized = has_flag(timex, libc::STA_UNSYNC);
    let usual_tick = usual_tick_us() as f64;
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    KernelClockState {
        unix_ns: i128::from(timex.time.tv_sec) * 1_000_000_000 + i128::from(timex.time.tv_usec) * i128::from(unit_ns),
        unit_ns: unit_ns as u64,
        leap: leap(answer, has_flag(timex, libc::STA_INS) || has_flag(timex, libc::STA_DEL)),
        is_unsynchronized,
        has_failed: answer == libc::TIME_ERROR && !is_unsynchronized,
        is_by_loop: has_flag(timex, libc::STA_PLL),
        is_in_ns: has_flag(timex, libc::STA_NANO),
        max_error_us: wide(timex.maxerror).max(0) as u64,
        estimated_error_us: wide(timex.esterror).max(0) as u64,
        offset_ns: wide(timex.offset).saturating_mul(unit_ns),
        time_constant: wide(timex.constant).clamp(0, 63) as u32,
        adjust_us,
        // ppm with 16 bits of fraction.
        rate_ppm: (wide(timex.tick) as f64 / usual_tick - 1.0) * 1e6 + wide(timex.freq) as f64 / 65536.0,
        // The kernel's own default is 0: nobody has set it.
        tai_offset_s: (timex.tai != 0).then_some(timex.tai),
    }
}

fn has_flag(timex: &libc::timex, flag: libc::c_int) -> bool {
    timex.status & flag != 0
}

/// The leap second by what the call returned.
fn leap(answer: libc::c_int, is_announced: bool) -> Leap {
    match answer {
        libc::TIME_INS => Leap::Insert,
        libc::TIME_DEL => Leap::Delete,
        libc::TIME_OOP => Leap::InProgress,
        libc::TIME_WAIT => Leap::Done,
        libc::TIME_ERROR if is_announced => Leap::Announced,
        _ => Leap::None,
    }
}
