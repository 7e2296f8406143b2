//! The kernel's facts about this process: its vDSO, and the counts of the calling thread.

#![allow(unsafe_code, reason = "calls that fill a structure, or have no safe form in libc")]

use clockscope_records::Figure;

/// Voluntary and involuntary context switches of the calling thread; `None` where they are not
/// counted. A system call.
#[cfg(target_os = "linux")]
pub(crate) fn switches() -> Option<(u64, u64)> {
    let mut usage = core::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the rusage, which is ours, or refuses and leaves it zero, which is a
    // rusage, too.
    let (answer, usage) = unsafe { (libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()), usage.assume_init()) };
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    (answer == 0).then_some((usage.ru_nvcsw.max(0) as u64, usage.ru_nivcsw.max(0) as u64))
}

/// Returns true if the kernel mapped a vDSO (getauxval(3), AT_SYSINFO_EHDR).
pub(crate) fn vdso() -> Figure<bool> {
    // SAFETY: getauxval takes any number and answers 0 for an entry that is not there.
    Figure::Known(unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } != 0)
}
