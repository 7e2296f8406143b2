//! All clocks of a machine, by name.

use clockscope_records::{ClockIdentity, ClockReason, Figure, Listed, ReadPath, Unknown, texts};
use clockscope_system::child_read::SeveralThreads;
use clockscope_system::clocksource;
use clockscope_system::{ClockBasis, ClockInfo, Entry, RawClock, Visitor};

use crate::instrument::pair::sampler::PairSampler;
use crate::instrument::sampler::{Probe, Sampler};
use crate::instrument::session::Session;
use crate::platform::failure_reason::{self, PATIENCE_MS};
use crate::platform::{Platform, ThisMachine};

/// All clocks that clockscope knows on a machine, those that cannot be read included.
pub struct Catalog<P: Platform = ThisMachine> {
    pub(crate) entries: Vec<CatalogEntry<P>>,
}

/// A clock whose type was forgotten.
pub(crate) struct CatalogEntry<P: Platform> {
    pub(crate) info: ClockInfo,
    /// The clock, or why there is none.
    pub(crate) sampler: Result<Box<dyn ErasedClock<P>>, ClockReason>,
}

/// A clock whose type was forgotten, for one thread or two.
pub(crate) trait ErasedClock<P: Platform>: Sampler<P> + PairSampler<P> {}

impl<P: Platform, T: Sampler<P> + PairSampler<P>> ErasedClock<P> for T {}

/// The path by which a clock that has several is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// The C library, or the system's own where that has the call, as most programs do.
    #[default]
    Libc,
    /// The vDSO, resolved by clockscope.
    Vdso,
    /// The system call, without the C library.
    Syscall,
    /// All three, a row each.
    All,
}

/// The name of the processor's counter on the command line and in policies, whatever the
/// architecture calls it: its first ordered reading sequence, where one is read.
pub(crate) const COUNTER: &str = "counter";

/// Prefix of the names of POSIX clocks in C.
const C_PREFIX: &str = "clock_";

/// The names that one on the command line may mean, the likeliest first: in small letters, and
/// without C's prefix.
pub(crate) fn spellings(name: &str) -> impl Iterator<Item = String> {
    let name = name.to_ascii_lowercase();
    let bare = name.strip_prefix(C_PREFIX).map(str::to_owned);
    std::iter::once(name).chain(bare)
}

/// Splits the text of an interface from the path behind a colon: `std::chrono::steady_clock:vdso`.
fn split_path(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((interface, path)) if !interface.ends_with(':') => (interface, Some(path)),
        _ => (text, None),
    }
}

/// A name that no clock bears.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown clock: {name}")]
pub struct UnknownClock {
    /// The name that was asked for.
    pub name: String,
    /// All names and aliases that there are.
    pub known: Vec<String>,
}

impl<P: Platform> Visitor for Catalog<P> {
    fn visit<C: RawClock + 'static>(&mut self, entry: Entry<C>) {
        let sampler = entry.clock.map(|clock| Box::new(Probe::new(clock)) as Box<dyn ErasedClock<P>>);
        self.entries.push(CatalogEntry { info: entry.info, sampler: sampler.map_err(failure_reason::unavailable) });
    }
}

impl<P: Platform> Catalog<P> {
    /// Looks what there is. Opens devices and asks for nominal resolutions, but reads no clock.
    #[must_use]
    pub fn new(platform: &P) -> Self {
        let mut catalog = Self::counters(platform);
        platform.clocks(&mut catalog);
        catalog
    }

    /// The processor's counter alone, in all its reading sequences.
    pub(crate) fn counters(platform: &P) -> Self {
        let mut catalog = Self { entries: Vec::new() };
        platform.counters(&mut catalog);
        catalog
    }

    /// Keeps the clocks of these names (all of them for an empty list), each by the paths asked
    /// for. A name may bear a path of its own: `monotonic:vdso`.
    ///
    /// # Errors
    /// The first name that no clock bears.
    pub fn select(mut self, names: &[String], paths: Paths) -> Result<Self, UnknownClock> {
        let mut keep: Vec<bool> =
            self.entries.iter().map(|row| names.is_empty() && self.reached_by(row, paths)).collect();
        for name in names {
            for index in self.indices(name, paths)? {
                keep[index] = true;
            }
        }
        self.keep(&keep);
        Ok(self)
    }

