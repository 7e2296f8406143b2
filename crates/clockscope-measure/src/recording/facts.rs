//! Descriptions of clocks and outcomes of trials, as records and back.

use clockscope_machine::trial::{Outcome, Untried};
use clockscope_records::{ClockReason, Failure, RecordedClock, RecordedResolution, RecordedTrial, RecordedUnit, texts};
use clockscope_sources::{ClockInfo, Resolution, Unit};

use super::fault::{FREQUENCIES_HZ, LONGEST_NS, RecordingFault};
use crate::failure_reason::{of_errno, system_error};

pub(super) fn recorded_trial(outcome: &Outcome) -> RecordedTrial {
    match outcome.clone() {
        Outcome::Answered => RecordedTrial::Answered,
        Outcome::Refused(errno) => RecordedTrial::Failed {
            failure: of_errno(errno),
            error: ClockReason::TrialFailed { error: system_error(errno) }.into(),
        },
        Outcome::Unanswered => RecordedTrial::Failed { failure: Failure::NoAnswer, error: texts::TRIAL_ENDED.into() },
        Outcome::Failed { failure, error } => RecordedTrial::Failed { failure, error },
        Outcome::Killed(signal) => RecordedTrial::Killed(signal),
        Outcome::Silent => RecordedTrial::Silent,
        Outcome::Untried(reason) => RecordedTrial::Untried(reason.to_string()),
    }
}

pub(super) fn outcome(trial: RecordedTrial) -> Outcome {
    match trial {
        RecordedTrial::Answered => Outcome::Answered,
        RecordedTrial::Failed { failure, error } => Outcome::Failed { failure, error },
        RecordedTrial::Killed(signal) => Outcome::Killed(signal),
        RecordedTrial::Silent => Outcome::Silent,
        RecordedTrial::Untried(reason) => Outcome::Untried(Untried::Recorded(reason)),
    }
}

pub(super) fn recorded_unit(unit: Unit) -> RecordedUnit {
    match unit {
        Unit::Nanoseconds => RecordedUnit::Nanoseconds,
        Unit::Counts(hz) => RecordedUnit::Counts(hz),
    }
}

pub(super) fn recorded_resolution(resolution: &Resolution) -> RecordedResolution {
    match resolution {
        Resolution::Nanoseconds(ns) => RecordedResolution::Nanoseconds(*ns),
        Resolution::OneCount => RecordedResolution::OneCount,
        Resolution::Unknown(reason) => RecordedResolution::Unknown(reason.to_string()),
    }
}

/// Returns the description of a recorded clock, but for its aliases and summary.
///
/// # Errors
/// A figure is none that a clock has.
pub(super) fn info(clock: &RecordedClock) -> Result<ClockInfo, RecordingFault> {
    let identity = &clock.identity;
    let resolution = match &clock.resolution {
        RecordedResolution::Nanoseconds(ns) => Resolution::Nanoseconds(length_ns(*ns)?),
        RecordedResolution::OneCount => Resolution::OneCount,
        RecordedResolution::Unknown(reason) => Resolution::Unknown(reason.clone().into()),
    };
    let info = ClockInfo::new(identity.name.clone(), identity.kind, identity.path, resolution, "");
    Ok(ClockInfo {
        unit: unit(clock.unit)?,
        basis: identity.basis,
        is_ordered: identity.is_ordered,
        is_coarse: identity.is_coarse,
        is_steered: identity.is_steered,
        counts_suspend: identity.counts_suspend,
        is_device: identity.is_device,
        is_usual: identity.is_usual,
        is_wrapper: identity.is_wrapper,
        ..info
    })
}

/// Returns a step or resolution, in ns, unless no clock has it.
pub(super) fn length_ns(ns: f64) -> Result<f64, RecordingFault> {
    if (0.0..=LONGEST_NS).contains(&ns) { Ok(ns) } else { Err(RecordingFault::Step { ns }) }
}

fn unit(unit: RecordedUnit) -> Result<Unit, RecordingFault> {
    let [lowest, highest] = FREQUENCIES_HZ;
    match unit {
        RecordedUnit::Nanoseconds => Ok(Unit::Nanoseconds),
        RecordedUnit::Counts(Some(hz)) if !(lowest..=highest).contains(&hz) => Err(RecordingFault::Frequency { hz }),
        RecordedUnit::Counts(hz) => Ok(Unit::Counts(hz)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure_reason::FailureReason;

    /// A replay gives the reason and the failure of the run.
    #[test]
    fn a_trial_is_replayed_as_it_was() {
        let refused = [1, 2, 22, 38].map(|code| Outcome::Refused(clockscope_sources::Errno::new(code)));
        let others = [Outcome::Answered, Outcome::Unanswered, Outcome::Silent, Outcome::Killed(11), Outcome::Killed(4)];
        for outcome_of_run in refused.into_iter().chain(others) {
            let shown = |outcome| FailureReason::of(outcome, Some(false));
            let replayed = outcome(recorded_trial(&outcome_of_run));
            assert_eq!(recorded_trial(&replayed), recorded_trial(&outcome_of_run));
            assert_eq!(shown(replayed), shown(outcome_of_run.clone()), "{outcome_of_run:?}");
        }
    }
}
