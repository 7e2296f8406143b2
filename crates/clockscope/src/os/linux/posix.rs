//! `clock_gettime` by its three paths: the C library, the vDSO, and the bare system call.

#![allow(unsafe_code, reason = "clock_gettime writes through a pointer")]

use super::errno::last_errno;
use super::{syscall, vdso};
use crate::{About, Entry, Errno, Kind, Path, RawClock, Resolution, Unavailable, Unit, Visitor};

/// A row of the table of POSIX clocks. Adding one is adding a row.
struct Row {
    name: &'static str,
    aliases: &'static [&'static str],
    id: libc::clockid_t,
    kind: Kind,
    summary: &'static str,
}

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    id: libc::clockid_t,
    kind: Kind,
    summary: &'static str,
) -> Row {
    Row { name, aliases, id, kind, summary }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("realtime",         &[],                   libc::CLOCK_REALTIME,           Kind::Wall,      "CLOCK_REALTIME"),
    row("realtime_coarse",  &["realtime_crs"],     libc::CLOCK_REALTIME_COARSE,    Kind::Wall,      "CLOCK_REALTIME_COARSE, moved by the timer tick"),
    row("monotonic",        &[],                   libc::CLOCK_MONOTONIC,          Kind::Monotonic, "CLOCK_MONOTONIC"),
    row("monotonic_coarse", &["monotonic_crs"],    libc::CLOCK_MONOTONIC_COARSE,   Kind::Monotonic, "CLOCK_MONOTONIC_COARSE, moved by the timer tick"),
    row("monotonic_raw",    &[],                   libc::CLOCK_MONOTONIC_RAW,      Kind::Monotonic, "CLOCK_MONOTONIC_RAW, not steered by NTP"),
    row("boottime",         &[],                   libc::CLOCK_BOOTTIME,           Kind::Monotonic, "CLOCK_BOOTTIME, counts through suspend"),
    row("tai",              &[],                   libc::CLOCK_TAI,                Kind::Wall,      "CLOCK_TAI, no leap seconds"),
    row("process",          &["process_cputime"],  libc::CLOCK_PROCESS_CPUTIME_ID, Kind::CpuTime,   "CLOCK_PROCESS_CPUTIME_ID"),
    row("thread",           &["thread_cputime"],   libc::CLOCK_THREAD_CPUTIME_ID,  Kind::CpuTime,   "CLOCK_THREAD_CPUTIME_ID"),
];

/// What `clock_gettime` leaves behind.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Timespec(libc::timespec);

impl Default for Timespec {
    fn default() -> Self {
        Self(libc::timespec { tv_sec: 0, tv_nsec: 0 })
    }
}

impl Timespec {
    /// Whole seconds.
    #[must_use]
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    pub fn seconds(&self) -> i64 {
        self.0.tv_sec as i64
    }

    /// Nanoseconds since the clock's origin, wrapping; 584 years wide.
    #[inline(always)]
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    pub(super) fn nanoseconds(&self) -> u64 {
        (self.0.tv_sec as i64).wrapping_mul(1_000_000_000).wrapping_add(self.0.tv_nsec as i64) as u64
    }

    /// Where a call may write.
    #[inline(always)]
    pub(super) fn as_mut_ptr(&mut self) -> *mut libc::timespec {
        &raw mut self.0
    }
}

/// `clock_gettime` of the C library.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByLibc {
    id: libc::clockid_t,
}

/// `clock_gettime` of the vDSO.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByVdso {
    function: vdso::ClockGettime,
    id: libc::clockid_t,
}

/// The bare system call.
#[derive(Clone, Copy, Debug)]
pub(super) struct BySyscall {
    id: libc::clockid_t,
}

impl ByLibc {
    pub(super) const fn new(id: libc::clockid_t) -> Self {
        Self { id }
    }
}

impl ByVdso {
    /// `None` where there is no vDSO.
    pub(super) fn new(id: libc::clockid_t) -> Option<Self> {
        vdso::clock_gettime().ok().map(|function| Self::with(function, id))
    }

    /// By a function that was found before.
    pub(super) const fn with(function: vdso::ClockGettime, id: libc::clockid_t) -> Self {
        Self { function, id }
    }
}

impl BySyscall {
    pub(super) const fn new(id: libc::clockid_t) -> Self {
        Self { id }
    }
}

