//! The check that this process can read the clock.

use clockscope_core::evidence;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::{Failure, Finding, ReadPath, Unknown, counted};

/// Can this process read the clock?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Readable {
    /// The way by which it is read.
    pub path: ReadPath,
    /// The failure; `null` if nothing failed.
    pub failure: Option<Failure>,
    /// Reads that failed while the clock's rate was compared.
    pub errors: u64,
    /// Reason why it cannot be read; `null` where no reason is known.
    pub reason: Option<Unknown>,
}

impl Evidence for Readable {
    const NAME: &str = "readable";
    const SOURCE: &str = "a trial read";

    fn text(&self, _finding: Finding) -> String {
        match (self.failure, &self.reason) {
            (None, _) if self.path == ReadPath::Instruction => "this process can read it".to_owned(),
            (None, _) => "it answers".to_owned(),
            (Some(_), Some(reason)) => format!("it cannot be read: {reason}"),
            (Some(_), None) if self.errors > 0 => {
                let failed = counted(self.errors, "read");
                format!("it cannot be read reliably: {failed} failed while its rate was compared")
            }
            (Some(_), None) => "it cannot be read".to_owned(),
        }
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(match self.failure {
            _ if self.path == ReadPath::Instruction => evidence::NOT_PERMITTED_ADVICE,
            Some(Failure::CounterDisabled) => {
                "the vDSO reads the counter: find the program that disabled it, or read by the bare system call"
            }
            Some(Failure::DuringRun) => {
                "look for what disturbed it (a seccomp filter that was installed during the run?), and ask again"
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
            let failed = |path, failure| Self { path, failure: Some(failure), errors: 2, reason: None };
            vec![
                failed(ReadPath::Instruction, Failure::Killed),
                failed(ReadPath::Libc, Failure::CounterDisabled),
                failed(ReadPath::Libc, Failure::Denied),
                failed(ReadPath::Libc, Failure::DuringRun),
            ]
        }
    }
}
