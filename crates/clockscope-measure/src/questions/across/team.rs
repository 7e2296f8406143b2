//! Threads that are bound to a CPU each: in pairs, or alone.

use clockscope_system::Errno;

use crate::instrument::pair::{Rendezvous, Side};
use crate::platform::{ThreadError, Threads};

/// A pair of CPUs, and what its two threads found, or why they did not.
pub(crate) type PairResult<T> = ((u32, u32), Result<[T; 2], ThreadError>);

/// Runs `play` on both CPUs of each pair at once, each on a thread of its own that is bound to its
/// CPU.
pub(crate) fn play_round<P: Threads, T: Send>(
    platform: &P,
    pairs: &[(u32, u32)],
    play: impl Fn(usize, &Rendezvous<'_, P>, Side) -> Result<T, ThreadError> + Sync,
) -> Vec<PairResult<T>> {
    let rendezvous: Vec<_> = pairs.iter().map(|_| Rendezvous::new(platform)).collect();
    let mut bodies = Vec::with_capacity(2 * pairs.len());
    for (index, (pair, rendezvous)) in pairs.iter().zip(&rendezvous).enumerate() {
        for (cpu, side) in [(pair.0, Side::First), (pair.1, Side::Second)] {
            // However the body ends, and if it never begins, the other one must not wait for it.
            let (leaving, play) = (Leaving(rendezvous), &play);
            bodies.push(move || {
                let _leaving = leaving;
                on_cpu(platform, cpu, || play(index, rendezvous, side))
            });
        }
    }
    let mut ended = platform.together(bodies).into_iter().map(Result::flatten);
    let sides = pairs.iter().map(|pair| {
        let sides = [ended.next(), ended.next()];
        (*pair, both(sides.map(|side| side.unwrap_or(Err(ThreadError::NotStarted(Errno::UNSUPPORTED))))))
    });
    sides.collect()
}

/// Calls the rendezvous off when its thread ends.
struct Leaving<'a, P: Threads>(&'a Rendezvous<'a, P>);

impl<P: Threads> Drop for Leaving<'_, P> {
    fn drop(&mut self) {
        self.0.call_off();
    }
}

/// Runs `body` on threads that are bound to a CPU each, all at once.
pub(crate) fn on_each<P: Threads, T: Send>(
    platform: &P,
    cpus: &[u32],
    body: impl Fn(u32) -> T + Sync,
) -> Vec<Result<T, ThreadError>> {
    let body = &body;
    let bodies = cpus.iter().map(|cpu| move || on_cpu(platform, *cpu, || Ok(body(*cpu))));
    platform.together(bodies.collect()).into_iter().map(Result::flatten).collect()
}

/// Binds the calling thread, runs `body`, and looks whether it is still there.
fn on_cpu<P: Threads, T>(
    platform: &P,
    cpu: u32,
    body: impl FnOnce() -> Result<T, ThreadError>,
) -> Result<T, ThreadError> {
    platform.bind(cpu).map_err(|error| ThreadError::Unbound { cpu, error })?;
    let answer = body();
    match platform.current_cpu() {
        Some(now) if now != cpu => Err(ThreadError::Moved { from: cpu, to: now }),
        _ => answer,
    }
}

/// Findings of both; or the reason why there are none, where the side that has a reason of its own
/// is heard first.
fn both<T>(sides: [Result<T, ThreadError>; 2]) -> Result<[T; 2], ThreadError> {
    match sides {
        [Ok(first), Ok(second)] => Ok([first, second]),
        [Err(ThreadError::Alone), Err(error)] | [Err(error), _] | [Ok(_), Err(error)] => Err(error),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::platform::ThisMachine;
    use clockscope_records::CpusReason;
    use clockscope_system::affinity;

    #[test]
    fn who_is_alone_does_not_wait() {
        let cpus = affinity::allowed().unwrap();
        let played = play_round(&ThisMachine, &[(cpus[0], 60_000)], |_, rendezvous, side| {
            if rendezvous.meet(side) { Ok(()) } else { Err(ThreadError::Alone) }
        });
        let error = played[0].1.as_ref().unwrap_err();
        assert!(matches!(error, ThreadError::Unbound { cpu: 60_000, .. }), "{error:?}");
        assert!(matches!(error.clone().into(), CpusReason::CpuMissing { .. }), "{error:?}");
    }

    #[test]
    fn both_meet_as_often_as_they_like() {
        let cpus = affinity::allowed().unwrap();
        // One CPU twice, as when one went offline: waiting gives it away.
        for pair in [(cpus[0], cpus[0]), (cpus[0], *cpus.last().unwrap())] {
            let played = play_round(&ThisMachine, &[pair], |_, rendezvous, side| {
                Ok((0..200).filter(|_| rendezvous.meet(side)).count())
            });
            assert_eq!(played[0].1, Ok([200, 200]));
        }
    }

    #[test]
    fn a_panic_ends_one_pair_alone() {
        let cpus = affinity::allowed().unwrap();
        let pair = (cpus[0], *cpus.last().unwrap());
        let played = play_round(&ThisMachine, &[pair, pair], |index, rendezvous, side| {
            assert!(index != 0 || side != Side::Second, "on purpose");
            if rendezvous.meet(side) { Ok(()) } else { Err(ThreadError::Alone) }
        });
        assert_eq!(played[0].1, Err(ThreadError::Panicked));
        assert_eq!(played[1].1, Ok([(), ()]));
    }
}
