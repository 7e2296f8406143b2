//! Comparison of the ways by which one clock is read: the C library, the vDSO and the system call.
//!
//! A reading by the C library or the vDSO is taken between two by the system call, which only the
//! kernel answers. One that does not lie between them, again and again, is of another clock. Where
//! the system call is refused, the vDSO takes its place. Older calls for the time of day and those
//! of languages have no system call of their name: they show CLOCK_REALTIME in a unit of their own.

use clockscope_records::ReadPath;
use clockscope_system::{ClockInfo, Unit};

use crate::instrument::bench::Setup;
use crate::instrument::catalog::{Catalog, CatalogEntry, Paths};
use crate::instrument::error::MeasureError;
use crate::platform::Platform;

/// Readings of each path, and how many of them have to be outside before the path is off: a clock
/// that is set meanwhile shows in one.
const ROUNDS: usize = 32;
const MIN_OUTSIDE: usize = 24;
/// A path that is off by no more than this, in ns, is right.
const TOLERANCE_NS: i64 = 1000;
/// Largest lag of a call that the timer tick moves behind the clock that it shows, in ns: ten ticks
/// of the slowest kernel.
const MAX_TICK_LAG_NS: i64 = 100_000_000;

/// One clock by one of its paths, beside another that is closer to the kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ComparedPath {
    /// The clock's name, without a path.
    pub(crate) clock: String,
    /// The path.
    pub(crate) path: ReadPath,
    /// The path that it was compared with: the system call, or the vDSO where that is refused.
    pub(crate) reference: ReadPath,
    /// Its lead over that, in ns, where it is off.
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
    let named: Vec<&str> = names.iter().map(|name| crate::questions::rate::base_name(name)).collect();
    let catalog = Catalog::new(setup.session.platform);
    let wall_clocks =
        catalog.entries.iter().filter(|entry| is_usual_time_of_day(&entry.info)).map(|entry| entry.info.name.as_ref());
    let names: Vec<String> = named.iter().copied().chain(wall_clocks).map(str::to_owned).collect();
    let catalog = catalog.select(&names, Paths::All)?.tried(setup.session)?;
    let mut compared = Vec::new();
    for entry in &catalog.entries {
        let is_named = named.iter().any(|name| entry.info.name == *name || entry.info.aliases.contains(name));
        if is_named && let Some(reference) = reference(&catalog, entry) {
            let (off_ns, within_ns) = compare(entry, reference).unwrap_or_default();
            let (clock, reference) = (entry.info.name.to_string(), reference.info.path);
            compared.push(ComparedPath { clock, path: entry.info.path, reference, off_ns, within_ns });
        }
    }
    Ok(compared)
}

/// Returns true if programs of this system usually read the time of day by it.
fn is_usual_time_of_day(info: &ClockInfo) -> bool {
    info.is_usual && info.is_wall()
}

/// Returns true if a call shows that clock by another name.
fn is_wrapper(info: &ClockInfo) -> bool {
    info.is_wrapper && info.is_wall()
}

/// Returns what the readings of a path are compared with: the same clock by the system call, or by
/// the vDSO where that is refused; `None` of those two themselves.
fn reference<'a, P: Platform>(catalog: &'a Catalog<P>, entry: &CatalogEntry<P>) -> Option<&'a CatalogEntry<P>> {
    let call = by_path(catalog, entry, ReadPath::Syscall)?;
    match by_path(catalog, entry, ReadPath::Vdso) {
        Some(vdso) if call.sampler.is_err() && vdso.sampler.is_ok() => Some(vdso),
        _ => Some(call),
    }
}

/// Returns the clock by another path, if its readings are ns.
fn by_path<'a, P: Platform>(
    catalog: &'a Catalog<P>,
    entry: &CatalogEntry<P>,
    path: ReadPath,
) -> Option<&'a CatalogEntry<P>> {
    if entry.info.path == path {
        return None;
    }
    catalog.entries.iter().find(|other| {
        let other = &other.info;
        let is_same = if is_wrapper(&entry.info) { is_usual_time_of_day(other) } else { other.name == entry.info.name };
        is_same && other.path == path && other.unit == Unit::Nanoseconds
    })
}

/// Returns the lead of one path over the other in ns, if it is off, and within what both agree
/// otherwise; `None` where one of them refuses, and where too few readings say the same.
fn compare<P: Platform>(entry: &CatalogEntry<P>, other: &CatalogEntry<P>) -> Option<(Option<f64>, Option<f64>)> {
    let (path, reference) = (entry.sampler.as_ref().ok()?, other.sampler.as_ref().ok()?);
    let behind_ns = most_behind_ns(&entry.info);
    let (mut outside, mut within_ns) = (Vec::new(), f64::INFINITY);
    for _ in 0..ROUNDS {
        let [before, by_path, after] = [reference.now().ok()?, path.now().ok()?, reference.now().ok()?];
        let [since, until] = [before, after].map(|other| by_path.wrapping_sub(other) as i64);
        // It lies between them if it is not before the first and not after the second.
        let off_ns = (since.saturating_add(behind_ns)).min(0) + until.max(0);
        if off_ns.abs() > TOLERANCE_NS {
            outside.push(off_ns);
        }
        within_ns = within_ns.min((after.wrapping_sub(before) as i64).saturating_add(behind_ns) as f64);
    }
    outside.sort_unstable();
    let is_off = outside.len() >= MIN_OUTSIDE;
    let off_ns = is_off.then(|| outside[outside.len() / 2] as f64);
    let is_known = is_off || outside.len() <= ROUNDS - MIN_OUTSIDE;
    is_known.then_some((off_ns, Some(within_ns)))
}

/// Returns the largest lag of a call of another name behind the clock that it shows, in ns: its
/// unit, and what the timer tick leaves it behind.
fn most_behind_ns(info: &ClockInfo) -> i64 {
    if !is_wrapper(info) {
        return 0;
    }
    let unit_ns = info.nominal_resolution_ns(None).get().unwrap_or(1.0);
    unit_ns as i64 + if info.is_coarse { MAX_TICK_LAG_NS } else { 0 }
}