impl RawClock for ByLibc {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        // SAFETY: the pointer is to a timespec that is borrowed exclusively for the call.
        if unsafe { libc::clock_gettime(self.id, raw.as_mut_ptr()) } == 0 { Ok(()) } else { Err(last_errno()) }
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        raw.nanoseconds()
    }
}

impl RawClock for ByVdso {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        // SAFETY: the kernel exports this function with this signature for the life of the process; the pointer is to
        // a timespec that is borrowed exclusively for the call.
        let answer = unsafe { (self.function)(self.id, raw.as_mut_ptr()) };
        // The vDSO answers like the kernel: a negative error number.
        if answer == 0 { Ok(()) } else { Err(Errno(-answer)) }
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        raw.nanoseconds()
    }
}

impl RawClock for BySyscall {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        // SAFETY: clock_gettime writes one timespec through the pointer, which is borrowed exclusively for the call.
        unsafe { syscall::two(libc::SYS_clock_gettime, self.id as usize, raw.as_mut_ptr() as usize) }
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        raw.nanoseconds()
    }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    let vdso = vdso::clock_gettime();
    for row in ROWS {
        visitor.visit(Entry { about: row.about(Path::Libc), clock: Ok(ByLibc::new(row.id)) });
        visitor.visit(Entry {
            about: row.about(Path::Vdso),
            clock: vdso.clone().map(|function| ByVdso::with(function, row.id)),
        });
        visitor.visit(Entry { about: row.about(Path::Syscall), clock: Ok(BySyscall::new(row.id)) });
    }
}

impl Row {
    fn about(&self, path: Path) -> About {
        About {
            name: self.name.into(),
            aliases: self.aliases,
            kind: self.kind,
            path,
            unit: Unit::Nanoseconds,
            resolution: resolution(self.id),
            summary: self.summary,
            // The kernel charges CPU time by its scheduler clock, which is another one.
            on_clocksource: self.kind != Kind::CpuTime,
            is_ordered: true,
        }
    }
}

/// `clock_getres` in ns, by the bare system call.
///
/// # Errors
/// The kernel's.
pub(super) fn resolution_ns(id: libc::clockid_t) -> Result<u64, Errno> {
    let mut step = Timespec::default();
    // SAFETY: clock_getres writes one timespec through the pointer, which is ours.
    unsafe { syscall::two(libc::SYS_clock_getres, id as usize, step.as_mut_ptr() as usize) }?;
    Ok(step.nanoseconds())
}

/// The same with the reason where there is none.
pub(super) fn resolution(id: libc::clockid_t) -> Resolution {
    match resolution_ns(id) {
        Ok(ns) => Resolution::Nanoseconds(ns as f64),
        Err(errno) => Resolution::Unknown(Unavailable::Call("clock_getres".into(), errno).to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every Linux maps a vDSO, but user-mode emulators of other architectures do not.
    fn by_vdso(id: libc::clockid_t) -> Option<ByVdso> {
        let clock = ByVdso::new(id);
        assert!(clock.is_some() || !cfg!(target_arch = "x86_64"), "no vDSO");
        clock
    }

    #[test]
    fn the_three_paths_read_the_same_clock() {
        // Sandwich: a system call before and after encloses every path of a clock that is never set back.
        let id = libc::CLOCK_MONOTONIC;
        let (outer, vdso) = (BySyscall::new(id), by_vdso(id));
        for _ in 0..1000 {
            let (mut before, mut libc, mut after) = Default::default();
            outer.read(&mut before).unwrap();
            ByLibc { id }.read(&mut libc).unwrap();
            let mut middle = libc;
            if let Some(vdso) = vdso {
                vdso.read(&mut middle).unwrap();
            }
            outer.read(&mut after).unwrap();
            let order = [before, libc, middle, after].map(|reading| reading.nanoseconds());
            assert!(order.is_sorted(), "{order:?}");
        }
    }

    #[test]
    fn an_unknown_id_is_an_error_on_every_path() {
        let id = 9999;
        let mut raw = Timespec::default();
        assert_eq!(ByLibc { id }.read(&mut raw), Err(Errno(libc::EINVAL)));
        assert_eq!(BySyscall::new(id).read(&mut raw), Err(Errno(libc::EINVAL)));
        if let Some(vdso) = by_vdso(id) {
            assert_eq!(vdso.read(&mut raw), Err(Errno(libc::EINVAL)));
        }
    }
}
