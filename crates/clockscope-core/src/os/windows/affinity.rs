//! The CPUs that a thread may run on (processthreadsapi.h, processtopologyapi.h). Windows numbers
//! them in groups of up to 64: here CPU 70 is number 6 of group 1.

#![allow(unsafe_code, reason = "the affinity calls write and read a mask through a pointer")]

use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcessorNumberEx, GetCurrentThread, GetThreadGroupAffinity, SetThreadGroupAffinity,
};

use super::last_error::keep_errno;
use crate::Errno;

/// CPUs of a group, at most.
const GROUP: u32 = 64;

/// Returns the CPUs that the calling thread may run on, ascending: those of its primary group. With
/// more than 64 CPUs a thread may run in all groups since Windows 11; binding it and letting it go
/// again leaves it in that one.
///
/// # Errors
/// The system's.
pub fn allowed_cpus() -> Result<Vec<u32>, Errno> {
    let mut affinity = GROUP_AFFINITY::default();
    // SAFETY: the handle stands for the calling thread and needs no closing; the call writes one
    // structure through the pointer.
    keep_errno(|| checked(unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut affinity) }))?;
    Ok(cpus(affinity.Group, affinity.Mask as u64))
}

/// Lets the calling thread run on those of these CPUs only that are in the group of the first.
///
/// # Errors
/// The system's: one of them does not exist or is not allowed, or the group's mask does not hold it
/// (a 32-bit program's has 32 bits).
pub fn set_allowed_cpus(cpus: &[u32]) -> Result<(), Errno> {
    let (group, mask) = mask(cpus);
    let mask = usize::try_from(mask).map_err(|_| Errno::UNSUPPORTED)?;
    let affinity = GROUP_AFFINITY { Mask: mask, Group: group, Reserved: [0; 3] };
    keep_errno(|| {
        // SAFETY: as above; the call reads one structure, and the former one is not asked for.
        checked(unsafe { SetThreadGroupAffinity(GetCurrentThread(), &raw const affinity, core::ptr::null_mut()) })
    })
}

/// Returns the CPU that the calling thread runs on now.
#[must_use]
pub fn current_cpu() -> Option<u32> {
    let mut number = PROCESSOR_NUMBER::default();
    // SAFETY: writes one structure through the pointer, and cannot fail.
    unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
    Some(u32::from(number.Group) * GROUP + u32::from(number.Number))
}

fn checked(succeeded: i32) -> Result<(), Errno> {
    if succeeded != 0 { Ok(()) } else { Err(Errno::last()) }
}

/// Returns the CPUs of a group's mask.
fn cpus(group: u16, mask: u64) -> Vec<u32> {
    (0..GROUP).filter(|bit| mask >> bit & 1 == 1).map(|bit| u32::from(group) * GROUP + bit).collect()
}

/// Returns the group of the first of these CPUs, and the mask of those in it; an empty mask without
/// CPUs.
fn mask(cpus: &[u32]) -> (u16, u64) {
    let group = cpus.first().map_or(0, |cpu| cpu / GROUP);
    let bits = cpus.iter().filter(|cpu| **cpu / GROUP == group).map(|cpu| 1 << (cpu % GROUP));
    (u16::try_from(group).unwrap_or(u16::MAX), bits.fold(0, |mask: u64, bit: u64| mask | bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_of_a_group_are_read_back() {
        for (group, mask_of) in [(0, 1), (0, 0b1011), (1, u64::MAX), (3, 1 << 63)] {
            assert_eq!(mask(&cpus(group, mask_of)), (group, mask_of));
        }
        assert_eq!(cpus(1, 0b100_0001), [64, 70]);
        // One call names one group.
        assert_eq!(mask(&[70, 3, 64]), (1, 0b100_0001));
        assert_eq!(mask(&[]), (0, 0));
    }

    #[test]
    fn a_thread_runs_where_it_is_bound() {
        let before = allowed_cpus().unwrap();
        for cpu in &before {
            set_allowed_cpus(&[*cpu]).unwrap();
            assert_eq!(allowed_cpus(), Ok(vec![*cpu]));
            assert_eq!(current_cpu(), Some(*cpu));
        }
        set_allowed_cpus(&before).unwrap();
        assert_eq!(allowed_cpus(), Ok(before));
        assert!(set_allowed_cpus(&[]).is_err());
    }
}
