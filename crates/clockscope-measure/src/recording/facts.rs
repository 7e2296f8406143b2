//! Descriptions of clocks and outcomes of child_reads, as records and back.

use clockscope_records::{
    ClockReason, Failure, RecordedChildRead, RecordedClock, RecordedResolution, RecordedUnit, texts,
};
use clockscope_system::child_read::{Outcome, Untried};
use clockscope_system::{ClockInfo, Resolution, Unit};

use super::fault::{FREQUENCIES_HZ, LONGEST_NS, RecordingFault};
use crate::failure_reason::{of_errno, system_error};

pub(super) fn recorded_child_read(outcome: &Outcome) -> RecordedChildRead {
    match outcome.clone() {
        Outcome::Answered => RecordedChildRead::Answered,
        Outcome::Refused(errno) => RecordedChildRead::Failed {
            failure: of_errno(errno),
            error: ClockReason::ChildReadFailed { error: system_error(errno) }.into(),
        },
        Outcome::Unanswered => {
            RecordedChildRead::Failed { failure: Failure::NoAnswer, error: texts::CHILD_READ_ENDED.into() }
        }
        Outcome::Failed { failure, error } => RecordedChildRead::Failed { failure, error },
        Outcome::Killed(signal) => RecordedChildRead::Killed(signal),
        Outcome::Silent => RecordedChildRead::Silent,
        Outcome::Untried(reason) => RecordedChildRead::Untried(reason.to_string()),
    }
}

pub(super) fn outcome(read: RecordedChildRead) -> Outcome {
    match read {
        RecordedChildRead::Answered => Outcome::Answered,
        RecordedChildRead::Failed { failure, error } => Outcome::Failed { failure, error },
        RecordedChildRead::Killed(signal) => Outcome::Killed(signal),
        RecordedChildRead::Silent => Outcome::Silent,
        RecordedChildRead::Untried(reason) => Outcome::Untried(Untried::Recorded(reason)),
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
        let refused = [1, 2, 22, 38].map(|code| Outcome::Refused(clockscope_system::Errno::new(code)));
        let others = [Outcome::Answered, Outcome::Unanswered, Outcome::Silent, Outcome::Killed(11), Outcome::Killed(4)];
        for outcome_of_run in refused.into_iter().chain(others) {
            let shown = |outcome| FailureReason::of(outcome, Some(false));
            let replayed = outcome(recorded_child_read(&outcome_of_run));
            assert_eq!(recorded_child_read(&replayed), recorded_child_read(&outcome_of_run));
            assert_eq!(shown(replayed), shown(outcome_of_run.clone()), "{outcome_of_run:?}");
        }
    }
}
