//! The kernel's clocksources: what each is, and what the kernel thinks of the processor's counter.

mod log;
mod switch;

use clockscope_arch::{clocksource, counter};
use clockscope_records::{Environment, KernelVerdict, Reason};

use crate::text::has_word;

pub use clocksource::{Hardware, KnownClocksource};
pub use switch::{Restoration, Right, SwitchError, left_behind, restore, right};
#[cfg(fuzzing)]
pub(crate) use {log::fuzz as fuzz_log, switch::fuzz as fuzz_marker};

/// Returns what is known of a clocksource; `None` for one that this program has never heard of.
#[must_use]
pub fn known(name: &str) -> Option<&'static KnownClocksource> {
    clocksource::known(name.as_bytes())
}

/// Returns whether the kernel computes this clocksource from the processor's counter and from what a hypervisor states.
#[must_use]
pub fn is_scaled_counter(name: &str) -> bool {
    known(name).is_some_and(|known| known.hardware == Hardware::ScaledCounter)
}

/// Returns whether the kernel computes this clocksource from the processor's counter, scaled or not; `None` for one that
/// this program has never heard of.
#[must_use]
pub fn is_counter_based(name: &str) -> Option<bool> {
    known(name).map(KnownClocksource::is_counter_based)
}

/// Returns whether the timer tick moves this clocksource.
#[must_use]
pub fn is_timer_tick(name: &str) -> bool {
    known(name).is_some_and(|known| known.hardware == Hardware::TimerTick)
}

/// Returns whether this clocksource is the processor's counter and nothing else.
#[must_use]
pub fn is_counter(name: &str) -> bool {
    clocksource::is_counter(name.as_bytes())
}

/// What the kernel thinks of the processor's counter: from sysfs, its command line, its log where that may be read, and the
/// processor's flags as it sees them. Reads the log once: milliseconds.
#[must_use]
pub fn kernel_verdict(environment: &Environment) -> KernelVerdict {
    let mut word = KernelVerdict {
        name: counter::CLOCKSOURCE.map(str::to_owned),
        is_current: environment.clocksource.as_deref().map(is_counter),
        is_available: environment.clocksources_available.known().map(|names| names.iter().any(|name| is_counter(name))),
        ..KernelVerdict::default()
    };
    if word.name.is_none() || word.is_current == Some(true) {
        return word;
    }
    let command_line = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let log = log::read();
    word.reasons = reasons(environment, word.is_available, &command_line, log.as_deref().unwrap_or_default());
    word.not_looked_at = log.err().map(|error| error.to_string());
    word
}

/// Why the counter is not used, the most telling first.
fn reasons(environment: &Environment, is_available: Option<bool>, command_line: &str, log: &[String]) -> Vec<Reason> {
    let mut reasons = log::faults(log);
    reasons.extend(asked_for_at_boot(command_line));
    let is_explained = reasons.iter().any(|reason| reason.is_fault) || has_word(command_line, "notsc");
    if is_available == Some(false) && !is_explained {
        reasons.push(Reason {
            seen: "the kernel does not offer it: it was judged unstable at boot, or by the watchdog since then"
                .to_owned(),
            source: "sysfs, available_clocksource".to_owned(),
            is_fault: true,
            advice: "read why with: dmesg | grep -iE 'tsc|clocksource'".to_owned(),
        });
    }
    reasons.extend(preferred(environment));
    reasons.extend(lacking_flags(environment));
    reasons
}

/// What the kernel's command line says about clocksources.
fn asked_for_at_boot(command_line: &str) -> Vec<Reason> {
    let option = |word: &str| {
        let (seen, is_fault) = match word.split_once('=') {
            Some(("clocksource", name)) if !is_counter(name) => (format!("the kernel was booted with {word}"), false),
            Some(("tsc", "unstable")) => (format!("the kernel was told that it is unstable: {word}"), true),
            None if word == "notsc" => ("the kernel was told not to use it: notsc".to_owned(), false),
            _ => return None,
        };
        let advice = format!("remove {word} from the kernel's command line");
        Some(Reason { seen, source: "/proc/cmdline".to_owned(), is_fault, advice })
    };
    command_line.split_ascii_whitespace().filter_map(option).collect()
}

/// A hypervisor's clocksource, which the kernel rates higher unless the counter is said to be invariant.
fn preferred(environment: &Environment) -> Option<Reason> {
    let name = environment.clocksource.as_deref().filter(|name| is_scaled_counter(name))?;
    Some(Reason {
        seen: format!("the kernel prefers {name}, by which the hypervisor corrects the counter"),
        source: "sysfs, current_clocksource".to_owned(),
        is_fault: false,
        advice:
            "have the hypervisor pass an invariant counter on (QEMU: -cpu host,+invtsc), or boot with clocksource=tsc"
                .to_owned(),
    })
}

/// Flags without which the kernel does not trust an x86 counter in deep sleep states, or with another frequency.
fn lacking_flags(environment: &Environment) -> Option<Reason> {
    let flags = environment.counter_flags.known()?;
    let lacking: Vec<&str> = [("constant_tsc", &flags.constant_tsc), ("nonstop_tsc", &flags.nonstop_tsc)]
        .into_iter()
        .filter_map(|(name, has)| (has.get() == Some(false)).then_some(name))
        .collect();
    (!lacking.is_empty()).then(|| Reason {
        seen: format!("the kernel does not see {}", lacking.join(" and ")),
        source: "/proc/cpuinfo".to_owned(),
        is_fault: false,
        advice: "on a virtual machine have the hypervisor pass them on; on old hardware use another clocksource"
            .to_owned(),
    })
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
    fn each_reason_is_told_with_what_to_do() {
        let seen = |environment: &Environment, available, command_line: &str| {
            reasons(environment, Some(available), command_line, &[])
        };
        let [booted] = &seen(&environment("hpet", true), true, "quiet clocksource=hpet panic=1")[..] else { panic!() };
        assert!(booted.seen.contains("clocksource=hpet") && booted.advice.contains("remove") && !booted.is_fault);
        let [gone] = &seen(&environment("hpet", true), false, "quiet")[..] else { panic!() };
        assert!(gone.is_fault && gone.advice.contains("dmesg"));
        // To prefer another explains no absence.
        let both = seen(&environment("hpet", true), false, "clocksource=hpet");
        assert_eq!(both.iter().map(|reason| reason.is_fault).collect::<Vec<_>>(), [false, true]);
        assert!(!seen(&environment("hpet", true), false, "notsc").iter().any(|reason| reason.is_fault));
        let told = seen(&environment("hpet", true), true, "tsc=unstable notsc clocksource=tsc tsc=reliable");
        assert_eq!(told.iter().map(|reason| reason.is_fault).collect::<Vec<_>>(), [true, false]);
        let [kvm, flags] = &seen(&environment("kvm-clock", false), true, "")[..] else { panic!() };
        assert!(kvm.seen.contains("kvm-clock") && flags.seen.contains("constant_tsc and nonstop_tsc"));
        assert!(seen(&environment("hpet", true), true, "").is_empty());
    }

    #[test]
    fn clocksources_are_known_by_name() {
        assert_eq!(known("acpi_pm").and_then(|known| known.bits), Some(24));
        assert_eq!(known("hpet").and_then(|known| known.vdso), Some(false));
        assert_eq!(known("tsc").and_then(|known| known.vdso), Some(true));
        assert_eq!(known("sundial"), None);
    }
}
