//! The questions across CPUs: threads that are bound to one CPU each, in pairs or alone.

pub(crate) mod exchange;
pub(crate) mod offsets;
pub(crate) mod order;
pub(crate) mod relay;
pub(crate) mod tournament;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use clockscope::os::Reference;
use clockscope_machine::affinity::{self, AffinityError};

use crate::bench::MeasureError;
use crate::timer::read;

/// Turns of waiting after which another thread may need this very CPU.
const PATIENT_TURNS: u32 = 1 << 13;

/// The CPUs that take part, ascending: those asked for, or all that this process may run on. To be called before the
/// thread is pinned.
pub(crate) fn cpus(asked: Option<&[u32]>) -> Result<Vec<u32>, MeasureError> {
    let allowed = affinity::allowed()?;
    let Some(asked) = asked else { return Ok(allowed) };
    let mut cpus = asked.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    for cpu in cpus.iter().filter(|cpu| !allowed.contains(cpu)) {
        // Pinning tells what is wrong with it.
        affinity::pin(*cpu)?;
    }
    Ok(cpus)
}

/// Why no pair of these CPUs can be tested; `None` if there is one.
pub(crate) fn untestable(cpus: &[u32]) -> Option<String> {
    match cpus {
        [] => Some("the system does not tell which CPUs this process may run on".to_owned()),
        [only] => Some(format!(
            "only CPU {only} takes part, and two are needed: widen the affinity mask with taskset if the machine has more"
        )),
        _ => None,
    }
}

/// Which of a pair's two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// On the first CPU: it keeps the time.
    First,
    Second,
}

impl Side {
    pub(crate) fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// Where the two threads of a pair wait for each other between tasks.
#[derive(Debug, Default)]
pub(crate) struct Meeting {
    arrived: [AtomicU32; 2],
    /// One of them has ended, and will not arrive any more.
    is_off: AtomicBool,
}

impl Meeting {
    /// Waits until the other one has come as often. `false` if it will not.
    pub(crate) fn meet(&self, side: Side) -> bool {
        let times = self.arrived[side.index()].fetch_add(1, Ordering::AcqRel) + 1;
        let other = &self.arrived[side.other().index()];
        wait_until(|| other.load(Ordering::Acquire) >= times || self.is_off());
        other.load(Ordering::Acquire) >= times
    }

    pub(crate) fn is_off(&self) -> bool {
        self.is_off.load(Ordering::Acquire)
    }

    /// Tells the other one not to wait.
    fn call_off(&self) {
        self.is_off.store(true, Ordering::Release);
    }
}

/// Spins until something holds; gives the CPU away now and then, since the other thread may need this very one.
#[inline(always)]
pub(crate) fn wait_until(holds: impl Fn() -> bool) {
    let mut turns = 0;
    while !holds() {
        turns += 1;
        if turns == PATIENT_TURNS {
            turns = 0;
            thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

/// Tells when a time is over, or somebody wants it to be, without asking the clock at every turn.
#[derive(Debug)]
pub(crate) struct Deadline<'a> {
    reference: Reference,
    stop: &'a AtomicBool,
    start_ns: u64,
    length_ns: u64,
    asked_ns: u64,
    /// Turns between two looks at the clock, and what is left of them.
    between: u32,
    left: u32,
}

impl<'a> Deadline<'a> {
    pub(crate) fn new(reference: Reference, length_ns: u64, stop: &'a AtomicBool) -> Self {
        let start_ns = read(&reference);
        Self { reference, stop, start_ns, length_ns, asked_ns: 0, between: 1, left: 1 }
    }

    /// To be asked once a turn.
    #[inline(always)]
    pub(crate) fn is_over(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.ask()
    }

    #[cold]
    fn ask(&mut self) -> bool {
        let elapsed_ns = self.elapsed_ns();
        // As rarely as is still often enough: turns take from 30 ns to 100 µs.
        if elapsed_ns.saturating_sub(self.asked_ns) < self.length_ns / 128 {
            self.between = (self.between * 2).min(1 << 12);
        } else {
            self.between = (self.between / 2).max(1);
        }
        self.asked_ns = elapsed_ns;
        self.left = self.between;
        elapsed_ns >= self.length_ns || self.stop.load(Ordering::Relaxed)
    }

    /// Time since the start.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        // A reference that goes back is no reason to stay for ever.
        read(&self.reference).checked_sub(self.start_ns).unwrap_or(u64::MAX)
    }
}

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

    #[test]
    fn cpus_that_are_not_there_are_named() {
        assert!(cpus(Some(&[60_000])).unwrap_err().to_string().contains("60000"));
        let all = affinity::allowed().unwrap();
        assert_eq!(cpus(Some(&[all[0], all[0]])).unwrap(), [all[0]]);
        assert!(untestable(&all[..1]).is_some() && untestable(&[3, 70]).is_none());
    }
}
