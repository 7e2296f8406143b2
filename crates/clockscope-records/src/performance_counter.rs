//! The hardware behind QueryPerformanceCounter of Windows.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Figure;
use crate::figure::record;
use crate::words::worded;

/// QueryPerformanceCounter of Windows: what it counts by, and how that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PerformanceCounter", transform = crate::schema::add_unknown, transform = crate::schema::add_words::<PerformanceCounter>))]
#[serde(remote = "Self")]
pub struct PerformanceCounter {
    /// Counts per second, as QueryPerformanceFrequency states them, in Hz.
    pub frequency_hz: Figure<u64>,
    /// Counts of the processor's counter per count, measured.
    pub counter_counts: Figure<f64>,
    /// The way by which it is read without the kernel: the byte QpcBypassEnabled of
    /// KUSER_SHARED_DATA.
    pub bypass_flags: Figure<u8>,
    /// By how many bits the processor's counter is shifted on that way: the byte QpcShift.
    pub bypass_shift: Figure<u8>,
    /// True if a read enters the kernel (NtQuerySystemInformation, class 124).
    pub enters_kernel: Figure<bool>,
    /// The hardware that counts.
    pub hardware: Figure<PerformanceHardware>,
    /// Evidence that it is this hardware.
    pub reasons: Vec<PerformanceReason>,
}

record!(worded PerformanceCounter { frequency_hz, counter_counts, bypass_flags, bypass_shift, enters_kernel, hardware });

/// Hardware that Windows builds its performance counter on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PerformanceHardware {
    /// The time-stamp counter, shifted right: Windows 7 to early Windows 10, and XP without a
    /// shift.
    TscShifted {
        /// By so many bits.
        bits: u8,
    },
    /// The time-stamp counter, scaled to 10 MHz: Windows 10 and newer.
    TscScaled,
    /// The time-stamp counter, scaled to 10 MHz by a page of the hypervisor.
    HypervisorPage,
    /// The system counter of an Arm processor.
    ArmCounter,
    /// The High Precision Event Timer.
    Hpet,
    /// The ACPI power management timer.
    AcpiPm,
    /// The programmable interval timer, the 8254.
    Pit,
}

/// Evidence of the hardware that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PerformanceReason {
    /// The frequency is the one that this hardware has by its specification.
    Frequency,
    /// The processor's counter makes a power of two of counts per count.
    PowerOfTwo,
    /// The frequency is the one that the processor states for its counter.
    ReportedByProcessor,
    /// The bypass flags: programs read the processor's counter without the kernel.
    Bypass,
    /// The bypass flags: programs scale the processor's counter by the hypervisor's page.
    HypervisorPage,
    /// The bypass flags: reads enter the kernel, as those of hardware outside of the processor do.
    NoBypass,
    /// There is no hypervisor whose page could be used instead.
    NoHypervisor,
}

worded!(PerformanceCounter {
    /// The hardware; or why it is unknown.
    based_on: String = PerformanceCounter::based_on,
    /// The evidence for that.
    why: Vec<String> = PerformanceCounter::why,
    /// The remedy.
    advice: &'static str = PerformanceCounter::advice,
    /// The commands that show and change what Windows uses.
    commands: [BootCommand; 3] = |_: &PerformanceCounter| COMMANDS,
});

/// A command that shows or changes how Windows boots.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BootCommand {
    /// The command.
    pub command: &'static str,
    /// Its effect.
    pub effect: &'static str,
}

/// Commands that show and change what Windows uses, which is decided when it boots. They need an
/// administrator's console and a restart; in PowerShell, {current} has to be quoted.
const COMMANDS: [BootCommand; 3] = [
    BootCommand {
        command: "bcdedit /enum {current}",
        effect: "shows the settings; useplatformclock is not there unless it was set",
    },
    BootCommand {
        command: "bcdedit /deletevalue useplatformclock",
        effect: "lets Windows choose again, after a restart",
    },
    BootCommand {
        command: "bcdedit /set useplatformclock true",
        effect: "forces the platform's clock, HPET or the ACPI timer, after a restart: for finding errors of the processor's \
         counter alone",
    },
];

const ADVICE_UNKNOWN: &str = "leave useplatformclock unset: Windows chooses the hardware by what the processor states";

impl PerformanceCounter {
    /// Names the hardware that it is based on, or says why that is unknown.
    #[must_use]
    pub fn based_on(&self) -> String {
        match &self.hardware {
            Figure::Known(hardware) => hardware.to_string(),
            Figure::Unknown(unknown) => format!("unknown: {unknown}"),
        }
    }

    /// Words the reasons.
    #[must_use]
    pub fn why(&self) -> Vec<String> {
        self.reasons.iter().map(|reason| self.worded(*reason)).collect()
    }

