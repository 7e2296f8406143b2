use super::System::*;
use super::table::{CORE, CYCLES, SERVED, STD, TICK, ns, unknown};
use super::*;
use crate::{ClockInfo, Entry, RawClock, ReadPath, Resolution, Visitor};

/// Systems, and rows that clockperf has on each: its name of a clock, and ours.
type Rows = (&'static [System], &'static [(&'static str, &'static str)]);

/// Clocks that clockperf lists, by its names, beside ours. MinGW's gettimeofday() is of that
/// compiler's library, and not of Windows.
const CLOCKPERF: &[Rows] = &[
    (
        &[Linux],
        &[
            ("tsc", "tsc"),
            ("cntvct", "cntvct"),
            ("tbr", "timebase"),
            ("gettimeofday", "gettimeofday"),
            ("realtime", "realtime"),
            ("realtime_crs", "realtime_coarse"),
            ("monotonic", "monotonic"),
            ("monotonic_crs", "monotonic_coarse"),
            ("monotonic_raw", "monotonic_raw"),
            ("boottime", "boottime"),
            ("process", "process"),
            ("thread", "thread"),
            ("clock", "clock"),
            ("getrusage", "getrusage"),
            ("ftime", "ftime"),
            ("time", "time"),
        ],
    ),
    (
        &[MacOs],
        &[
            ("tsc", "tsc"),
            ("cntvct", "cntvct"),
            ("gettimeofday", "gettimeofday"),
            ("mach_time", "mach_absolute_time"),
            ("realtime", "realtime"),
            ("monotonic", "monotonic"),
            ("monotonic_raw", "monotonic_raw"),
            ("monotonic_raw_approx", "monotonic_raw_approx"),
            ("uptime_raw", "uptime_raw"),
            ("uptime_raw_approx", "uptime_raw_approx"),
            ("process", "process"),
            ("thread", "thread"),
            ("clock", "clock"),
            ("ftime", "ftime"),
            ("time", "time"),
        ],
    ),
    (
        &[FreeBsd, NetBsd, OpenBsd],
        &[
            ("tsc", "tsc"),
            ("gettimeofday", "gettimeofday"),
            ("realtime", "realtime"),
            ("monotonic", "monotonic"),
            ("process", "process"),
            ("thread", "thread"),
            ("clock", "clock"),
            ("ftime", "ftime"),
            ("time", "time"),
        ],
    ),
    (&[FreeBsd], &[("boottime", "boottime"), ("realtime_crs", "realtime_fast"), ("monotonic_crs", "monotonic_fast")]),
    (&[OpenBsd], &[("boottime", "boottime")]),
    (
        &[Windows],
        &[
            ("tsc", "tsc"),
            ("cntvct", "cntvct"),
            ("time", "time"),
            ("PerfCounter", "query_performance_counter"),
            ("GetTickCount", "tick_count"),
            ("GetTickCount64", "tick_count64"),
            ("timeGetTime", "time_get_time"),
            ("SysTimeAsFile", "system_time"),
            ("SysTimePrecAsFile", "system_time_precise"),
            ("UnbiasIntTime", "unbiased_interrupt_time"),
        ],
    ),
];

#[test]
fn every_row_of_clockperf_is_a_clock_of_its_system() {
    for (systems, rows) in CLOCKPERF {
        for (system, (theirs, ours)) in systems.iter().flat_map(|system| rows.iter().map(move |row| (system, row))) {
            let is_it = |clock: &&Cataloged| clock.info.name == *ours && clock.systems.contains(system);
            assert!(CLOCKS.iter().any(|clock| is_it(&clock)), "{theirs} of {} is not there", system.name());
        }
    }
}

/// clockperf states 1 kHz for counts of milliseconds, and 10 MHz for FILETIME and interrupt
/// time.
#[test]
fn nominal_resolutions_of_windows_are_those_that_clockperf_states() {
    let row = |name: &str| CLOCKS.iter().find(|clock| clock.info.name == name && clock.systems == [Windows]).unwrap();
    for name in ["tick_count", "tick_count64", "time_get_time"] {
        assert_eq!(row(name).info.resolution, ns(1e6), "{name}");
    }
    for name in ["system_time", "system_time_precise", "unbiased_interrupt_time"] {
        assert_eq!(row(name).info.resolution, ns(100.0), "{name}");
    }
}

/// The clocks of this machine, collected from themselves, and whether each is there.
#[derive(Default)]
struct Here(Vec<(ClockInfo, bool)>);

impl Visitor for Here {
    fn visit<C: RawClock + 'static>(&mut self, entry: Entry<C>) {
        self.0.push((entry.info, entry.clock.is_ok()));
    }
}

