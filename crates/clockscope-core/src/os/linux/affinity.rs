//! The CPUs that a thread may run on (sched_setaffinity(2)).

#![allow(unsafe_code, reason = "the affinity calls write and read a bit mask through a pointer")]

use super::errno::keep_errno;
use crate::Errno;

const WORD: usize = u64::BITS as usize;
/// Enough for 65,536 CPUs, beyond any kernel's limit (NR_CPUS is at most 8192). The `CpuSet` of
/// rustix has 1024: kernels for more refuse a mask of that size.
const WORDS: usize = 1024;

/// CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// The kernel's.
pub fn allowed_cpus() -> Result<Vec<u32>, Errno> {
    keep_errno(ask_allowed_cpus)
}

fn ask_allowed_cpus() -> Result<Vec<u32>, Errno> {
    let mut mask = [0_u64; WORDS];
    // SAFETY: the kernel writes at most the size that it is given, which is the mask's; 0 is the
    // calling thread.
    let answer = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    if answer != 0 {
        return Err(Errno::last());
    }
    let bits = (0..WORDS * WORD).filter(|bit| mask[bit / WORD] >> (bit % WORD) & 1 == 1);
    Ok(bits.map(|bit| bit as u32).collect())
}

/// Lets the calling thread run on `cpus` only.
///
/// # Errors
/// The kernel's: none of them exists and is allowed.
pub fn set_allowed_cpus(cpus: &[u32]) -> Result<(), Errno> {
    let mut mask = [0_u64; WORDS];
    for cpu in cpus.iter().map(|cpu| *cpu as usize).filter(|cpu| *cpu < WORDS * WORD) {
        mask[cpu / WORD] |= 1 << (cpu % WORD);
    }
    keep_errno(|| {
        // SAFETY: the kernel reads as many bytes as it is given, which is the mask's size; 0 is the
        // calling thread.
        let answer = unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) };
        if answer == 0 { Ok(()) } else { Err(Errno::last()) }
    })
}

/// The CPU that the calling thread runs on now; `None` where the kernel does not report it.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    // SAFETY: takes nothing; answers -1 where the kernel does not know.
    keep_errno(|| u32::try_from(unsafe { libc::sched_getcpu() }).ok())
}
