//! Every clock of every system, as data: which systems have it, what it counts, and the resolution
//! that the system documents.
//!
//! Sources: the manual pages of each system (clock_gettime(2), clock_getres(2), times(3)), Apple's
//! libc `gen/clock_gettime.c`, FreeBSD's `sys/_clock_id.h`, Microsoft's documentation of each
//! function, WASI's `wasi_snapshot_preview1`, and the High Resolution Time specification of W3C.
//! What this machine has is found by [`crate::os::each`], and not here.

#[cfg(any(test, not(any(target_os = "linux", target_os = "android", windows))))]
mod compared;

use std::borrow::Cow;

#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
pub(crate) use compared::{is_cataloged, is_same, posix_clock};

use crate::{ClockKind, Resolution};

/// A system that has clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// Linux.
    Linux,
    /// Android, whose kernel is Linux.
    Android,
    /// Windows.
    Windows,
    /// macOS and Apple's other systems.
    MacOs,
    /// FreeBSD.
    FreeBsd,
    /// NetBSD.
    NetBsd,
    /// OpenBSD.
    OpenBsd,
    /// illumos and Solaris.
    Illumos,
    /// WASI preview 1.
    Wasi,
    /// Web browsers and Node.js.
    Browser,
}

use System::{Android, Browser, FreeBsd, Illumos, Linux, MacOs, NetBsd, OpenBsd, Wasi, Windows};

impl System {
    /// All of them.
    pub const ALL: [Self; 10] = [Linux, Android, Windows, MacOs, FreeBsd, NetBsd, OpenBsd, Illumos, Wasi, Browser];

    /// The one that this program is compiled for; `None` for one that is not listed.
    pub const HERE: Option<Self> = if cfg!(target_os = "linux") {
        Some(Linux)
    } else if cfg!(target_os = "android") {
        Some(Android)
    } else if cfg!(windows) {
        Some(Windows)
    } else if cfg!(target_vendor = "apple") {
        Some(MacOs)
    } else if cfg!(target_os = "freebsd") {
        Some(FreeBsd)
    } else if cfg!(target_os = "netbsd") {
        Some(NetBsd)
    } else if cfg!(target_os = "openbsd") {
        Some(OpenBsd)
    } else if cfg!(any(target_os = "illumos", target_os = "solaris")) {
        Some(Illumos)
    } else if cfg!(target_os = "wasi") {
        Some(Wasi)
    } else {
        None
    };

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Linux => "Linux",
            Android => "Android",
            Windows => "Windows",
            MacOs => "macOS",
            FreeBsd => "FreeBSD",
            NetBsd => "NetBSD",
            OpenBsd => "OpenBSD",
            Illumos => "illumos",
            Wasi => "WASI",
            Browser => "browsers",
        }
    }
}

/// A clock, and the systems on which it is the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Cataloged {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Systems that have it.
    pub systems: &'static [System],
    /// The quantity that it counts.
    pub kind: ClockKind,
    /// Its resolution as documented.
    pub resolution: Resolution,
    /// One line: what is read.
    pub summary: &'static str,
}

