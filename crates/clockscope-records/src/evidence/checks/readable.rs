//! The check that this process can read the clock.

use clockscope_core::evidence;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::{ClockReason, Finding, ReadPath, Unknown, counted};

/// Can this process read the clock?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Readable {
    /// The way by which it is read.
    pub path: ReadPath,
    /// Reads that failed while the clock's rate was compared.
    pub errors: u64,
    /// Reason why it cannot be read, or not reliably; `null` where it can, and where no reason is
    /// known.
    pub reason: Option<Unknown>,
}

impl Evidence for Readable {
    const NAME: &str = "readable";
    const SOURCE: &str = "a trial read";

    fn text(&self, finding: Finding) -> String {
        match &self.reason {
            _ if finding == Finding::For && self.path == ReadPath::Instruction => "this process can read it".to_owned(),
            _ if finding == Finding::For => "it answers".to_owned(),
            Some(reason) => format!("it cannot be read: {reason}"),
            None if self.errors > 0 => {
                let failed = counted(self.errors, "read");
                format!("it cannot be read reliably: {failed} failed while its rate was compared")
            }
            None => "it cannot be read".to_owned(),
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        let is_during_run = match &self.reason {
            Some(Unknown::Clock(reason)) => reason.is_during_run(),
            _ => self.errors > 0,
        };
        Some(match &self.reason {
            _ if self.path == ReadPath::Instruction => evidence::NOT_PERMITTED_ADVICE,
            Some(Unknown::Clock(ClockReason::CounterDisabled)) => {
                "the vDSO reads the counter: find the program that disabled it, or read by the bare system call"
            }
            _ if is_during_run => {
                "look for what disturbed it (a seccomp filter that was installed during the run?), and try again"
            }
            _ => "look for a seccomp filter, a sandbox or an old kernel that denies the call",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Readable {
        fn examples() -> Vec<Self> {
            let failed =
                |path, errors, reason: Option<ClockReason>| Self { path, errors, reason: reason.map(Unknown::from) };
            vec![
                failed(ReadPath::Instruction, 0, Some(ClockReason::ChildReadEnded)),
                failed(ReadPath::Libc, 0, Some(ClockReason::CounterDisabled)),
                failed(ReadPath::Libc, 0, Some(ClockReason::ChildReadEnded)),
                failed(ReadPath::Libc, 2, None),
            ]
        }
    }
}
