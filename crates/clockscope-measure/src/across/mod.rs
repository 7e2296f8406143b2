//! The questions across CPUs: threads that are bound to one CPU each, in pairs or alone.

pub(crate) mod exchange;
pub(crate) mod offsets;
pub(crate) mod order;
pub(crate) mod team;
pub(crate) mod tournament;

use crate::error::MeasureError;
use crate::platform::Platform;

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

/// Why no pair of these CPUs can be tested; `None` if there is one.
pub(crate) fn untestable(cpus: &[u32]) -> Option<String> {
    match cpus {
        [] => Some("the system does not show which CPUs this process may run on".to_owned()),
        [only] => Some(format!(
            "only CPU {only} takes part, and two are needed: widen the affinity mask with taskset if the machine has more"
        )),
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
}
