//! Every clock that the instrument reads, and facts about the machine.
//!
//! - [`clocks`]: the counter's reading sequences, POSIX clocks by their paths, older calls,
//!   devices, std's and the library's own, each as a type that a loop can read; and the catalog of
//!   them.
//! - [`os`]: what one system alone has, one folder a system.
//! - All else: processor, kernel, clocksources, hypervisor, emulation, affinity, counts of switches
//!   and interrupts; the calls that sleep; reads that may kill their process, in a child.
//!
//! This crate measures nothing and prints nothing. But for the clocks nothing in it reads time
//! through the C library: where the counter is disabled for the process, that would end it.
//! Programs that need timestamps use `clockscope` instead.

pub mod account;
pub mod adjtimex;
pub mod affinity;
pub mod child_read;
pub mod clocks;
pub mod clocksource;
#[cfg_attr(not(any(windows, test)), allow(dead_code, reason = "only Windows has this counter"))]
mod counter_flags;
mod cpu;
mod emulation;
pub mod failure;
pub mod frequencies;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod hypervisor;
mod identity;
mod kernel;
mod move_notices;
pub mod os;
pub mod performance_counter;
mod preload;
mod pseudo_files;
pub mod sleeping;
pub mod standard_output;
pub mod synchronization;
pub mod timecounters;
pub mod timer_period;

pub use clocks::interface::Interface;
pub use clocks::narrow::Unwrapped;
pub use clocks::raw::{ClockInfo, Entry, RawClock, Visitor};
pub use clockscope_core::{ClockBasis, ClockKind, ReadPath};
/// Reason why a clock cannot be read.
pub use clockscope_core::{Errno, Unavailable};
use clockscope_records::{Environment, Program};
pub use clockscope_records::{Resolution, Unit};
pub use identity::identity;
use os::facts;
#[cfg(windows)]
pub use os::facts::console::{SecondCtrlC, stop_on_ctrl_c};
pub use preload::preloaded;

/// Gathers all facts. Reads a few small files of /proc and /sys; takes about a millisecond, changes
/// nothing.
#[must_use]
pub fn environment() -> Environment {
    let cpuinfo = pseudo_files::file("/proc/cpuinfo").unwrap_or_default();
    let clocksource = kernel::clocksource();
    let emulation = emulation::find(&cpuinfo, clocksource.as_deref());
    Environment {
        program: Program {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            debug_build: cfg!(debug_assertions),
        },
        cpu: cpu::read(&cpuinfo),
        counter_flags: counter_flags::read(&cpuinfo),
        frequencies: frequencies::read(),
        counter_readable: kernel::counter_readable(),
        hypervisor: hypervisor::read(),
        move_notices: move_notices::read(),
        kernel: facts::kernel(),
        clocksource,
        clocksources_available: kernel::clocksources_available(),
        vdso: facts::vdso(),
        governor: kernel::governor(),
        emulation,
    }
}

/// Returns what Windows shows of its timer and processors; `None` on other systems.
#[must_use]
pub fn windows_facts() -> Option<clockscope_records::WindowsFacts> {
    facts::windows()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_known_or_has_its_reason() {
        // An unknown figure without a reason is `null`.
        let json = serde_json::to_value(environment()).unwrap();
        for field in ["hypervisor", "clocksource", "clocksources_available", "vdso", "governor", "counter_readable"] {
            assert!(!json[field].is_null(), "{field}");
        }
        for part in ["cpu", "kernel", "frequencies", "move_notices"] {
            for (field, value) in json[part].as_object().unwrap() {
                assert!(!value.is_null(), "{part}.{field}");
            }
        }
    }
}
