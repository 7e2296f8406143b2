//! Browsers, Node and other hosts of WebAssembly with JavaScript; without the feature `js`, a host
//! without a clock.

pub(super) mod clock;

pub use super::single_call::{Timeline, kernel_clock};
pub use super::unsupported::{
    ClockSet, allowed_cpus, call_in_child, clocksource, counter_is_accepted, counter_is_clocksource,
    counter_is_permitted, current_cpu, keep_errno, no_fork as wipe_on_fork, perf_frequency, process, set_allowed_cpus,
    survive_disabled_counter,
};

/// Name of the timeline's clock.
pub const TIMELINE: &str = "performance.now";
