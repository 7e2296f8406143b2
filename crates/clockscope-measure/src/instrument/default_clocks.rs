//! Choice of the clocks that a question takes if none is named: by the facts that clocks state
//! about themselves, whatever their names.

use clockscope_system::{ClockInfo, ClockKind, ReadPath};

use crate::instrument::catalog::Catalog;
use crate::platform::Platform;

/// Returns true if programs of this system usually measure intervals by it.
pub(crate) fn is_stopwatch(info: &ClockInfo) -> bool {
    info.is_usual && info.kind == ClockKind::Monotonic
}

/// Returns true if the system itself serves it, under its own name.
pub(crate) fn is_systems(info: &ClockInfo) -> bool {
    let is_other = info.is_wrapper || info.is_device || info.is_counter();
    !is_other && info.kind != ClockKind::Cycles && info.path != ReadPath::Library
}

/// Returns true if nothing steers the clock of this name, as records have it.
pub(crate) fn is_unsteered<P: Platform>(catalog: &Catalog<P>, label: &str) -> bool {
    catalog.entries.iter().any(|row| row.label() == label && !row.info.is_steered)
}

/// Returns true if it may run at a rate of its own, and shows that in a second.
pub(crate) fn may_have_own_rate(info: &ClockInfo) -> bool {
    info.is_device || !info.is_wrapper && !info.is_coarse && matches!(info.kind, ClockKind::Monotonic | ClockKind::Wall)
}

/// Returns true if its order across CPUs is tested beside the counter's: what programs usually
/// read, and what they measure intervals by, as the system and Rust's standard library have it.
pub(crate) fn is_handed_on(info: &ClockInfo) -> bool {
    let is_known = !info.is_wrapper || info.path == ReadPath::Std;
    let is_for_intervals = info.kind == ClockKind::Monotonic && info.is_ordered && !info.counts_suspend;
    info.is_usual || is_known && is_for_intervals
}

/// ClockKind of clock that may be the reference of rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceKind {
    /// A clock of the system that nobody steers, by this path.
    Unsteered(ReadPath),
    /// The clock by which programs of this system usually measure intervals, by this path.
    Stopwatch(ReadPath),
    /// Rust's own.
    Std,
}

impl ReferenceKind {
    fn includes(self, info: &ClockInfo) -> bool {
        let is_unsteered = !info.is_steered && !info.is_coarse && is_systems(info);
        info.kind == ClockKind::Monotonic
            && match self {
                Self::Unsteered(path) => is_unsteered && info.path == path,
                Self::Stopwatch(path) => is_stopwatch(info) && info.path == path,
                Self::Std => info.path == ReadPath::Std,
            }
    }
}

/// The names of the clocks that may be the reference, the best first.
pub(crate) fn references<P: Platform>(catalog: &Catalog<P>, kinds: &[ReferenceKind]) -> Vec<String> {
    let mut names = Vec::new();
    for kind in kinds {
        for row in catalog.entries.iter().filter(|row| kind.includes(&row.info)) {
            if !names.contains(&row.label()) {
                names.push(row.label());
            }
        }
    }
    names
}

/// The names of the clocks of which this is true, each once.
pub(crate) fn names<P: Platform>(catalog: &Catalog<P>, is_meant: impl Fn(&ClockInfo) -> bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in catalog.entries.iter().filter(|row| is_meant(&row.info)) {
        if !names.iter().any(|name| *name == row.info.name) {
            names.push(row.info.name.to_string());
        }
    }
    names
}

/// The name, with its path, of the clock by which programs of this system usually measure
/// intervals, by this path; `None` if there is none.
pub(crate) fn stopwatch_by<P: Platform>(catalog: &Catalog<P>, is_path: impl Fn(ReadPath) -> bool) -> Option<String> {
    let row = catalog.entries.iter().find(|row| is_stopwatch(&row.info) && is_path(row.info.path))?;
    Some(row.label())
}

#[cfg(test)]
mod tests;
