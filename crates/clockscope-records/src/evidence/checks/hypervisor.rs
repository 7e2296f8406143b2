//! The check for a hypervisor that provides the counter.

use serde::{Deserialize, Serialize};

use super::or_reason;
use crate::evidence::Evidence;
use crate::{Finding, Unknown, emulator};

/// Does a hypervisor provide the counter?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Hypervisor {
    /// Its name, or "none".
    pub hypervisor: Option<emulator::Hypervisor>,
    /// Its statement about the counter.
    pub statement: Option<HypervisorStatement>,
    /// True if it gave the kernel the counter's frequency.
    pub states_frequency: bool,
    /// Reason why it is not known if there is one.
    pub reason: Option<Unknown>,
}

/// A hypervisor's statement about the counter that it gives to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HypervisorStatement {
    /// KVM: its clocks agree on all CPUs.
    StableClocksource,
    /// Hyper-V: the counter can be made invariant.
    InvariantCounter,
    /// Hyper-V: a reference page scales the counter.
    ReferencePage,
    /// Xen: it emulates every read of the counter.
    EmulatedReads,
    /// Xen: the host's counter is reliable.
    ReliableHost,
}

impl HypervisorStatement {
    /// Returns whether the hypervisor says that the counter can be relied upon.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        !matches!(self, Self::EmulatedReads)
    }

    const fn text(self) -> &'static str {
        match self {
            Self::StableClocksource => "its clocks agree on all CPUs (stable clocksource)",
            Self::InvariantCounter => "the counter can be made invariant",
            Self::ReferencePage => "a reference page scales the counter",
            Self::EmulatedReads => "it emulates every read of the counter",
            Self::ReliableHost => "the host's counter is reliable",
        }
    }
}

impl Evidence for Hypervisor {
    const NAME: &str = "hypervisor";
    const SOURCE: &str = "CPUID";

    fn text(&self, _finding: Finding) -> String {
        let name = match &self.hypervisor {
            Some(emulator::Hypervisor::None) => return "there is none".to_owned(),
            Some(emulator::Hypervisor::Named(name)) => name,
            None => return or_reason(self.reason.as_ref(), "it is not known whether there is one"),
        };
        let frequency = self.states_frequency.then_some("it states the counter's frequency to the kernel");
        let says: Vec<&str> = self.statement.map(HypervisorStatement::text).into_iter().chain(frequency).collect();
        match says.as_slice() {
            [] => format!("{name} says nothing about the counter"),
            says => format!("{name} says: {}", says.join("; ")),
        }
    }

    fn next_step(&self) -> Option<&'static str> {
        self.hypervisor
            .as_ref()
            .map(|_| "check again after a migration or a restored snapshot: value and rate may be another machine's")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Hypervisor {
        fn examples() -> Vec<Self> {
            let named = |name: &str, statement, states_frequency| Self {
                hypervisor: Some(emulator::Hypervisor::Named(name.to_owned())),
                statement,
                states_frequency,
                reason: None,
            };
            vec![
                named("KVM", None, true),
                named("Xen", Some(HypervisorStatement::StableClocksource), false),
                named("Xen", Some(HypervisorStatement::InvariantCounter), false),
                named("Xen", Some(HypervisorStatement::ReferencePage), false),
                named("Xen", Some(HypervisorStatement::EmulatedReads), false),
                named("Xen", Some(HypervisorStatement::ReliableHost), false),
            ]
        }
    }
}
