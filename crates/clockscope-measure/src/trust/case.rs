//! Evidence on one clock, and how severe each piece is.

use clockscope_records::{Check, CheckEvidence, CheckKind, CheckOutcome, Trustworthiness, Verdict};

/// What evidence against a clock makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// Nothing: it is reported.
    Noted,
    /// It limits its use.
    Limits,
    /// It forbids its use.
    Forbids,
}

/// A check, its result, and how severe that is if it is against the clock.
#[derive(Clone, Debug)]
pub(super) struct WeighedCheck {
    pub(super) check: Check,
    pub(super) finding: CheckOutcome,
    pub(super) severity: Severity,
}

impl WeighedCheck {
    pub(super) fn new(check: Check, finding: CheckOutcome, severity: Severity) -> Self {
        Self { check, finding, severity }
    }
}

/// All that is known of one clock.
pub(super) struct Case {
    clock: String,
    found: Vec<WeighedCheck>,
}

impl Case {
    pub(super) fn of(clock: &str) -> Self {
        Self { clock: clock.to_owned(), found: Vec::new() }
    }

    /// Adds evidence that has its severity only if it is against the clock.
    pub(super) fn add(&mut self, found: WeighedCheck) {
        let severity = if found.finding == CheckOutcome::Against { found.severity } else { Severity::Noted };
        self.found.push(WeighedCheck { severity, ..found });
    }

    /// The same of evidence without which there is no trust: not to know it limits the clock's use.
    pub(super) fn need(&mut self, found: WeighedCheck) {
        let severity = match found.finding {
            CheckOutcome::For => Severity::Noted,
            CheckOutcome::Against => found.severity,
            CheckOutcome::Unknown => Severity::Limits,
        };
        self.found.push(WeighedCheck { severity, ..found });
    }

    fn most_severe(&self) -> Severity {
        self.found.iter().map(|found| found.severity).max().unwrap_or(Severity::Noted)
    }

    pub(super) fn is_unfit(&self) -> bool {
        self.most_severe() == Severity::Forbids
    }

    /// What forbids the clock's use.
    pub(super) fn faults(&self) -> Vec<CheckKind> {
        let severe = self.found.iter().filter(|found| found.severity == Severity::Forbids);
        severe.map(|found| found.check.kind()).collect()
    }

    /// The verdict: what the most severe evidence makes of the clock.
    pub(super) fn verdict(self) -> Verdict {
        let most_severe = self.most_severe();
        let verdict = match most_severe {
            Severity::Noted => Trustworthiness::Trusted,
            Severity::Limits => Trustworthiness::Limited,
            Severity::Forbids => Trustworthiness::Unfit,
        };
        let record = |WeighedCheck { check, finding, severity }| CheckEvidence {
            check,
            finding,
            decides: severity == most_severe && severity != Severity::Noted,
            prose: None,
        };
        Verdict { clock: self.clock, verdict, evidence: self.found.into_iter().map(record).collect() }
    }
}
