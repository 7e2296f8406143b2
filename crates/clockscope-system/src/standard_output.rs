//! Standard output as the process was started with it.
//!
//! Before `main`, std's runtime opens /dev/null in place of a closed standard output: afterwards,
//! all writes succeed and nothing shows that they are lost. A function that the loader calls before
//! that looks first, on Linux.

#![allow(unsafe_code, reason = "the section of functions that run before main; fcntl has no safe form")]

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns true if the process was started with standard output closed (`>&-`); false where that is
/// unknown.
#[must_use]
pub fn was_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
mod before_main {
    use super::{IS_CLOSED, Ordering};

    extern "C" fn look() {
        // SAFETY: F_GETFD takes no pointer and changes nothing; it fails for a closed descriptor
        // alone.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        IS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }

    // SAFETY: the loader calls the functions of this section one by one before `main`, with
    // arguments that the C ABI lets a function ignore; `look` needs nothing of std's runtime.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
