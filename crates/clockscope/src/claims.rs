//! Claims about civil time, and the worth of the kernel's claim.

pub(crate) mod claim;
pub(crate) mod kernel;
