//! Nominal frequencies of the counter, as hardware or hypervisor state them: to be checked against
//! a measurement.

use clockscope_core::counter::{self, NominalFrequencies};
use clockscope_core::os;
use clockscope_records::{Figure, Frequencies, FrequencySource, texts};

/// Returns the counter's nominal frequency in Hz and who states it, by the precedence of
/// [`NominalFrequencies::nominal_hz`].
#[must_use]
pub fn nominal_hz(stated: &Frequencies) -> Option<(f64, FrequencySource)> {
    nominal_frequencies(stated).nominal_hz(|| stated.perf_mmap_hz.get()).map(recorded)
}

/// Returns the same without the kernel's figure, for a comparison with the kernel's clocks: these
/// run by it.
#[must_use]
pub fn nominal_hz_beside_kernel(stated: &Frequencies) -> Option<(f64, FrequencySource)> {
    nominal_frequencies(stated).nominal_hz(|| None).map(recorded)
}

fn recorded((hz, by): (f64, counter::StatedBy)) -> (f64, FrequencySource) {
    let by = match by {
        counter::StatedBy::Hypervisor => FrequencySource::Hypervisor,
        counter::StatedBy::Processor => FrequencySource::Processor,
        counter::StatedBy::Firmware => FrequencySource::Firmware,
        counter::StatedBy::Kernel => FrequencySource::Kernel,
    };
    (hz, by)
}

fn nominal_frequencies(stated: &Frequencies) -> NominalFrequencies {
    NominalFrequencies {
        cpuid_15h_hz: stated.cpuid_15h_hz.get(),
        cpuid_16h_base_mhz: stated.cpuid_16h_base_mhz.get(),
        cpuid_40000010h_khz: stated.cpuid_40000010h_tsc_khz.get(),
        cntfrq_hz: stated.cntfrq_hz.get(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The library words it by one type, records by the other.
    #[test]
    fn who_states_a_frequency_has_one_name() {
        use counter::StatedBy::{Firmware, Hypervisor, Kernel, Processor};
        for by in [Hypervisor, Processor, Firmware, Kernel] {
            assert_eq!(recorded((1e9, by)).1.name(), by.name());
        }
    }
}
