//! The catalog's rows.
//!
//! # Add a clock
//!
//! Add a row to [`CLOCKS`], by `posix!`, `counter`, `call`, `windows` or `clock`: name, systems,
//! kind, documented resolution, description, and the facts in which the clock differs from others
//! of its kind. The rest depends on the clock:
//!
//! - One of `clock_gettime`: a row `posix!` is all. On Linux it has three paths: the C library, the
//!   vDSO and the system call.
//! - A reading sequence of a counter: also add a function to the architecture's file in
//!   `src/counter` of `clockscope-core`, and a line to the architecture's table in
//!   `src/clocks/counter`.
//! - Any other call: also add a type with `impl RawClock` to the system's folder in `src/os`, and a
//!   line `visitor.visit` with `cataloged!("name")`. See `Gettimeofday` in `os/unix/legacy.rs`.
//!   `read` only reads and is timed; `value` makes a number of the reading and is not.
//!
//! The compiler refuses a name without a row.
//!
//! # Sources
//!
//! The manual pages of each system (clock_gettime(2), clock_getres(2), times(3), gethrtime(3C));
//! Apple's libc, `gen/clock_gettime.c`; FreeBSD's `sys/_clock_id.h` and `kern_time.c`; NetBSD's
//! `sys/time.h`; OpenBSD's `sys/_time.h` and `kern_time.c`; illumos' `sys/time_impl.h`; Microsoft's
//! documentation of each function; WASI's `wasi_snapshot_preview1`; and the High Resolution Time
//! specification of W3C.

use std::borrow::Cow;

use super::row::{Cataloged, clock};
use crate::ClockBasis;
use crate::ClockKind::{self, Counter, CpuTime, Cycles, Monotonic, Wall};
use crate::ReadPath::{Instruction, Libc, Library, Mmap, Std, Syscall, SystemLibrary};
use crate::Resolution;
use crate::clocks::interface::Interface;
use crate::clocks::system::System::{
    self, Android, Browser, FreeBsd, Illumos, Linux, MacOs, NetBsd, OpenBsd, Wasi, Windows,
};

const NATIVE: &[System] = &[Linux, Android, Windows, MacOs, FreeBsd, NetBsd, OpenBsd, Illumos];
const UNIX: &[System] = &[Linux, Android, MacOs, FreeBsd, NetBsd, OpenBsd, Illumos];
const LINUX: &[System] = &[Linux, Android];
const POWER: &[System] = &[Linux, FreeBsd, NetBsd, OpenBsd];
const BSD: &[System] = &[FreeBsd, NetBsd, OpenBsd];

pub(super) const fn ns(ns: f64) -> Resolution {
    Resolution::Nanoseconds(ns)
}

pub(super) const fn unknown(reason: &'static str) -> Resolution {
    Resolution::Unknown(Cow::Borrowed(reason))
}

pub(super) const TICK: Resolution = unknown("the timer tick, whose length is configured");
const TIMEBASE: Resolution = unknown("one count of the timebase, whose length depends on the processor");
const TIMECOUNTER: Resolution = unknown("one count of the timecounter, which the kernel chooses");
const QPF: Resolution = unknown("one count, as QueryPerformanceFrequency states");
const QAF: Resolution = unknown("one count, as QueryAuxiliaryCounterFrequency states");
/// Resolution of cycles that Windows counts.
pub(super) const CYCLES: Resolution = unknown("Windows does not state the length of these cycles");
const HOST: Resolution = unknown("the host decides");
const UNDOCUMENTED: Resolution = unknown("not documented");
/// Resolution of Rust's clocks.
pub(super) const STD: Resolution = unknown("Rust's standard library states no resolution");
/// Resolution of this library's clocks.
pub(super) const SERVED: Resolution = unknown("that of the clock that serves it: clockscope::resolution()");
/// Resolution of counts of a core's cycles.
pub(super) const CORE: Resolution = unknown("cycles of the core, whose length changes");

/// A call of C++'s standard library.
const fn cpp(name: &'static str) -> Interface {
    Interface::call("c++", name)
}

/// A call of Rust's standard library.
const fn rust(name: &'static str) -> Interface {
    Interface::call("rust", name)
}

/// A call of Java's standard library.
const fn java(name: &'static str) -> Interface {
    Interface::call("java", name)
}

/// A call of Python's module `time`.
const fn python(name: &'static str) -> Interface {
    Interface::call("python", name)
}

