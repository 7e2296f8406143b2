//! Questions of a timestamp to the operating system, one folder a system, all with these items:
//!
//! - [`Timeline`]: the clock whose timeline the library serves, its tick, and what disturbs it;
//!   [`TIMELINE`]: its name;
//! - [`kernel_clock`]: the time of day with the error that the kernel states, [`ClockSet`]: a
//!   notice that it was set;
//! - what the system says of the counter: [`counter_is_permitted`], [`counter_is_clocksource`],
//!   [`counter_is_accepted`], [`clocksource`], [`perf_frequency`];
//! - what a process must survive: [`keep_errno`], [`wipe_on_fork`], [`call_in_child`],
//!   [`survive_disabled_counter`];
//! - [`process`]: the number of the process; the CPUs: [`allowed_cpus`], [`set_allowed_cpus`],
//!   [`current_cpu`].
//!
//! What a system lacks comes from `unsupported`, by name. Outside of Linux the timeline is one call
//! (`single_call`), which the system's folder makes.
//!
//! `posix`, `perf`, `adjtimex` and `MappedPage` are Linux's alone, for what the instrument reads.
//!
//! # Add a system
//!
//! 1. If its timeline is CLOCK_MONOTONIC by the C library, name it below for `os/posix/backend.rs`,
//!    and write its differences into that file and `os/unix/errno.rs`. Otherwise add a folder to
//!    `os/` with the items above.
//! 2. In `clockscope-system`, name it in `src/os.rs` for `os/unix/backend.rs`, or add a folder
//!    there. Add it to `src/clocks/system.rs`, and its clocks to `src/clocks/catalog/table.rs`.
//! 3. Add its targets to `xtask/src/platforms.rs`.

#[cfg_attr(any(target_os = "linux", target_os = "android"), path = "os/linux/backend.rs")]
#[cfg_attr(windows, path = "os/windows/backend.rs")]
#[cfg_attr(target_vendor = "apple", path = "os/darwin/backend.rs")]
#[cfg_attr(
    any(
        target_os = "freebsd",
        target_os = "dragonfly",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos",
        target_os = "solaris",
        target_os = "wasi"
    ),
    path = "os/posix/backend.rs"
)]
#[cfg_attr(all(target_family = "wasm", target_os = "unknown"), path = "os/browser/backend.rs")]
// Its own file, backend.rs, is that of all other systems.
mod backend;
#[cfg(any(unix, windows))]
mod process;
#[cfg(any(windows, target_vendor = "apple", test))]
mod ratio;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod single_call;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod unsupported;

pub use crate::wakeup::Wakeup;
#[cfg(target_os = "linux")]
pub use backend::adjtimex;
#[cfg(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
pub use backend::timecounter;
pub use backend::{
    ClockSet, TIMELINE, Timeline, allowed_cpus, call_in_child, clocksource, counter_is_accepted,
    counter_is_clocksource, counter_is_permitted, current_cpu, keep_errno, kernel_clock, perf_frequency, process,
    set_allowed_cpus, survive_disabled_counter, wipe_on_fork,
};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub use backend::{MappedPage, perf, posix};

/// Entry point that fuzz/ feeds.
#[cfg(all(fuzzing, any(target_os = "linux", target_os = "android")))]
#[doc(hidden)]
pub fn fuzz_vdso_image(image: &[u8]) {
    backend::fuzz_vdso_image(image);
}
