//! What is claimed of the counter.

/// Frequencies that processor, firmware or hypervisor claim for the counter: to be checked against a measurement, never
/// taken for one. `None` where nothing is stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// CPUID leaf 15h, in Hz.
    pub cpuid_15h_hz: Option<u64>,
    /// CPUID leaf 16h: the processor's base frequency in MHz.
    pub cpuid_16h_base_mhz: Option<u32>,
    /// CPUID leaf 40000010h of a hypervisor, in kHz.
    pub cpuid_40000010h_khz: Option<u32>,
    /// CNTFRQ_EL0, in Hz.
    pub cntfrq_hz: Option<u64>,
}
