//! The C library's `errno`, which a reading must leave as it was: it may be taken in a signal
//! handler, between a call and the look at its error.

#![allow(unsafe_code, reason = "errno is reached through a pointer")]

#[cfg(any(target_os = "illumos", target_os = "solaris"))]
use libc::___errno as location;
#[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
use libc::__errno as location;
#[cfg(any(target_os = "linux", target_os = "dragonfly"))]
use libc::__errno_location as location;
#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
use libc::__error as location;

/// Does some work, and puts back what errno was before it.
pub fn keep_errno<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: the C library answers with the address of the calling thread's errno, which lives as
    // long as the thread.
    let before = unsafe { *location() };
    let result = work();
    // SAFETY: as above, and no other thread writes there.
    unsafe { *location() = before };
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(errno: libc::c_int) {
        // SAFETY: as in `keep_errno`.
        unsafe { *location() = errno };
    }

    #[test]
    fn errno_is_what_it_was_before_the_work() {
        set(libc::EXDEV);
        let during = keep_errno(|| {
            set(libc::ENOENT);
            crate::Errno::last().code()
        });
        assert_eq!((during, crate::Errno::last().code()), (libc::ENOENT, libc::EXDEV));
    }
}