    /// Places of the clocks of this name: one, or one a path. Names are those of `clockscope list`,
    /// in capitals as well, with C's prefix, or [`COUNTER`].
    pub(crate) fn indices(&self, name: &str, paths: Paths) -> Result<Vec<usize>, UnknownClock> {
        let mut found = spellings(name).map(|name| self.bearing(&name, paths));
        let mut indices = found.find(|indices| !indices.is_empty()).unwrap_or_default();
        if indices.is_empty() {
            indices = self.read_by(name, paths);
        }
        if indices.is_empty() && name.eq_ignore_ascii_case(COUNTER) {
            indices.extend(self.entries.iter().position(|row| row.info.is_counter() && row.info.is_ordered));
        }
        if indices.is_empty() { Err(self.unknown(name)) } else { Ok(indices) }
    }

    /// The error of a name that no clock bears.
    pub(crate) fn unknown(&self, name: &str) -> UnknownClock {
        UnknownClock { name: name.to_owned(), known: self.names() }
    }

    /// Places of the clocks that bear this name, as it is spelled.
    fn bearing(&self, name: &str, paths: Paths) -> Vec<usize> {
        (0..self.entries.len()).filter(|index| self.is_meant(&self.entries[*index], name, paths)).collect()
    }

    /// Places of the clocks that programs read by this interface: of the call itself where that is
    /// measured.
    fn read_by(&self, text: &str, paths: Paths) -> Vec<usize> {
        let (text, path) = split_path(text);
        let mut read: Vec<usize> = Vec::new();
        let mut calls = Vec::new();
        for (index, row) in self.entries.iter().enumerate() {
            let is_path = path.map_or_else(|| self.reached_by(row, paths), |path| path_name(row.info.path) == path);
            if is_path && row.info.interface(text).is_some() {
                if row.info.is_wrapper { &mut calls } else { &mut read }.push(index);
            }
        }
        if calls.is_empty() { read } else { calls }
    }

    /// Returns the clock that is measured where a call of a language was named, and that language;
    /// `None` for other names.
    #[must_use]
    pub fn behind_call(&self, text: &str) -> Option<(&str, &'static str)> {
        let found = self.indices(text, Paths::Libc).ok()?;
        let info = &self.entries[*found.first()?].info;
        let is_name = spellings(text).any(|name| info.name == name || info.aliases.contains(&name.as_str()));
        if is_name || info.is_wrapper {
            return None;
        }
        Some((&info.name, info.interface(split_path(text).0)?.language?))
    }

    /// Leaves out clocks whose nominal resolution is longer than this, in ns: within such a time,
    /// all of their readings may be the same.
    #[must_use]
    pub fn stepping_within(mut self, longest_ns: f64) -> Self {
        self.entries
            .retain(|row| row.info.nominal_resolution_ns(None).get().is_none_or(|step_ns| step_ns <= longest_ns));
        self
    }

    /// Keeps those that are marked.
    pub(crate) fn keep(&mut self, marks: &[bool]) {
        let mut marks = marks.iter();
        self.entries.retain(|_| marks.next().is_some_and(|mark| *mark));
    }

    fn is_meant(&self, row: &CatalogEntry<P>, name: &str, paths: Paths) -> bool {
        let (name, is_path) = match name.split_once(':') {
            Some((name, path)) => (name, path_name(row.info.path) == path),
            None => (name, self.reached_by(row, paths)),
        };
        is_path && (row.info.name == name || row.info.aliases.contains(&name))
    }

    /// Clocks with one path only are read by that one, whatever was asked for.
    pub(crate) fn reached_by(&self, row: &CatalogEntry<P>, paths: Paths) -> bool {
        let is_requested = match (paths, row.info.path) {
            (Paths::All, _) => true,
            (Paths::Libc, path) => path.is_usual(),
            (Paths::Vdso, path) => path == ReadPath::Vdso,
            (Paths::Syscall, path) => path == ReadPath::Syscall,
        };
        is_requested || self.entries.iter().filter(|other| other.info.name == row.info.name).count() == 1
    }

