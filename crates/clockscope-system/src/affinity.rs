//! The CPUs that this thread may run on, and pinning it to one.

use clockscope_core::{Errno, os};
pub use clockscope_records::show_cpus;

pub use crate::pseudo_files::cpu_list;

/// Reason why a thread cannot be pinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AffinityError {
    /// The machine has no such CPU.
    #[error("CPU {cpu} does not exist or is offline: expected one of {present}")]
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
        error: Errno,
    },
    /// There is no such thing on this system.
    #[error("clockscope cannot choose a CPU on this system")]
    Unsupported,
}

/// The call by which a thread's CPUs are read.
const GET: &str = if cfg!(windows) { "GetThreadGroupAffinity" } else { "sched_getaffinity" };
/// The call by which they are chosen.
const SET: &str = if cfg!(windows) { "SetThreadGroupAffinity" } else { "sched_setaffinity" };

/// A pinned thread. Dropping it gives the thread its former mask back. It stays on the thread that
/// was pinned.
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
        // If the former CPUs are gone meanwhile the thread stays where it is, which is the best
        // that is left.
        let _ = os::set_allowed_cpus(&self.former);
    }
}

/// CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// The system refuses, or has no affinity.
pub fn allowed() -> Result<Vec<u32>, AffinityError> {
    os::allowed_cpus().map_err(refused(GET))
}

/// The CPU that the calling thread runs on now; `None` where the system does not report it.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    os::current_cpu()
}

/// Pins the calling thread to `cpu` until the answer is dropped.
///
/// # Errors
/// The CPU does not exist, is outside the mask, or the system refuses.
pub fn pin(cpu: u32) -> Result<Pinned, AffinityError> {
    let former = allowed()?;
    if !former.contains(&cpu) {
        return Err(offline(cpu).unwrap_or_else(|| AffinityError::OutsideMask { cpu, allowed: show_cpus(&former) }));
    }
    os::set_allowed_cpus(&[cpu]).map_err(refused(SET))?;
    Ok(Pinned { cpu, former, _here: core::marker::PhantomData })
}

/// Binds the calling thread to `cpu` for the rest of its life, also to one outside of the mask that
/// it inherited.
///
/// # Errors
/// The CPU does not exist, is offline, is outside the process's cpuset, or the system refuses.
pub fn bind(cpu: u32) -> Result<(), AffinityError> {
    os::set_allowed_cpus(&[cpu]).map_err(|errno| offline(cpu).unwrap_or_else(|| refused(SET)(errno)))
}

/// The error of a CPU that the system does not list as online; `None` where it does, or lists none.
fn offline(cpu: u32) -> Option<AffinityError> {
    let online = crate::pseudo_files::cpu_list(&crate::pseudo_files::line_of("/sys/devices/system/cpu/online")?)?;
    (!online.contains(&cpu)).then(|| AffinityError::NoSuchCpu { cpu, present: show_cpus(&online) })
}

fn refused(call: &'static str) -> impl Fn(Errno) -> AffinityError {
    move |errno| match errno {
        Errno::UNSUPPORTED => AffinityError::Unsupported,
        error => AffinityError::System { call, error },
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
