//! `clock_gettime` by its three paths: the C library, the vDSO, and the bare system call.

#![allow(unsafe_code, reason = "clock_gettime writes through a pointer")]

use super::{syscall, vdso};
use crate::{Errno, Unavailable};

/// The result that `clock_gettime` leaves behind.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Timespec(libc::timespec);

impl Default for Timespec {
    #[inline(always)]
    fn default() -> Self {
        Self(libc::timespec { tv_sec: 0, tv_nsec: 0 })
    }
}

impl Timespec {
    /// Whole seconds.
    #[must_use]
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    pub fn seconds(&self) -> i64 {
        self.0.tv_sec as i64
    }

    /// Nanoseconds since the clock's origin, wrapping; 584 years wide.
    #[inline(always)]
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    #[must_use]
    pub fn nanoseconds(&self) -> u64 {
        (self.0.tv_sec as i64).wrapping_mul(1_000_000_000).wrapping_add(self.0.tv_nsec as i64) as u64
    }

    /// Address at which a call may write.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut libc::timespec {
        &raw mut self.0
    }
}

/// `clock_gettime` of the C library.
#[derive(Clone, Copy, Debug)]
pub struct ByLibc {
    id: libc::clockid_t,
}

/// `clock_gettime` of the vDSO.
#[derive(Clone, Copy, Debug)]
pub struct ByVdso {
    function: vdso::ClockGettime,
    id: libc::clockid_t,
}

/// The bare system call.
#[derive(Clone, Copy, Debug)]
pub struct BySyscall {
    id: libc::clockid_t,
}

impl ByLibc {
    /// Names a clock.
    #[inline(always)]
    #[must_use]
    pub const fn new(id: libc::clockid_t) -> Self {
        Self { id }
    }

    /// Reads the clock by the C library.
    ///
    /// # Errors
    /// The error number; `raw` is then unspecified.
    #[inline(always)]
    pub fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        // SAFETY: the pointer is to a timespec that is borrowed exclusively for the call.
        if unsafe { libc::clock_gettime(self.id, raw.as_mut_ptr()) } == 0 { Ok(()) } else { Err(Errno::last()) }
    }
}

impl ByVdso {
    /// Names a clock, and finds the function.
    ///
    /// # Errors
    /// The kernel maps no vDSO, or it exports no such function.
    pub fn new(id: libc::clockid_t) -> Result<Self, Unavailable> {
        vdso::clock_gettime().map(|function| Self::with(function, id))
    }

    /// By a function that was found before.
    #[inline(always)]
    pub(super) const fn with(function: vdso::ClockGettime, id: libc::clockid_t) -> Self {
        Self { function, id }
    }

    /// Reads the clock by the vDSO.
    ///
    /// # Errors
    /// The error number; `raw` is then unspecified.
    #[inline(always)]
    pub fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        // SAFETY: the kernel exports this function with this signature for the life of the process;
        // the pointer is to a timespec that is borrowed exclusively for the call.
        let answer = unsafe { (self.function)(self.id, raw.as_mut_ptr()) };
        // The vDSO answers like the kernel: a negative error number.
        if answer == 0 { Ok(()) } else { Err(Errno::new(-answer)) }
    }
}

impl BySyscall {
    /// Names a clock.
    #[inline(always)]
    #[must_use]
    pub const fn new(id: libc::clockid_t) -> Self {
        Self { id }
    }

    /// Reads the clock by the system call.
    ///
    /// # Errors
    /// The error number; `raw` is then unspecified.
    #[inline(always)]
    pub fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        // SAFETY: clock_gettime writes one timespec through the pointer, which is borrowed
        // exclusively for the call.
        unsafe { syscall::two(libc::SYS_clock_gettime, self.id as usize, raw.as_mut_ptr() as usize) }
    }
}

/// Returns what `clock_getres` states, in ns, by the bare system call.
///
/// # Errors
/// The kernel's.
pub fn resolution_ns(id: libc::clockid_t) -> Result<u64, Errno> {
    let mut step = Timespec::default();
    // SAFETY: clock_getres writes one timespec through the pointer, which is ours.
    unsafe { syscall::two(libc::SYS_clock_getres, id as usize, step.as_mut_ptr() as usize) }?;
    Ok(step.nanoseconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every Linux maps a vDSO, but user-mode emulators of other architectures do not.
    fn by_vdso(id: libc::clockid_t) -> Option<ByVdso> {
        let clock = ByVdso::new(id).ok();
        assert!(clock.is_some() || !cfg!(target_arch = "x86_64"), "no vDSO");
        clock
    }

    #[test]
    fn the_three_paths_read_the_same_clock() {
        // Sandwich: a system call before and after encloses every path of a clock that is never set
        // back.
        let id = libc::CLOCK_MONOTONIC;
        let (outer, vdso) = (BySyscall::new(id), by_vdso(id));
        for _ in 0..1000 {
            let (mut before, mut libc, mut after) = Default::default();
            outer.read(&mut before).unwrap();
            ByLibc { id }.read(&mut libc).unwrap();
            let mut middle = libc;
            if let Some(vdso) = vdso {
                vdso.read(&mut middle).unwrap();
            }
            outer.read(&mut after).unwrap();
            let order = [before, libc, middle, after].map(|reading| reading.nanoseconds());
            assert!(order.is_sorted(), "{order:?}");
        }
    }

    #[test]
    fn an_unknown_id_is_an_error_on_every_path() {
        let id = 9999;
        let mut raw = Timespec::default();
        assert_eq!(ByLibc { id }.read(&mut raw), Err(Errno::new(libc::EINVAL)));
        assert_eq!(BySyscall::new(id).read(&mut raw), Err(Errno::new(libc::EINVAL)));
        if let Some(vdso) = by_vdso(id) {
            assert_eq!(vdso.read(&mut raw), Err(Errno::new(libc::EINVAL)));
        }
    }
}
