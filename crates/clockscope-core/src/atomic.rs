//! Atomics of 64 bits: the processor's, or `portable-atomic`'s on processors that have none. Those
//! take a lock of a few instructions, so that a signal handler that interrupts it on the same
//! thread would wait forever.

#[cfg(target_has_atomic = "64")]
pub use core::sync::atomic::{AtomicI64, AtomicU64};
#[cfg(not(target_has_atomic = "64"))]
pub use portable_atomic::{AtomicI64, AtomicU64};
