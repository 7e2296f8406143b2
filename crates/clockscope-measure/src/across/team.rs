//! Threads that are bound to a CPU each: in pairs, or alone.

use std::thread;

use clockscope_machine::affinity::{self, AffinityError};

use crate::pair::{Meeting, Side};

/// A pair of CPUs, and what its two threads found, or why they did not.
pub(crate) type Played<T> = ((u32, u32), Result<[T; 2], String>);

/// Runs `play` on both CPUs of each pair at once, each on a thread of its own that is bound to its CPU.
pub(crate) fn play_round<T: Send>(
    pairs: &[(u32, u32)],
    play: impl Fn(usize, &Meeting, Side) -> Result<T, String> + Sync,
) -> Vec<Played<T>> {
    let meetings: Vec<Meeting> = pairs.iter().map(|_| Meeting::default()).collect();
    thread::scope(|scope| {
        let start = |place: usize, cpu: u32, side: Side| {
            let (meeting, play) = (&meetings[place], &play);
            let body = move || {
                // However the body ends, the other one must not wait for it.
                let _leaving = Leaving(meeting);
                on_cpu(cpu, || play(place, meeting, side))
            };
            let started = thread::Builder::new().spawn_scoped(scope, body);
            if started.is_err() {
                meeting.call_off();
            }
            started.map_err(|error| format!("no thread can be started: {error}"))
        };
        let started: Vec<_> = pairs
            .iter()
            .enumerate()
            .map(|(place, (a, b))| [start(place, *a, Side::First), start(place, *b, Side::Second)])
            .collect();
        let ended = started.into_iter().map(|threads| threads.map(|thread| thread.and_then(joined)));
        pairs.iter().copied().zip(ended.map(both)).collect()
    })
}

/// Calls the meeting off when its thread ends.
struct Leaving<'a>(&'a Meeting);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.call_off();
    }
}

/// Runs `body` on threads that are bound to a CPU each, all at once.
pub(crate) fn on_each<T: Send>(cpus: &[u32], body: impl Fn(u32) -> T + Sync) -> Vec<Result<T, String>> {
    thread::scope(|scope| {
        let start = |cpu: u32| {
            let body = &body;
            let started = thread::Builder::new().spawn_scoped(scope, move || on_cpu(cpu, || Ok(body(cpu))));
            started.map_err(|error| format!("no thread can be started: {error}"))
        };
        let started: Vec<_> = cpus.iter().map(|cpu| start(*cpu)).collect();
        started.into_iter().map(|thread| thread.and_then(joined)).collect()
    })
}

/// Binds the calling thread, runs `body`, and looks whether it is still there.
fn on_cpu<T>(cpu: u32, body: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    affinity::bind(cpu).map_err(|error| unbound(cpu, &error))?;
    let answer = body()?;
    match affinity::current_cpu() {
        Some(now) if now != cpu => {
            Err(format!("its thread was moved from CPU {cpu} to {now}: did the CPU go offline, or leave the cpuset?"))
        }
        _ => Ok(answer),
    }
}

fn unbound(cpu: u32, error: &AffinityError) -> String {
    let hint = match error {
        AffinityError::System { error, .. } if error.contains("not permitted") => {
            "does a seccomp filter or a container forbid it?"
        }
        _ => "is it online, and in the cpuset?",
    };
    format!("no thread can be bound to CPU {cpu} ({error}): {hint}")
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    thread.join().unwrap_or_else(|_| Err("its thread ended by a panic".to_owned()))
}

/// What both found; or why not, where the side that has a reason of its own is heard first.
fn both<T>(sides: [Result<T, String>; 2]) -> Result<[T; 2], String> {
    match sides {
        [Ok(first), Ok(second)] => Ok([first, second]),
        [Err(reason), Ok(_)] | [Ok(_), Err(reason)] => Err(reason),
        [Err(first), Err(second)] => Err(if first == ALONE { second } else { first }),
    }
}

/// Why a thread found nothing whose other did not come.
pub(crate) const ALONE: &str = "the thread on the other CPU did not come";

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn who_is_alone_does_not_wait() {
        let cpus = affinity::allowed().unwrap();
        let played = play_round(
            &[(cpus[0], 60_000)],
            |_, meeting, side| {
                if meeting.meet(side) { Ok(()) } else { Err(ALONE.to_owned()) }
            },
        );
        let reason = played[0].1.as_ref().unwrap_err();
        assert!(reason.contains("60000") && reason.contains("online"), "{reason}");
    }

    #[test]
    fn both_meet_as_often_as_they_like() {
        let cpus = affinity::allowed().unwrap();
        // The same CPU twice, as when one went offline: waiting gives it away.
        for pair in [(cpus[0], cpus[0]), (cpus[0], *cpus.last().unwrap())] {
            let played = play_round(&[pair], |_, meeting, side| Ok((0..200).filter(|_| meeting.meet(side)).count()));
            assert_eq!(played[0].1, Ok([200, 200]));
        }
    }

    #[test]
    fn a_panic_ends_one_pair_alone() {
        let cpus = affinity::allowed().unwrap();
        let pair = (cpus[0], *cpus.last().unwrap());
        let played = play_round(&[pair, pair], |place, meeting, side| {
            assert!(place != 0 || side != Side::Second, "on purpose");
            if meeting.meet(side) { Ok(()) } else { Err(ALONE.to_owned()) }
        });
        assert!(played[0].1.as_ref().unwrap_err().contains("panic"), "{played:?}");
        assert_eq!(played[1].1, Ok([(), ()]));
    }
}