impl Cataloged {
    /// Returns whether it has this name or alias.
    #[must_use]
    pub fn bears(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// Returns the systems whose clocks have this name, in the order of [`System::ALL`].
#[must_use]
pub fn systems_with(name: &str) -> Vec<System> {
    let has = |system: &System| CLOCKS.iter().any(|clock| clock.bears(name) && clock.systems.contains(system));
    System::ALL.into_iter().filter(has).collect()
}

const NATIVE: &[System] = &[Linux, Android, Windows, MacOs, FreeBsd, NetBsd, OpenBsd, Illumos];
const UNIX: &[System] = &[Linux, Android, MacOs, FreeBsd, NetBsd, OpenBsd, Illumos];
const LINUX: &[System] = &[Linux, Android];
const BSD: &[System] = &[FreeBsd, NetBsd, OpenBsd];

const fn ns(ns: f64) -> Resolution {
    Resolution::Nanoseconds(ns)
}

const fn unknown(reason: &'static str) -> Resolution {
    Resolution::Unknown(Cow::Borrowed(reason))
}

const TICK: Resolution = unknown("the timer tick, whose length is configured");
const TIMEBASE: Resolution = unknown("one count of the timebase, whose length depends on the processor");
const TIMECOUNTER: Resolution = unknown("one count of the timecounter, which the kernel chooses");
const QPF: Resolution = unknown("one count, as QueryPerformanceFrequency states");
/// Of cycles that Windows counts.
pub(crate) const CYCLES: Resolution = unknown("Windows does not state the length of these cycles");
const HOST: Resolution = unknown("the host decides");
/// Of Rust's clocks.
pub(crate) const STD: Resolution = unknown("Rust's standard library states no resolution");
/// Of this library's clocks.
pub(crate) const SERVED: Resolution = unknown("that of whichever clock it is served by: clockscope::resolution()");
/// Of counts of a core's cycles.
pub(crate) const CORE: Resolution = unknown("cycles of the core, whose length changes");

const fn clock(
    name: &'static str,
    aliases: &'static [&'static str],
    systems: &'static [System],
    kind: ClockKind,
    resolution: Resolution,
    summary: &'static str,
) -> Cataloged {
    Cataloged { name, aliases, systems, kind, resolution, summary }
}

use ClockKind::{Counter, CpuTime, Cycles, Monotonic, Wall};

/// All of them. A name that means different things on different systems has a row for each meaning.
pub const CLOCKS: &[Cataloged] = &[
    // Counters of processors, where the kernel lets programs read them.
    clock("tsc", &["rdtsc"], NATIVE, Counter, Resolution::OneCount, "RDTSC, unordered (x86)"),
    clock("tsc_lfence", &["lfence_rdtsc"], NATIVE, Counter, Resolution::OneCount, "LFENCE; RDTSC (x86)"),
    clock("rdtscp", &["tscp"], NATIVE, Counter, Resolution::OneCount, "RDTSCP (x86)"),
    clock("rdtscp_lfence", &[], NATIVE, Counter, Resolution::OneCount, "RDTSCP; LFENCE (x86)"),
    clock("tsc_cpuid", &["cpuid_rdtsc"], NATIVE, Counter, Resolution::OneCount, "CPUID; RDTSC (x86)"),
    clock("cntvct", &[], NATIVE, Counter, Resolution::OneCount, "CNTVCT_EL0, may be read early (Arm)"),
    clock("cntvct_isb", &["isb_cntvct"], NATIVE, Counter, Resolution::OneCount, "ISB; CNTVCT_EL0 (Arm)"),
    clock(
        "cntvct_dsb_isb",
        &["dsb_isb_cntvct"],
        NATIVE,
        Counter,
        Resolution::OneCount,
        "DSB ISHLD; ISB; CNTVCT_EL0 (Arm)",
    ),
    clock("cntvctss", &[], NATIVE, Counter, Resolution::OneCount, "CNTVCTSS_EL0, self-synchronized (Arm)"),
    clock("rdtime", &[], LINUX, Counter, Resolution::OneCount, "RDTIME (RISC-V)"),
    clock("rdtime_fence", &["fence_rdtime"], LINUX, Counter, Resolution::OneCount, "FENCE; RDTIME (RISC-V)"),
    clock("timebase", &["mftb"], &[Linux, FreeBsd, NetBsd, OpenBsd], Counter, Resolution::OneCount, "MFTB (POWER)"),
    clock(
        "timebase_isync",
        &["isync_mftb"],
        &[Linux, FreeBsd, NetBsd, OpenBsd],
        Counter,
        Resolution::OneCount,
        "ISYNC; MFTB (POWER)",
    ),
    clock(
        "timebase_sync",
        &["sync_mftb"],
        &[Linux, FreeBsd, NetBsd, OpenBsd],
        Counter,
        Resolution::OneCount,
        "SYNC; MFTB (POWER)",
    ),
    clock("stckf", &["tod"], &[Linux], Counter, Resolution::OneCount, "STCKF (z/Architecture)"),
    clock("stckf_bcr", &["bcr_stckf"], &[Linux], Counter, Resolution::OneCount, "BCR 15,0; STCKF (z/Architecture)"),
    // Civil time.
    clock("realtime", &[], LINUX, Wall, ns(1.0), "CLOCK_REALTIME"),
    clock("realtime", &[], &[MacOs], Wall, ns(1000.0), "CLOCK_REALTIME, gettimeofday()"),
    clock("realtime", &[], &[FreeBsd, NetBsd, OpenBsd, Illumos], Wall, TIMECOUNTER, "CLOCK_REALTIME"),
    clock("realtime", &[], &[Wasi], Wall, HOST, "clock_time_get(0)"),
    clock("realtime_coarse", &["realtime_crs"], LINUX, Wall, TICK, "CLOCK_REALTIME_COARSE, moved by the timer tick"),
    clock(
        "realtime_fast",
        &["realtime_coarse", "realtime_crs"],
        &[FreeBsd],
        Wall,
        TICK,
        "CLOCK_REALTIME_FAST, moved by the timer tick",
    ),
    clock("realtime_precise", &[], &[FreeBsd], Wall, TIMECOUNTER, "CLOCK_REALTIME_PRECISE"),
    clock("second", &[], &[FreeBsd], Wall, ns(1e9), "CLOCK_SECOND"),
    clock("tai", &[], LINUX, Wall, ns(1.0), "CLOCK_TAI, no leap seconds"),
    clock("gettimeofday", &[], UNIX, Wall, ns(1000.0), "gettimeofday()"),
    clock("time", &[], UNIX, Wall, ns(1e9), "time()"),
    clock("time", &[], &[Windows], Wall, ns(1e9), "time()"),
    clock("ftime", &[], &[Linux, MacOs, FreeBsd, NetBsd, OpenBsd, Illumos], Wall, ns(1e6), "ftime()"),
    clock("ftime", &[], &[Windows], Wall, ns(1e6), "_ftime()"),
    clock("timespec_get", &[], UNIX, Wall, unknown("that of CLOCK_REALTIME"), "timespec_get(TIME_UTC)"),
    clock("timespec_get", &[], &[Windows], Wall, ns(100.0), "timespec_get(TIME_UTC)"),
    clock("system_time", &[], &[Windows], Wall, ns(100.0), "GetSystemTimeAsFileTime(), moved by the timer interrupt"),
    clock("system_time_precise", &[], &[Windows], Wall, ns(100.0), "GetSystemTimePreciseAsFileTime(), since Windows 8"),
    clock("date_now", &[], &[Browser], Wall, ns(1e6), "Date.now()"),
    // Time since some start.
    clock("monotonic", &[], LINUX, Monotonic, ns(1.0), "CLOCK_MONOTONIC"),
    clock("monotonic", &[], &[MacOs], Monotonic, ns(1000.0), "CLOCK_MONOTONIC, gettimeofday() since boot"),
    clock("monotonic", &[], BSD, Monotonic, TIMECOUNTER, "CLOCK_MONOTONIC"),
    clock("monotonic", &["highres"], &[Illumos], Monotonic, ns(1.0), "CLOCK_MONOTONIC, CLOCK_HIGHRES"),
    clock("monotonic", &[], &[Wasi], Monotonic, HOST, "clock_time_get(1)"),
    clock(
        "monotonic_coarse",
        &["monotonic_crs"],
        LINUX,
        Monotonic,
        TICK,
        "CLOCK_MONOTONIC_COARSE, moved by the timer tick",
    ),
    clock(
        "monotonic_fast",
        &["monotonic_coarse", "monotonic_crs"],
        &[FreeBsd],
        Monotonic,
        TICK,
        "CLOCK_MONOTONIC_FAST, moved by the timer tick",
    ),
    clock("monotonic_precise", &[], &[FreeBsd], Monotonic, TIMECOUNTER, "CLOCK_MONOTONIC_PRECISE"),
    clock("monotonic_raw", &[], LINUX, Monotonic, ns(1.0), "CLOCK_MONOTONIC_RAW, not steered by NTP"),
    clock("monotonic_raw", &[], &[MacOs], Monotonic, TIMEBASE, "CLOCK_MONOTONIC_RAW, mach_continuous_time()"),
    clock(
        "monotonic_raw_approx",
        &[],
        &[MacOs],
        Monotonic,
        TIMEBASE,
        "CLOCK_MONOTONIC_RAW_APPROX, updated at switches of threads",
    ),
    clock("boottime", &[], LINUX, Monotonic, ns(1.0), "CLOCK_BOOTTIME, counts through suspend"),
    clock("boottime", &[], &[FreeBsd, OpenBsd], Monotonic, TIMECOUNTER, "CLOCK_BOOTTIME"),
    clock("uptime", &[], &[FreeBsd, OpenBsd], Monotonic, TIMECOUNTER, "CLOCK_UPTIME"),
    clock("uptime_fast", &[], &[FreeBsd], Monotonic, TICK, "CLOCK_UPTIME_FAST, moved by the timer tick"),
    clock("uptime_precise", &[], &[FreeBsd], Monotonic, TIMECOUNTER, "CLOCK_UPTIME_PRECISE"),
    clock("uptime_raw", &[], &[MacOs], Monotonic, TIMEBASE, "CLOCK_UPTIME_RAW, leaves out sleep"),
    clock(
        "uptime_raw_approx",
        &[],
        &[MacOs],
        Monotonic,
        TIMEBASE,
        "CLOCK_UPTIME_RAW_APPROX, updated at switches of threads",
    ),
    clock(
        "mach_absolute_time",
        &["mach_time"],
        &[MacOs],
        Monotonic,
        TIMEBASE,
        "mach_absolute_time(), leaves out sleep",
    ),
    clock("mach_continuous_time", &[], &[MacOs], Monotonic, TIMEBASE, "mach_continuous_time(), counts sleep"),
    clock(
        "mach_approximate_time",
        &[],
        &[MacOs],
        Monotonic,
        TIMEBASE,
        "mach_approximate_time(), updated at switches of threads",
    ),
    clock("gethrtime", &[], &[Illumos], Monotonic, ns(1.0), "gethrtime()"),
    clock("times", &[], UNIX, Monotonic, unknown("1 / sysconf(_SC_CLK_TCK)"), "times(), its return value"),
    clock("query_performance_counter", &["qpc"], &[Windows], Monotonic, QPF, "QueryPerformanceCounter()"),
    clock(
        "auxiliary_counter",
        &[],
        &[Windows],
        Monotonic,
        unknown("one count, as QueryAuxiliaryCounterFrequency states"),
        "ConvertPerformanceCounterToAuxiliaryCounter() of QueryPerformanceCounter()",
    ),
    clock(
        "interrupt_time",
        &[],
        &[Windows],
        Monotonic,
        ns(100.0),
        "QueryInterruptTime(), moved by the timer interrupt",
    ),
    clock(
        "interrupt_time_precise",
        &[],
        &[Windows],
        Monotonic,
        ns(100.0),
        "QueryInterruptTimePrecise(), since Windows 10",
    ),
    clock(
        "unbiased_interrupt_time",
        &[],
        &[Windows],
        Monotonic,
        ns(100.0),
        "QueryUnbiasedInterruptTime(), leaves out sleep",
    ),
    clock(
        "unbiased_interrupt_time_precise",
        &[],
        &[Windows],
        Monotonic,
        ns(100.0),
        "QueryUnbiasedInterruptTimePrecise(), leaves out sleep; since Windows 10",
    ),
    clock("tick_count", &[], &[Windows], Monotonic, ns(1e6), "GetTickCount(), begins anew after 49.7 days"),
    clock("tick_count64", &[], &[Windows], Monotonic, ns(1e6), "GetTickCount64()"),
    clock("time_get_time", &[], &[Windows], Monotonic, ns(1e6), "timeGetTime(), begins anew after 49.7 days"),
    clock("clock", &[], &[Windows], Monotonic, ns(1e6), "clock(), wall time since the process began"),
    clock(
        "performance_now",
        &[],
        &[Browser],
        Monotonic,
        unknown("browsers round it: 5 us to 100 us"),
        "performance.now()",
    ),
    // Processor time.
    clock("process", &["process_cputime"], LINUX, CpuTime, ns(1.0), "CLOCK_PROCESS_CPUTIME_ID"),
    clock("process", &["process_cputime"], &[MacOs], CpuTime, ns(1000.0), "CLOCK_PROCESS_CPUTIME_ID"),
    clock(
        "process",
        &["process_cputime"],
        &[FreeBsd, NetBsd, OpenBsd, Illumos],
        CpuTime,
        unknown("not documented"),
        "CLOCK_PROCESS_CPUTIME_ID",
    ),
    clock("process", &["process_cputime"], &[Wasi], CpuTime, HOST, "clock_time_get(2)"),
    clock("thread", &["thread_cputime"], LINUX, CpuTime, ns(1.0), "CLOCK_THREAD_CPUTIME_ID"),
    clock(
        "thread",
        &["thread_cputime"],
        &[MacOs, FreeBsd, NetBsd, OpenBsd, Illumos],
        CpuTime,
        unknown("not documented"),
        "CLOCK_THREAD_CPUTIME_ID",
    ),
    clock("thread", &["thread_cputime"], &[Wasi], CpuTime, HOST, "clock_time_get(3)"),
    clock("virtual", &[], &[FreeBsd, NetBsd, Illumos], CpuTime, unknown("not documented"), "CLOCK_VIRTUAL, user time"),
    clock(
        "prof",
        &[],
        &[FreeBsd, NetBsd, Illumos],
        CpuTime,
        unknown("not documented"),
        "CLOCK_PROF, user + system time",
    ),
    clock("gethrvtime", &[], &[Illumos], CpuTime, ns(1.0), "gethrvtime()"),
    clock("clock", &[], &[Linux, Android, MacOs, Illumos], CpuTime, ns(1000.0), "clock(), CPU time of the process"),
    clock(
        "clock",
        &[],
        BSD,
        CpuTime,
        unknown("1 / CLOCKS_PER_SEC, which differs by system"),
        "clock(), CPU time of the process",
    ),
    clock("getrusage", &[], UNIX, CpuTime, ns(1000.0), "getrusage(RUSAGE_SELF), user + system time"),
    clock(
        "getrusage_thread",
        &[],
        &[Linux, Android, FreeBsd, OpenBsd],
        CpuTime,
        ns(1000.0),
        "getrusage(RUSAGE_THREAD), user + system time",
    ),
    clock("thread_cycle_time", &[], &[Windows], CpuTime, CYCLES, "QueryThreadCycleTime(), in cycles"),
    clock("process_cycle_time", &[], &[Windows], CpuTime, CYCLES, "QueryProcessCycleTime(), in cycles"),
    clock("thread_times", &[], &[Windows], CpuTime, ns(100.0), "GetThreadTimes(), user + kernel time"),
    clock("process_times", &[], &[Windows], CpuTime, ns(100.0), "GetProcessTimes(), user + kernel time"),
    // Devices.
    clock("ptp0", &[], LINUX, Wall, unknown("the device's"), "PTP hardware clock, and ptp1 and so on"),
    clock(
        "hpet",
        &[],
        LINUX,
        Counter,
        unknown("one count, as its registers state"),
        "HPET main counter, mapped from /dev/hpet",
    ),
    clock("rdpmc", &[], LINUX, Cycles, CORE, "RDPMC, core cycles in user mode, by perf events"),
    // Rust's own, and this library's.
    clock("rust_instant", &[], &System::ALL, Monotonic, STD, "Rust's std::time::Instant::now"),
    clock("rust_system_time", &[], &System::ALL, Wall, STD, "Rust's std::time::SystemTime::now"),
    clock("clockscope.now", &[], &System::ALL, Monotonic, SERVED, "clockscope::now, ordered"),
    clock("clockscope.now_unordered", &[], &System::ALL, Monotonic, SERVED, "clockscope::now_unordered"),
];

#[cfg(test)]
mod tests;
