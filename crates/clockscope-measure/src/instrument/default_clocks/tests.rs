use clockscope_system::{ClockBasis, Entry, Errno, RawClock, Resolution, Unavailable, Unit, Visitor};

use super::*;
use crate::platform::ThisMachine;
use crate::questions::check::CHECK_REFERENCES;
use crate::questions::rate::RATE_REFERENCES;

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

fn info(name: &'static str, kind: ClockKind, path: ReadPath) -> ClockInfo {
    ClockInfo::new(name, kind, path, Resolution::Nanoseconds(100.0), "of a test")
}

fn catalog(clocks: Vec<ClockInfo>) -> Catalog<ThisMachine> {
    let mut catalog = Catalog { entries: Vec::new() };
    for info in clocks {
        catalog.visit(Entry { info, clock: Ok::<_, Unavailable>(Unread) });
    }
    catalog
}

/// A system whose stopwatch counts, is not steered, goes on during a suspend, and has no path by a
/// vDSO, as Windows' is; none of its clocks has a name that Linux knows.
fn other_system() -> Catalog<ThisMachine> {
    let stopwatch = |path| ClockInfo {
        is_usual: true,
        is_steered: false,
        counts_suspend: true,
        unit: Unit::Counts(Some(1e7)),
        ..info("sandglass", ClockKind::Monotonic, path)
    };
    let counter = ClockInfo { basis: ClockBasis::Counter, ..info("cycle", ClockKind::Counter, ReadPath::Instruction) };
    let coarse = ClockInfo {
        is_coarse: true,
        is_steered: false,
        ..info("sundial", ClockKind::Monotonic, ReadPath::SystemLibrary)
    };
    let older = ClockInfo { is_wrapper: true, ..info("hourglass", ClockKind::Monotonic, ReadPath::Libc) };
    catalog(vec![
        counter,
        stopwatch(ReadPath::SystemLibrary),
        stopwatch(ReadPath::User),
        stopwatch(ReadPath::Syscall),
        ClockInfo { is_usual: true, ..info("calendar", ClockKind::Wall, ReadPath::SystemLibrary) },
        coarse,
        older,
        info("labor", ClockKind::CpuTime, ReadPath::SystemLibrary),
        info("laps", ClockKind::Cycles, ReadPath::Instruction),
        ClockInfo { is_device: true, ..info("pendulum", ClockKind::Wall, ReadPath::Syscall) },
        ClockInfo { is_wrapper: true, ..info("std", ClockKind::Monotonic, ReadPath::Std) },
        info("own", ClockKind::Monotonic, ReadPath::Library),
        ClockInfo {
            is_wrapper: true,
            is_ordered: false,
            ..info("own_unordered", ClockKind::Monotonic, ReadPath::Library)
        },
    ])
}

#[test]
fn clocks_of_any_names_are_chosen_by_their_facts() {
    let all = other_system();
    assert_eq!(names(&all, is_systems), ["sandglass", "calendar", "sundial", "labor"]);
    assert_eq!(names(&all, may_have_own_rate), ["sandglass", "calendar", "pendulum", "own"]);
    assert_eq!(names(&all, is_handed_on), ["sandglass", "calendar", "sundial", "std", "own"]);
    assert_eq!(references(&all, &CHECK_REFERENCES), ["sandglass:syscall"]);
    assert_eq!(references(&all, &RATE_REFERENCES), ["sandglass:syscall", "std"]);
    assert_eq!(stopwatch_by(&all, ReadPath::is_usual).as_deref(), Some("sandglass"));
    assert_eq!(stopwatch_by(&all, |path| path == ReadPath::Vdso), None);
}

/// A system of which Rust's clocks alone are known.
#[test]
fn where_no_clock_is_the_systems_own_none_is_taken_for_it() {
    let all = catalog(vec![ClockInfo { is_wrapper: true, ..info("std", ClockKind::Monotonic, ReadPath::Std) }]);
    assert_eq!(names(&all, is_systems), [""; 0]);
    assert_eq!(references(&all, &CHECK_REFERENCES), [""; 0]);
    assert_eq!(references(&all, &RATE_REFERENCES), ["std"]);
    assert_eq!(stopwatch_by(&all, |_| true), None);
}

/// The clocks that these questions have always taken on Linux.
#[test]
#[cfg(target_os = "linux")]
fn the_clocks_of_linux_are_chosen() {
    let mut all = Catalog::new(&ThisMachine);
    all.entries.retain(|row| !row.info.is_device);
    let posix = ["realtime", "realtime_coarse", "tai", "monotonic", "monotonic_coarse", "monotonic_raw", "boottime"];
    assert_eq!(names(&all, is_systems), [&posix[..], &["process", "thread"]].concat());
    assert_eq!(
        names(&all, may_have_own_rate),
        ["realtime", "tai", "monotonic", "monotonic_raw", "boottime", "clockscope.now"]
    );
    let handed_on = ["realtime", "monotonic", "monotonic_coarse", "monotonic_raw", "rust_instant", "clockscope.now"];
    assert_eq!(names(&all, is_handed_on), handed_on);
    let by = |kinds: &[ReferenceKind]| references(&all, kinds);
    assert_eq!(by(&CHECK_REFERENCES), ["monotonic_raw:syscall", "monotonic:syscall", "monotonic_raw:vdso"]);
    assert_eq!(
        by(&RATE_REFERENCES),
        ["monotonic_raw:vdso", "monotonic_raw:syscall", "monotonic:syscall", "rust_instant"]
    );
    assert_eq!(stopwatch_by(&all, ReadPath::is_usual).as_deref(), Some("monotonic"));
}

/// Windows has no clock of Linux' names.
#[test]
#[cfg(windows)]
fn the_clocks_of_windows_are_chosen() {
    let all = Catalog::new(&ThisMachine);
    assert_eq!(stopwatch_by(&all, ReadPath::is_usual).as_deref(), Some("query_performance_counter"));
    for kinds in [&CHECK_REFERENCES[..], &RATE_REFERENCES] {
        assert_eq!(references(&all, kinds).first().map(String::as_str), Some("query_performance_counter:syscall"));
    }
}
