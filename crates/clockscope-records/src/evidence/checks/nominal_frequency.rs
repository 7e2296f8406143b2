//! The check of the counter's nominal frequency.

use clockscope_core::counter::FrequencySource;
use clockscope_core::evidence::{self, FrequencyOffset};
use serde::{Deserialize, Serialize};

use super::ASK_FOR_LONGER;
use super::rate::WRONG_FREQUENCY;
use crate::Finding;
use crate::evidence::Evidence;

/// Is the counter's nominal frequency right?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct NominalFrequency {
    /// The nominal frequency.
    pub nominal_hz: Option<f64>,
    /// The source of that statement.
    pub reported_by: Option<FrequencySource>,
    /// The measured frequency, in Hz of the reference of its rate.
    pub measured_hz: Option<f64>,
    /// Offset of the nominal frequency from the measured one. Where none is stated to programs,
    /// of the one that the kernel uses, by what a daemon corrects.
    pub ppm: Option<f64>,
    /// By how much a time daemon corrects the rate of the reference, and will go on to; `null`
    /// where that is not known, or no more than a crystal's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting_ppm: Option<f64>,
    /// The bound of `measured_hz`, and with it of `ppm`.
    pub bound_ppm: Option<f64>,
}

impl Evidence for NominalFrequency {
    const NAME: &str = evidence::NOMINAL_FREQUENCY;
    const SOURCE: &str = "CPUID and perf";

    fn source(&self) -> &'static str {
        if self.lasting_ppm.is_some() {
            return "brackets and the daemon's statement";
        }
        self.reported_by.map_or(Self::SOURCE, FrequencySource::name)
    }

    fn text(&self, _finding: Finding) -> String {
        let offset = self.ppm.zip(self.bound_ppm).map(|(ppm, bound_ppm)| FrequencyOffset { ppm, bound_ppm });
        let Some(lasting) = self.lasting_ppm else {
            return evidence::NominalFrequency { hz: self.nominal_hz, offset }.to_string();
        };
        let daemon = format!("a time daemon corrects the kernel's clock by {lasting:+.3} ppm for good");
        match (self.nominal_hz, offset) {
            (Some(hz), Some(offset)) => {
                format!("{:.6} MHz is stated, {offset} from what was measured: {daemon}", hz / 1e6)
            }
            _ => format!("{daemon}, so that the frequency that it takes the counter to have is wrong"),
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        let remedy = if self.lasting_ppm.is_some() {
            WRONG_FREQUENCY
        } else {
            "measure the frequency against the system's clock, as clockscope does, and do not use the stated one; or the kernel's \
             own clock is off: compare it with NTP (chronyc tracking)"
        };
        Some(remedy)
    }

    fn next_step(&self) -> Option<&'static str> {
        self.ppm.map(|_| ASK_FOR_LONGER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for NominalFrequency {
        fn examples() -> Vec<Self> {
            let sources = [
                FrequencySource::Hypervisor,
                FrequencySource::Processor,
                FrequencySource::Firmware,
                FrequencySource::Kernel,
            ];
            let reported = |by| Self {
                nominal_hz: Some(2.5e9),
                reported_by: Some(by),
                measured_hz: Some(2.4985e9),
                ppm: Some(600.0),
                lasting_ppm: None,
                bound_ppm: Some(0.25),
            };
            sources.map(reported).into()
        }
    }
}
