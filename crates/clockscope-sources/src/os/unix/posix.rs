//! POSIX clocks by the C library: a table for each system.
//!
//! Sources of the facts: clock_gettime(2) of each system; Apple's libc, `gen/clock_gettime.c`;
//! FreeBSD's `sys/_clock_id.h` and `kern_time.c`; NetBSD's `sys/time.h`; OpenBSD's `sys/_time.h`
//! and `kern_time.c`; illumos' `sys/time_impl.h`.

use super::timespec::ByLibc;
pub(super) use super::timespec::{UnixTimespec as Timespec, resolution};
use crate::catalog::{System, is_cataloged, is_same, posix_clock};
use crate::{ClockInfo, ClockKind, Entry, ReadPath, Visitor};
#[cfg(not(target_vendor = "apple"))]
use crate::{Errno, RawClock, Resolution};

/// A row of the table, as clocks of its kind usually are: the kernel steers it, and it leaves out
/// sleep if it is monotonic.
struct PosixClock {
    name: &'static str,
    aliases: &'static [&'static str],
    id: libc::clockid_t,
    kind: ClockKind,
    summary: &'static str,
    is_usual: bool,
    is_coarse: bool,
    is_unsteered: bool,
    counts_sleep: bool,
    is_wrapper: bool,
}

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    id: libc::clockid_t,
    kind: ClockKind,
    summary: &'static str,
) -> PosixClock {
    let [is_usual, is_coarse, is_unsteered, counts_sleep, is_wrapper] = [false; 5];
    PosixClock { name, aliases, id, kind, summary, is_usual, is_coarse, is_unsteered, counts_sleep, is_wrapper }
}

#[allow(dead_code, reason = "no system has clocks of every sort")]
impl PosixClock {
    /// Programs usually read it.
    const fn usual(self) -> Self {
        Self { is_usual: true, ..self }
    }

    /// The timer tick, or a switch of threads, moves it.
    const fn coarse(self) -> Self {
        Self { is_coarse: true, ..self }
    }

    /// NTP does not steer it.
    const fn unsteered(self) -> Self {
        Self { is_unsteered: true, ..self }
    }

    /// It goes on while the machine sleeps.
    const fn counts_sleep(self) -> Self {
        Self { counts_sleep: true, ..self }
    }

    /// Another call that reads the clock of another row.
    const fn wraps(self) -> Self {
        Self { is_wrapper: true, ..self }
    }

    fn info(&self) -> ClockInfo {
        let info = ClockInfo::new(self.name, self.kind, ReadPath::Libc, resolution(self.id), self.summary);
        ClockInfo {
            aliases: self.aliases,
            is_usual: self.is_usual,
            is_coarse: self.is_coarse,
            is_steered: info.is_steered && !self.is_unsteered,
            counts_suspend: info.counts_suspend || self.counts_sleep,
            is_wrapper: self.is_wrapper,
            ..info
        }
    }
}

use ClockKind::{CpuTime, Monotonic, Wall};

#[cfg(target_vendor = "apple")]
#[rustfmt::skip]
const ROWS: &[PosixClock] = &[
    row("realtime", &[], libc::CLOCK_REALTIME, Wall, "CLOCK_REALTIME, gettimeofday()").usual(),
    row("monotonic", &[], libc::CLOCK_MONOTONIC, Monotonic, "CLOCK_MONOTONIC, gettimeofday() since boot").counts_sleep(),
    row("monotonic_raw", &[], libc::CLOCK_MONOTONIC_RAW, Monotonic, "CLOCK_MONOTONIC_RAW, mach_continuous_time()").unsteered().counts_sleep(),
    row("monotonic_raw_approx", &[], libc::CLOCK_MONOTONIC_RAW_APPROX, Monotonic, "CLOCK_MONOTONIC_RAW_APPROX, updated at switches of threads").coarse().unsteered().counts_sleep(),
    row("uptime_raw", &[], libc::CLOCK_UPTIME_RAW, Monotonic, "CLOCK_UPTIME_RAW, leaves out sleep").unsteered(),
    row("uptime_raw_approx", &[], libc::CLOCK_UPTIME_RAW_APPROX, Monotonic, "CLOCK_UPTIME_RAW_APPROX, updated at switches of threads").coarse().unsteered(),
    row("process", &["process_cputime"], libc::CLOCK_PROCESS_CPUTIME_ID, CpuTime, "CLOCK_PROCESS_CPUTIME_ID"),
    row("thread", &["thread_cputime"], libc::CLOCK_THREAD_CPUTIME_ID, CpuTime, "CLOCK_THREAD_CPUTIME_ID"),
];

