//! What is behind QueryPerformanceCounter of Windows, in words.

use clockscope_records::{
    BootCommand, Clocksources, Figure, PerformanceCounter, PerformanceHardware, PerformanceProse, PerformanceReason,
};

/// Puts the words beside the data.
pub(crate) fn explain(found: &mut Clocksources) {
    if let Some(counter) = &mut found.performance_counter {
        counter.prose = Some(prose(counter));
    }
}

/// Words what was found.
pub(crate) fn prose(counter: &PerformanceCounter) -> PerformanceProse {
    PerformanceProse {
        based_on: match &counter.hardware {
            Figure::Known(hardware) => name(*hardware),
            Figure::Unknown(unknown) => format!("unknown: {}", unknown),
        },
        why: counter.reasons.iter().map(|reason| why(*reason, counter)).collect(),
        advice: counter.hardware.get().map_or(ADVICE_UNKNOWN, advice).to_owned(),
        commands: COMMANDS
            .map(|(command, effect)| BootCommand { command: command.to_owned(), effect: effect.to_owned() })
            .into(),
    }
}

/// Names hardware as the subject or object of a sentence.
fn name(hardware: PerformanceHardware) -> String {
    match hardware {
        PerformanceHardware::TscShifted { bits: 0 } => "the time-stamp counter".to_owned(),
        PerformanceHardware::TscShifted { bits } => {
            format!("the time-stamp counter, divided by {}", 1u64 << bits.min(63))
        }
        PerformanceHardware::TscScaled => "the time-stamp counter, scaled to 10 MHz".to_owned(),
        PerformanceHardware::HypervisorPage => "the time-stamp counter, scaled by the hypervisor's page".to_owned(),
        PerformanceHardware::ArmCounter => "the processor's system counter".to_owned(),
        PerformanceHardware::Hpet => "the High Precision Event Timer (HPET)".to_owned(),
        PerformanceHardware::AcpiPm => "the ACPI power management timer".to_owned(),
        PerformanceHardware::Pit => "the programmable interval timer (8254)".to_owned(),
    }
}

fn why(reason: PerformanceReason, counter: &PerformanceCounter) -> String {
    let hz = counter.frequency_hz.get().unwrap_or_default();
    match reason {
        PerformanceReason::Frequency => format!("this hardware counts at {hz} Hz"),
        PerformanceReason::PowerOfTwo => match counter.counter_counts.get() {
            Some(counts) => format!("the processor's counter makes {counts:.2} counts per count, a power of two"),
            None => "the processor's counter makes a power of two of counts per count".to_owned(),
        },
        PerformanceReason::StatedByProcessor => format!("the processor states {hz} Hz for its counter"),
        PerformanceReason::Bypass => "programs read the processor's counter without the kernel".to_owned(),
        PerformanceReason::HypervisorPage => {
            "programs scale the processor's counter by the hypervisor's page".to_owned()
        }
        PerformanceReason::NoBypass => "programs cannot read it without the kernel".to_owned(),
        PerformanceReason::NoHypervisor => "there is no hypervisor that could scale the counter instead".to_owned(),
    }
}

const ADVICE_UNKNOWN: &str = "leave useplatformclock unset: Windows chooses the hardware by what the processor states";

fn advice(hardware: PerformanceHardware) -> &'static str {
    match hardware {
        PerformanceHardware::TscShifted { .. }
        | PerformanceHardware::TscScaled
        | PerformanceHardware::HypervisorPage
        | PerformanceHardware::ArmCounter => {
            "leave it so: forcing the platform clock makes each read enter the kernel and wait for a slow device, which \
             costs 35 to 38 times as much on a machine of 2013"
        }
        PerformanceHardware::Hpet | PerformanceHardware::AcpiPm | PerformanceHardware::Pit => {
            "if `bcdedit /enum {current}` shows useplatformclock, delete it and restart; without it, Windows found the \
             processor's counter unfit"
        }
    }
}

/// What Windows uses is decided when it boots. They need an administrator's console and a restart;
/// in PowerShell, {current} has to be quoted.
const COMMANDS: [(&str, &str); 3] = [
    ("bcdedit /enum {current}", "shows the settings; useplatformclock is not there unless it was set"),
    ("bcdedit /deletevalue useplatformclock", "lets Windows choose again, after a restart"),
    (
        "bcdedit /set useplatformclock true",
        "forces the platform's clock, HPET or the ACPI timer, after a restart: for finding errors of the processor's \
         counter alone",
    ),
];

#[cfg(test)]
mod tests {
    use clockscope_records::WindowsReason;

    use super::*;

    fn found(hardware: Figure<PerformanceHardware>, reasons: Vec<PerformanceReason>) -> PerformanceCounter {
        PerformanceCounter {
            frequency_hz: Figure::Known(2_143_473),
            counter_counts: Figure::Known(1024.0),
            bypass_flags: Figure::unknown(WindowsReason::NotStated),
            bypass_shift: Figure::unknown(WindowsReason::NotStated),
            enters_kernel: Figure::unknown(WindowsReason::NotStated),
            hardware,
            reasons,
            prose: None,
        }
    }

    #[test]
    fn hardware_is_named_with_its_reasons_and_what_to_do() {
        let tsc = prose(&found(
            Figure::Known(PerformanceHardware::TscShifted { bits: 10 }),
            vec![PerformanceReason::PowerOfTwo, PerformanceReason::Bypass],
        ));
        assert_eq!(tsc.based_on, "the time-stamp counter, divided by 1024");
        assert!(tsc.why[0].contains("1024.00 counts per count") && tsc.why[1].contains("without the kernel"));
        assert!(tsc.advice.starts_with("leave it so"), "{}", tsc.advice);
        let hpet = prose(&found(Figure::Known(PerformanceHardware::Hpet), vec![PerformanceReason::Frequency]));
        assert!(hpet.why[0].contains("2143473 Hz") && hpet.advice.contains("delete it and restart"));
        let unknown = prose(&found(Figure::unknown(WindowsReason::OfWine), vec![]));
        assert!(
            unknown.based_on.starts_with("unknown: Wine") && unknown.advice.contains("leave useplatformclock unset")
        );
    }

    /// To show, to undo and to set it.
    #[test]
    fn the_three_commands_are_explained() {
        let commands = prose(&found(Figure::unknown(WindowsReason::NotStated), vec![])).commands;
        for (command, word) in commands.iter().zip(["/enum", "/deletevalue useplatformclock", "/set useplatformclock"])
        {
            assert!(command.command.contains(word) && !command.effect.is_empty(), "{command:?}");
        }
        assert_eq!(commands.len(), 3);
    }
}
