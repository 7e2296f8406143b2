//! The kernel's clocksources: what each is, and what the kernel thinks of the processor's counter.

mod kernel_log;
mod switch;

use clockscope_core::{clocksource, counter};
use clockscope_records::{Environment, Figure, KernelCause, KernelVerdict};

use crate::{kernel, timecounters};

pub use clocksource::{Architecture, Hardware, KNOWN, KnownClocksource};
pub use switch::{Restoration, Right, SwitchError, left_behind, restore, right};
#[cfg(fuzzing)]
pub(crate) use {kernel_log::fuzz as fuzz_log, switch::fuzz as fuzz_marker};

/// Returns what is known of a clocksource; `None` for one that this program has never heard of.
#[must_use]
pub fn known(name: &str) -> Option<&'static KnownClocksource> {
    clocksource::known(name.as_bytes())
}

/// Returns what is known of a clocksource by its name in capital or small letters.
#[must_use]
pub fn named(name: &str) -> Option<&'static KnownClocksource> {
    clocksource::KNOWN.iter().find(|known| known.name.eq_ignore_ascii_case(name))
}

/// Returns the clocksources that the kernel offers.
#[must_use]
pub fn available() -> Figure<Vec<String>> {
    kernel::clocksources_available()
}

/// Returns whether the kernel computes this clocksource from the processor's counter and from what
/// a hypervisor states.
#[must_use]
pub fn is_scaled_counter(name: &str) -> bool {
    known(name).is_some_and(|known| matches!(known.hardware, Hardware::ScaledCounter(_)))
}

/// Returns whether the kernel computes this clocksource from the processor's counter, scaled or
/// not; `None` for one that this program has never heard of.
#[must_use]
pub fn is_counter_based(name: &str) -> Option<bool> {
    known(name).map(KnownClocksource::is_counter_based)
}

/// Returns whether the timer tick moves this clocksource.
#[must_use]
pub fn is_timer_tick(name: &str) -> bool {
    known(name).is_some_and(|known| known.hardware == Hardware::TimerTick)
}

/// Returns whether the clocksource of a machine is its processor's counter and nothing else.
/// Another architecture's clocksource is not: an emulated program sees that of the machine below.
#[must_use]
pub fn is_counter_in(environment: &Environment) -> bool {
    let architecture = Architecture::named(&environment.cpu.architecture);
    let name = environment.clocksource.as_deref();
    name.is_some_and(|name| clocksource::is_counter_of(architecture, name.as_bytes()))
}

/// Returns whether this clocksource is the processor's counter and nothing else, on this machine.
#[must_use]
pub fn is_counter(name: &str) -> bool {
    clocksource::is_counter(name.as_bytes())
}

/// The kernel's verdict on the processor's counter: from sysfs, its command line, its log where
/// that may be read, and the processor's flags as it sees them; on the BSDs, from its timecounters
/// and their qualities. Reads the log once: milliseconds.
#[must_use]
pub fn kernel_verdict(environment: &Environment) -> KernelVerdict {
    if let Some(timecounters) = timecounters::read() {
        return timecounters::verdict(Architecture::HERE, environment.clocksource.as_deref(), &timecounters);
    }
    let mut word = KernelVerdict {
        name: counter::CLOCKSOURCE.map(str::to_owned),
        is_current: environment.clocksource.as_deref().map(is_counter),
        is_available: environment.clocksources_available.known().map(|names| names.iter().any(|name| is_counter(name))),
        ..KernelVerdict::default()
    };
    if word.name.is_none() || word.is_current == Some(true) {
        return word;
    }
    let command_line = crate::pseudo_files::file("/proc/cmdline").unwrap_or_default();
    let log = kernel_log::read();
    let causes = causes(environment, word.is_available, &command_line, log.as_deref().unwrap_or_default());
    word.reasons = causes;
    word.log_error = log.err().map(|error| error.to_string());
    word
}

/// Reasons why the counter is not used, the most significant first.
fn causes(
    environment: &Environment,
    is_available: Option<bool>,
    command_line: &str,
    log: &[String],
) -> Vec<KernelCause> {
    let mut causes = kernel_log::faults(log);
    causes.extend(boot_options(command_line));
    let explains_absence = |cause: &KernelCause| {
        cause.is_fault() || matches!(cause, KernelCause::LogLine { .. } | KernelCause::NotscOption)
    };
    if is_available == Some(false) && !causes.iter().any(explains_absence) {
        causes.push(KernelCause::NotOffered);
    }
    causes.extend(preferred(environment));
    causes.extend(missing_flags(environment));
    causes
}

