//! Architectures whose counter this crate does not know: there is none.

use super::nominal::NominalFrequencies;
use crate::Unavailable;

/// No clocksource is a counter that is not known.
pub const CLOCKSOURCE: Option<&str> = None;

/// Nothing is known of it.
#[must_use]
pub fn is_invariant() -> Option<bool> {
    None
}

/// Nothing is stated.
#[must_use]
pub fn nominal_frequencies() -> NominalFrequencies {
    NominalFrequencies::default()
}

/// Checks that this processor has the counter.
///
/// # Errors
/// Always.
pub fn has_counter() -> Result<(), Unavailable> {
    Err(Unavailable::Missing("this architecture's counter is not known".into()))
}

/// Returns 0: there is nothing to read. Never called, because [`super::EXISTS`] is asked before.
#[must_use]
pub fn unordered() -> u64 {
    0
}

pub use {unordered as after, unordered as after_branches, unordered as fenced};
