//! Architectures whose counter this crate does not know: there is none.

use crate::{Clock, Errno, Unavailable, Visitor};

/// Name of [`Ordered`].
pub const ORDERED_NAME: &str = "none";

/// A counter that cannot be made.
#[derive(Clone, Copy, Debug)]
pub enum Ordered {}

impl Clock for Ordered {
    type Raw = u64;

    fn read(&self, _: &mut u64) -> Result<(), Errno> {
        match *self {}
    }

    fn value(&self, _: &u64) -> u64 {
        match *self {}
    }
}

/// There is no counter to time with.
///
/// # Errors
/// Always.
pub fn ordered() -> Result<Ordered, Unavailable> {
    Err(Unavailable::Missing("this architecture's counter is not known".into()))
}

/// There is no counter to visit.
pub fn each(_: &mut impl Visitor) {}
