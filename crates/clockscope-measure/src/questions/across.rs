//! The questions across CPUs: threads that are bound to one CPU each, in pairs or alone.
//!
//! `team` binds the threads and runs them in pairs, and `tournament` pairs the CPUs. `exchange`
//! sends stamped messages, for *offsets*. For *order*, `handoff` hands readings over, and
//! `store_rounds` stores before readings: loops of [`pair`](crate::instrument::pair).

pub(crate) mod exchange;
pub(crate) mod offsets;
pub(crate) mod order;
mod pacing;
mod stores;
pub(crate) mod team;
pub(crate) mod tournament;

use clockscope_records::{ClockReason, Cpu, CpuLimit, PairsReason, texts};
use clockscope_system::failure::system_error;
use clockscope_system::{ClockKind, Errno};

use crate::instrument::catalog::CatalogEntry;
use crate::instrument::error::MeasureError;
use crate::platform::{Platform, Threads};

/// The CPUs that take part, ascending: those asked for, or all that this process may run on. To be
/// called before the thread is pinned.
pub(crate) fn cpus<P: Threads>(platform: &P, requested: Option<&[u32]>) -> Result<Vec<u32>, MeasureError> {
    let allowed = platform.allowed_cpus()?;
    let Some(requested) = requested else { return Ok(allowed) };
    let mut cpus = requested.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    for cpu in cpus.iter().filter(|cpu| !allowed.contains(cpu)) {
        // Pinning reports what is wrong with it.
        platform.pin(*cpu)?;
    }
    Ok(cpus)
}

/// Returns why no pair of these CPUs can be tested; `None` if there is one.
pub(crate) fn untestable(cpus: &[u32], machine: &Cpu) -> Option<PairsReason> {
    let limit = match (machine.online.get(), machine.allowed.known()) {
        (Some(1), _) => Some(CpuLimit::Machine),
        (_, Some(allowed)) if allowed.len() == 1 => Some(CpuLimit::Process),
        (_, Some(_)) => Some(CpuLimit::Request),
        (_, None) => None,
    };
    match cpus {
        [] => Some(PairsReason::UnknownCpus),
        [only] => Some(PairsReason::OneCpu { cpu: *only, limit }),
        _ => None,
    }
}

/// Returns the reason why order across CPUs means nothing for a clock.
fn unfit<P: Platform>(row: &CatalogEntry<P>) -> Option<ClockReason> {
    let reason = match row.info.kind {
        ClockKind::Counter | ClockKind::Monotonic | ClockKind::Wall => return None,
        ClockKind::CpuTime => "it counts processor time, which advances in several threads at once",
        ClockKind::Cycles => texts::CORE_CYCLES,
    };
    Some(ClockReason::NotApplicable { words: reason.into() })
}

/// Returns what ended a clock's readings: an error, or that the clock stood still.
fn ended(error: Option<Errno>, is_stuck: bool) -> Option<ClockReason> {
    match error {
        Some(errno) => Some(ClockReason::ReadingsEnded { error: system_error(errno) }),
        None if is_stuck => Some(ClockReason::StoodStill),
        None => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::platform::ThisMachine;
    use clockscope_records::Figure;
    use clockscope_system::affinity;

    #[test]
    fn cpus_that_are_not_there_are_named() {
        assert!(cpus(&ThisMachine, Some(&[60_000])).unwrap_err().to_string().contains("60000"));
        let all = affinity::allowed().unwrap();
        assert_eq!(cpus(&ThisMachine, Some(&[all[0], all[0]])).unwrap(), [all[0]]);
        assert!(untestable(&all[..1], &Cpu::default()).is_some() && untestable(&[3, 70], &Cpu::default()).is_none());
    }

    #[test]
    fn one_cpu_is_untestable_whatever_the_limit() {
        let machine = Cpu { online: Figure::Known(2), allowed: Figure::Known(vec![0, 7]), ..Cpu::default() };
        assert_eq!(untestable(&[], &machine), Some(PairsReason::UnknownCpus));
        let confined = Cpu { allowed: Figure::Known(vec![7]), ..machine.clone() };
        let small = Cpu { online: Figure::Known(1), ..confined.clone() };
        for (machine, limit) in [
            (machine, Some(CpuLimit::Request)),
            (confined, Some(CpuLimit::Process)),
            (small, Some(CpuLimit::Machine)),
            (Cpu::default(), None),
        ] {
            assert_eq!(untestable(&[7], &machine), Some(PairsReason::OneCpu { cpu: 7, limit }));
        }
    }
}