    /// Advises what to do about it.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        self.hardware.get().map_or(ADVICE_UNKNOWN, PerformanceHardware::advice)
    }

    /// Returns the commands that show and change what Windows uses.
    #[must_use]
    pub const fn commands() -> [BootCommand; 3] {
        COMMANDS
    }

    fn worded(&self, reason: PerformanceReason) -> String {
        let hz = self.frequency_hz.get().unwrap_or_default();
        match reason {
            PerformanceReason::Frequency => format!("this hardware counts at {hz} Hz"),
            PerformanceReason::PowerOfTwo => match self.counter_counts.get() {
                Some(counts) => format!("the processor's counter makes {counts:.2} counts per count, a power of two"),
                None => "the processor's counter makes a power of two of counts per count".to_owned(),
            },
            PerformanceReason::ReportedByProcessor => format!("the processor states {hz} Hz for its counter"),
            PerformanceReason::Bypass => "programs read the processor's counter without the kernel".to_owned(),
            PerformanceReason::HypervisorPage => {
                "programs scale the processor's counter by the hypervisor's page".to_owned()
            }
            PerformanceReason::NoBypass => "programs cannot read it without the kernel".to_owned(),
            PerformanceReason::NoHypervisor => "there is no hypervisor that could scale the counter instead".to_owned(),
        }
    }
}

impl PerformanceHardware {
    const fn advice(self) -> &'static str {
        match self {
            Self::TscShifted { .. } | Self::TscScaled | Self::HypervisorPage | Self::ArmCounter => {
                "leave it so: forcing the platform clock makes each read enter the kernel and wait for a slow device, which \
                 costs 35 to 38 times as much on a machine of 2013"
            }
            Self::Hpet | Self::AcpiPm | Self::Pit => {
                "if `bcdedit /enum {current}` shows useplatformclock, delete it and restart; without it, Windows found the \
                 processor's counter unfit"
            }
        }
    }
}

/// The hardware as the subject or object of a sentence.
impl fmt::Display for PerformanceHardware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TscShifted { bits: 0 } => f.write_str("the time-stamp counter"),
            Self::TscShifted { bits } => {
                write!(f, "the time-stamp counter, divided by {}", 1u64 << bits.min(63))
            }
            Self::TscScaled => f.write_str("the time-stamp counter, scaled to 10 MHz"),
            Self::HypervisorPage => f.write_str("the time-stamp counter, scaled by the hypervisor's page"),
            Self::ArmCounter => f.write_str("the processor's system counter"),
            Self::Hpet => f.write_str("the High Precision Event Timer (HPET)"),
            Self::AcpiPm => f.write_str("the ACPI power management timer"),
            Self::Pit => f.write_str("the programmable interval timer (8254)"),
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::texts;

    fn found(hardware: Figure<PerformanceHardware>, reasons: Vec<PerformanceReason>) -> PerformanceCounter {
        PerformanceCounter {
            frequency_hz: Figure::Known(2_143_473),
            counter_counts: Figure::Known(1024.0),
            bypass_flags: Figure::unknown(texts::NOT_REPORTED),
            bypass_shift: Figure::unknown(texts::NOT_REPORTED),
            enters_kernel: Figure::unknown(texts::NOT_REPORTED),
            hardware,
            reasons,
        }
    }

    #[test]
    fn hardware_is_named_with_its_reasons_and_what_to_do() {
        let tsc = found(
            Figure::Known(PerformanceHardware::TscShifted { bits: 10 }),
            vec![PerformanceReason::PowerOfTwo, PerformanceReason::Bypass],
        );
        assert_eq!(tsc.based_on(), "the time-stamp counter, divided by 1024");
        assert!(tsc.why()[0].contains("1024.00 counts per count") && tsc.why()[1].contains("without the kernel"));
        assert!(tsc.advice().starts_with("leave it so"), "{}", tsc.advice());
        let hpet = found(Figure::Known(PerformanceHardware::Hpet), vec![PerformanceReason::Frequency]);
        assert!(hpet.why()[0].contains("2143473 Hz") && hpet.advice().contains("delete it and restart"));
        let unknown = found(Figure::unknown(texts::OF_WINE), vec![]);
        assert!(
            unknown.based_on().starts_with("unknown: Wine")
                && unknown.advice().contains("leave useplatformclock unset")
        );
    }

    /// To show, to undo and to set it.
    #[test]
    fn the_three_commands_are_explained() {
        let commands = PerformanceCounter::commands();
        for (command, word) in commands.iter().zip(["/enum", "/deletevalue useplatformclock", "/set useplatformclock"])
        {
            assert!(command.command.contains(word) && !command.effect.is_empty(), "{command:?}");
        }
        assert_eq!(commands.len(), 3);
    }
}