/// A call of .NET.
const fn dotnet(name: &'static str) -> Interface {
    Interface::call("dotnet", name)
}

/// Calls that read the system's usual clock for intervals wherever that is one of POSIX.
/// docs/reference/runtimes/ has their sources.
const POSIX_INTERVALS: &[Interface] = &[
    Interface::native("CLOCK_MONOTONIC"),
    cpp("std::chrono::steady_clock"),
    rust("std::time::Instant"),
    java("System.nanoTime"),
    python("time.perf_counter"),
    Interface::qualified("python", "time.monotonic"),
    dotnet("System.Diagnostics.Stopwatch"),
    Interface::qualified("dotnet", "System.Diagnostics.Stopwatch.GetTimestamp"),
    Interface::qualified("go", "time.Now"),
    Interface::qualified("node", "performance.now"),
    Interface::qualified("node", "process.hrtime.bigint"),
];
/// Calls that read the POSIX systems' usual clock for the time of day.
const POSIX_TIME_OF_DAY: &[Interface] = &[
    Interface::native("CLOCK_REALTIME"),
    cpp("std::chrono::system_clock"),
    rust("std::time::SystemTime"),
    java("System.currentTimeMillis"),
    Interface::qualified("python", "time.time"),
    Interface::qualified("java", "java.time.Instant.now"),
    Interface::qualified("dotnet", "System.DateTime.UtcNow"),
    Interface::qualified("node", "Date.now"),
];
const WINDOWS_INTERVALS: &[Interface] = &[
    Interface::native("QueryPerformanceCounter"),
    cpp("std::chrono::steady_clock"),
    rust("std::time::Instant"),
    java("System.nanoTime"),
    python("time.perf_counter"),
    dotnet("System.Diagnostics.Stopwatch"),
    Interface::qualified("dotnet", "System.Diagnostics.Stopwatch.GetTimestamp"),
    Interface::qualified("node", "performance.now"),
    Interface::qualified("node", "process.hrtime.bigint"),
];

/// The counter of an architecture's processors in one of its reading sequences.
const fn counter(
    name: &'static str,
    arch: &'static str,
    systems: &'static [System],
    description: &'static str,
) -> Cataloged {
    clock(name, systems, Counter, Instruction, Resolution::OneCount, description).based_on(ClockBasis::Counter).on(arch)
}

/// A call of the C library that reads another clock of the system.
const fn call(
    name: &'static str,
    systems: &'static [System],
    kind: ClockKind,
    unit: Resolution,
    description: &'static str,
) -> Cataloged {
    clock(name, systems, kind, Libc, unit, description).wrapper()
}

/// A call of Windows' libraries.
const fn windows(name: &'static str, kind: ClockKind, unit: Resolution, description: &'static str) -> Cataloged {
    clock(name, &[Windows], kind, SystemLibrary, unit, description)
}

/// Numbers of `clock_gettime`.
#[cfg(unix)]
#[allow(unused_imports, reason = "few are named on some systems")]
mod ids {
    pub(super) use libc::*;

    // The libc crate lacks these: NetBSD's sys/time.h, and illumos' sys/time_impl.h.
    #[cfg(any(target_os = "netbsd", target_os = "illumos", target_os = "solaris"))]
    pub(super) const CLOCK_VIRTUAL: libc::clockid_t = 1;
    #[cfg(any(target_os = "netbsd", target_os = "illumos", target_os = "solaris"))]
    pub(super) const CLOCK_PROF: libc::clockid_t = 2;
    #[cfg(target_os = "netbsd")]
    pub(super) const CLOCK_THREAD_CPUTIME_ID: libc::clockid_t = 0x2000_0000;
    #[cfg(target_os = "netbsd")]
    pub(super) const CLOCK_PROCESS_CPUTIME_ID: libc::clockid_t = 0x4000_0000;
}

