//! The check that all paths to a clock show one time.

use serde::{Deserialize, Serialize};

use super::suspect::AVOID_PRELOADED;
use crate::evidence::Evidence;
use crate::units::time;
use crate::{Finding, ReadPath};

/// Is the clock the same by the C library, the vDSO and the system call?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct Paths {
    /// The paths that were compared with the reference.
    pub compared: Vec<ReadPath>,
    /// The path that they were compared with: the system call, or the vDSO where that is
    /// refused.
    #[serde(default = "system_call")]
    pub reference: ReadPath,
    /// The path that shows another time than the reference; `null` where none does.
    pub fault: Option<ReadPath>,
    /// The lead of that path over the reference, in ns.
    pub offset_ns: Option<f64>,
    /// Paths that agree do so within this, in ns.
    pub within_ns: Option<f64>,
    /// Libraries that are preloaded into this process.
    pub preloaded: Vec<String>,
}

/// Paths are compared with the system call where a record does not say otherwise.
const fn system_call() -> ReadPath {
    ReadPath::Syscall
}

/// Names a path in a sentence.
const fn spoken(path: ReadPath) -> &'static str {
    match path {
        ReadPath::Libc => "the C library",
        ReadPath::Vdso => "the vDSO",
        ReadPath::Syscall => "the system call",
        ReadPath::Std => "Rust's library",
        other => other.as_str(),
    }
}

impl Evidence for Paths {
    const NAME: &str = "paths";
    const SOURCE: &str = "readings by each path";

    fn text(&self, finding: Finding) -> String {
        let reference = spoken(self.reference);
        let Some(fault) = self.fault else {
            if self.compared.is_empty() {
                return "it could not be read by another path to compare".to_owned();
            }
            let paths: Vec<&str> = self.compared.iter().map(|path| spoken(*path)).collect();
            let agree = self.within_ns.map_or_else(String::new, |ns| format!(" within {}", time(ns)));
            return format!("{} and {reference} agree{agree}", paths.join(", "));
        };
        let off = self.offset_ns.map_or_else(String::new, |ns| {
            let direction = if ns < 0.0 { "behind" } else { "ahead of" };
            format!("{} {direction} ", time(ns.abs()))
        });
        let reference = match fault {
            ReadPath::Syscall => "this path, which runs as a time daemon states",
            _ => reference,
        };
        let others = if finding == Finding::For { ", with which this path agrees" } else { "" };
        let preloaded = match self.preloaded.as_slice() {
            [] => String::new(),
            preloaded => format!("; preloaded: {}", preloaded.join(", ")),
        };
        format!("by {} it is {off}{reference}{others}{preloaded}", spoken(fault))
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(AVOID_PRELOADED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for Paths {
        fn examples() -> Vec<Self> {
            let both = || vec![ReadPath::Libc, ReadPath::Vdso];
            let libc = || vec![ReadPath::Libc];
            let compared = |compared, reference, fault, offset_ns| Self {
                compared,
                reference,
                fault,
                offset_ns,
                within_ns: Some(300.0),
                preloaded: vec!["libfaketime.so.1".to_owned()],
            };
            vec![
                compared(both(), ReadPath::Syscall, None, None),
                compared(both(), ReadPath::Syscall, Some(ReadPath::Vdso), Some(-3.6e12)),
                compared(libc(), ReadPath::Syscall, Some(ReadPath::Libc), Some(2000.0)),
                compared(libc(), ReadPath::Vdso, Some(ReadPath::Libc), Some(2000.0)),
                compared(Vec::new(), ReadPath::Syscall, None, None),
            ]
        }
    }
}
