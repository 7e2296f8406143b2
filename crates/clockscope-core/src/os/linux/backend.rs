//! Linux.

mod affinity;
mod clock_set;
mod elf;
#[path = "../unix/errno.rs"]
mod errno;
#[path = "../unix/fork.rs"]
mod fork;
#[cfg_attr(target_os = "android", path = "android.rs")]
mod kernel_clock;
mod mapped_page;
pub mod perf;
mod permission;
pub mod posix;
mod syscall;
mod timeline;
#[cfg(target_arch = "x86_64")]
mod trap;
mod vdso;
mod vmclock;
mod wiping;

pub use super::process::process;
pub use affinity::{allowed_cpus, current_cpu, set_allowed_cpus};
pub use clock_set::ClockSet;
pub use errno::keep_errno;
pub use fork::call_in_child;
#[cfg(target_os = "linux")]
pub use kernel_clock::adjtimex;
pub use kernel_clock::read as kernel_clock;
pub use mapped_page::MappedPage;
pub use perf::frequency as perf_frequency;
pub use permission::{
    clocksource, counter_is_clocksource, counter_is_clocksource as counter_is_accepted, counter_is_permitted,
};
pub use timeline::Timeline;
#[cfg(target_arch = "x86_64")]
pub use trap::install as survive_disabled_counter;
#[cfg(fuzzing)]
pub(super) use vdso::fuzz as fuzz_vdso_image;
pub use wiping::wipe_on_fork;

/// Name of the timeline's clock.
pub const TIMELINE: &str = "CLOCK_MONOTONIC";

/// Refuses: only x86 has a switch that disables its counter.
///
/// # Errors
/// ENOSYS.
#[cfg(not(target_arch = "x86_64"))]
pub fn survive_disabled_counter(_: fn()) -> Result<(), crate::Errno> {
    Err(crate::Errno::new(libc::ENOSYS))
}
