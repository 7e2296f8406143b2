//! Forgetting in forked children.

#![allow(unsafe_code, reason = "a handler is given to the C library")]

use core::sync::atomic::{AtomicBool, Ordering};

/// Has `forget` called in every child that the C library's fork makes. Once for all: a child
/// inherits it, and many threads may ask.
pub fn call_in_child(forget: extern "C" fn()) {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if IS_REGISTERED.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: the handler is a function of this program, which stays where it is. Where there is no
    // memory for it, the child is left with what its parent knew.
    unsafe { libc::pthread_atfork(None, None, Some(forget)) };
}
