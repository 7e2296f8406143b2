//! The kernel's reasons for not using the counter, as evidence.

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::{Finding, KernelCause};

/// The kernel's reason for not using the counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct KernelVerdict {
    /// One of its reasons; `null` where none was found.
    pub cause: Option<KernelCause>,
    /// Error of the kernel's log, for which causes may be missing; `null` where it was read.
    pub log_error: Option<String>,
}

impl Evidence for KernelVerdict {
    const NAME: &str = "kernel's verdict";
    const SOURCE: &str = "the kernel's log";

    fn source(&self) -> &'static str {
        self.cause.as_ref().map_or(Self::SOURCE, KernelCause::source)
    }

    fn text(&self, _finding: Finding) -> String {
        match (&self.cause, &self.log_error) {
            (Some(cause), _) => cause.to_string(),
            (None, Some(error)) => error.clone(),
            (None, None) => "neither log nor command line says why the kernel does not use it".to_owned(),
        }
    }

    fn next_step(&self) -> Option<&'static str> {
        self.log_error.as_ref().map(|_| "try again as root: the log says why the kernel rejected the counter")
    }

    fn advice(&self, finding: Finding) -> Option<String> {
        match finding {
            Finding::For => None,
            Finding::Against => self.cause.as_ref().map(KernelCause::advice),
            Finding::Unknown => self.next_step().map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;
    use crate::{Emulator, LogFault, WatchdogIntervals};

    impl Examples for KernelVerdict {
        fn examples() -> Vec<Self> {
            let intervals = WatchdogIntervals {
                watchdog: "hpet".to_owned(),
                watchdog_ns: Some(504_000_000),
                clocksource: "tsc".to_owned(),
                clocksource_ns: Some(612_000_000),
                went_back: false,
                in_use: None,
            };
            let causes = [
                KernelCause::LogLine {
                    line: "tsc: Marking TSC unstable".to_owned(),
                    fault: LogFault::Unstated,
                    intervals: Some(intervals),
                    corrected: None,
                    unwatched: None,
                },
                KernelCause::log_line("TSC warp between CPUs", LogFault::CpuSkew),
                KernelCause::Unexplained,
                KernelCause::Emulated { emulators: vec![Emulator::Fex] },
                KernelCause::Unwatched { option: "tsc=reliable".to_owned() },
                KernelCause::Erratum { line: "CPU0: Trapping CNTVCT access".to_owned() },
                KernelCause::ClocksourceOption { clocksource: "hpet".to_owned() },
                KernelCause::NotscOption,
                KernelCause::UnstableOption,
                KernelCause::NotOffered,
                KernelCause::PrefersScaled { clocksource: "kvm-clock".to_owned() },
                KernelCause::MissingFlags { flags: vec!["constant_tsc".to_owned()] },
            ];
            let unknown = Self { cause: None, log_error: Some("not permitted".to_owned()) };
            let known = causes.into_iter().map(|cause| Self { cause: Some(cause), log_error: None });
            known.chain([unknown]).collect()
        }
    }
}
