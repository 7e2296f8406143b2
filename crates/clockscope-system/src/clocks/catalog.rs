//! Catalog of every clock of every system: one row a clock, which backends, lists and facts follow.
//!
//! Backends take names, kinds, facts and the numbers of POSIX clocks from here, and add what the
//! machine states: resolution and frequency. The compiler refuses a name without a row for the
//! system.
//!
//! What this machine has is found by [`crate::os::each`], and not here.

mod row;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

#[cfg(unix)]
use crate::ClockInfo;

pub use crate::clocks::system::System;
pub use row::Cataloged;
pub use table::CLOCKS;

/// Returns the systems whose clocks have this name, in the order of [`System::ALL`].
#[must_use]
pub fn systems_with(name: &str) -> Vec<System> {
    systems_of(|clock| clock.bears(name))
}

/// Returns the systems that have this interface of their own, in the order of [`System::ALL`].
/// Languages have their calls on all of their systems.
#[must_use]
pub fn systems_with_interface(text: &str) -> Vec<System> {
    systems_of(|clock| clock.info.interface(text).is_some_and(|interface| interface.language.is_none()))
}

fn systems_of(is_meant: impl Fn(&Cataloged) -> bool) -> Vec<System> {
    let meant: Vec<&Cataloged> = CLOCKS.iter().filter(|clock| is_meant(clock)).collect();
    System::ALL.into_iter().filter(|system| meant.iter().any(|clock| clock.systems.contains(system))).collect()
}

/// Returns the row of a clock of this system. Panics if it has none, which the compiler reports
/// where [`cataloged!`] is used.
pub(crate) const fn row(name: &str) -> &'static Cataloged {
    let mut number = 0;
    while number < CLOCKS.len() {
        let clock = &CLOCKS[number];
        if let Cow::Borrowed(known) = clock.info.name
            && is_same(known, name)
            && is_of_here(clock.systems)
        {
            return clock;
        }
        number += 1;
    }
    panic!("the catalog has no clock of this name for this system")
}

/// Describes a clock of this system as the catalog does. That there is one is checked when it is
/// compiled.
macro_rules! cataloged {
    ($name:expr) => {{
        // An item, so that it is evaluated where code is only checked.
        const ROW: &$crate::clocks::catalog::Cataloged = $crate::clocks::catalog::row($name);
        ROW.info.clone()
    }};
}
pub(crate) use cataloged;

/// Returns the POSIX clocks of this system in the catalog's order, each with its number for
/// `clock_gettime`.
#[cfg(unix)]
pub(crate) fn posix_clocks() -> impl Iterator<Item = (&'static ClockInfo, libc::clockid_t)> {
    // The numbers were of this type before they were widened.
    CLOCKS.iter().filter_map(|clock| Some((&clock.info, clock.posix_id? as libc::clockid_t)))
}

/// Returns whether this is compiled for one of these systems. A system without rows has the clocks
/// of all systems.
const fn is_of_here(systems: &[System]) -> bool {
    let Some(here) = System::HERE else { return systems.len() == System::ALL.len() };
    let mut number = 0;
    while number < systems.len() {
        if systems[number] as u8 == here as u8 {
            return true;
        }
        number += 1;
    }
    false
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut number = 0;
    while number < one.len() && number < other.len() && one[number] == other[number] {
        number += 1;
    }
    number == one.len() && number == other.len()
}
