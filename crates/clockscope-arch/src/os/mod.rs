//! What a timestamp asks the operating system, one backend a system, all with these items:
//!
//! - [`Timeline`]: the clock whose timeline the library serves, its tick, and what disturbs it;
//! - [`civil`]: civil time with the error that the kernel states, [`ClockSet`]: a notice that it was
//!   set;
//! - what the system says of the counter: [`counter_is_permitted`], [`counter_is_clocksource`],
//!   [`clocksource`], [`perf_frequency`];
//! - what a process must survive: [`keep_errno`], [`wipe_on_fork`], [`call_in_child`],
//!   [`survive_disabled_counter`];
//! - the CPUs: [`allowed_cpus`], [`set_allowed_cpus`], [`current_cpu`].
//!
//! `posix`, `perf`, `adjtimex` and `MappedPage` are Linux's alone, for what the instrument reads.

#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "linux/mod.rs")]
#[cfg_attr(not(any(target_os = "linux", target_os = "android")), path = "absent.rs")]
mod backend;

pub use crate::woken::Woken;
pub use backend::{
    ClockSet, Timeline, allowed_cpus, call_in_child, civil, clocksource, counter_is_clocksource, counter_is_permitted,
    current_cpu, keep_errno, perf_frequency, set_allowed_cpus, survive_disabled_counter, wipe_on_fork,
};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub use backend::{MappedPage, adjtimex, last_errno, perf, posix};

/// What fuzz/ feeds.
#[cfg(all(fuzzing, any(target_os = "linux", target_os = "android")))]
#[doc(hidden)]
pub fn fuzz_vdso_image(image: &[u8]) {
    backend::fuzz_vdso_image(image);
}
