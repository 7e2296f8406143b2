//! The kernel's clocksources: what each is, and what the kernel thinks of the processor's counter.

mod command_line;
mod kernel_log;
mod switch;

use clockscope_core::{clocksource, counter};
use clockscope_records::{Emulator, Environment, Figure, KernelCause, KernelVerdict};

use crate::{kernel, timecounters};
use command_line::CommandLine;
use kernel_log::LogError;

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
    let emulators: Vec<Emulator> =
        environment.emulation.iter().filter(|emulator| emulator.is_of_program()).cloned().collect();
    let name = counter::CLOCKSOURCE.map(str::to_owned);
    if !emulators.is_empty() {
        return KernelVerdict { name, reasons: vec![KernelCause::Emulated { emulators }], ..KernelVerdict::default() };
    }
    let word = KernelVerdict {
        name,
        is_current: environment.clocksource.as_deref().map(is_counter),
        is_available: environment.clocksources_available.known().map(|names| names.iter().any(|name| is_counter(name))),
        ..KernelVerdict::default()
    };
    if word.name.is_none() {
        return word;
    }
    let command_line = CommandLine::read(&crate::pseudo_files::file("/proc/cmdline").unwrap_or_default());
    // Where the counter is in use, the log says more of an erratum of Arm's alone.
    let needs_no_log = word.is_current == Some(true) && Architecture::HERE != Architecture::Arm;
    let log = if needs_no_log { Ok(Vec::new()) } else { kernel_log::read() };
    explained(environment, word, command_line, log)
}

/// The verdict with its reasons, the most significant first.
fn explained(
    environment: &Environment,
    word: KernelVerdict,
    command_line: CommandLine,
    log: Result<Vec<String>, LogError>,
) -> KernelVerdict {
    let (lines, log_error) = match log {
        Ok(lines) => (lines, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    if word.is_current == Some(true) {
        let reasons = in_use(environment, command_line, &lines);
        return KernelVerdict { reasons, log_error, ..word };
    }
    let current = environment.clocksource.as_deref();
    let mut reasons = kernel_log::faults(&lines);
    for reason in &mut reasons {
        if let KernelCause::LogLine { corrected, unwatched, .. } = reason {
            *corrected = current.filter(|name| is_scaled_counter(name)).map(str::to_owned);
            unwatched.clone_from(&command_line.unwatched);
        }
    }
    reasons.extend(command_line.causes(current));
    let is_absence_explained = reasons.iter().any(|cause| {
        matches!(cause, KernelCause::LogLine { .. } | KernelCause::NotscOption | KernelCause::UnstableOption)
    });
    if word.is_available == Some(false) && !is_absence_explained {
        reasons.push(KernelCause::NotOffered);
    }
    // What is not offered is not passed over.
    if word.is_available != Some(false) {
        reasons.extend(preferred(environment));
    }
    reasons.extend(missing_flags(environment));
    if reasons.is_empty() && word.is_available == Some(true) && log_error.is_none() {
        reasons.push(KernelCause::Unexplained);
    }
    KernelVerdict { reasons, log_error, ..word }
}

/// Causes that make the counter worth less while the kernel uses it.
fn in_use(environment: &Environment, command_line: CommandLine, log: &[String]) -> Vec<KernelCause> {
    let mut reasons: Vec<KernelCause> = kernel_log::erratum(log).into_iter().collect();
    if let Some(option) = command_line.unwatched {
        reasons.push(KernelCause::Unwatched { option });
        reasons.extend(missing_flags(environment));
    }
    reasons
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
    use clockscope_records::{Figure, LogFault};

    use super::*;

    fn reasons(environment: &Environment, is_available: bool, command_line: &str, log: &[&str]) -> Vec<KernelCause> {
        let word = KernelVerdict { is_available: Some(is_available), ..KernelVerdict::default() };
        let lines = log.iter().map(|line| (*line).to_owned()).collect();
        explained(environment, word, CommandLine::read(command_line), Ok(lines)).reasons
    }

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
            reasons(environment, available, command_line, &[])
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
        // Its own wish is not the one in use.
        assert_eq!(found(&hpet, true, "clocksource=hpet clocksource=tsc"), [KernelCause::Unexplained]);
        assert_eq!(found(&hpet, true, "clocksource=acpi_pm"), [KernelCause::Unexplained]);
        let preferred = KernelCause::PrefersScaled { clocksource: "kvm-clock".to_owned() };
        let missing = KernelCause::MissingFlags { flags: ["constant_tsc", "nonstop_tsc"].map(str::to_owned).to_vec() };
        assert_eq!(found(&environment("kvm-clock", false), true, ""), [preferred, missing]);
        assert_eq!(found(&hpet, true, ""), [KernelCause::Unexplained]);
        // What cannot be seen explains nothing.
        let word = KernelVerdict { is_available: Some(true), ..KernelVerdict::default() };
        let unread = explained(&hpet, word, CommandLine::default(), Err(LogError::Unsupported));
        assert!(unread.reasons.is_empty() && unread.log_error.is_some());
    }

    /// The host corrects the clocksource in use; a line that concerns the counter does not concern
    /// that one.
    #[test]
    fn a_line_of_the_log_says_what_it_concerns() {
        let line = "tsc: Marking TSC unstable due to running on Hyper-V";
        for (current, is_corrected) in [("hyperv_clocksource_tsc_page", true), ("acpi_pm", false)] {
            let found = reasons(&environment(current, true), false, "tsc=reliable", &[line]);
            let expected = KernelCause::LogLine {
                line: line.to_owned(),
                fault: LogFault::NotInvariant,
                intervals: None,
                corrected: is_corrected.then(|| current.to_owned()),
                unwatched: Some("tsc=reliable".to_owned()),
            };
            assert_eq!(found[0], expected);
            assert!(!found.contains(&KernelCause::NotOffered), "{found:?}");
        }
    }

    #[test]
    fn a_counter_that_nobody_watches_is_said_to_be() {
        let word = KernelVerdict { is_current: Some(true), ..KernelVerdict::default() };
        let found = |flag, line: &str| {
            explained(&environment("tsc", flag), word.clone(), CommandLine::read(line), Ok(Vec::new())).reasons
        };
        assert_eq!(found(false, "quiet"), []);
        let is_unwatched =
            |cause: &KernelCause| matches!(cause, KernelCause::Unwatched { option } if option == "tsc=reliable");
        assert!(matches!(&found(true, "tsc=reliable")[..], [only] if is_unwatched(only)));
        let [first, KernelCause::MissingFlags { .. }] = &found(false, "tsc=reliable")[..] else { panic!("no flags") };
        assert!(is_unwatched(first));
        let log = vec!["arch_timer: CPU0: Trapping CNTVCT access".to_owned()];
        let arm = explained(&environment("arch_sys_counter", true), word, CommandLine::default(), Ok(log)).reasons;
        assert!(matches!(&arm[..], [KernelCause::Erratum { .. }]), "{arm:?}");
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