/// A clock's number if this is compiled for the system; otherwise `$otherwise`.
#[rustfmt::skip]
macro_rules! id_on {
    (Linux $id:ident $otherwise:expr) => {{ #[cfg(target_os = "linux")] { id!($id) } #[cfg(not(target_os = "linux"))] { $otherwise } }};
    (Android $id:ident $otherwise:expr) => {{ #[cfg(target_os = "android")] { id!($id) } #[cfg(not(target_os = "android"))] { $otherwise } }};
    (MacOs $id:ident $otherwise:expr) => {{ #[cfg(target_vendor = "apple")] { id!($id) } #[cfg(not(target_vendor = "apple"))] { $otherwise } }};
    (FreeBsd $id:ident $otherwise:expr) => {{ #[cfg(target_os = "freebsd")] { id!($id) } #[cfg(not(target_os = "freebsd"))] { $otherwise } }};
    (NetBsd $id:ident $otherwise:expr) => {{ #[cfg(target_os = "netbsd")] { id!($id) } #[cfg(not(target_os = "netbsd"))] { $otherwise } }};
    (OpenBsd $id:ident $otherwise:expr) => {{ #[cfg(target_os = "openbsd")] { id!($id) } #[cfg(not(target_os = "openbsd"))] { $otherwise } }};
    (Illumos $id:ident $otherwise:expr) => {{
        #[cfg(any(target_os = "illumos", target_os = "solaris"))] { id!($id) }
        #[cfg(not(any(target_os = "illumos", target_os = "solaris")))] { $otherwise }
    }};
}

/// A clock's number, widened to the type that holds those of all systems.
#[cfg(unix)]
macro_rules! id {
    ($id:ident) => {
        Some(ids::$id as i64)
    };
}

/// Returns the number of the one of these systems that this is compiled for.
macro_rules! id_of {
    ($id:ident) => { None };
    ($id:ident $system:ident $($more:ident)*) => { id_on!($system $id id_of!($id $($more)*)) };
}

/// A clock of `clock_gettime`. Its description begins with the constant that is its number.
macro_rules! posix {
    ($name:literal, [$($system:ident)+], $kind:ident, $resolution:expr, $id:ident $(, $details:literal)?) => {
        clock($name, &[$($system),+], $kind, Libc, $resolution, concat!(stringify!($id) $(, $details)?))
            .numbered(id_of!($id $($system)+))
    };
}

/// All of them. A name that means different things on different systems has a row for each meaning.
#[rustfmt::skip]
pub const CLOCKS: &[Cataloged] = &[
    // Counters of processors, where the kernel lets programs read them.
    counter("tsc", "x86", NATIVE, "RDTSC, unordered").also(&["rdtsc"]).unordered(),
    counter("tsc_lfence", "x86", NATIVE, "LFENCE; RDTSC").also(&["lfence_rdtsc"]),
    counter("rdtscp", "x86", NATIVE, "RDTSCP").also(&["tscp"]),
    counter("rdtscp_lfence", "x86", NATIVE, "RDTSCP; LFENCE"),
    counter("tsc_cpuid", "x86", NATIVE, "CPUID; RDTSC").also(&["cpuid_rdtsc"]),
    counter("cntvct", "Arm", NATIVE, "CNTVCT_EL0, may be read early").unordered(),
    counter("cntvct_isb", "Arm", NATIVE, "ISB; CNTVCT_EL0").also(&["isb_cntvct"]),
    counter("cntvct_dsb_isb", "Arm", NATIVE, "DSB ISHLD; ISB; CNTVCT_EL0").also(&["dsb_isb_cntvct"]),
    counter("cntvctss", "Arm", NATIVE, "CNTVCTSS_EL0, self-synchronized"),
    counter("rdtime", "RISC-V", LINUX, "RDTIME").unordered(),
    counter("rdtime_fence", "RISC-V", LINUX, "FENCE; RDTIME").also(&["fence_rdtime"]),
    counter("timebase", "POWER", POWER, "MFTB").also(&["mftb"]).unordered(),
    counter("timebase_isync", "POWER", POWER, "ISYNC; MFTB").also(&["isync_mftb"]),
    counter("timebase_sync", "POWER", POWER, "SYNC; MFTB").also(&["sync_mftb"]),
    counter("stckf", "z/Architecture", &[Linux], "STCKF").also(&["tod"]).unordered(),
    counter("stckf_bcr", "z/Architecture", &[Linux], "BCR 15,0; STCKF").also(&["bcr_stckf"]),
    // The time of day.
    posix!("realtime", [Linux Android], Wall, ns(1.0), CLOCK_REALTIME).usual().read_by(POSIX_TIME_OF_DAY),
    posix!("realtime", [MacOs], Wall, ns(1000.0), CLOCK_REALTIME, ", gettimeofday()").usual().read_by(POSIX_TIME_OF_DAY),
    posix!("realtime", [FreeBsd NetBsd OpenBsd Illumos], Wall, TIMECOUNTER, CLOCK_REALTIME).usual().read_by(POSIX_TIME_OF_DAY),
    clock("realtime", &[Wasi], Wall, Syscall, HOST, "clock_time_get(0)"),
    posix!("realtime_coarse", [Linux Android], Wall, TICK, CLOCK_REALTIME_COARSE, ", moved by the timer tick").also(&["realtime_crs"]).coarse(),
    posix!("realtime_precise", [FreeBsd], Wall, TIMECOUNTER, CLOCK_REALTIME_PRECISE),
    posix!("realtime_fast", [FreeBsd], Wall, TICK, CLOCK_REALTIME_FAST, ", moved by the timer tick").also(&["realtime_coarse", "realtime_crs"]).coarse(),
    posix!("second", [FreeBsd], Wall, ns(1e9), CLOCK_SECOND).coarse(),
    // FreeBSD 15.0 has CLOCK_TAI (its manual, clock_gettime(2)), but the libc crate does not.
    posix!("tai", [Linux Android], Wall, ns(1.0), CLOCK_TAI, ", no leap seconds"),
    call("gettimeofday", UNIX, Wall, ns(1000.0), "gettimeofday()"),
    call("time", UNIX, Wall, ns(1e9), "time()").coarse(),
    call("time", &[Windows], Wall, ns(1e9), "time()").coarse(),
    call("ftime", &[Linux, MacOs, FreeBsd, NetBsd, OpenBsd, Illumos], Wall, ns(1e6), "ftime()"),
    call("ftime", &[Windows], Wall, ns(1e6), "_ftime()").coarse(),
    call("timespec_get", UNIX, Wall, unknown("that of CLOCK_REALTIME"), "timespec_get(TIME_UTC)"),
    call("timespec_get", &[Windows], Wall, ns(100.0), "timespec_get(TIME_UTC)"),
    windows("system_time", Wall, ns(100.0), "GetSystemTimeAsFileTime(), moved by the timer interrupt").coarse().read_by(&[Interface::native("GetSystemTimeAsFileTime"), java("System.currentTimeMillis")]),
    windows("system_time_precise", Wall, ns(100.0), "GetSystemTimePreciseAsFileTime(), since Windows 8").usual().read_by(&[Interface::native("GetSystemTimePreciseAsFileTime"), cpp("std::chrono::system_clock"), rust("std::time::SystemTime"), Interface::qualified("dotnet", "System.DateTime.UtcNow")]),
    clock("date_now", &[Browser], Wall, SystemLibrary, ns(1e6), "Date.now()").read_by(&[Interface::native("Date.now")]),
    // Time since some start.
    posix!("monotonic", [Linux Android], Monotonic, ns(1.0), CLOCK_MONOTONIC).usual().read_by(POSIX_INTERVALS),
    posix!("monotonic", [MacOs], Monotonic, ns(1000.0), CLOCK_MONOTONIC, ", gettimeofday() since boot").through_suspend(),
    posix!("monotonic", [FreeBsd NetBsd], Monotonic, TIMECOUNTER, CLOCK_MONOTONIC).usual().read_by(POSIX_INTERVALS),
    posix!("monotonic", [OpenBsd], Monotonic, TIMECOUNTER, CLOCK_MONOTONIC).usual().through_suspend().read_by(POSIX_INTERVALS),
    posix!("monotonic", [Illumos], Monotonic, ns(1.0), CLOCK_MONOTONIC, ", CLOCK_HIGHRES").also(&["highres"]).usual().read_by(POSIX_INTERVALS),
    clock("monotonic", &[Wasi], Monotonic, Syscall, HOST, "clock_time_get(1)"),
    posix!("monotonic_coarse", [Linux Android], Monotonic, TICK, CLOCK_MONOTONIC_COARSE, ", moved by the timer tick").also(&["monotonic_crs"]).coarse(),
    posix!("monotonic_precise", [FreeBsd], Monotonic, TIMECOUNTER, CLOCK_MONOTONIC_PRECISE),
    posix!("monotonic_fast", [FreeBsd], Monotonic, TICK, CLOCK_MONOTONIC_FAST, ", moved by the timer tick").also(&["monotonic_coarse", "monotonic_crs"]).coarse(),
    posix!("monotonic_raw", [Linux Android], Monotonic, ns(1.0), CLOCK_MONOTONIC_RAW, ", not steered by NTP").unsteered(),
    posix!("monotonic_raw", [MacOs], Monotonic, TIMEBASE, CLOCK_MONOTONIC_RAW, ", mach_continuous_time()").unsteered().through_suspend().read_by(&[Interface::native("CLOCK_MONOTONIC_RAW"), cpp("std::chrono::steady_clock")]),
    posix!("monotonic_raw_approx", [MacOs], Monotonic, TIMEBASE, CLOCK_MONOTONIC_RAW_APPROX, ", updated at switches of threads").coarse().unsteered().through_suspend(),
    posix!("boottime", [Linux Android], Monotonic, ns(1.0), CLOCK_BOOTTIME, ", counts through suspend").through_suspend(),
    posix!("boottime", [FreeBsd], Monotonic, TIMECOUNTER, CLOCK_BOOTTIME).wrapper(),
    posix!("boottime", [OpenBsd], Monotonic, TIMECOUNTER, CLOCK_BOOTTIME).through_suspend(),
    posix!("uptime", [FreeBsd OpenBsd], Monotonic, TIMECOUNTER, CLOCK_UPTIME),
    posix!("uptime_precise", [FreeBsd], Monotonic, TIMECOUNTER, CLOCK_UPTIME_PRECISE),
    posix!("uptime_fast", [FreeBsd], Monotonic, TICK, CLOCK_UPTIME_FAST, ", moved by the timer tick").coarse(),
    posix!("uptime_raw", [MacOs], Monotonic, TIMEBASE, CLOCK_UPTIME_RAW, ", leaves out sleep").unsteered().read_by(&[Interface::native("CLOCK_UPTIME_RAW"), rust("std::time::Instant"), dotnet("System.Diagnostics.Stopwatch")]),
    posix!("uptime_raw_approx", [MacOs], Monotonic, TIMEBASE, CLOCK_UPTIME_RAW_APPROX, ", updated at switches of threads").coarse().unsteered(),
    clock("mach_absolute_time", &[MacOs], Monotonic, SystemLibrary, TIMEBASE, "mach_absolute_time(), leaves out sleep").also(&["mach_time"]).unsteered().usual().read_by(&[Interface::native("mach_absolute_time"), java("System.nanoTime"), python("time.perf_counter")]),
    clock("mach_continuous_time", &[MacOs], Monotonic, SystemLibrary, TIMEBASE, "mach_continuous_time(), counts sleep").unsteered().through_suspend(),
    clock("mach_approximate_time", &[MacOs], Monotonic, SystemLibrary, TIMEBASE, "mach_approximate_time(), updated at switches of threads").unsteered().coarse(),
    // No call sets or drifts it.
    clock("gethrtime", &[Illumos], Monotonic, Libc, ns(1.0), "gethrtime()").unsteered(),
    // The kernel counts timer ticks.
    call("times", UNIX, Monotonic, unknown("1 / sysconf(_SC_CLK_TCK)"), "times(), its return value").coarse(),
    // They go on while the machine sleeps, and neither users nor the time service steer them.
    windows("query_performance_counter", Monotonic, QPF, "QueryPerformanceCounter()").also(&["qpc"]).usual().unsteered().through_suspend().read_by(WINDOWS_INTERVALS),
    windows("auxiliary_counter", Monotonic, QAF, "ConvertPerformanceCounterToAuxiliaryCounter() of QueryPerformanceCounter()").based_on(ClockBasis::Other).unsteered().through_suspend(),
    windows("interrupt_time", Monotonic, ns(100.0), "QueryInterruptTime(), moved by the timer interrupt").coarse().unsteered().through_suspend(),
    windows("interrupt_time_precise", Monotonic, ns(100.0), "QueryInterruptTimePrecise(), since Windows 10").unsteered().through_suspend(),
    windows("unbiased_interrupt_time", Monotonic, ns(100.0), "QueryUnbiasedInterruptTime(), leaves out sleep").coarse().unsteered(),
    windows("unbiased_interrupt_time_precise", Monotonic, ns(100.0), "QueryUnbiasedInterruptTimePrecise(), leaves out sleep; since Windows 10").unsteered(),
    windows("tick_count", Monotonic, ns(1e6), "GetTickCount(), restarts after 49.7 days").coarse().wrapper().unsteered().through_suspend(),
    windows("tick_count64", Monotonic, ns(1e6), "GetTickCount64()").coarse().wrapper().unsteered().through_suspend(),
    windows("time_get_time", Monotonic, ns(1e6), "timeGetTime(), restarts after 49.7 days").coarse().wrapper().unsteered().through_suspend(),
    call("clock", &[Windows], Monotonic, ns(1e6), "clock(), wall time since the process began").coarse().unsteered().through_suspend(),
    clock("performance_now", &[Browser], Monotonic, SystemLibrary, unknown("browsers round it: 5 us to 100 us"), "performance.now()").read_by(&[Interface::native("performance.now")]),
    // Processor time.
    posix!("process", [Linux Android], CpuTime, ns(1.0), CLOCK_PROCESS_CPUTIME_ID).also(&["process_cputime"]),
    posix!("process", [MacOs], CpuTime, ns(1000.0), CLOCK_PROCESS_CPUTIME_ID).also(&["process_cputime"]),
    posix!("process", [FreeBsd NetBsd OpenBsd Illumos], CpuTime, UNDOCUMENTED, CLOCK_PROCESS_CPUTIME_ID).also(&["process_cputime"]),
    clock("process", &[Wasi], CpuTime, Syscall, HOST, "clock_time_get(2)").also(&["process_cputime"]),
    posix!("thread", [Linux Android], CpuTime, ns(1.0), CLOCK_THREAD_CPUTIME_ID).also(&["thread_cputime"]),
    posix!("thread", [MacOs FreeBsd NetBsd OpenBsd Illumos], CpuTime, UNDOCUMENTED, CLOCK_THREAD_CPUTIME_ID).also(&["thread_cputime"]),
    clock("thread", &[Wasi], CpuTime, Syscall, HOST, "clock_time_get(3)").also(&["thread_cputime"]),
    posix!("virtual", [FreeBsd NetBsd Illumos], CpuTime, UNDOCUMENTED, CLOCK_VIRTUAL, ", user time"),
    posix!("prof", [FreeBsd NetBsd], CpuTime, UNDOCUMENTED, CLOCK_PROF, ", user + system time"),
    // The thread's clock by another name.
    posix!("prof", [Illumos], CpuTime, UNDOCUMENTED, CLOCK_PROF, ", user + system time").wrapper(),
    clock("gethrvtime", &[Illumos], CpuTime, Libc, ns(1.0), "gethrvtime()"),
    call("clock", &[Linux, Android, MacOs, Illumos], CpuTime, ns(1000.0), "clock(), CPU time of the process"),
    call("clock", BSD, CpuTime, unknown("1 / CLOCKS_PER_SEC, which differs by system"), "clock(), CPU time of the process"),
    call("getrusage", UNIX, CpuTime, ns(1000.0), "getrusage(RUSAGE_SELF), user + system time"),
    call("getrusage_thread", &[Linux, Android, FreeBsd, OpenBsd], CpuTime, ns(1000.0), "getrusage(RUSAGE_THREAD), user + system time"),
    windows("thread_cycle_time", CpuTime, CYCLES, "QueryThreadCycleTime(), in cycles"),
    windows("process_cycle_time", CpuTime, CYCLES, "QueryProcessCycleTime(), in cycles"),
    // The timer interrupt charges them.
    windows("thread_times", CpuTime, ns(100.0), "GetThreadTimes(), user + kernel time").coarse(),
    windows("process_times", CpuTime, ns(100.0), "GetProcessTimes(), user + kernel time").coarse(),
    // Devices. PTP devices are ptp0, ptp1 and so on.
    clock("ptp0", LINUX, Wall, Syscall, unknown("the device's"), "PTP hardware clock").device(),
    clock("hpet", LINUX, Counter, Mmap, unknown("one count, as its registers state"), "HPET main counter, mapped from /dev/hpet").device(),
    clock("rdpmc", LINUX, Cycles, Instruction, CORE, "RDPMC, core cycles in user mode, by perf events").unordered(),
    // Rust's own, and this library's.
    clock("rust_instant", &System::ALL, Monotonic, Std, STD, "Rust's std::time::Instant::now").wrapper().read_by(&[rust("std::time::Instant")]),
    clock("rust_system_time", &System::ALL, Wall, Std, STD, "Rust's std::time::SystemTime::now").wrapper().read_by(&[rust("std::time::SystemTime")]),
    clock("clockscope.now", &System::ALL, Monotonic, Library, SERVED, "clockscope::now, ordered").adaptive(),
    clock("clockscope.now_unordered", &System::ALL, Monotonic, Library, SERVED, "clockscope::now_unordered").unordered().wrapper().adaptive(),
];
