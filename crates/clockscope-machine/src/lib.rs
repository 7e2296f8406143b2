//! Facts about this machine: processor, kernel, clocksources, hypervisor, emulation, affinity; what the kernel counts
//! of switches and interrupts; its calls that sleep; and whether a read that may kill its process can be risked.
//!
//! This crate measures nothing and prints nothing. Nothing in it reads time through the C library: where the counter
//! is disabled for the process, that would end it.

pub mod account;
pub mod adjtimex;
pub mod affinity;
mod announcements;
pub mod clocksource;
mod counter_flags;
mod cpu;
mod emulation;
pub mod frequencies;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod hypervisor;
mod kernel;
mod known;
pub mod sleeping;
mod text;
pub mod trial;

use clockscope_records::{Environment, Program, Unknown};

/// Gathers all facts. Reads a few small files of /proc and /sys; takes about a millisecond, changes nothing.
#[must_use]
pub fn environment() -> Environment {
    let mut unknown = Unknown::new();
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let emulation = emulation::find(&cpuinfo);
    let flags = counter_flags::read(&cpuinfo, &mut unknown);
    if flags.is_none() {
        unknown
            .insert("counter_flags".to_owned(), "this architecture has no time-stamp counter of x86's kind".to_owned());
    }
    Environment {
        program: Program {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            debug_build: cfg!(debug_assertions),
        },
        cpu: cpu::read(&cpuinfo, &mut unknown),
        counter_flags: flags,
        frequencies: frequencies::read(&mut unknown),
        counter_readable: kernel::counter_readable(&mut unknown),
        hypervisor: hypervisor::read(&mut unknown),
        announcements: announcements::read(&mut unknown),
        kernel: kernel::identity(&mut unknown),
        clocksource: kernel::clocksource(&mut unknown),
        clocksources_available: kernel::clocksources_available(&mut unknown),
        vdso: kernel::vdso(&mut unknown),
        governor: kernel::governor(&mut unknown),
        emulation,
        unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_known_or_has_its_reason() {
        let environment = environment();
        let json = serde_json::to_value(&environment).unwrap();
        for field in ["hypervisor", "clocksource", "clocksources_available", "vdso", "governor", "counter_readable"] {
            assert_ne!(json[field].is_null(), !environment.unknown.contains_key(field), "{field}");
        }
        for field in ["vendor", "model", "online", "allowed"] {
            let reason = environment.unknown.contains_key(&format!("cpu.{field}"));
            assert_eq!(json["cpu"][field].is_null(), reason, "cpu.{field}");
        }
    }
}
