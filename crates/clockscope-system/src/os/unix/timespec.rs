//! `clock_gettime` and `clock_getres` of the C library.

#![allow(unsafe_code, reason = "both write through a pointer")]

use crate::{Errno, RawClock, Resolution, Unavailable};

/// The result that `clock_gettime` leaves behind.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
#[cfg_attr(target_vendor = "apple", allow(unreachable_pub, reason = "a reference of the other systems reads it"))]
pub struct UnixTimespec(libc::timespec);

impl Default for UnixTimespec {
    #[inline(always)]
    fn default() -> Self {
        Self(libc::timespec { tv_sec: 0, tv_nsec: 0 })
    }
}

impl UnixTimespec {
    /// Returns nanoseconds since the clock's origin, wrapping; 584 years wide.
    #[inline(always)]
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    pub(super) fn nanoseconds(&self) -> u64 {
        (self.0.tv_sec as i64).wrapping_mul(1_000_000_000).wrapping_add(self.0.tv_nsec as i64) as u64
    }

    /// Address at which a call may write.
    #[inline(always)]
    pub(super) fn as_mut_ptr(&mut self) -> *mut libc::timespec {
        &raw mut self.0
    }
}

/// `clock_gettime` of the C library.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByLibc {
    id: libc::clockid_t,
}

impl ByLibc {
    /// Names a clock.
    pub(super) const fn new(id: libc::clockid_t) -> Self {
        Self { id }
    }
}

impl RawClock for ByLibc {
    type Raw = UnixTimespec;

    #[inline(always)]
    fn read(&self, raw: &mut UnixTimespec) -> Result<(), Errno> {
        // SAFETY: the pointer is to a timespec that is borrowed exclusively for the call.
        if unsafe { libc::clock_gettime(self.id, raw.as_mut_ptr()) } == 0 { Ok(()) } else { Err(Errno::last()) }
    }

    #[inline(always)]
    fn value(&self, raw: &UnixTimespec) -> u64 {
        raw.nanoseconds()
    }
}

/// Returns what `clock_getres` states, or the reason why it states nothing.
pub(super) fn resolution(id: libc::clockid_t) -> Resolution {
    let mut step = UnixTimespec::default();
    // SAFETY: writes one timespec through the pointer, which is ours.
    let answer = unsafe { libc::clock_getres(id, step.as_mut_ptr()) };
    getres_resolution(answer, &step)
}

/// Meaning of its answer.
fn getres_resolution(answer: libc::c_int, step: &UnixTimespec) -> Resolution {
    match step.nanoseconds() {
        _ if answer != 0 => {
            Resolution::Unknown(Unavailable::Call("clock_getres".into(), Errno::last()).to_string().into())
        }
        0 => Resolution::Unknown("clock_getres states 0 ns".into()),
        ns => Resolution::Nanoseconds(ns as f64),
    }
}
