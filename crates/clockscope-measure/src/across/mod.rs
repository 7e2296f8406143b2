//! The questions across CPUs: threads that are bound to one CPU each, in pairs or alone.

pub(crate) mod exchange;
pub(crate) mod offsets;
pub(crate) mod order;
pub(crate) mod team;
pub(crate) mod tournament;

use clockscope_records::PairsFailure;

use crate::error::MeasureError;
use crate::platform::Platform;
use crate::unreadable::Unreadable;

/// The CPUs that take part, ascending: those asked for, or all that this process may run on. To be
/// called before the thread is pinned.
pub(crate) fn cpus<P: Platform>(platform: &P, asked: Option<&[u32]>) -> Result<Vec<u32>, MeasureError> {
    let allowed = platform.allowed_cpus()?;
    let Some(asked) = asked else { return Ok(allowed) };
    let mut cpus = asked.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    for cpu in cpus.iter().filter(|cpu| !allowed.contains(cpu)) {
        // Pinning reports what is wrong with it.
        platform.pin(*cpu)?;
    }
    Ok(cpus)
}

/// Why no pair of CPUs was tested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoPairTested {
    #[error("the system does not show which CPUs this process may run on")]
    UnknownCpus,
    #[error(
        "only CPU {0} takes part, and two are needed: widen the affinity mask with taskset if the machine has more"
    )]
    OneCpu(u32),
    #[error("no clock whose order could be tested")]
    NoClock,
    #[error(transparent)]
    NoCounter(#[from] Unreadable),
    /// While it was compared with this reference.
    #[error("the counter stood still while it was compared with {0}")]
    StoodStill(String),
    /// For the reason of the first pair.
    #[error("{0}")]
    AllLost(String),
}

impl NoPairTested {
    /// Returns what records have of it beside the sentence.
    pub(crate) const fn failure(&self) -> PairsFailure {
        match self {
            Self::UnknownCpus => PairsFailure::UnknownCpus,
            Self::OneCpu(_) => PairsFailure::OneCpu,
            Self::NoClock | Self::NoCounter(_) => PairsFailure::NoClock,
            Self::StoodStill(_) => PairsFailure::StoodStill,
            Self::AllLost(_) => PairsFailure::AllLost,
        }
    }
}

/// Returns why no pair of these CPUs can be tested; `None` if there is one.
pub(crate) fn untestable(cpus: &[u32]) -> Option<NoPairTested> {
    match cpus {
        [] => Some(NoPairTested::UnknownCpus),
        [only] => Some(NoPairTested::OneCpu(*only)),
        _ => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::platform::ThisMachine;
    use clockscope_machine::affinity;

    #[test]
    fn cpus_that_are_not_there_are_named() {
        assert!(cpus(&ThisMachine, Some(&[60_000])).unwrap_err().to_string().contains("60000"));
        let all = affinity::allowed().unwrap();
        assert_eq!(cpus(&ThisMachine, Some(&[all[0], all[0]])).unwrap(), [all[0]]);
        assert!(untestable(&all[..1]).is_some() && untestable(&[3, 70]).is_none());
    }

    #[test]
    fn each_reason_has_a_word_of_its_own() {
        let of = |cpus: &[u32]| untestable(cpus).map(|reason| (reason.failure(), reason.to_string()));
        assert!(of(&[]).is_some_and(|(word, _)| word == PairsFailure::UnknownCpus));
        assert!(of(&[7]).is_some_and(|(word, text)| word == PairsFailure::OneCpu && text.contains("only CPU 7")));
        assert_eq!(NoPairTested::NoCounter(Unreadable::Silent).failure(), PairsFailure::NoClock);
        assert_eq!(NoPairTested::StoodStill("monotonic_raw".into()).failure(), PairsFailure::StoodStill);
        assert_eq!(NoPairTested::AllLost("moved".into()).failure(), PairsFailure::AllLost);
    }
}
