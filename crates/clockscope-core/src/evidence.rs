//! Texts of evidence on a clock that the library and the instrument both report.

use core::fmt::{Display, Formatter, Result};

/// Name of the check for the promise of a constant rate.
pub const INVARIANCE: &str = "invariance";
/// Name of the check for the kernel's clocksource.
pub const CLOCKSOURCE: &str = "clocksource";
/// Name of the check for readings that go back from one CPU to another.
pub const ORDER: &str = "order across CPUs";
/// Name of the check for offsets between the counters of CPUs.
pub const OFFSETS: &str = "offsets between CPUs";
/// Name of the check for the frequency that is stated.
pub const NOMINAL_FREQUENCY: &str = "nominal frequency";

/// Advice where this process may not read the counter.
pub const NOT_PERMITTED_ADVICE: &str = "find out who disabled it for this process (prctl PR_SET_TSC in a parent, a \
    sandbox, a hypervisor); programs that then read it, even through the vDSO, are killed";
/// Advice where no constant rate is promised.
pub const NOT_INVARIANT_ADVICE: &str =
    "on a virtual machine pass the promise on (QEMU: -cpu host,+invtsc); on old hardware use the system's clock";

/// Returns the answer to whether the hardware promises a constant rate; `None` where it does not
/// state that.
#[must_use]
pub const fn invariance(promised: Option<bool>) -> &'static str {
    match promised {
        Some(true) => "the hardware promises a constant rate in all power states",
        Some(false) => "the hardware does not promise a constant rate",
        None => "the hardware does not state whether its rate is constant",
    }
}

/// Shows the kernel's clocksource.
#[derive(Clone, Copy, Debug)]
pub struct KernelClocksource<'a> {
    /// Its name; `None` where the kernel does not show it.
    pub name: Option<&'a str>,
    /// True if it is the clock that is judged.
    pub is_it: bool,
}

impl Display for KernelClocksource<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match (self.name, self.is_it) {
            (Some(name), true) => write!(out, "the kernel builds its clocks on it ({name})"),
            (Some(name), false) => write!(out, "the kernel builds its clocks on {name}"),
            (None, _) => out.write_str("the kernel does not show its clocksource"),
        }
    }
}

/// Shows a nominal frequency beside the measured one.
#[derive(Clone, Copy, Debug)]
pub struct NominalFrequency {
    /// The frequency that is stated, in Hz; `None` where none is.
    pub hz: Option<f64>,
    /// Its offset from the measured one, positive where it is higher; `None` where none was
    /// measured.
    pub offset: Option<FrequencyOffset>,
}

impl Display for NominalFrequency {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Some(hz) = self.hz else {
            return out.write_str("hardware, hypervisor and kernel state none to programs");
        };
        write!(out, "{:.6} MHz is stated, ", hz / 1e6)?;
        match self.offset {
            Some(offset) => write!(out, "{offset} from what was measured against the kernel's clock"),
            None => out.write_str("and nothing was measured to compare it with"),
        }
    }
}

/// Shows a frequency offset with its bound.
#[derive(Clone, Copy, Debug)]
pub struct FrequencyOffset {
    /// The offset in ppm.
    pub ppm: f64,
    /// Its bound in ppm.
    pub bound_ppm: f64,
}

impl Display for FrequencyOffset {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{:+.3} ± {} ppm", self.ppm, PpmBound(self.bound_ppm))
    }
}

/// Shows a bound in ppm with three decimals, or with its power of ten: never as 0 if it is above.
#[derive(Clone, Copy, Debug)]
pub struct PpmBound(pub f64);

impl Display for PpmBound {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(ppm) = self;
        if *ppm > 0.0 && *ppm < 0.0005 { write!(out, "{ppm:.1e}") } else { write!(out, "{ppm:.3}") }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_bound_above_0_is_not_displayed_as_0() {
        let displayed = [0.0, 1e-7, 4.9e-4, 5e-4, 0.14].map(|ppm| PpmBound(ppm).to_string());
        assert_eq!(displayed, ["0.000", "1.0e-7", "4.9e-4", "0.001", "0.140"]);
        assert_eq!(FrequencyOffset { ppm: 1.0, bound_ppm: 1e-7 }.to_string(), "+1.000 ± 1.0e-7 ppm");
    }
}
