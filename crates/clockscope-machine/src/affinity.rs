//! Which CPUs this thread may run on, and pinning it to one.

#![allow(unsafe_code, reason = "the affinity calls write and read a bit mask through a pointer")]

use crate::text::show_cpus;

/// Why a thread cannot be pinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AffinityError {
    /// The machine has no such CPU.
    #[error("CPU {cpu} does not exist or is offline: this machine has CPUs {present}")]
    NoSuchCpu {
        /// The CPU that was asked for.
        cpu: u32,
        /// The CPUs that are online.
        present: String,
    },
    /// The CPU exists, but this process may not run there.
    #[error(
        "CPU {cpu} is outside this process's affinity mask ({allowed}): choose one of these, or widen the mask with taskset"
    )]
    OutsideMask {
        /// The CPU that was asked for.
        cpu: u32,
        /// The CPUs that are allowed.
        allowed: String,
    },
    /// The system refused.
    #[error("{call}: {error}")]
    System {
        /// The call that failed.
        call: &'static str,
        /// Its error.
        error: String,
    },
    /// There is no such thing on this system.
    #[error("clockscope cannot choose a CPU on this system")]
    Unsupported,
}

/// A pinned thread. Dropping it gives the thread its former mask back. It stays on the thread that was pinned.
#[derive(Debug)]
pub struct Pinned {
    cpu: u32,
    former: Vec<u32>,
    /// The mask belongs to one thread.
    _here: core::marker::PhantomData<*const ()>,
}

impl Pinned {
    /// The CPU that the thread is pinned to.
    #[must_use]
    pub fn cpu(&self) -> u32 {
        self.cpu
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // If the former CPUs are gone meanwhile the thread stays where it is, which is the best that is left.
        let _ = system::set(&self.former);
    }
}

/// CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// The system refuses, or has no affinity.
pub fn allowed() -> Result<Vec<u32>, AffinityError> {
    system::get()
}

/// The CPU that the calling thread runs on now; `None` where the system does not tell.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    system::current_cpu()
}

/// Pins the calling thread to `cpu` until the answer is dropped.
///
/// # Errors
/// The CPU does not exist, is outside the mask, or the system refuses.
pub fn pin(cpu: u32) -> Result<Pinned, AffinityError> {
    let former = allowed()?;
    if !former.contains(&cpu) {
        let online =
            crate::text::line_of("/sys/devices/system/cpu/online").and_then(|line| crate::text::cpu_list(&line));
        return Err(match online {
            Some(online) if !online.contains(&cpu) => AffinityError::NoSuchCpu { cpu, present: show_cpus(&online) },
            _ => AffinityError::OutsideMask { cpu, allowed: show_cpus(&former) },
        });
    }
    system::set(&[cpu])?;
    Ok(Pinned { cpu, former, _here: core::marker::PhantomData })
}

#[cfg(target_os = "linux")]
mod system {
    use super::AffinityError;

    const WORD: usize = u64::BITS as usize;
    /// Enough for 65,536 CPUs, beyond any kernel's limit (NR_CPUS is at most 8192).
    const WORDS: usize = 1024;

    pub(super) fn get() -> Result<Vec<u32>, AffinityError> {
        let mut mask = [0_u64; WORDS];
        // SAFETY: the kernel writes at most the size that it is told, which is the mask's; 0 is the calling thread.
        let answer = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
        if answer != 0 {
            return Err(last("sched_getaffinity"));
        }
        let bits = (0..WORDS * WORD).filter(|bit| mask[bit / WORD] >> (bit % WORD) & 1 == 1);
        Ok(bits.map(|bit| bit as u32).collect())
    }

    pub(super) fn set(cpus: &[u32]) -> Result<(), AffinityError> {
        let mut mask = [0_u64; WORDS];
        for cpu in cpus.iter().map(|cpu| *cpu as usize).filter(|cpu| *cpu < WORDS * WORD) {
            mask[cpu / WORD] |= 1 << (cpu % WORD);
        }
        // SAFETY: the kernel reads as many bytes as it is told, which is the mask's size; 0 is the calling thread.
        let answer = unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) };
        if answer == 0 { Ok(()) } else { Err(last("sched_setaffinity")) }
    }

    pub(super) fn current_cpu() -> Option<u32> {
        // SAFETY: takes nothing; answers -1 where the kernel does not know.
        u32::try_from(unsafe { libc::sched_getcpu() }).ok()
    }

    fn last(call: &'static str) -> AffinityError {
        AffinityError::System { call, error: std::io::Error::last_os_error().to_string() }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::AffinityError;

    pub(super) fn get() -> Result<Vec<u32>, AffinityError> {
        Err(AffinityError::Unsupported)
    }

    pub(super) fn set(_: &[u32]) -> Result<(), AffinityError> {
        Err(AffinityError::Unsupported)
    }

    pub(super) fn current_cpu() -> Option<u32> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn pinning_is_undone() {
        let before = allowed().unwrap();
        let cpu = *before.last().unwrap();
        let pinned = pin(cpu).unwrap();
        assert_eq!((pinned.cpu(), allowed().unwrap(), current_cpu()), (cpu, vec![cpu], Some(cpu)));
        if let Some(other) = before.iter().find(|other| **other != cpu) {
            let refused = pin(*other).unwrap_err();
            assert_eq!(refused, AffinityError::OutsideMask { cpu: *other, allowed: cpu.to_string() });
        }
        drop(pinned);
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        assert!(matches!(pin(60_000), Err(AffinityError::NoSuchCpu { cpu: 60_000, .. })));
        assert!(pin(u32::MAX).is_err());
    }
}