    /// All names and aliases, without repetition, in the order of the catalog.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.names_where(|_| true)
    }

    /// All names and aliases but those of devices, which differ from machine to machine.
    #[must_use]
    pub fn names_without_devices(&self) -> Vec<String> {
        self.names_where(|info| !info.is_device)
    }

    fn names_where(&self, is_wanted: impl Fn(&ClockInfo) -> bool) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for row in self.entries.iter().filter(|row| is_wanted(&row.info)) {
            for name in std::iter::once(row.info.name.as_ref()).chain(row.info.aliases.iter().copied()) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    /// Reads every clock once in a child process, because a read may kill its process or never
    /// return, and turns those that did not answer into their reasons.
    ///
    /// # Errors
    /// The process has more than one thread.
    pub fn tried(mut self, session: &Session<'_, P>) -> Result<Self, SeveralThreads> {
        let entries = &mut self.entries;
        let outcomes =
            session.platform.attempt(entries.len(), PATIENCE_MS, &mut |index| match &mut entries[index].sampler {
                Ok(sampler) => sampler.attempt(),
                // Known beforehand; there is nothing to try.
                Err(_) => Ok(()),
            })?;
        for (row, outcome) in entries.iter_mut().zip(outcomes) {
            let refused = failure_reason::refused(outcome, session.counter_readable());
            if let (Ok(_), Some(reason)) = (&row.sampler, refused) {
                row.sampler = Err(reason);
            }
        }
        Ok(self)
    }

    /// Returns how many clocks and paths there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.entries.len()
    }

    /// Clocks and paths that there are, as records, with this clocksource of the kernel.
    #[must_use]
    pub fn list(&self, clocksource: Option<&str>) -> Vec<Listed> {
        self.entries.iter().map(|row| row.listed(clocksource)).collect()
    }
}

impl<P: Platform> CatalogEntry<P> {
    /// Returns why it cannot be read; `None` if it can.
    pub(crate) fn failure_reason(&self) -> Option<&ClockReason> {
        self.sampler.as_ref().err()
    }

    fn listed(&self, clocksource: Option<&str>) -> Listed {
        Listed {
            identity: identity(&self.info, clocksource),
            available: self.sampler.is_ok(),
            reason: self.failure_reason().cloned().map(Unknown::from),
            nominal_resolution_ns: self.info.nominal_resolution_ns(None),
        }
    }

    /// Its name, with the path where that is not the usual one: what the command accepts.
    pub(crate) fn label(&self) -> String {
        identity(&self.info, None).label()
    }
}

/// Returns the facts of a clock as a record: what depends on the machine, by the kernel's
/// clocksource.
pub(crate) fn identity(info: &ClockInfo, clocksource: Option<&str>) -> ClockIdentity {
    let counter_based = match (info.basis, clocksource) {
        (ClockBasis::Counter, _) => Figure::Known(true),
        (ClockBasis::Clocksource, Some(name)) => clocksource::is_counter_based(name)
            .ok_or_else(|| format!("this program does not know the clocksource {name}"))
            .into(),
        (ClockBasis::Clocksource, None) => Figure::unknown(texts::CLOCKSOURCE_HIDDEN),
        (ClockBasis::Scheduler, _) => Figure::unknown(texts::SCHEDULER_HIDDEN),
        (ClockBasis::Other, _) => Figure::Known(false),
    };
    ClockIdentity {
        basis: info.basis,
        counter_based,
        is_ordered: info.is_ordered,
        is_coarse: info.is_coarse,
        is_wall: info.is_wall(),
        is_cpu_time: info.is_cpu_time(),
        is_steered: info.is_steered,
        counts_suspend: info.counts_suspend,
        is_device: info.is_device,
        is_usual: info.is_usual,
        is_wrapper: info.is_wrapper,
        name: info.name.to_string(),
        aliases: info.aliases.iter().map(ToString::to_string).collect(),
        // Programs read it by its usual path.
        interfaces: if info.path.is_usual() { info.interfaces } else { &[] }
            .iter()
            .map(|interface| interface.path.to_owned())
            .collect(),
        kind: info.kind,
        path: info.path,
        description: info.description.to_owned(),
    }
}

