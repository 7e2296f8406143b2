//! Memory that a forked child finds empty.

#![allow(unsafe_code, reason = "madvise acts on whatever its address points to")]

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

/// Asks the kernel to give a forked child zeroes in place of `memory`, which must be whole pages
/// (madvise(2), MADV_WIPEONFORK, since Linux 4.14). `false` if it cannot. Asks once for a process
/// and its children, who inherit that; threads that race may all ask. Of the program's one clock.
///
/// # Safety
/// All-zero memory must be a valid `T` that nobody else in the child borrows.
pub unsafe fn wipe_on_fork<T>(memory: &'static T) -> bool {
    static OUTCOME: AtomicU32 = AtomicU32::new(UNTRIED);
    match OUTCOME.load(Ordering::Relaxed) {
        UNTRIED => {}
        outcome => return outcome == WIPED,
    }
    let address = core::ptr::from_ref(memory).cast::<c_void>().cast_mut();
    // SAFETY: sysconf takes any number. madvise changes nothing in this process; that it rounds the
    // length up to whole pages is why both ends are checked; the child's view is the caller's
    // promise.
    let is_wiped = unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE);
        let is_whole = usize::try_from(page)
            .is_ok_and(|page| page > 0 && address as usize % page == 0 && size_of::<T>() % page == 0);
        is_whole && libc::madvise(address, size_of::<T>(), libc::MADV_WIPEONFORK) == 0
    };
    OUTCOME.store(if is_wiped { WIPED } else { NOT_WIPED }, Ordering::Relaxed);
    is_wiped
}

const UNTRIED: u32 = 0;
const WIPED: u32 = 1;
const NOT_WIPED: u32 = 2;