#[cfg(target_os = "freebsd")]
#[rustfmt::skip]
const ROWS: &[PosixClock] = &[
    row("realtime", &[], libc::CLOCK_REALTIME, Wall, "CLOCK_REALTIME").usual(),
    row("realtime_precise", &[], libc::CLOCK_REALTIME_PRECISE, Wall, "CLOCK_REALTIME_PRECISE"),
    row("realtime_fast", &["realtime_coarse", "realtime_crs"], libc::CLOCK_REALTIME_FAST, Wall, "CLOCK_REALTIME_FAST, moved by the timer tick").coarse(),
    row("second", &[], libc::CLOCK_SECOND, Wall, "CLOCK_SECOND").coarse(),
    row("monotonic", &[], libc::CLOCK_MONOTONIC, Monotonic, "CLOCK_MONOTONIC").usual(),
    row("monotonic_precise", &[], libc::CLOCK_MONOTONIC_PRECISE, Monotonic, "CLOCK_MONOTONIC_PRECISE"),
    row("monotonic_fast", &["monotonic_coarse", "monotonic_crs"], libc::CLOCK_MONOTONIC_FAST, Monotonic, "CLOCK_MONOTONIC_FAST, moved by the timer tick").coarse(),
    row("boottime", &[], libc::CLOCK_BOOTTIME, Monotonic, "CLOCK_BOOTTIME").wraps(),
    row("uptime", &[], libc::CLOCK_UPTIME, Monotonic, "CLOCK_UPTIME"),
    row("uptime_precise", &[], libc::CLOCK_UPTIME_PRECISE, Monotonic, "CLOCK_UPTIME_PRECISE"),
    row("uptime_fast", &[], libc::CLOCK_UPTIME_FAST, Monotonic, "CLOCK_UPTIME_FAST, moved by the timer tick").coarse(),
    row("process", &["process_cputime"], libc::CLOCK_PROCESS_CPUTIME_ID, CpuTime, "CLOCK_PROCESS_CPUTIME_ID"),
    row("thread", &["thread_cputime"], libc::CLOCK_THREAD_CPUTIME_ID, CpuTime, "CLOCK_THREAD_CPUTIME_ID"),
    row("virtual", &[], libc::CLOCK_VIRTUAL, CpuTime, "CLOCK_VIRTUAL, user time"),
    row("prof", &[], libc::CLOCK_PROF, CpuTime, "CLOCK_PROF, user + system time"),
];

/// Numbers that the libc crate lacks: NetBSD's sys/time.h.
#[cfg(target_os = "netbsd")]
mod numbers {
    pub(super) const CLOCK_VIRTUAL: libc::clockid_t = 1;
    pub(super) const CLOCK_PROF: libc::clockid_t = 2;
    pub(super) const CLOCK_THREAD_CPUTIME_ID: libc::clockid_t = 0x2000_0000;
    pub(super) const CLOCK_PROCESS_CPUTIME_ID: libc::clockid_t = 0x4000_0000;
}

#[cfg(target_os = "netbsd")]
#[rustfmt::skip]
const ROWS: &[PosixClock] = &[
    row("realtime", &[], libc::CLOCK_REALTIME, Wall, "CLOCK_REALTIME").usual(),
    row("monotonic", &[], libc::CLOCK_MONOTONIC, Monotonic, "CLOCK_MONOTONIC").usual(),
    row("process", &["process_cputime"], numbers::CLOCK_PROCESS_CPUTIME_ID, CpuTime, "CLOCK_PROCESS_CPUTIME_ID"),
    row("thread", &["thread_cputime"], numbers::CLOCK_THREAD_CPUTIME_ID, CpuTime, "CLOCK_THREAD_CPUTIME_ID"),
    row("virtual", &[], numbers::CLOCK_VIRTUAL, CpuTime, "CLOCK_VIRTUAL, user time"),
    row("prof", &[], numbers::CLOCK_PROF, CpuTime, "CLOCK_PROF, user + system time"),
];

