//! What the kernel counted of the calling thread: getrusage(2).

#![allow(unsafe_code, reason = "a system call that fills a structure")]

/// Voluntary and involuntary context switches of the calling thread; `None` where they are not
/// counted. A system call.
pub(crate) fn switches() -> Option<(u64, u64)> {
    let mut usage = core::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the rusage, which is ours, or refuses and leaves it zero, which is a
    // rusage, too.
    let (answer, usage) = unsafe { (libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()), usage.assume_init()) };
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    (answer == 0).then_some((usage.ru_nvcsw.max(0) as u64, usage.ru_nivcsw.max(0) as u64))
}
