//! Statements of the probes of installed runtimes, against the sources of these runtimes.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use clockscope_records::MovedBy::{self, Clocksource, Other, PerformanceCounter, Scheduler, TimerTick};
use clockscope_testing::skip;

use super::ProbeMovedBy;
use crate::operating_system::System;
use crate::probe_line::{ProbeReport, parse};
use crate::process::{Limits, NoTask, run};
use crate::registry::{RUNTIMES, Runtime};
use crate::substitutions::Substitutions;

/// Time that a compiler or a probe may take on a machine that does other things, too.
const PATIENCE_S: f64 = 600.0;

/// Movers of an API's clock on Linux, macOS and Windows. The sources, for Windows:
/// - Java: openjdk/jdk, src/hotspot/os/windows/os_windows.cpp, `javaTimeMillis` and
///   `javaTimeSystemUTC` call GetSystemTimeAsFileTime, `javaTimeNanos` QueryPerformanceCounter: in
///   JDK 25 as in earlier ones.
/// - Mono: mono/mono, mono/utils/mono-time.c, `mono_100ns_datetime`, `mono_msec_boottime` and
///   `mono_100ns_ticks`.
/// - .NET: dotnet/runtime, src/native/minipal/time.c, `minipal_lowres_ticks` (GetTickCount64;
///   CLOCK_UPTIME_RAW on macOS), and since .NET 11 Environment.Windows.cs, pull request 122706
///   (QueryUnbiasedInterruptTime); dotnet/coreclr, pull request 9736 (the precise system time).
/// - Node.js and Deno: v8/v8, src/base/platform/time.cc, `Clock` for Windows; libuv,
///   src/win/util.c, `uv_hrtime`. Bun: WebKit, Source/WTF/wtf/CurrentTime.cpp, `currentTime`.
/// - Rust: rust-lang/rust, pull request 69858 (the precise system time).
const TABLE: &[(&str, &str, [MovedBy; 3])] = &[
    ("rust", "Instant::now", [Clocksource, Clocksource, PerformanceCounter]),
    ("rust", "SystemTime::now", [Clocksource, Clocksource, PerformanceCounter]),
    ("java", "System.nanoTime", [Clocksource, Clocksource, PerformanceCounter]),
    ("java", "Instant.now", [Clocksource, Clocksource, TimerTick]),
    ("java", "System.currentTimeMillis", [Clocksource, Clocksource, TimerTick]),
    ("mono", "Stopwatch.GetTimestamp", [Clocksource, Clocksource, PerformanceCounter]),
    ("mono", "DateTime.UtcNow", [Clocksource, Clocksource, TimerTick]),
    ("mono", "Environment.TickCount", [TimerTick, Clocksource, TimerTick]),
    ("dotnet", "Stopwatch.GetTimestamp", [Clocksource, Clocksource, PerformanceCounter]),
    ("dotnet", "DateTime.UtcNow", [Clocksource, Clocksource, PerformanceCounter]),
    ("dotnet", "Environment.TickCount64", [TimerTick, Clocksource, TimerTick]),
    ("dotnet", "Environment.TickCount", [TimerTick, Clocksource, TimerTick]),
    ("node", "process.hrtime.bigint", [Clocksource, Clocksource, PerformanceCounter]),
    ("node", "performance.now", [Clocksource, Clocksource, PerformanceCounter]),
    ("node", "Date.now", [Clocksource, Clocksource, PerformanceCounter]),
];

/// Names by which Python reports its clocks (python/cpython, Python/pytime.c and
/// Modules/timemodule.c). Python 3.13 reads GetSystemTimePreciseAsFileTime and
/// QueryPerformanceCounter where those before read GetSystemTimeAsFileTime and GetTickCount64.
const PYTHON: &[(&str, MovedBy)] = &[
    ("clock_gettime(CLOCK_MONOTONIC)", Clocksource),
    ("clock_gettime(CLOCK_REALTIME)", Clocksource),
    ("clock_gettime(CLOCK_HIGHRES)", Clocksource),
    ("mach_absolute_time()", Clocksource),
    ("gettimeofday()", Clocksource),
    ("gethrtime()", Clocksource),
    ("QueryPerformanceCounter()", PerformanceCounter),
    ("GetSystemTimePreciseAsFileTime()", PerformanceCounter),
    ("GetSystemTimeAsFileTime()", TimerTick),
    ("GetTickCount64()", TimerTick),
    ("GetProcessTimes()", Scheduler),
    ("clock_gettime(CLOCK_PROCESS_CPUTIME_ID)", Scheduler),
    ("clock_gettime(CLOCK_PROF)", Scheduler),
    ("getrusage(RUSAGE_SELF)", Scheduler),
    ("times()", Scheduler),
    ("clock()", Scheduler),
    ("a sundial", Other),
];

