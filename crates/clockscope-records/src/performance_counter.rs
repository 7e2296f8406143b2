//! QueryPerformanceCounter of Windows.

use serde::{Deserialize, Serialize};

use crate::Figure;
use crate::words::{worded, written};

/// QueryPerformanceCounter of Windows: its frequency, also relative to the processor's counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PerformanceCounter", transform = crate::schema::add_unknown, transform = crate::schema::add_words::<PerformanceCounter>))]
#[serde(remote = "Self")]
pub struct PerformanceCounter {
    /// Counts per second, as QueryPerformanceFrequency states them, in Hz.
    pub frequency_hz: Figure<u64>,
    /// Counts of the processor's counter per count, measured.
    pub counter_counts: Figure<f64>,
}

written!(PerformanceCounter);

worded!(PerformanceCounter {
    /// The remedy.
    advice: &'static str = |_: &PerformanceCounter| ADVICE,
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

const ADVICE: &str = "leave useplatformclock unset: Windows chooses the hardware by what the processor states";

impl PerformanceCounter {
    /// Returns what to do about it.
    #[must_use]
    pub const fn advice() -> &'static str {
        ADVICE
    }

    /// Returns the commands that show and change what Windows uses.
    #[must_use]
    pub const fn commands() -> [BootCommand; 3] {
        COMMANDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
