//! Parts of a machine.

use std::time::Duration;

use crate::seen::Seen;

/// A processor that is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Architecture {
    X86,
    Arm,
}

impl Architecture {
    /// Debian's name of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::X86 => "amd64",
            Self::Arm => "arm64",
        }
    }

    pub(super) fn emulator(self) -> &'static str {
        match self {
            Self::X86 => "qemu-system-x86_64",
            Self::Arm => "qemu-system-aarch64",
        }
    }
}

/// A machine, and what is expected of it.
pub(super) struct Machine {
    pub(super) name: &'static str,
    pub(super) architecture: Architecture,
    pub(super) cpus: u32,
    /// Another processor than the usual one.
    pub(super) processor: Option<&'static str>,
    /// True if it is booted a second time, whose frames bear names that begin with `again_`.
    pub(super) twice: bool,
    /// Further arguments of the emulator.
    pub(super) options: &'static [&'static str],
    /// Arguments of the kernel.
    pub(super) kernel: &'static str,
    /// The clocksource that the kernel uses when `info` asks for it.
    pub(super) clocksource: &'static str,
    /// Verdict of `clockscope check` on the counter, and the checks that have to decide it, each
    /// once.
    pub(super) verdict: &'static str,
    pub(super) because: &'static [&'static str],
    pub(super) check: fn(&mut Seen),
    /// The longest that it may take. One that takes longer than usual is booted only if it is
    /// named.
    pub(super) limit: Duration,
}
