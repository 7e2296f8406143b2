//! Verdicts that the evidence of a changed record leads to, as `check` decides them.

use clockscope_records::{
    CheckEvidence, EvidenceData, EvidenceKind, Finding, KernelCause, Trustworthiness, Use, Uses, Verdict,
};

/// Renews a verdict by its evidence.
pub(super) fn judge(verdict: &mut Verdict) {
    let is_counter = is_counter(verdict);
    let is_wall = verdict.evidence.iter().any(|found| found.data.kind() == EvidenceKind::Synchronization);
    let alone = |found: &CheckEvidence| match found.finding {
        Finding::Against => severity(&found.data, is_counter, is_wall),
        Finding::Unknown if is_required(&found.data) => Trustworthiness::Undecided,
        _ => Trustworthiness::Trusted,
    };
    let worst = |this: Use| {
        let concerned = verdict.evidence.iter().filter(|found| matters(&found.data, this));
        concerned.map(alone).min().unwrap_or(Trustworthiness::Undecided)
    };
    let uses = Uses { interval: Some(worst(Use::Interval)), civil: is_wall.then(|| worst(Use::Civil)) };
    let whole = uses.worst().unwrap_or(Trustworthiness::Undecided);
    for found in &mut verdict.evidence {
        let concerns = Use::ALL.into_iter().any(|this| uses.of(this) == Some(whole) && matters(&found.data, this));
        let is_reason = whole != Trustworthiness::Trusted
            || found.finding == Finding::For && is_required(&found.data) && supports(&found.data);
        found.decides = concerns && alone(found) == whole && is_reason;
    }
    (verdict.uses, verdict.verdict) = (uses, whole);
}

/// Returns whether it is the verdict on the processor's counter.
pub(super) fn is_counter(verdict: &Verdict) -> bool {
    verdict.evidence.iter().any(|found| found.data.kind() == EvidenceKind::Invariance)
}

/// Returns whether the answer matters for a use.
fn matters(data: &EvidenceData, this: Use) -> bool {
    match this {
        Use::Interval => data.kind() != EvidenceKind::Synchronization,
        Use::Civil => !matches!(data, EvidenceData::Rate { steerable: true, .. }),
    }
}

/// Returns whether a clock without an answer is not trusted.
fn is_required(data: &EvidenceData) -> bool {
    match data.kind() {
        EvidenceKind::Readable
        | EvidenceKind::Invariance
        | EvidenceKind::StepsBack
        | EvidenceKind::Order
        | EvidenceKind::Offsets
        | EvidenceKind::Synchronization
        | EvidenceKind::ConstantRate
        | EvidenceKind::Rate => true,
        // The counter's alone.
        EvidenceKind::Clocksource => true,
        _ => false,
    }
}

/// Returns whether a test that succeeded is a reason to trust the clock.
fn supports(data: &EvidenceData) -> bool {
    match data {
        EvidenceData::ConstantRate { reference_shares_hardware, .. }
        | EvidenceData::Rate { reference_shares_hardware, .. } => *reference_shares_hardware == Some(false),
        EvidenceData::Order { untested, .. } | EvidenceData::Offsets { untested, .. } => untested.is_none(),
        EvidenceData::Synchronization { .. } => true,
        data => data.kind().is_test(),
    }
}

/// Returns the verdict on a clock that nothing else contradicts.
fn severity(data: &EvidenceData, is_counter: bool, is_wall: bool) -> Trustworthiness {
    let forbids = match data {
        EvidenceData::KernelVerdict { cause, .. } => cause.as_ref().is_some_and(KernelCause::is_fault),
        EvidenceData::Rate { steerable, .. } => !steerable,
        _ => match data.kind() {
            EvidenceKind::Readable | EvidenceKind::Stuck | EvidenceKind::Paths => true,
            // A wall clock may have been set.
            EvidenceKind::StepsBack | EvidenceKind::Jumps | EvidenceKind::Order | EvidenceKind::ConstantRate => {
                is_counter || !is_wall
            }
            _ => false,
        },
    };
    if forbids { Trustworthiness::Unfit } else { Trustworthiness::Limited }
}