/// The clock since boot counts sleep there, and the one of uptime does not.
#[cfg(target_os = "openbsd")]
#[rustfmt::skip]
const ROWS: &[PosixClock] = &[
    row("realtime", &[], libc::CLOCK_REALTIME, Wall, "CLOCK_REALTIME").usual(),
    row("monotonic", &[], libc::CLOCK_MONOTONIC, Monotonic, "CLOCK_MONOTONIC").usual().counts_sleep(),
    row("boottime", &[], libc::CLOCK_BOOTTIME, Monotonic, "CLOCK_BOOTTIME").counts_sleep(),
    row("uptime", &[], libc::CLOCK_UPTIME, Monotonic, "CLOCK_UPTIME"),
    row("process", &["process_cputime"], libc::CLOCK_PROCESS_CPUTIME_ID, CpuTime, "CLOCK_PROCESS_CPUTIME_ID"),
    row("thread", &["thread_cputime"], libc::CLOCK_THREAD_CPUTIME_ID, CpuTime, "CLOCK_THREAD_CPUTIME_ID"),
];

/// Numbers that the libc crate lacks: illumos' sys/time_impl.h.
#[cfg(any(target_os = "illumos", target_os = "solaris"))]
mod numbers {
    pub(super) const CLOCK_VIRTUAL: libc::clockid_t = 1;
    pub(super) const CLOCK_PROF: libc::clockid_t = 2;
}

/// CLOCK_PROF is the thread's clock there, by another name.
#[cfg(any(target_os = "illumos", target_os = "solaris"))]
#[rustfmt::skip]
const ROWS: &[PosixClock] = &[
    row("realtime", &[], libc::CLOCK_REALTIME, Wall, "CLOCK_REALTIME").usual(),
    row("monotonic", &["highres"], libc::CLOCK_MONOTONIC, Monotonic, "CLOCK_MONOTONIC, CLOCK_HIGHRES").usual(),
    row("process", &["process_cputime"], libc::CLOCK_PROCESS_CPUTIME_ID, CpuTime, "CLOCK_PROCESS_CPUTIME_ID"),
    row("thread", &["thread_cputime"], libc::CLOCK_THREAD_CPUTIME_ID, CpuTime, "CLOCK_THREAD_CPUTIME_ID"),
    row("virtual", &[], numbers::CLOCK_VIRTUAL, CpuTime, "CLOCK_VIRTUAL, user time"),
    row("prof", &[], numbers::CLOCK_PROF, CpuTime, "CLOCK_PROF, user + system time").wraps(),
];

pub(super) fn each(visitor: &mut impl Visitor) {
    for row in ROWS {
        visitor.visit(Entry { info: row.info(), clock: Ok(ByLibc::new(row.id)) });
    }
}

/// Every row is a clock of the catalog, and every POSIX clock of the catalog is a row: seen when it
/// is compiled, since no machine runs it.
const _: () = {
    let Some(here) = System::HERE else { panic!("the system has no clocks in the catalog") };
    let mut place = 0;
    while place < ROWS.len() {
        let PosixClock { name, aliases, kind, .. } = &ROWS[place];
        assert!(is_cataloged(here, name, aliases, *kind), "a row differs from the catalog");
        place += 1;
    }
    let mut posix = 0;
    while let Some(name) = posix_clock(here, posix) {
        let mut place = 0;
        while place < ROWS.len() && !is_same(ROWS[place].name, name) {
            place += 1;
        }
        assert!(place < ROWS.len(), "a POSIX clock of the catalog has no row");
        posix += 1;
    }
};

/// The system's clock that its programs usually take intervals from, which others are judged
/// against.
#[cfg(not(target_vendor = "apple"))]
#[derive(Clone, Copy, Debug)]
pub struct Reference(ByLibc);

/// Returns the references: CLOCK_MONOTONIC alone.
#[cfg(not(target_vendor = "apple"))]
#[must_use]
pub fn references() -> Vec<Reference> {
    vec![Reference(ByLibc::new(libc::CLOCK_MONOTONIC))]
}

#[cfg(not(target_vendor = "apple"))]
impl Reference {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        "monotonic"
    }

    /// Returns by which path it is read.
    #[must_use]
    pub fn path(&self) -> ReadPath {
        ReadPath::Libc
    }

    /// Returns its tick in ns, as clock_getres states it; 0 where nothing is stated.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        match resolution(libc::CLOCK_MONOTONIC) {
            Resolution::Nanoseconds(ns) => ns,
            Resolution::OneCount | Resolution::Unknown(_) => 0.0,
        }
    }
}

#[cfg(not(target_vendor = "apple"))]
impl RawClock for Reference {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        self.0.read(raw)
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        self.0.value(raw)
    }
}
