//! Evidence on one clock, and how severe each piece is.

use clockscope_records::{CheckEvidence, EvidenceData, EvidenceKind, Finding, Trustworthiness, Use, Uses, Verdict};

/// No steering makes a clock run by more than this, in ppm: adjtimex changes the length of a tick
/// by a tenth at most.
pub(super) const STEERABLE_PPM: f64 = 101_000.0;

/// Effect of evidence against a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// Nothing: it is reported.
    Remark,
    /// It limits its use.
    Limits,
    /// It forbids its use.
    Forbids,
}

/// A check, its result, and how severe that is if it is against the clock.
#[derive(Clone, Debug)]
pub(super) struct WeighedEvidence {
    pub(super) data: EvidenceData,
    pub(super) finding: Finding,
    pub(super) severity: Severity,
    /// As long as the result is unknown, the clock is not trusted.
    is_required: bool,
}

impl WeighedEvidence {
    pub(super) fn new(check: impl Into<EvidenceData>, finding: Finding, severity: Severity) -> Self {
        Self { data: check.into(), finding, severity, is_required: false }
    }

    /// Returns the verdict on a clock of which nothing else is known.
    fn alone(&self) -> Trustworthiness {
        match (self.finding, self.severity) {
            (Finding::Against, Severity::Forbids) => Trustworthiness::Unfit,
            (Finding::Against, Severity::Limits) => Trustworthiness::Limited,
            (Finding::Unknown, _) if self.is_required => Trustworthiness::Undecided,
            _ => Trustworthiness::Trusted,
        }
    }

    /// Returns whether a clock is trusted for this reason: a test that was required, and supports
    /// it. A clock that is computed from the same counter cannot do so.
    fn is_reason_of_trust(&self) -> bool {
        let is_supported = match &self.data {
            EvidenceData::ConstantRate(rate) => rate.reference_shares_hardware == Some(false),
            EvidenceData::Rate(rate) => rate.reference_shares_hardware == Some(false),
            EvidenceData::Synchronization(_) => true,
            // Where there is one CPU, the test does not apply.
            EvidenceData::Order(order) => order.reason.is_none(),
            EvidenceData::Offsets(offsets) => offsets.reason.is_none(),
            check => check.kind().is_test(),
        };
        self.is_required && self.finding == Finding::For && is_supported
    }
}

/// All that is known of one clock.
pub(super) struct ClockEvidence {
    clock: String,
    shows_time_of_day: bool,
    found: Vec<WeighedEvidence>,
}

impl ClockEvidence {
    pub(super) fn for_clock(clock: &str, shows_time_of_day: bool) -> Self {
        Self { clock: clock.to_owned(), shows_time_of_day, found: Vec::new() }
    }

    /// Adds evidence that matters only if it is against the clock.
    pub(super) fn add(&mut self, found: WeighedEvidence) {
        self.found.push(found);
    }

    /// Adds evidence without which the verdict is undecided.
    pub(super) fn need(&mut self, found: WeighedEvidence) {
        self.found.push(WeighedEvidence { is_required: true, ..found });
    }

    pub(super) fn is_unfit(&self) -> bool {
        self.found.iter().any(|found| found.alone() == Trustworthiness::Unfit)
    }

    /// Kinds of evidence that forbid the clock's use.
    pub(super) fn faults(&self) -> Vec<EvidenceKind> {
        let unfit = self.found.iter().filter(|found| found.alone() == Trustworthiness::Unfit);
        unfit.map(|found| found.data.kind()).collect()
    }

    /// The verdict for a use: the worst that any evidence makes of the clock.
    fn verdict_for(&self, this: Use) -> Trustworthiness {
        let concerned = self.found.iter().filter(|found| found.data.matters_for(this));
        concerned.map(WeighedEvidence::alone).min().unwrap_or(Trustworthiness::Undecided)
    }

    /// The verdict for one use, or for all; `None` for the time of day alone of a clock that does
    /// not show it.
    pub(super) fn verdict(self, requested: Option<Use>) -> Option<Verdict> {
        let mut uses = Uses::default();
        if requested != Some(Use::TimeOfDay) {
            uses.interval = Some(self.verdict_for(Use::Interval));
        }
        if requested != Some(Use::Interval) && self.shows_time_of_day {
            uses.time_of_day = Some(self.verdict_for(Use::TimeOfDay));
        }
        let verdict = uses.worst()?;
        let mut evidence = Vec::new();
        for found in self.found {
            let concerned = Use::ALL.into_iter().filter(|this| found.data.matters_for(*this));
            let verdicts: Vec<Trustworthiness> = concerned.filter_map(|this| uses.of(this)).collect();
            if !verdicts.is_empty() {
                let alone = found.alone();
                let decides = if verdict == Trustworthiness::Trusted {
                    found.is_reason_of_trust()
                } else {
                    alone != Trustworthiness::Trusted && verdicts.contains(&alone)
                };
                evidence.push(CheckEvidence { data: found.data, finding: found.finding, decides });
            }
        }
        Some(Verdict { clock: self.clock, verdict, uses, evidence })
    }
}
