//! Architectures whose counter is not known: there is none.

use crate::Visitor;

/// Name of [`super::Ordered`].
pub const ORDERED_NAME: &str = "none";

/// There is no counter to visit.
pub fn each(_: &mut impl Visitor) {}
