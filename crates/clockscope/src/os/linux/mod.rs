//! Linux: POSIX clocks by three paths, the C library's older calls, devices, and the performance counter.

mod affinity;
mod civil;
mod clock_set;
mod devices;
mod errno;
mod fork;
mod legacy;
mod perf;
mod permission;
mod posix;
mod rdpmc;
mod syscall;
mod timeline;
#[cfg(target_arch = "x86_64")]
mod trap;
pub(super) mod vdso;
mod vmclock;

pub use affinity::{allowed_cpus, current_cpu, set_allowed_cpus};
pub(crate) use civil::read as civil;
pub(crate) use clock_set::{ClockSet, Woken};
pub(crate) use errno::keep_errno;
pub(crate) use fork::{call_in_child, wipe_on_fork};
pub use perf::perf_frequency;
pub use permission::{clocksource, counter_is_clocksource, counter_is_permitted};
pub(crate) use timeline::Timeline;
#[cfg(target_arch = "x86_64")]
pub(crate) use trap::install as survive_disabled_counter;

use crate::{Errno, RawClock, Resolution, Visitor};

/// A clock that others are judged against.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    name: &'static str,
    id: libc::clockid_t,
    way: Way,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Syscall(posix::BySyscall),
    Vdso(posix::ByVdso),
}

/// The references, best first. Neither the C library nor the vDSO takes part in a system call of our own, and nobody
/// steers CLOCK_MONOTONIC_RAW; the others serve where a filter denies it. Whether one answers is for the caller to try.
#[must_use]
pub fn references() -> Vec<Reference> {
    let by_syscall = |name, id| Reference { name, id, way: Way::Syscall(posix::BySyscall::new(id)) };
    let mut references = vec![
        by_syscall("monotonic_raw:syscall", libc::CLOCK_MONOTONIC_RAW),
        by_syscall("monotonic:syscall", libc::CLOCK_MONOTONIC),
        by_syscall("boottime:syscall", libc::CLOCK_BOOTTIME),
    ];
    let by_vdso = posix::ByVdso::new(libc::CLOCK_MONOTONIC_RAW);
    references.extend(by_vdso.map(|clock| Reference {
        name: "monotonic_raw:vdso",
        id: libc::CLOCK_MONOTONIC_RAW,
        way: Way::Vdso(clock),
    }));
    references
}

impl Reference {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its tick in ns, as clock_getres states it: 1, or the timer tick where the kernel has no better clocksource. 0
    /// where nothing is stated.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        match posix::resolution(self.id) {
            Resolution::Nanoseconds(ns) => ns,
            Resolution::OneTick | Resolution::Unknown(_) => 0.0,
        }
    }
}

impl RawClock for Reference {
    type Raw = posix::Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut posix::Timespec) -> Result<(), Errno> {
        match self.way {
            Way::Syscall(clock) => clock.read(raw),
            Way::Vdso(clock) => clock.read(raw),
        }
    }

    #[inline(always)]
    fn value(&self, raw: &posix::Timespec) -> u64 {
        raw.nanoseconds()
    }
}

/// Seconds since 1970 in UTC, by a system call; `None` where it is denied or the clock is set before then.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    let wall = posix::BySyscall::new(libc::CLOCK_REALTIME);
    let mut now = Default::default();
    wall.read(&mut now).ok()?;
    u64::try_from(now.seconds()).ok()
}

/// Only x86 has a switch that disables its counter.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn survive_disabled_counter(_: fn()) -> Result<(), Errno> {
    Err(Errno(libc::ENOSYS))
}

pub(super) fn each(visitor: &mut impl Visitor) {
    posix::each(visitor);
    legacy::each(visitor);
    devices::each(visitor);
    rdpmc::each(visitor);
}
