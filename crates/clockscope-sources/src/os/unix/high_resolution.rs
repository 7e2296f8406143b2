//! illumos: gethrtime and gethrvtime (gethrtime(3C)), in ns.

#![allow(unsafe_code, reason = "calls of the C library")]

use crate::{ClockInfo, ClockKind, Entry, Errno, RawClock, ReadPath, Resolution, Visitor};

unsafe extern "C" {
    // Not in the libc crate.
    fn gethrtime() -> i64;
    fn gethrvtime() -> i64;
}

/// Time since some start.
#[derive(Clone, Copy, Debug)]
struct Time;

/// Processor time of the calling thread.
#[derive(Clone, Copy, Debug)]
struct VirtualTime;

impl RawClock for Time {
    type Raw = i64;

    #[inline(always)]
    fn read(&self, raw: &mut i64) -> Result<(), Errno> {
        // SAFETY: takes nothing.
        *raw = unsafe { gethrtime() };
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &i64) -> u64 {
        raw.cast_unsigned()
    }
}

impl RawClock for VirtualTime {
    type Raw = i64;

    #[inline(always)]
    fn read(&self, raw: &mut i64) -> Result<(), Errno> {
        // SAFETY: takes nothing.
        *raw = unsafe { gethrvtime() };
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &i64) -> u64 {
        raw.cast_unsigned()
    }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    let ns = Resolution::Nanoseconds(1.0);
    let time = ClockInfo::new("gethrtime", ClockKind::Monotonic, ReadPath::Libc, ns.clone(), "gethrtime()");
    // No call sets or drifts it (gethrtime(3C)).
    visitor.visit(Entry { info: ClockInfo { is_steered: false, ..time }, clock: Ok(Time) });
    let info = ClockInfo::new("gethrvtime", ClockKind::CpuTime, ReadPath::Libc, ns, "gethrvtime()");
    visitor.visit(Entry { info, clock: Ok(VirtualTime) });
}
