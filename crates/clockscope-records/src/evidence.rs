//! Questions about a clock, and the figures that answer them.
//!
//! # Add evidence
//!
//! 1. `evidence/checks`: a file with the check's figures, its words ([`Evidence`]) and, for tests,
//!    examples of both.
//! 2. `evidence/checks.rs`: its module, and a line of the list `checks!`.
//! 3. `src/questions/check` of `clockscope-measure`: a function that fills it and decides finding
//!    and severity, and a line in `judge`, both in `counter.rs` or `os_clock.rs`.
//!
//! `CLOCKSCOPE_SCHEMA=write cargo test -p clockscope-records --lib` writes the schemas. Add a fault
//! to `check/tests/faults.rs` of `clockscope-measure`; rigs (`clockscope-testing/rigs`) and
//! emulated machines (`machines/`) make faults that no record shows. Add a row to
//! docs/concepts/evidence.md and one to docs/reference/evidence.md. A check whose figure
//! spreadsheets should have is named in `documents/check/figure.rs` of `clockscope-report`.

pub mod checks;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use checks::{EvidenceData, EvidenceKind};

use crate::words::{worded, written};
use crate::{Finding, Use};

/// The words of a check.
pub(crate) trait Evidence {
    /// The check's name in tables.
    const NAME: &'static str;

    /// The usual source of the answer.
    const SOURCE: &'static str;

    /// True if a test answers it, rather than a statement of the hardware or of the system.
    const IS_TEST: bool = false;

    /// Returns where the answer comes from.
    fn source(&self) -> &'static str {
        Self::SOURCE
    }

    /// Returns the answer in a sentence; where it is unknown, why.
    fn text(&self, finding: Finding) -> String;

    /// Returns the support for the clock in a few words; `None` where the sentence is short.
    fn brief(&self) -> Option<String> {
        None
    }

    /// Returns the remedy of a fault; `None` for a check that finds none.
    fn remedy(&self) -> Option<&'static str> {
        None
    }

    /// Returns a way to the answer, where that is unknown.
    fn next_step(&self) -> Option<&'static str> {
        None
    }

    /// Advises what to do about it; `None` where nothing is needed.
    fn advice(&self, finding: Finding) -> Option<String> {
        let advice = match finding {
            Finding::For => None,
            Finding::Against => self.remedy(),
            Finding::Unknown => self.next_step(),
        };
        advice.map(str::to_owned)
    }
}

/// One piece of evidence on a clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Evidence", transform = crate::schema::add_words::<CheckEvidence>))]
#[serde(remote = "Self")]
pub struct CheckEvidence {
    /// The question, with its figures.
    #[serde(flatten)]
    pub data: EvidenceData,
    /// Its meaning for the clock.
    pub finding: Finding,
    /// True if the verdict for a use is based on it. Of an unfit or limited clock: against it, and
    /// as severe as that verdict. Of an undecided one: required, and without a result. Of a clock
    /// that is trusted for all uses: a test that supports it.
    pub decides: bool,
}

impl EvidenceData {
    /// Returns whether the answer matters for a use. The error of the time of day does not matter
    /// to an interval, nor does slewing to the time of day, which it corrects.
    #[must_use]
    pub fn matters_for(&self, this: Use) -> bool {
        match this {
            Use::Interval => !matches!(self, Self::Synchronization(_)),
            Use::TimeOfDay => !matches!(self, Self::Rate(rate) if rate.steerable),
        }
    }
}

worded!(CheckEvidence {
    /// The check's name in tables.
    name: &'static str = |evidence: &CheckEvidence| evidence.data.name(),
    /// The answer in a sentence; where it is unknown, why.
    text: String = CheckEvidence::text,
    /// The source of the answer.
    source: &'static str = |evidence: &CheckEvidence| evidence.data.source(),
    /// The remedy; `null` where none is needed.
    advice: Option<String> = CheckEvidence::advice,
});
written!(CheckEvidence);

impl CheckEvidence {
    /// Returns the answer in a sentence; where it is unknown, why.
    #[must_use]
    pub fn text(&self) -> String {
        self.data.text(self.finding)
    }

    /// Advises what to do about it; `None` where nothing is needed.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        self.data.advice(self.finding)
    }
}
