//! Atomics and fences: the processor's, or loom's when the protocol is being checked.

#[cfg(not(clockscope_models))]
pub(crate) use clockscope_core::atomic::AtomicU64;
#[cfg(not(clockscope_models))]
pub(crate) use core::sync::atomic::{Ordering, fence};
#[cfg(clockscope_models)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(not(clockscope_models))]
pub(crate) use clockscope_core::counter::memory_order::{load_after_reading, stored_before_reading};

/// Loom's clocks are atomics, which fences order.
#[cfg(clockscope_models)]
pub(crate) fn load_after_reading(word: &AtomicU64, _: u64) -> u64 {
    fence(Ordering::SeqCst);
    word.load(Ordering::Relaxed)
}

/// As above.
#[cfg(clockscope_models)]
pub(crate) fn stored_before_reading() {
    fence(Ordering::SeqCst);
}
