//! The machine that a check was made on, among others.

use serde::{Deserialize, Serialize};

use crate::Figure;

/// Names of a machine that distinguish it in a fleet. None of them is an identifier of the system:
/// other programs use those as secrets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Identity", transform = crate::schema::add_unknown))]
pub struct Identity {
    /// The name that the user gave (`--host-label`).
    pub label: Option<String>,
    /// The installed system: HMAC-SHA-256 of the text `clockscope`, keyed by the text of
    /// /etc/machine-id (machine-id(5)), in 64 hexadecimal digits.
    pub host: Figure<String>,
    /// The boot: the same, keyed by the text of /proc/sys/kernel/random/boot_id.
    pub boot: Figure<String>,
    /// The cloud, as the firmware or the hypervisor states it, without the network: "Amazon EC2".
    pub cloud: Figure<String>,
    /// The cloud's type of the machine, where the firmware states it: "m7i.large".
    pub instance_type: Figure<String>,
}

impl Identity {
    /// Returns the name in a fleet: the label, or else the host's; `None` if neither is known.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.label.as_deref().filter(|label| !label.is_empty()).or_else(|| self.host.known().map(String::as_str))
    }
}