/// The first of the programs that is there.
fn found(names: &[&str]) -> Option<PathBuf> {
    names.iter().find_map(|name| which::which(name).ok())
}

/// The shortest run of a runtime's probe; `None` where the runtime is not installed.
fn printed(runtime: &Runtime) -> Option<String> {
    let program = found(runtime.programs)?;
    let compiler = if runtime.compilers.is_empty() { None } else { Some(found(runtime.compilers)?) };
    let folder = tempfile::tempdir().unwrap();
    for source in runtime.sources {
        std::fs::write(folder.path().join(source.file), source.text).unwrap();
    }
    let (source, built) = (folder.path().join(runtime.probe().file), folder.path().join("built.exe"));
    let words = Substitutions {
        program: Some(&program),
        compiler: compiler.as_deref(),
        source: Some(&source),
        built: Some(&built),
        folder: Some(folder.path()),
        milliseconds: 1,
        ..Substitutions::default()
    };
    if let Some(way) = runtime.builds.first() {
        ran(words.command(way.command, runtime.variables).unwrap());
    }
    Some(ran(words.command(runtime.run, runtime.variables).unwrap()))
}

/// Output of a command. Run as probes are: the end of another test's program ends all children that
/// this process has meanwhile.
fn ran(mut command: Command) -> String {
    let limits = Limits { seconds: PATIENCE_S, stop: &AtomicBool::new(false) };
    let program = run(&mut command, limits, &mut NoTask).unwrap();
    assert_eq!(program.ended.fault(limits), None, "{command:?}: {}", program.stderr);
    program.stdout
}

/// Statements of a runtime's probe, for each API.
fn probe_statements(runtime: &Runtime) -> Vec<(String, ProbeMovedBy)> {
    let Some(output) = printed(runtime) else {
        skip(&format!("{} is not installed", runtime.title));
        return Vec::new();
    };
    let read = |report| match report {
        ProbeReport::Read(readings) => Some((readings.api, readings.moved_by.unwrap())),
        ProbeReport::Unavailable { .. } => None,
    };
    parse(&output).into_iter().filter_map(|line| read(line.unwrap())).collect()
}

/// Runs the probes that are installed, except .NET's, whose SDK takes minutes to build it.
#[test]
fn probes_state_what_moves_their_clocks_on_each_system() {
    for runtime in RUNTIMES.iter().filter(|runtime| TABLE.iter().any(|(name, ..)| *name == runtime.name)) {
        if runtime.name == "dotnet" {
            continue;
        }
        for (api, declared) in probe_statements(runtime) {
            let row = TABLE.iter().find(|(name, of, _)| (*name, *of) == (runtime.name, api.as_str()));
            let (.., expected) = row.unwrap_or_else(|| panic!("{} {api} is not in the table", runtime.title));
            let moved_by = [System::Linux, System::Macos, System::Windows].map(|system| declared.on(system));
            assert_eq!(moved_by, expected.map(Some), "{} {api} on Linux, macOS, Windows", runtime.title);
        }
    }
}

/// Python reports what it reads on the system that it runs on, by a name.
#[test]
fn python_knows_the_clocks_of_all_systems_by_their_names() {
    let Some(program) = found(&["python3", "python"]) else { return skip("Python is not installed") };
    let folder = tempfile::tempdir().unwrap();
    let probe = RUNTIMES.iter().find(|runtime| runtime.name == "python").unwrap().probe();
    std::fs::write(folder.path().join(probe.file), probe.text).unwrap();
    let mut command = Command::new(program);
    command.args(["-B", "-c", "import probe, sys; print(*map(probe.moved_by, sys.argv[1:]))"]);
    command.args(PYTHON.iter().map(|(name, _)| name)).current_dir(folder.path());
    let words = ran(command);
    let moved_by: Vec<MovedBy> =
        words.split_whitespace().map(|word| serde_json::from_value(word.into()).unwrap()).collect();
    let found: Vec<_> = PYTHON.iter().map(|(name, _)| *name).zip(moved_by).collect();
    assert_eq!(found, PYTHON);
}
