//! macOS: counts of Mach's timebase, and their unit.

#![allow(unsafe_code, reason = "calls of the system, one of which writes through a pointer")]

use mach2::mach_time::{
    mach_absolute_time, mach_approximate_time, mach_continuous_time, mach_timebase_info, mach_timebase_info_data_t,
};

use crate::clocks::catalog::cataloged;
use crate::clocks::timebase::Timebase;
use crate::{ClockInfo, Entry, Errno, RawClock, ReadPath, Resolution, Unavailable, Unit, Visitor};

/// Defines a clock of one call, in counts.
macro_rules! mach {
    ($(#[$doc:meta])* $name:ident: $call:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        struct $name;

        impl RawClock for $name {
            type Raw = u64;

            #[inline(always)]
            fn read(&self, raw: &mut u64) -> Result<(), Errno> {
                // SAFETY: takes nothing.
                *raw = unsafe { $call() };
                Ok(())
            }

            #[inline(always)]
            fn value(&self, raw: &u64) -> u64 {
                *raw
            }
        }
    };
}

mach!(
    /// Leaves out sleep. The system takes care of its order across cores.
    Absolute: mach_absolute_time
);
mach!(
    /// Counts sleep.
    Continuous: mach_continuous_time
);
mach!(
    /// Value of the former at the last switch of threads, or later.
    Approximate: mach_approximate_time
);

/// Returns the unit of these counts.
fn timebase() -> Result<Timebase, Unavailable> {
    let mut found = mach_timebase_info_data_t { numer: 0, denom: 0 };
    // SAFETY: writes one fraction through the pointer, which is ours.
    match unsafe { mach_timebase_info(&raw mut found) } {
        0 => Timebase::new(found.numer, found.denom)
            .ok_or_else(|| Unavailable::Missing("mach_timebase_info states a fraction with a zero".into())),
        code => Err(Unavailable::Call("mach_timebase_info".into(), Errno::new(code))),
    }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    let timebase = timebase();
    let info = with_timebase(cataloged!("mach_absolute_time"), &timebase);
    visitor.visit(Entry { info, clock: timebase.clone().map(|_| Absolute) });
    let info = with_timebase(cataloged!("mach_continuous_time"), &timebase);
    visitor.visit(Entry { info, clock: timebase.clone().map(|_| Continuous) });
    let info = with_timebase(cataloged!("mach_approximate_time"), &timebase);
    visitor.visit(Entry { info, clock: timebase.clone().map(|_| Approximate) });
}

/// Adds the length of a count.
fn with_timebase(info: ClockInfo, timebase: &Result<Timebase, Unavailable>) -> ClockInfo {
    let resolution = match timebase {
        Ok(timebase) => Resolution::Nanoseconds(timebase.count_ns()),
        Err(reason) => Resolution::Unknown(reason.to_string().into()),
    };
    let unit = Unit::Counts(timebase.as_ref().ok().map(|timebase| timebase.frequency_hz()));
    ClockInfo { unit, resolution, ..info }
}

/// mach_absolute_time in ns, which others are judged against.
#[derive(Clone, Copy, Debug)]
pub struct Reference(Timebase);

/// Returns the references: mach_absolute_time alone; none where its unit is unknown.
#[must_use]
pub fn references() -> Vec<Reference> {
    timebase().map(Reference).into_iter().collect()
}

impl Reference {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        "mach_absolute_time"
    }

    /// Returns true if a time daemon may steer it.
    #[must_use]
    pub fn is_steered(&self) -> bool {
        false
    }

    /// Returns by which path it is read.
    #[must_use]
    pub fn path(&self) -> ReadPath {
        ReadPath::SystemLibrary
    }

    /// Returns its tick in ns: one count.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        self.0.count_ns()
    }
}

impl RawClock for Reference {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        Absolute.read(raw)
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        self.0.nanoseconds(*raw)
    }
}