#[test]
fn every_clock_of_this_machine_is_cataloged_as_it_is() {
    let Some(system) = System::HERE else { return };
    let mut here = Here::default();
    crate::clocks::counter::each(&mut here);
    crate::os::each(&mut here);
    crate::clocks::library::each(&mut here);
    for (info, is_there) in here.0 {
        let name = if info.name.starts_with("ptp") { "ptp0" } else { &info.name };
        let is_it = |clock: &&Cataloged| clock.info.name == name && clock.systems.contains(&system);
        let clock = CLOCKS.iter().find(is_it).unwrap_or_else(|| panic!("{name} of {system:?} is not there"));
        assert_eq!((clock.info.kind, clock.info.aliases), (info.kind, info.aliases), "{name}");
        let (documented, reported) = (&clock.info.resolution, &info.resolution);
        assert!(
            !is_there || is_consistent(documented, reported),
            "{name}: {documented:?} is documented, {reported:?} stated"
        );
    }
}

/// Returns whether a clock that is there may state this, where that is documented: the same, or the
/// length of what depends on the machine.
fn is_consistent(documented: &Resolution, reported: &Resolution) -> bool {
    match (documented, reported) {
        (Resolution::OneCount, Resolution::Nanoseconds(ns)) => *ns > 0.0,
        (Resolution::Unknown(_), Resolution::Nanoseconds(ns)) => {
            *ns > 0.0 && ![STD, SERVED, CORE, CYCLES].contains(documented)
        }
        // A kernel without high-resolution timers states its timer tick.
        (Resolution::Nanoseconds(1.0), Resolution::Nanoseconds(ns)) => *ns == 1.0 || *ns >= 1e6,
        (_, Resolution::Unknown(words)) if words.starts_with("clock_getres") => true,
        _ => documented == reported,
    }
}

#[test]
fn a_resolution_that_is_not_as_documented_is_found() {
    for right in [
        (ns(1.0), ns(1.0)),
        (Resolution::OneCount, ns(0.4)),
        (Resolution::OneCount, Resolution::OneCount),
        (TICK, ns(4e6)),
        (STD, STD),
        (ns(1.0), ns(4e6)),
        (ns(1.0), unknown("clock_getres: EPERM")),
    ] {
        assert!(is_consistent(&right.0, &right.1), "{right:?}");
    }
    for wrong in [
        (ns(1.0), ns(1000.0)),
        (ns(1.0), TICK),
        (ns(1.0), Resolution::OneCount),
        (Resolution::OneCount, CORE),
        (TICK, ns(0.0)),
        (STD, ns(1.0)),
        (STD, SERVED),
        (CYCLES, ns(1.0)),
    ] {
        assert!(!is_consistent(&wrong.0, &wrong.1), "{wrong:?}");
    }
}

#[test]
fn a_system_has_one_clock_of_a_name() {
    for system in System::ALL {
        let mut names: Vec<&str> = Vec::new();
        for clock in CLOCKS.iter().filter(|clock| clock.systems.contains(&system)) {
            for name in clock.info.aliases.iter().copied().chain([&*clock.info.name]) {
                assert!(!names.contains(&name), "{name} of {} is there twice", system.name());
                names.push(name);
            }
        }
    }
}

/// Two rows cannot exchange their summaries: each has the words of its row's name, or of an alias.
#[test]
fn a_description_is_of_its_row() {
    for clock in CLOCKS {
        let (name, description) = (&*clock.info.name, clock.info.description);
        let lower = description.to_lowercase();
        let is_in =
            |name: &str| name.trim_end_matches(char::is_numeric).split(['_', '.']).all(|word| lower.contains(word));
        let is_of_name = match lower.strip_prefix("clock_").filter(|_| clock.info.path == ReadPath::Libc) {
            Some(constant) => {
                let constant = constant.split(',').next().unwrap();
                constant == name || constant == format!("{name}_cputime_id")
            }
            // WASI numbers its clocks (wasi_snapshot_preview1, clockid).
            None if clock.systems == [Wasi] => {
                let number = ["realtime", "monotonic", "process", "thread"].iter().position(|wasi| *wasi == name);
                number.is_some_and(|number| lower == format!("clock_time_get({number})"))
            }
            None => is_in(name) || clock.info.aliases.iter().copied().any(is_in),
        };
        assert!(is_of_name, "{name}: {description}");
        for (words, holds) in [
            ("moved by the", clock.info.is_coarse),
            ("updated at", clock.info.is_coarse),
            ("not steered", !clock.info.is_steered),
            ("through suspend", clock.info.counts_suspend),
            ("leaves out sleep", !clock.info.counts_suspend),
        ] {
            assert!(holds || !description.contains(words), "{name}: {description}");
        }
    }
}

#[test]
fn a_name_leads_to_its_systems() {
    assert_eq!(systems_with("monotonic_raw_approx"), [MacOs]);
    assert_eq!(systems_with("mach_time"), [MacOs]);
    assert_eq!(systems_with("qpc"), [Windows]);
    assert_eq!(systems_with("uptime"), [FreeBsd, OpenBsd]);
    assert!(systems_with("sundial").is_empty());
}
