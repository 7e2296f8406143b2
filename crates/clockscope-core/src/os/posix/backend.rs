//! Systems whose timeline is CLOCK_MONOTONIC by the C library: the BSDs, illumos and Solaris, WASI.

pub(super) mod clock;
#[cfg(unix)]
#[path = "../unix/errno.rs"]
mod errno;
#[cfg(unix)]
#[path = "../unix/fork.rs"]
mod fork;
#[cfg(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
pub mod timecounter;

#[cfg(unix)]
pub use super::process::process;
pub use super::single_call::{Timeline, kernel_clock};
#[cfg(not(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd")))]
pub use super::unsupported::clocksource;
#[cfg(not(target_os = "freebsd"))]
pub use super::unsupported::counter_is_accepted;
#[cfg(unix)]
pub use super::unsupported::wipe_on_fork;
pub use super::unsupported::{
    ClockSet, allowed_cpus, counter_is_clocksource, counter_is_permitted, current_cpu, perf_frequency,
    set_allowed_cpus, survive_disabled_counter,
};
#[cfg(not(unix))]
pub use super::unsupported::{call_in_child, keep_errno, no_fork as wipe_on_fork, process};
#[cfg(unix)]
pub use errno::keep_errno;
#[cfg(unix)]
pub use fork::call_in_child;
#[cfg(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
pub use timecounter::clocksource;
#[cfg(target_os = "freebsd")]
pub use timecounter::counter_is_accepted;

/// Name of the timeline's clock.
pub const TIMELINE: &str = "CLOCK_MONOTONIC";
