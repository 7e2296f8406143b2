//! The check for backward steps on one CPU.

use serde::{Deserialize, Serialize};

use super::{ASK_FOR_LONGER, Suspect, or_reason};
use crate::evidence::Evidence;
use crate::{Finding, Unknown, counted, grouped};

/// Is a reading ever smaller than the one before, on one CPU?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
pub struct StepsBack {
    /// Readings that were.
    pub count: Option<u64>,
    /// Readings that were compared.
    pub readings: u64,
    /// The suspect for a step back.
    pub suspect: Suspect,
    /// Reason why the count is `null`.
    pub reason: Option<Unknown>,
}

impl Evidence for StepsBack {
    const NAME: &str = "steps back on one CPU";
    const SOURCE: &str = "successive readings";
    const IS_TEST: bool = true;

    fn text(&self, finding: Finding) -> String {
        match self.count {
            Some(0) if finding == Finding::Unknown => format!("{} are too few", counted(self.readings, "reading")),
            Some(count) => {
                let (count, readings) = (grouped(count), grouped(self.readings));
                format!("{count} of {readings} readings were smaller than the one before")
            }
            None => or_reason(self.reason.as_ref(), "nothing was read"),
        }
    }

    fn brief(&self) -> Option<String> {
        Some(format!("0 of {} went back", counted(self.readings, "reading")))
    }

    fn remedy(&self) -> Option<&'static str> {
        Some(self.suspect.remedy())
    }

    fn next_step(&self) -> Option<&'static str> {
        self.count.map(|_| ASK_FOR_LONGER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::tests::Examples;

    impl Examples for StepsBack {
        fn examples() -> Vec<Self> {
            let suspects = [Suspect::Counter, Suspect::Kernel, Suspect::Setting, Suspect::Path];
            suspects.map(|suspect| Self { count: Some(1), readings: 9, suspect, reason: None }).into()
        }
    }
}
