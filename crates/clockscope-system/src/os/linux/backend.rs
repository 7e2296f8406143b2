//! Linux: POSIX clocks by three paths, the C library's older calls, devices, and the performance
//! counter.

#[cfg(target_os = "linux")]
mod adjtimex;
mod devices;
#[cfg(target_os = "linux")]
mod kernel_log;
#[path = "../unix/legacy.rs"]
mod legacy;
mod posix;
mod process;
#[cfg(target_os = "linux")]
mod ptp;
mod rdpmc;
#[cfg(target_os = "linux")]
mod sleeping;
#[path = "../unix/uname.rs"]
mod uname;

/// On Android what is left out was not tried.
pub(crate) mod facts {
    #[cfg(target_os = "android")]
    pub(crate) use crate::os::unsupported::{Sleeper, adjtimex, kernel_log, ptp, switches, timer_slack_ns};
    pub(crate) use crate::os::unsupported::{
        is_wine, performance_counter_hz, timecounter_number, timecounters, windows,
    };

    #[cfg(target_os = "linux")]
    pub(crate) use super::{
        adjtimex::adjtimex,
        kernel_log::kernel_log,
        process::switches,
        ptp::ptp,
        sleeping::{Sleeper, timer_slack_ns},
    };
    pub(crate) use super::{process::vdso, uname::kernel};

    /// Number of CPUs that are online.
    pub(crate) fn online_cpus() -> clockscope_records::Figure<u32> {
        let path = "/sys/devices/system/cpu/online";
        let listed = crate::pseudo_files::line_of(path).and_then(|line| crate::pseudo_files::cpu_list(&line));
        clockscope_records::Figure::of(listed.map(|cpus| cpus.len() as u32), format!("{path} cannot be read"))
    }
}

use clockscope_core::os::posix::{BySyscall, ByVdso, Timespec};

use crate::{Errno, RawClock, ReadPath, Resolution, Visitor};

/// A clock that others are judged against.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    name: &'static str,
    id: libc::clockid_t,
    way: ReferenceCall,
}

#[derive(Clone, Copy, Debug)]
enum ReferenceCall {
    Syscall(BySyscall),
    Vdso(ByVdso),
}

/// The references, best first. Neither the C library nor the vDSO takes part in a system call of
/// our own, and nobody steers CLOCK_MONOTONIC_RAW; the others serve where a filter denies it.
/// Callers have to try each: it may not answer.
#[must_use]
pub fn references() -> Vec<Reference> {
    let mut references = vec![
        Reference::by_syscall("monotonic_raw:syscall", libc::CLOCK_MONOTONIC_RAW),
        Reference::by_syscall("monotonic:syscall", libc::CLOCK_MONOTONIC),
        Reference::by_syscall("boottime:syscall", libc::CLOCK_BOOTTIME),
    ];
    let by_vdso = ByVdso::new(libc::CLOCK_MONOTONIC_RAW);
    references.extend(by_vdso.ok().map(|clock| Reference {
        name: "monotonic_raw:vdso",
        id: libc::CLOCK_MONOTONIC_RAW,
        way: ReferenceCall::Vdso(clock),
    }));
    references
}

impl Reference {
    fn by_syscall(name: &'static str, id: libc::clockid_t) -> Self {
        Self { name, id, way: ReferenceCall::Syscall(BySyscall::new(id)) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns true if a time daemon may steer it.
    #[must_use]
    pub fn is_steered(&self) -> bool {
        self.id != libc::CLOCK_MONOTONIC_RAW
    }

    /// Returns the path by which it is read.
    #[must_use]
    pub fn path(&self) -> ReadPath {
        match self.way {
            ReferenceCall::Syscall(_) => ReadPath::Syscall,
            ReferenceCall::Vdso(_) => ReadPath::Vdso,
        }
    }

    /// Its tick in ns, as clock_getres states it: 1, or the timer tick where the kernel has no
    /// better clocksource. 0 where nothing is stated.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        match posix::resolution(self.id) {
            Resolution::Nanoseconds(ns) => ns,
            Resolution::OneCount | Resolution::Unknown(_) => 0.0,
        }
    }
}

impl RawClock for Reference {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        match self.way {
            ReferenceCall::Syscall(clock) => clock.read(raw),
            ReferenceCall::Vdso(clock) => clock.read(raw),
        }
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        raw.nanoseconds()
    }
}

/// Seconds since 1970 in UTC, by a system call; `None` where it is denied or the clock is set
/// before then.
#[must_use]
pub fn unix_seconds() -> Option<u64> {
    let wall = BySyscall::new(libc::CLOCK_REALTIME);
    let mut now = Default::default();
    wall.read(&mut now).ok()?;
    u64::try_from(now.seconds()).ok()
}

pub(super) fn each(visitor: &mut impl Visitor) {
    posix::each(visitor);
    legacy::each(visitor);
    devices::each(visitor);
    rdpmc::each(visitor);
}
