//! `clock_gettime` by its three paths: the C library, the vDSO, and the bare system call.

pub(super) use clockscope_arch::os::posix::Timespec;
use clockscope_arch::os::posix::{ByLibc, BySyscall, ByVdso, resolution_ns};

use crate::{ClockInfo, ClockKind, Entry, Errno, RawClock, ReadPath, Resolution, Unavailable, Visitor};

/// A row of the table of POSIX clocks. Adding one is adding a row.
struct PosixClock {
    name: &'static str,
    aliases: &'static [&'static str],
    id: libc::clockid_t,
    kind: ClockKind,
    summary: &'static str,
}

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    id: libc::clockid_t,
    kind: ClockKind,
    summary: &'static str,
) -> PosixClock {
    PosixClock { name, aliases, id, kind, summary }
}

#[rustfmt::skip]
const ROWS: &[PosixClock] = &[
    row("realtime",         &[],                   libc::CLOCK_REALTIME,           ClockKind::Wall,      "CLOCK_REALTIME"),
    row("realtime_coarse",  &["realtime_crs"],     libc::CLOCK_REALTIME_COARSE,    ClockKind::Wall,      "CLOCK_REALTIME_COARSE, moved by the timer tick"),
    row("monotonic",        &[],                   libc::CLOCK_MONOTONIC,          ClockKind::Monotonic, "CLOCK_MONOTONIC"),
    row("monotonic_coarse", &["monotonic_crs"],    libc::CLOCK_MONOTONIC_COARSE,   ClockKind::Monotonic, "CLOCK_MONOTONIC_COARSE, moved by the timer tick"),
    row("monotonic_raw",    &[],                   libc::CLOCK_MONOTONIC_RAW,      ClockKind::Monotonic, "CLOCK_MONOTONIC_RAW, not steered by NTP"),
    row("boottime",         &[],                   libc::CLOCK_BOOTTIME,           ClockKind::Monotonic, "CLOCK_BOOTTIME, counts through suspend"),
    row("tai",              &[],                   libc::CLOCK_TAI,                ClockKind::Wall,      "CLOCK_TAI, no leap seconds"),
    row("process",          &["process_cputime"],  libc::CLOCK_PROCESS_CPUTIME_ID, ClockKind::CpuTime,   "CLOCK_PROCESS_CPUTIME_ID"),
    row("thread",           &["thread_cputime"],   libc::CLOCK_THREAD_CPUTIME_ID,  ClockKind::CpuTime,   "CLOCK_THREAD_CPUTIME_ID"),
];

/// Makes a path of `clock_gettime` a clock of the instrument.
macro_rules! path {
    ($name:ty) => {
        impl RawClock for $name {
            type Raw = Timespec;

            #[inline(always)]
            fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
                // The type's own method, which comes before the trait's.
                Self::read(self, raw)
            }

            #[inline(always)]
            fn value(&self, raw: &Timespec) -> u64 {
                raw.nanoseconds()
            }
        }
    };
}

path!(ByLibc);
path!(ByVdso);
path!(BySyscall);

pub(super) fn each(visitor: &mut impl Visitor) {
    for row in ROWS {
        visitor.visit(Entry { info: row.info(ReadPath::Libc), clock: Ok(ByLibc::new(row.id)) });
        visitor.visit(Entry { info: row.info(ReadPath::Vdso), clock: ByVdso::new(row.id) });
        visitor.visit(Entry { info: row.info(ReadPath::Syscall), clock: Ok(BySyscall::new(row.id)) });
    }
}

impl PosixClock {
    fn info(&self, path: ReadPath) -> ClockInfo {
        let info = ClockInfo::new(self.name, self.kind, path, resolution(self.id), self.summary);
        ClockInfo {
            aliases: self.aliases,
            is_coarse: matches!(self.id, libc::CLOCK_REALTIME_COARSE | libc::CLOCK_MONOTONIC_COARSE),
            counts_suspend: info.counts_suspend || self.id == libc::CLOCK_BOOTTIME,
            is_steered: info.is_steered && self.id != libc::CLOCK_MONOTONIC_RAW,
            is_usual: matches!(self.id, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC),
            ..info
        }
    }
}

/// Returns what `clock_getres` states, or the reason why it states nothing.
pub(super) fn resolution(id: libc::clockid_t) -> Resolution {
    match resolution_ns(id) {
        Ok(ns) => Resolution::Nanoseconds(ns as f64),
        Err(errno) => Resolution::Unknown(Unavailable::Call("clock_getres".into(), errno).to_string().into()),
    }
}
