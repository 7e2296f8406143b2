//! illumos: gethrtime and gethrvtime (gethrtime(3C)), in ns.

#![allow(unsafe_code, reason = "calls of the C library")]

use crate::clocks::catalog::cataloged;
use crate::{Entry, Errno, RawClock, Visitor};

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
    visitor.visit(Entry { info: cataloged!("gethrtime"), clock: Ok(Time) });
    visitor.visit(Entry { info: cataloged!("gethrvtime"), clock: Ok(VirtualTime) });
}
