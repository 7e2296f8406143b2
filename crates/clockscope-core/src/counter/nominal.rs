//! Nominal frequencies of the counter.

/// Frequencies that processor, firmware or hypervisor state for the counter: to be checked against
/// a measurement, never taken for one. `None` where nothing is stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NominalFrequencies {
    /// CPUID leaf 15h, in Hz.
    pub cpuid_15h_hz: Option<u64>,
    /// CPUID leaf 16h: the processor's base frequency in MHz.
    pub cpuid_16h_base_mhz: Option<u32>,
    /// CPUID leaf 40000010h of a hypervisor, in kHz.
    pub cpuid_40000010h_khz: Option<u32>,
    /// CNTFRQ_EL0, in Hz.
    pub cntfrq_hz: Option<u64>,
}

/// Source of the counter's nominal frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FrequencySource {
    /// A hypervisor, by CPUID leaf 40000010h.
    Hypervisor,
    /// The processor, by CPUID leaf 15h.
    Processor,
    /// The firmware, in CNTFRQ_EL0.
    Firmware,
    /// The kernel, on the page of a perf event.
    Kernel,
}

impl FrequencySource {
    /// Returns its name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hypervisor => "CPUID 40000010h",
            Self::Processor => "CPUID 15h",
            Self::Firmware => "CNTFRQ_EL0",
            Self::Kernel => "the kernel, by perf",
        }
    }
}

impl NominalFrequencies {
    /// Returns the counter's nominal frequency in Hz, and who states it: the hypervisor, which
    /// knows what it scales the counter to; the processor; the firmware; and last the kernel, whose
    /// figure (`by_kernel`, asked for only then) may come from any of these or from its own
    /// calibration. CPUID 16h is the core's frequency, and rounded: it is not the counter's.
    pub fn nominal_hz(&self, by_kernel: impl FnOnce() -> Option<f64>) -> Option<(f64, FrequencySource)> {
        let hypervisor = self.cpuid_40000010h_khz.map(|khz| (f64::from(khz) * 1e3, FrequencySource::Hypervisor));
        let processor = self.cpuid_15h_hz.map(|hz| (hz as f64, FrequencySource::Processor));
        let firmware = self.cntfrq_hz.map(|hz| (hz as f64, FrequencySource::Firmware));
        hypervisor.or(processor).or(firmware).or_else(|| Some((by_kernel()?, FrequencySource::Kernel)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nominal_frequency_has_one_precedence() {
        let all = NominalFrequencies {
            cpuid_15h_hz: Some(2_000_000_000),
            cpuid_16h_base_mhz: Some(2100),
            cpuid_40000010h_khz: Some(2_200_000),
            cntfrq_hz: Some(24_000_000),
        };
        let kernel = || Some(2.3e9);
        assert_eq!(all.nominal_hz(kernel), Some((2.2e9, FrequencySource::Hypervisor)));
        let all = NominalFrequencies { cpuid_40000010h_khz: None, ..all };
        assert_eq!(all.nominal_hz(kernel), Some((2e9, FrequencySource::Processor)));
        let all = NominalFrequencies { cpuid_15h_hz: None, ..all };
        assert_eq!(all.nominal_hz(kernel), Some((2.4e7, FrequencySource::Firmware)));
        let all = NominalFrequencies { cntfrq_hz: None, ..all };
        assert_eq!(all.nominal_hz(kernel), Some((2.3e9, FrequencySource::Kernel)));
        assert_eq!(all.nominal_hz(|| None), None);
    }
}
