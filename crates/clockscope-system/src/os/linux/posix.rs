//! `clock_gettime` by its three paths: the C library, the vDSO, and the bare system call.

pub(super) use clockscope_core::os::posix::Timespec;
use clockscope_core::os::posix::{ByLibc, BySyscall, ByVdso, resolution_ns};

use crate::clocks::catalog::posix_clocks;
use crate::{ClockInfo, Entry, Errno, RawClock, ReadPath, Resolution, Unavailable, Visitor};

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
    for (info, id) in posix_clocks() {
        let info = ClockInfo { resolution: resolution(id), ..info.clone() };
        visitor.visit(Entry { info: ClockInfo { path: ReadPath::Libc, ..info.clone() }, clock: Ok(ByLibc::new(id)) });
        visitor.visit(Entry { info: ClockInfo { path: ReadPath::Vdso, ..info.clone() }, clock: ByVdso::new(id) });
        visitor.visit(Entry { info: ClockInfo { path: ReadPath::Syscall, ..info }, clock: Ok(BySyscall::new(id)) });
    }
}

/// Returns what `clock_getres` states, or the reason why it states nothing.
pub(super) fn resolution(id: libc::clockid_t) -> Resolution {
    match resolution_ns(id) {
        Ok(ns) => Resolution::Nanoseconds(ns as f64),
        Err(errno) => Resolution::Unknown(Unavailable::Call("clock_getres".into(), errno).to_string().into()),
    }
}
