//! The processor, and the numbers that identify its design.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Figure;

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Cpu", transform = crate::schema::add_unknown))]
pub struct Cpu {
    /// Architecture, e.g. `x86_64`.
    pub architecture: String,
    /// Vendor, as the processor names it.
    pub vendor: Figure<String>,
    /// Model, as the processor names it.
    pub model: Figure<String>,
    /// Family, model and stepping, as numbers: hypervisors may hide them in the name.
    pub identity: Figure<ProcessorIdentity>,
    /// Revision of the microcode, as the kernel writes it: `0xd0003f5`. Guests see the
    /// hypervisor's statement.
    pub microcode: Figure<String>,
    /// CPUs that the system has online.
    pub online: Figure<u32>,
    /// CPUs that this process may run on.
    pub allowed: Figure<Vec<u32>>,
}

impl Cpu {
    /// Returns the name with the identity: `AMD EPYC (family 25, model 1, stepping 1)`. Without a
    /// name, the architecture stands in its place; `None` if neither name nor identity is known.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        self.named_with(ProcessorIdentity::to_string)
    }

    /// Returns the name with the design alone, which fits into a line with other facts: `AMD EPYC
    /// (family 25, model 1)`.
    #[must_use]
    pub fn design_name(&self) -> Option<String> {
        self.named_with(ProcessorIdentity::design)
    }

    fn named_with(&self, show: fn(&ProcessorIdentity) -> String) -> Option<String> {
        match (self.model.as_deref(), self.identity.known()) {
            (Some(name), None) => Some(name.to_owned()),
            (name, Some(identity)) => Some(format!("{} ({})", name.unwrap_or(&self.architecture), show(identity))),
            (None, None) => None,
        }
    }
}

/// Numbers by which a processor states its design: CPUID leaf 1 on x86, MIDR_EL1 of CPU 0 on Arm.
/// Displays as `family 25, model 1, stepping 1`, or as `part 0xd0c, r3p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessorIdentity {
    /// Family, with the extended family added; absent on Arm, which has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<u32>,
    /// Model, with the extended model. On Arm the part number, which the vendor assigns.
    pub model: u32,
    /// Stepping. On Arm 16 times the variant plus the revision: 49 is r3p1.
    pub stepping: u32,
}

impl ProcessorIdentity {
    /// Returns the family and model, without the stepping: `family 25, model 1`; on Arm everything.
    fn design(&self) -> String {
        match self.family {
            Some(family) => format!("family {family}, model {}", self.model),
            None => self.to_string(),
        }
    }

    /// Returns the identity of an x86 processor, from the register EAX of CPUID leaf 1. The
    /// extended numbers count where Linux counts them.
    #[must_use]
    pub const fn from_cpuid(eax: u32) -> Self {
        let base_family = eax >> 8 & 0xf;
        let family = if base_family == 0xf { base_family + (eax >> 20 & 0xff) } else { base_family };
        let extended_model = if family >= 6 { eax >> 16 & 0xf } else { 0 };
        Self { family: Some(family), model: extended_model << 4 | (eax >> 4 & 0xf), stepping: eax & 0xf }
    }

    /// Returns the identity of an Arm processor, from its register MIDR_EL1.
    #[must_use]
    pub const fn from_midr(midr: u32) -> Self {
        Self { family: None, model: midr >> 4 & 0xfff, stepping: (midr >> 20 & 0xf) << 4 | (midr & 0xf) }
    }
}

impl fmt::Display for ProcessorIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, model, stepping } = self;
        match family {
            Some(family) => write!(f, "family {family}, model {model}, stepping {stepping}"),
            None => write!(f, "part {model:#x}, r{}p{}", stepping >> 4, stepping & 0xf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpuid_extends_family_and_model() {
        let identity = |eax| ProcessorIdentity::from_cpuid(eax).to_string();
        // AMD EPYC of Zen 5, Zen 3, Intel Rocket Lake and Sapphire Rapids, Zhaoxin, Pentium.
        assert_eq!(identity(0x00b0_0f21), "family 26, model 2, stepping 1");
        assert_eq!(identity(0x00a0_0f11), "family 25, model 1, stepping 1");
        assert_eq!(identity(0x000a_0671), "family 6, model 167, stepping 1");
        assert_eq!(identity(0x000c_06f8), "family 6, model 207, stepping 8");
        assert_eq!(identity(0x0003_07b0), "family 7, model 59, stepping 0");
        assert_eq!(identity(0x0ff0_0543), "family 5, model 4, stepping 3");
    }

    #[test]
    fn midr_has_part_variant_and_revision() {
        // Neoverse N1 r3p1, Neoverse V1 r1p1.
        let identity = ProcessorIdentity::from_midr(0x413f_d0c1);
        assert_eq!(identity, ProcessorIdentity { family: None, model: 0xd0c, stepping: 0x31 });
        assert_eq!(identity.to_string(), "part 0xd0c, r3p1");
        assert_eq!(serde_json::to_value(identity).unwrap(), serde_json::json!({ "model": 0xd0c, "stepping": 0x31 }));
        assert_eq!(ProcessorIdentity::from_midr(0x411f_d401).to_string(), "part 0xd40, r1p1");
    }

    #[test]
    fn names_state_the_identity() {
        let identity = Figure::Known(ProcessorIdentity::from_cpuid(0x000c_06f8));
        let mut cpu = Cpu { architecture: "x86_64".to_owned(), ..Cpu::default() };
        assert_eq!(cpu.name(), None);
        cpu.identity = identity;
        assert_eq!(cpu.name().as_deref(), Some("x86_64 (family 6, model 207, stepping 8)"));
        cpu.model = Figure::Known("Some CPU".to_owned());
        assert_eq!(cpu.name().as_deref(), Some("Some CPU (family 6, model 207, stepping 8)"));
        assert_eq!(cpu.design_name().as_deref(), Some("Some CPU (family 6, model 207)"));
        cpu.identity = Figure::default();
        assert_eq!(cpu.name().as_deref(), Some("Some CPU"));
    }

    #[test]
    fn records_without_an_identity_are_read() {
        let former = serde_json::json!({
            "architecture": "x86_64", "vendor": "GenuineIntel", "model": "Some CPU", "online": 2, "allowed": [0, 1],
        });
        let cpu: Cpu = serde_json::from_value(former).unwrap();
        assert_eq!((&cpu.identity, &cpu.microcode), (&Figure::default(), &Figure::default()));
        assert_eq!(cpu.online, Figure::Known(2));
    }
}
