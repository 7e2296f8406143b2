//! Nominal frequencies of the counter, as hardware or hypervisor state them: to be checked against
//! a measurement.

use clockscope_core::counter::{self, NominalFrequencies};
use clockscope_core::os;
use clockscope_records::{Figure, Frequencies, FrequencySource, texts};

/// Returns the counter's nominal frequency in Hz and who states it, by the precedence of
/// [`NominalFrequencies::nominal_hz`].
#[must_use]
pub fn nominal_hz(frequencies: &Frequencies) -> Option<(f64, FrequencySource)> {
    nominal_frequencies(frequencies).nominal_hz(|| frequencies.perf_mmap_hz.get())
}

/// Returns the same without the kernel's figure, for a comparison with the kernel's clocks: these
/// run by it.
#[must_use]
pub fn nominal_hz_beside_kernel(frequencies: &Frequencies) -> Option<(f64, FrequencySource)> {
    nominal_frequencies(frequencies).nominal_hz(|| None)
}

fn nominal_frequencies(frequencies: &Frequencies) -> NominalFrequencies {
    NominalFrequencies {
        cpuid_15h_hz: frequencies.cpuid_15h_hz.get(),
        cpuid_16h_base_mhz: frequencies.cpuid_16h_base_mhz.get(),
        cpuid_40000010h_khz: frequencies.cpuid_40000010h_tsc_khz.get(),
        cntfrq_hz: frequencies.cntfrq_hz.get(),
    }
}

pub(crate) fn read() -> Frequencies {
    let nominal = counter::nominal_frequencies();
    Frequencies {
        cpuid_15h_hz: Figure::of(nominal.cpuid_15h_hz, texts::PROCESSOR_SILENT),
        cpuid_16h_base_mhz: Figure::of(nominal.cpuid_16h_base_mhz, texts::PROCESSOR_SILENT),
        cpuid_40000010h_tsc_khz: Figure::of(nominal.cpuid_40000010h_khz, "no hypervisor states it"),
        cntfrq_hz: Figure::of(nominal.cntfrq_hz, "not an aarch64 processor, or its firmware states 0"),
        perf_mmap_hz: os::perf_frequency().map_err(|reason| reason.to_string()).into(),
    }
}
