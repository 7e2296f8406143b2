//! The check for an emulator that provides the counter.

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::{Emulator, Finding};

/// Does an emulator provide the counter?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Emulation {
    /// Emulators and recorders that this process runs under.
    pub emulators: Vec<Emulator>,
}

impl Evidence for Emulation {
    const NAME: &str = "emulation";
    const SOURCE: &str = "CPUID and /proc";

    fn text(&self, _finding: Finding) -> String {
        format!("{} emulates the counter: what is found holds for the emulator", Emulator::names(&self.emulators))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Emulation {
        fn examples() -> Vec<Self> {
            vec![Self { emulators: vec![Emulator::QemuTcg] }]
        }
    }
}
