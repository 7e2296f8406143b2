//! What is claimed of civil time, and what the kernel's claim is worth.

pub(crate) mod claim;
pub(crate) mod kernel;