/// Statements of the kernel's command line on clocksources.
fn boot_options(command_line: &str) -> Vec<KernelCause> {
    let option = |word: &str| match word.split_once('=') {
        Some(("clocksource", name)) if !is_counter(name) => {
            Some(KernelCause::ClocksourceOption { clocksource: name.to_owned() })
        }
        Some(("tsc", "unstable")) => Some(KernelCause::UnstableOption),
        None if word == "notsc" => Some(KernelCause::NotscOption),
        _ => None,
    };
    command_line.split_ascii_whitespace().filter_map(option).collect()
}

/// A hypervisor's clocksource, which the kernel rates higher unless the counter is said to be
/// invariant.
fn preferred(environment: &Environment) -> Option<KernelCause> {
    let name = environment.clocksource.as_deref().filter(|name| is_scaled_counter(name))?;
    Some(KernelCause::PrefersScaled { clocksource: name.to_owned() })
}

/// Flags without which the kernel does not trust an x86 counter in deep sleep states, or with
/// another frequency.
fn missing_flags(environment: &Environment) -> Option<KernelCause> {
    let flags = environment.counter_flags.known()?;
    let flags: Vec<String> = [("constant_tsc", &flags.constant_tsc), ("nonstop_tsc", &flags.nonstop_tsc)]
        .into_iter()
        .filter(|(_, has)| has.get() == Some(false))
        .map(|(name, _)| name.to_owned())
        .collect();
    (!flags.is_empty()).then_some(KernelCause::MissingFlags { flags })
}

#[cfg(test)]
mod tests {
    use clockscope_records::Figure;

    use super::*;

    fn environment(current: &str, flag: bool) -> Environment {
        let flags = clockscope_records::CounterFlags {
            constant_tsc: Figure::Known(flag),
            nonstop_tsc: Figure::Known(flag),
            ..Default::default()
        };
        Environment {
            clocksource: Figure::Known(current.to_owned()),
            counter_flags: Figure::Known(flags),
            ..Environment::default()
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn each_cause_is_found() {
        let found = |environment: &Environment, available, command_line: &str| {
            causes(environment, Some(available), command_line, &[])
        };
        let booted = |name: &str| KernelCause::ClocksourceOption { clocksource: name.to_owned() };
        let hpet = environment("hpet", true);
        assert_eq!(found(&hpet, true, "quiet clocksource=hpet panic=1"), [booted("hpet")]);
        assert_eq!(found(&hpet, false, "quiet"), [KernelCause::NotOffered]);
        // To prefer another explains no absence.
        assert_eq!(found(&hpet, false, "clocksource=hpet"), [booted("hpet"), KernelCause::NotOffered]);
        assert_eq!(found(&hpet, false, "notsc"), [KernelCause::NotscOption]);
        assert_eq!(
            found(&hpet, false, "tsc=unstable notsc clocksource=tsc tsc=reliable"),
            [KernelCause::UnstableOption, KernelCause::NotscOption]
        );
        let preferred = KernelCause::PrefersScaled { clocksource: "kvm-clock".to_owned() };
        let missing = KernelCause::MissingFlags { flags: ["constant_tsc", "nonstop_tsc"].map(str::to_owned).to_vec() };
        assert_eq!(found(&environment("kvm-clock", false), true, ""), [preferred, missing]);
        assert_eq!(found(&hpet, true, ""), []);
    }

    /// Records come from other machines, and emulated programs see the kernel of another.
    #[test]
    fn the_counter_is_that_of_the_records_architecture() {
        let is_counter = |architecture: &str, clocksource: &str| {
            let mut environment = environment(clocksource, true);
            architecture.clone_into(&mut environment.cpu.architecture);
            is_counter_in(&environment)
        };
        for architecture in ["x86", "x86_64"] {
            assert!(is_counter(architecture, "tsc") && !is_counter(architecture, "arch_sys_counter"));
        }
        assert!(is_counter("aarch64", "arch_sys_counter") && is_counter("s390x", "tod"));
        assert!(!is_counter("riscv64", "tsc") && !is_counter("aarch64", "hpet") && !is_counter("", "tsc"));
    }

    #[test]
    fn clocksources_are_known_by_name() {
        assert_eq!(known("acpi_pm").and_then(|known| known.bits), Some(24));
        assert_eq!(known("hpet").and_then(|known| known.vdso), Some(false));
        assert_eq!(known("tsc").and_then(|known| known.vdso), Some(true));
        assert_eq!(known("sundial"), None);
    }
}
