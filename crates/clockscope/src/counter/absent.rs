//! Architectures whose counter this crate does not know: there is none.

use super::Claims;
use crate::{Errno, RawClock, Unavailable, Visitor};

/// Name of [`Ordered`].
pub const ORDERED_NAME: &str = "none";

/// No clocksource is a counter that is not known.
pub const CLOCKSOURCES: &[&str] = &[];

/// Nothing is known of it.
#[must_use]
pub fn is_invariant() -> Option<bool> {
    None
}

/// Nothing is claimed.
#[must_use]
pub fn claims() -> Claims {
    Claims::default()
}

/// A counter that cannot be made.
#[derive(Clone, Copy, Debug)]
pub enum Ordered {}

impl RawClock for Ordered {
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

/// There is nothing to read. Never called: [`super::EXISTS`] is asked before.
#[cfg(all(feature = "std", not(loom)))]
pub(crate) fn unordered() -> u64 {
    0
}

#[cfg(all(feature = "std", not(loom)))]
pub(crate) use {unordered as after, unordered as after_branches, unordered as fenced};
