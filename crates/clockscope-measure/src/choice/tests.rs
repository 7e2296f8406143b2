use clockscope_sources::{ClockBasis, Entry, Errno, RawClock, Resolution, Unavailable, Unit, Visitor};

use super::*;
use crate::platform::ThisMachine;
use crate::rate::RATE_REFERENCES;
use crate::trust::TRUST_REFERENCES;

/// A clock that is never read.
struct Unread;

impl RawClock for Unread {
    type Raw = u64;

    fn read(&self, _: &mut u64) -> Result<(), Errno> {
        Ok(())
    }

    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

fn info(name: &'static str, kind: Kind, path: Path) -> ClockInfo {
    ClockInfo::new(name, kind, path, Resolution::Nanoseconds(100.0), "of a test")
}

fn catalogue(clocks: Vec<ClockInfo>) -> Catalogue<ThisMachine> {
    let mut catalogue = Catalogue { entries: Vec::new() };
    for info in clocks {
        catalogue.visit(Entry { info, clock: Ok::<_, Unavailable>(Unread) });
    }
    catalogue
}

/// A system whose stopwatch counts, is not steered, goes on during a suspend, and has no path by a
/// vDSO, as Windows' is; none of its clocks has a name that Linux knows.
fn other_system() -> Catalogue<ThisMachine> {
    let stopwatch = |path| ClockInfo {
        is_usual: true,
        is_steered: false,
        counts_suspend: true,
        unit: Unit::Counts(Some(1e7)),
        ..info("sandglass", Kind::Monotonic, path)
    };
    let counter = ClockInfo { basis: ClockBasis::Counter, ..info("cycle", Kind::Counter, Path::Instruction) };
    let coarse =
        ClockInfo { is_coarse: true, is_steered: false, ..info("sundial", Kind::Monotonic, Path::SystemLibrary) };
    let older = ClockInfo { is_guise: true, ..info("hourglass", Kind::Monotonic, Path::Libc) };
    catalogue(vec![
        counter,
        stopwatch(Path::SystemLibrary),
        stopwatch(Path::User),
        stopwatch(Path::Syscall),
        ClockInfo { is_usual: true, ..info("calendar", Kind::Wall, Path::SystemLibrary) },
        coarse,
        older,
        info("labor", Kind::CpuTime, Path::SystemLibrary),
        info("laps", Kind::Cycles, Path::Instruction),
        ClockInfo { is_device: true, ..info("pendulum", Kind::Wall, Path::Syscall) },
        ClockInfo { is_guise: true, ..info("std", Kind::Monotonic, Path::Std) },
        info("own", Kind::Monotonic, Path::Library),
        ClockInfo { is_guise: true, is_ordered: false, ..info("own_unordered", Kind::Monotonic, Path::Library) },
    ])
}

#[test]
fn clocks_of_any_names_are_chosen_by_their_facts() {
    let all = other_system();
    assert_eq!(names(&all, is_systems), ["sandglass", "calendar", "sundial", "labor"]);
    assert_eq!(names(&all, may_have_own_rate), ["sandglass", "calendar", "pendulum", "own"]);
    assert_eq!(names(&all, is_handed_on), ["sandglass", "calendar", "sundial", "std", "own"]);
    assert_eq!(references(&all, &TRUST_REFERENCES), ["sandglass:syscall"]);
    assert_eq!(references(&all, &RATE_REFERENCES), ["sandglass:syscall", "std"]);
    assert_eq!(stopwatch_by(&all, Path::is_usual).as_deref(), Some("sandglass"));
    assert_eq!(stopwatch_by(&all, |path| path == Path::Vdso), None);
}

/// A system of which Rust's clocks alone are known.
#[test]
fn where_no_clock_is_the_systems_own_none_is_taken_for_it() {
    let all = catalogue(vec![ClockInfo { is_guise: true, ..info("std", Kind::Monotonic, Path::Std) }]);
    assert_eq!(names(&all, is_systems), [""; 0]);
    assert_eq!(references(&all, &TRUST_REFERENCES), [""; 0]);
    assert_eq!(references(&all, &RATE_REFERENCES), ["std"]);
    assert_eq!(stopwatch_by(&all, |_| true), None);
}

/// The clocks that these questions have always taken on Linux.
#[test]
#[cfg(target_os = "linux")]
fn the_clocks_of_linux_are_chosen() {
    let mut all = Catalogue::new(&ThisMachine);
    all.entries.retain(|row| !row.info.is_device);
    let posix = ["realtime", "realtime_coarse", "monotonic", "monotonic_coarse", "monotonic_raw", "boottime", "tai"];
    assert_eq!(names(&all, is_systems), [&posix[..], &["process", "thread"]].concat());
    assert_eq!(
        names(&all, may_have_own_rate),
        ["realtime", "monotonic", "monotonic_raw", "boottime", "tai", "clockscope.now"]
    );
    let handed_on = ["realtime", "monotonic", "monotonic_coarse", "monotonic_raw", "rust_instant", "clockscope.now"];
    assert_eq!(names(&all, is_handed_on), handed_on);
    let by = |kinds: &[ReferenceKind]| references(&all, kinds);
    assert_eq!(by(&TRUST_REFERENCES), ["monotonic_raw:syscall", "monotonic:syscall", "monotonic_raw:vdso"]);
    assert_eq!(
        by(&RATE_REFERENCES),
        ["monotonic_raw:vdso", "monotonic_raw:syscall", "monotonic:syscall", "rust_instant"]
    );
    assert_eq!(stopwatch_by(&all, Path::is_usual).as_deref(), Some("monotonic"));
}

/// Windows has no clock of Linux' names.
#[test]
#[cfg(windows)]
fn the_clocks_of_windows_are_chosen() {
    let all = Catalogue::new(&ThisMachine);
    assert_eq!(stopwatch_by(&all, Path::is_usual).as_deref(), Some("query_performance_counter"));
    for kinds in [&TRUST_REFERENCES[..], &RATE_REFERENCES] {
        assert_eq!(references(&all, kinds).first().map(String::as_str), Some("query_performance_counter:syscall"));
    }
}
