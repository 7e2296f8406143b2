//! The check of a read's cost.

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::{Emulator, Finding};

/// The cost of a read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Cost {
    /// Median cost, back to back.
    pub cost_ns: Option<f64>,
    /// 99th percentile of the batches' costs; `null` with fewer than a hundred batches.
    pub p99_ns: Option<f64>,
    /// The batches by their cost, as pairs of a bin and a count, in ascending order: bin b
    /// holds costs from 2^(b/32) ns on, below 2^((b+1)/32) ns. Of more than 256 batches it
    /// has 256 quantiles of equal distance. Counts of several machines may be added.
    pub histogram: Vec<(i64, u64)>,
    /// The counter's reading sequence that was measured; `null` for a clock of the system.
    pub sequence: Option<String>,
    /// Cost of `monotonic`; only of the counter.
    pub monotonic_ns: Option<f64>,
    /// Cost of a system call that reads a clock, in ns.
    pub syscall_ns: Option<f64>,
    /// The explanation of the cost; `null` for one that needs none.
    pub cause: Option<CostCause>,
    /// The clocksource that makes reads enter the kernel.
    pub clocksource: Option<String>,
    /// Emulators and recorders whose cost it is.
    pub emulators: Vec<Emulator>,
}

/// An explanation of the cost of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CostCause {
    /// An emulator: it is not the machine's cost.
    Emulation,
    /// Every read of the counter is trapped.
    Trap,
    /// The kernel works around an erratum of the counter (Arm), and traps every read.
    Erratum,
    /// The clock reads the counter, and every read of that is trapped.
    TrappedCounter,
    /// Programs cannot read the clocksource without entering the kernel.
    Clocksource,
    /// The read costs as much as a system call.
    LikeSystemCall,
    /// The read costs far more than a system call.
    AboveSystemCall,
}

impl CostCause {
    /// Share of a system call's cost from which a read counts as one.
    ///
    /// A system call that reads a clock does what the vDSO does, and enters the kernel in addition.
    /// A read by the vDSO costs a small part of it; one that falls back costs all of it, less the
    /// variation between runs.
    pub const SYSTEM_CALL_SHARE: f64 = 0.7;

    /// Returns true if a read costs as much as a system call that reads a clock, both measured on
    /// the same machine.
    #[must_use]
    pub const fn is_like_system_call(read_ns: f64, syscall_ns: f64) -> bool {
        read_ns >= Self::SYSTEM_CALL_SHARE * syscall_ns
    }
}

impl Evidence for Cost {
    const NAME: &str = "cost";
    const SOURCE: &str = "batches of reads";

    fn text(&self, _finding: Finding) -> String {
        let Some(ns) = self.cost_ns else { return "no batch was completed".to_owned() };
        let figures = match (&self.sequence, self.monotonic_ns, self.syscall_ns) {
            (Some(sequence), Some(other), _) => format!("{sequence} costs {ns:.1} ns; monotonic costs {other:.1} ns"),
            (Some(sequence), None, _) => format!("{sequence} costs {ns:.1} ns"),
            (None, _, Some(other)) => {
                format!("a read costs {ns:.1} ns; a system call of its kind costs {other:.0} ns")
            }
            (None, _, None) => format!("a read costs {ns:.1} ns"),
        };
        match self.cause {
            None | Some(CostCause::Trap) => figures,
            Some(CostCause::Erratum) => format!("the kernel works around an erratum of the counter: {figures}"),
            Some(CostCause::Emulation) => {
                format!("{figures}: of {}, not of the machine", Emulator::names(&self.emulators))
            }
            Some(CostCause::TrappedCounter) => format!("it reads the counter, and each read is trapped: {figures}"),
            Some(CostCause::Clocksource) => {
                let current = self.clocksource.as_deref().unwrap_or_default();
                format!("with the clocksource {current} every read enters the kernel: {figures}")
            }
            Some(CostCause::LikeSystemCall) => format!("a read costs as much as entering the kernel: {figures}"),
            Some(CostCause::AboveSystemCall) => format!("it costs far more than entering the kernel does: {figures}"),
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(match self.cause {
            Some(CostCause::Clocksource) => {
                "have the kernel use the counter (see `clockscope clocksource`), or read less often; rdtscp or \
                 clockscope::now() are cheaper where the counter's verdict permits them"
            }
            Some(CostCause::TrappedCounter) => "see the advice on the counter's cost",
            Some(CostCause::AboveSystemCall) => {
                "find the cause: a hypervisor that traps, a debugger or ptrace, a preloaded library"
            }
            Some(CostCause::LikeSystemCall) => {
                "find the reason why the vDSO is not used: a C library that does not know it, a preloaded one that wraps it, vdso=0 on \
                 the kernel's command line, gVisor, ptrace, or a time namespace on an old kernel"
            }
            Some(CostCause::Erratum) => {
                "read seldom, or by a coarse clock: the kernel traps reads, because the processor's counter has an erratum, and \
                 no setting of a hypervisor changes that"
            }
            Some(CostCause::Trap | CostCause::Emulation) | None => {
                "every read is trapped, by a hypervisor (TSC scaling or offsetting without hardware support), a debugger, or on \
                 Arm a kernel that works around an erratum: read seldom, and look for the hypervisor's setting (Xen: \
                 tsc_mode=native; VirtualBox: TSCTiedToExecution off)"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Cost {
        fn examples() -> Vec<Self> {
            let causes = [
                CostCause::Emulation,
                CostCause::Trap,
                CostCause::Erratum,
                CostCause::TrappedCounter,
                CostCause::Clocksource,
                CostCause::LikeSystemCall,
                CostCause::AboveSystemCall,
            ];
            let cost = |cause| Self {
                cost_ns: Some(250.0),
                p99_ns: Some(260.0),
                histogram: vec![(254, 120), (256, 2)],
                sequence: None,
                monotonic_ns: None,
                syscall_ns: Some(230.0),
                cause: Some(cause),
                clocksource: Some("hpet".to_owned()),
                emulators: vec![Emulator::QemuTcg],
            };
            causes.map(cost).into()
        }
    }
}
