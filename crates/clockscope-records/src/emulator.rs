//! Programs that may imitate a machine: emulators, recorders and hypervisors.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An emulator or recorder that a program runs under. Its costs are not the machine's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(from = "String", into = "String")]
pub enum Emulator {
    /// QEMU's translator, of a machine or of a program.
    QemuTcg,
    /// QEMU for programs of another architecture: the kernel is the host's.
    QemuUser,
    /// FEX, which runs x86 programs on Arm: the kernel is the host's.
    Fex,
    /// Rosetta, which does so on Apple's processors.
    Rosetta,
    /// Another one of that kind: the kernel's clocksource is another architecture's counter.
    Translator,
    /// The recorder rr.
    Rr,
    /// Valgrind.
    Valgrind,
    /// gVisor.
    Gvisor,
    /// Wine: Windows' calls are made of the host's.
    Wine,
    /// One that this program does not know, of a newer program's record.
    Other(String),
}

impl Emulator {
    /// Those that this program knows.
    const KNOWN: [Self; 9] = [
        Self::QemuTcg,
        Self::QemuUser,
        Self::Fex,
        Self::Rosetta,
        Self::Translator,
        Self::Rr,
        Self::Valgrind,
        Self::Gvisor,
        Self::Wine,
    ];

    /// Returns whether it runs programs of another architecture, on the host's kernel: what that
    /// says of its clocksources does not concern the counter that the program sees.
    #[must_use]
    pub const fn is_of_program(&self) -> bool {
        matches!(self, Self::QemuUser | Self::Fex | Self::Rosetta | Self::Translator)
    }

    /// Returns the name that JSON has for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::QemuTcg => "qemu-tcg",
            Self::QemuUser => "qemu-user",
            Self::Fex => "fex",
            Self::Rosetta => "rosetta",
            Self::Translator => "translator",
            Self::Rr => "rr",
            Self::Valgrind => "valgrind",
            Self::Gvisor => "gvisor",
            Self::Wine => "wine",
            Self::Other(name) => name,
        }
    }

    /// Returns their names with commas between them.
    #[must_use]
    pub fn names(emulators: &[Self]) -> String {
        emulators.iter().map(Self::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl From<String> for Emulator {
    fn from(name: String) -> Self {
        Self::KNOWN.into_iter().find(|known| known.as_str() == name).unwrap_or(Self::Other(name))
    }
}

impl From<Emulator> for String {
    fn from(emulator: Emulator) -> Self {
        emulator.as_str().to_owned()
    }
}

/// The hypervisor of a machine, if it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(from = "String", into = "String")]
pub enum Hypervisor {
    /// It has none. JSON has "none".
    None,
    /// It has the one of this name, e.g. "KVM".
    Named(String),
}

impl Hypervisor {
    /// The name of none.
    const NONE: &str = "none";
}

impl fmt::Display for Hypervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => Self::NONE,
            Self::Named(name) => name,
        })
    }
}

impl From<String> for Hypervisor {
    fn from(name: String) -> Self {
        if name == Self::NONE { Self::None } else { Self::Named(name) }
    }
}

impl From<Hypervisor> for String {
    fn from(hypervisor: Hypervisor) -> Self {
        hypervisor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_written_and_read_back() {
        let other = Emulator::Other("box64".to_owned());
        for emulator in Emulator::KNOWN.into_iter().chain([other]) {
            let written = serde_json::to_value(&emulator).unwrap();
            assert_eq!(written, json!(emulator.as_str()));
            assert_eq!(serde_json::from_value::<Emulator>(written).unwrap(), emulator);
        }
        for (hypervisor, name) in [(Hypervisor::None, "none"), (Hypervisor::Named("KVM".to_owned()), "KVM")] {
            assert_eq!(serde_json::to_value(&hypervisor).unwrap(), json!(name));
            assert_eq!(serde_json::from_value::<Hypervisor>(json!(name)).unwrap(), hypervisor);
        }
        assert_eq!(Emulator::names(&[Emulator::Rr, Emulator::QemuUser]), "rr, qemu-user");
    }
}
