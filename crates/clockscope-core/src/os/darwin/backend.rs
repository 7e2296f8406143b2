//! macOS, iOS and their like.

pub(super) mod clock;
#[path = "../unix/errno.rs"]
mod errno;
#[path = "../unix/fork.rs"]
mod fork;

pub use super::process::process;
pub use super::single_call::{Timeline, kernel_clock};
pub use super::unsupported::{
    ClockSet, allowed_cpus, clocksource, counter_is_accepted, counter_is_clocksource, counter_is_permitted,
    current_cpu, perf_frequency, set_allowed_cpus, survive_disabled_counter, wipe_on_fork,
};
pub use errno::keep_errno;
pub use fork::call_in_child;

/// Name of the timeline's clock.
pub const TIMELINE: &str = "mach_absolute_time";
