//! The memory that a forked child forgets, and the lock in it.

pub(super) mod lock;
pub(super) mod shared;
#[cfg(not(clockscope_models))]
pub(super) mod wiping;
