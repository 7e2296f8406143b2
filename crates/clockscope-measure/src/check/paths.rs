//! Comparison of the ways by which one clock is read: the C library, the vDSO and the system call.
//!
//! A reading by the C library or the vDSO is taken between two by the system call, which only the
//! kernel answers. One that does not lie between them, again and again, is of another clock.

use clockscope_records::ReadPath;
use clockscope_system::Unit;

use crate::bench::Setup;
use crate::catalog::{Catalog, CatalogEntry, Paths};
use crate::error::MeasureError;
use crate::platform::Platform;

/// Readings of each path, and how many of them have to be outside before the path is off: a clock
/// that is set meanwhile shows in one.
const ROUNDS: usize = 32;
const FEWEST_OUTSIDE: usize = 24;
/// A path that is off by no more than this, in ns, is right.
const SLACK_NS: i64 = 1000;

/// One clock by one of its paths, beside the system call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ComparedPath {
    /// The clock's name, without a path.
    pub(crate) clock: String,
    /// The path.
    pub(crate) path: ReadPath,
    /// Its lead over the system call, in ns, where it is off.
    pub(crate) off_ns: Option<f64>,
    /// Time within which the tightest of its readings was taken, in ns: so much may be hidden.
    /// `None` where the two could not be compared.
    pub(crate) within_ns: Option<f64>,
}

/// Compares each path of these clocks with their system call; no path of a clock that has none, or
/// whose readings are not ns.
pub(crate) fn find<P: Platform>(setup: &Setup<'_, P>, names: &[String]) -> Result<Vec<ComparedPath>, MeasureError> {
    // No name stands for all clocks.
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<String> = names.iter().map(|name| crate::rate::base_name(name).to_owned()).collect();
    let catalog = Catalog::new(setup.session.platform).select(&names, Paths::All)?.tried(setup.session)?;
    let by_call =
        |entry: &CatalogEntry<P>| entry.info.path == ReadPath::Syscall && entry.info.unit == Unit::Nanoseconds;
    let calls = catalog.entries.iter().filter(|entry| by_call(entry));
    let compared = calls.flat_map(|call| {
        let of_clock = |entry: &&CatalogEntry<P>| entry.info.name == call.info.name && !by_call(entry);
        catalog.entries.iter().filter(of_clock).map(|entry| {
            let (off_ns, within_ns) = compare(entry, call).unwrap_or_default();
            ComparedPath { clock: entry.info.name.to_string(), path: entry.info.path, off_ns, within_ns }
        })
    });
    Ok(compared.collect())
}

/// Returns by how much one path leads the system call, if it is off, and within what both agree
/// otherwise; `None` where one of them refuses, and where too few readings say the same.
fn compare<P: Platform>(entry: &CatalogEntry<P>, call: &CatalogEntry<P>) -> Option<(Option<f64>, Option<f64>)> {
    let (path, call) = (entry.sampler.as_ref().ok()?, call.sampler.as_ref().ok()?);
    let (mut outside, mut within_ns) = (Vec::new(), f64::INFINITY);
    for _ in 0..ROUNDS {
        let [before, by_path, after] = [call.now().ok()?, path.now().ok()?, call.now().ok()?];
        let [since, until] = [before, after].map(|call| by_path.wrapping_sub(call) as i64);
        // It lies between them if it is not before the first and not after the second.
        let off_ns = since.min(0) + until.max(0);
        if off_ns.abs() > SLACK_NS {
            outside.push(off_ns);
        }
        within_ns = within_ns.min(after.wrapping_sub(before) as i64 as f64);
    }
    outside.sort_unstable();
    let is_off = outside.len() >= FEWEST_OUTSIDE;
    let off_ns = is_off.then(|| outside[outside.len() / 2] as f64);
    let is_known = is_off || outside.len() <= ROUNDS - FEWEST_OUTSIDE;
    is_known.then_some((off_ns, Some(within_ns)))
}