/// A path as a clock's name has it behind a colon. No clock has two of the same word.
fn path_name(path: ReadPath) -> &'static str {
    match path {
        ReadPath::SystemLibrary => "library",
        path => path.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(names: &[&str], paths: Paths) -> Result<Vec<String>, UnknownClock> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let catalog = Catalog::new(&ThisMachine).select(&names, paths)?;
        Ok(catalog.entries.iter().map(|row| format!("{}:{}", row.info.name, path_name(row.info.path))).collect())
    }

    #[test]
    fn every_name_and_alias_selects_its_clock_by_each_path() {
        let catalog = Catalog::new(&ThisMachine);
        for name in catalog.names() {
            for paths in [Paths::Libc, Paths::Vdso, Paths::Syscall] {
                assert_eq!(selected(&[&name], paths).unwrap().len(), 1, "{name}");
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn names_are_taken_as_users_write_them() {
        let one = |name| selected(&[name], Paths::Libc).map(|found| found.concat());
        assert_eq!(one("CLOCK_MONOTONIC").unwrap(), "monotonic:libc");
        assert_eq!(one("clock_realtime:vdso").unwrap(), "realtime:vdso");
        assert_eq!(one("Monotonic_Raw:SYSCALL").unwrap(), "monotonic_raw:syscall");
        // Calls of languages, and the one that is measured itself.
        for call in ["System.nanoTime()", "std::chrono::steady_clock", "time.perf_counter_ns", "Stopwatch", "time.Now"]
        {
            assert_eq!(one(call).unwrap(), "monotonic:libc", "{call}");
        }
        assert_eq!(one("nanoTime:syscall").unwrap(), "monotonic:syscall");
        assert_eq!(Catalog::new(&ThisMachine).behind_call("nanoTime:syscall"), Some(("monotonic", "java")));
        for named in ["monotonic", "CLOCK_MONOTONIC", "std::time::Instant", "sundial"] {
            assert_eq!(Catalog::new(&ThisMachine).behind_call(named), None, "{named}");
        }
        assert_eq!(one("std::time::Instant").unwrap(), "rust_instant:std");
        // C's `clock` and its prefix are two things.
        assert_eq!(one("clock").unwrap(), "clock:libc");
        for name in ["CLOCK_", "clock_clock_monotonic", "monotonic ", ""] {
            assert_eq!(one(name).unwrap_err().name, name);
        }
        let catalog = Catalog::new(&ThisMachine);
        let counter = catalog.entries.iter().find(|row| row.info.is_counter() && row.info.is_ordered);
        assert_eq!(one("COUNTER").ok(), counter.map(|row| format!("{}:instruction", row.info.name)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn paths_are_selected_by_flag_or_by_name() {
        assert_eq!(selected(&["monotonic"], Paths::Vdso).unwrap(), ["monotonic:vdso"]);
        assert_eq!(
            selected(&["monotonic:syscall", "realtime_crs"], Paths::Libc).unwrap(),
            ["realtime_coarse:libc", "monotonic:syscall"]
        );
        assert_eq!(selected(&["monotonic", "monotonic"], Paths::All).unwrap().len(), 3);
        assert_eq!(selected(&["time"], Paths::Syscall).unwrap(), ["time:libc"]);
        assert_eq!(selected(&["monotonic:mmap"], Paths::All).unwrap_err().name, "monotonic:mmap");
    }

    /// As in any program that has started a thread: the harness of tests has several.
    #[test]
    #[cfg(target_os = "linux")]
    fn nothing_is_tried_beside_other_threads() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let session = Session::new(&ThisMachine, &stop);
        let refused = Catalog::counters(&ThisMachine).tried(&session).map(drop).unwrap_err();
        assert!(refused.threads > 1 && refused.to_string().contains("before other threads start"), "{refused}");
    }

    #[test]
    fn names_are_unique() {
        let names = Catalog::new(&ThisMachine).names();
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len());
    }
}
