//! Tests the counter of this machine itself: whether the CPUs' counters agree.
//!
//! Two threads that are bound to a CPU each hand readings to each other. If a thread receives one
//! and then reads less, the counter went back. A reading, its answer and the reading after that
//! bound the two counters' offset, by the instrument's own arithmetic
//! ([`clockscope_core::brackets`]).

use clockscope_core::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use clockscope_core::brackets::{Bracket, OffsetBounds};
use clockscope_core::evidence::{OFFSETS, ORDER};
use clockscope_core::{Errno, os};

use crate::disciplined::{Counter, MAX_CPUS};
use crate::evidence::{Evidence, Finding};
use crate::lattice;
use crate::native::{CLOCK, Native};

/// Handoffs between two CPUs: a few milliseconds.
const HANDOFFS: u64 = 20_000;

/// Fewest handoffs that test a pair.
const MIN_HANDOFFS: u64 = 1000;

/// Longest time for a pair of CPUs, in ns.
const MAX_PAIR_NS: u64 = 200_000_000;

/// Largest bound of an offset, in ns, that handoffs show.
const MAX_BOUND_NS: f64 = 10_000.0;

/// Handoffs between two checks of the CPU that a thread runs on.
const CPU_CHECK_INTERVAL: u64 = 64;

/// True if a test may take the counter into use. No real machine of another system has been
/// measured yet; there the system itself has to accept the counter
/// ([`admit_counter`](crate::admit_counter)).
const MAY_ADMIT: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// The result of [`revalidate`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Revalidation {
    /// True if the counter may be used now.
    pub passed: bool,
    /// The reasons, a line each.
    pub evidence: Vec<Evidence>,
}

/// Tests the counter on the CPUs that the calling thread may run on, and takes it into use if it
/// passes although the kernel does not build its clocks on it; stops using it if it fails, even if
/// the kernel uses it.
///
/// It passes if the process may read it, the processor promises a constant rate, and if between the
/// first and each other CPU no reading went back in 20,000 handoffs (1000 on a busy machine) and
/// the offset is zero within 10 µs, as far as they show. With one CPU there are no handoffs: a
/// container that is bound to one may use the counter. On other systems than Linux nothing is
/// tested, and it does not pass.
///
/// The answer holds for the tested CPUs and for this machine. A renewal of the clock that runs on
/// another CPU (the vDSO's `getcpu`; aarch64 and riscv64 have none, and do not notice it), or that
/// finds the machine moved, revokes it. Until then, up to two milliseconds of readings may be of
/// the other CPU. (A thread that never renews the clock, because others do, is not noticed: bind a
/// program's threads before the test.)
///
/// Starts two threads for each CPU but the first, one pair after another, and binds them: clone,
/// futex, sched_getaffinity, sched_setaffinity. Takes some 5 ms a pair, in which two CPUs are busy.
/// Calls of several threads take turns. Not async-signal-safe.
///
/// ```
/// let answer = clockscope::revalidate();
/// for evidence in &answer.evidence {
///     println!("{}: {:?}: {} {}", evidence.name, evidence.finding, evidence.seen, evidence.advice);
/// }
/// println!("{}", if answer.passed { "in use" } else { "not in use" });
/// ```
#[must_use]
pub fn revalidate() -> Revalidation {
    os::keep_errno(test)
}

fn test() -> Revalidation {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    CLOCK.recheck();
    let disruptions = CLOCK.os().disruptions();
    let mut evidence = Vec::new();
    let mut trusted = Vec::new();
    if MAY_ADMIT && Native.is_permitted() != Some(false) && Native.is_invariant() == Some(true) {
        let (cpus, found) = across_cpus(&Native);
        if found.iter().any(|evidence| evidence.finding == Finding::Against) {
            CLOCK.give_up();
        } else if found.iter().all(|evidence| evidence.finding == Finding::For) {
            trusted = cpus;
        }
        evidence.extend(found);
    }
    let passed = !trusted.is_empty() && CLOCK.layers.readmit_as_of(Some(&trusted), disruptions);
    for other in CLOCK.evidence() {
        if evidence.iter().all(|evidence| evidence.name != other.name) {
            evidence.push(other);
        }
    }
    Revalidation { passed, evidence }
}

/// Tests all CPUs against the first. Returns them, and the evidence on order and offsets.
fn across_cpus<C: Counter + Copy + Send>(counter: &C) -> (Vec<u32>, Vec<Evidence>) {
    let cpus = os::allowed_cpus().unwrap_or_default();
    let evidence = match cpus.split_first() {
        None => vec![unknown("the system does not say on which CPUs this process may run".to_owned(), "")],
        Some(_) if cpus.iter().any(|cpu| *cpu as usize >= MAX_CPUS) => {
            vec![unknown(format!("CPUs from {MAX_CPUS} on cannot be stored"), "bind the process to others")]
        }
        Some((only, [])) => vec![by_handoffs(ORDER, Finding::For, format!("this process may run on CPU {only} alone"))],
        Some((first, others)) => match against_first(counter, *first, others) {
            Ok(_) if os::allowed_cpus().ok().as_ref() != Some(&cpus) => {
                vec![unknown("the CPUs that this process may run on have changed".to_owned(), RETRY_ADVICE)]
            }
            Ok(pairs) => judged(&pairs, lattice::step(|| counter.unordered()).unwrap_or(1)),
            Err((seen, advice)) => vec![unknown(seen, advice)],
        },
    };
    (cpus, evidence)
}

const RETRY_ADVICE: &str = "try again when the CPUs are less busy";
const UNSYNCHRONIZED: &str = "the CPUs' counters are not synchronized; the clock serves the OS clock";

/// Reason why a pair was not tested, and what can be done.
type SkippedPair = (String, &'static str);

/// Tests every other CPU against the first.
///
/// # Errors
/// A pair could not be tested.
fn against_first<C: Counter + Copy + Send>(
    counter: &C,
    first: u32,
    others: &[u32],
) -> Result<Vec<(u32, Handed)>, SkippedPair> {
    let mut pairs = Vec::new();
    for other in others {
        match between((first, *counter), (*other, *counter)) {
            Ok(handed) if handed.is_moved => {
                return Err((
                    format!("the threads on CPUs {first} and {other} were moved to another one"),
                    RETRY_ADVICE,
                ));
            }
            Ok(handed) if handed.handoffs >= MIN_HANDOFFS || handed.backwards > 0 => pairs.push((*other, handed)),
            Ok(handed) => {
                let seen = format!("{} handoffs between CPUs {first} and {other} are too few", handed.handoffs);
                return Err((seen, RETRY_ADVICE));
            }
            Err(errno) => {
                return Err((format!("no threads can be started on CPUs {first} and {other}: {errno}"), ""));
            }
        }
    }
    Ok(pairs)
}

fn by_handoffs(name: &'static str, finding: Finding, seen: String) -> Evidence {
    Evidence::new(name, finding, seen).by("handoffs between CPUs")
}

fn unknown(seen: String, advice: &'static str) -> Evidence {
    by_handoffs(ORDER, Finding::Unknown, seen).advise(advice)
}

/// The evidence by all pairs, for a counter that moves in steps of `step` ticks.
fn judged(pairs: &[(u32, Handed)], step: u64) -> Vec<Evidence> {
    let handoffs: u64 = pairs.iter().map(|(_, handed)| handed.handoffs).sum();
    let backwards: u64 = pairs.iter().map(|(_, handed)| handed.backwards).sum();
    let seen = format!("{backwards} of {handoffs} readings went back between {} CPUs", pairs.len() + 1);
    let order = if backwards == 0 {
        by_handoffs(ORDER, Finding::For, seen)
    } else {
        by_handoffs(ORDER, Finding::Against, seen).advise(UNSYNCHRONIZED)
    };
    vec![order.figure(backwards as f64, ""), judged_offsets(pairs, step as f64)]
}

fn judged_offsets(pairs: &[(u32, Handed)], step: f64) -> Evidence {
    if let Some((cpu, handed)) = pairs.iter().find(|(_, handed)| handed.bounds.is_apart(step) == Some(true)) {
        let by = match handed.bounds.offset(step) {
            Some(found) => format!("by {:.0} ± {:.0} counts", found.offset, found.bound),
            None => "by an offset that changes".to_owned(),
        };
        let seen = format!("the counter of CPU {cpu} differs from the first CPU's {by}");
        return by_handoffs(OFFSETS, Finding::Against, seen).advise(UNSYNCHRONIZED);
    }
    let bound_ns = pairs.iter().map(|(_, handed)| handed.bound_ns(step)).fold(0.0, f64::max);
    if bound_ns > MAX_BOUND_NS {
        let bound_us = bound_ns / 1e3;
        let seen = format!("other programs interrupted the handoffs: offsets of {bound_us:.0} µs are possible");
        return by_handoffs(OFFSETS, Finding::Unknown, seen).advise(RETRY_ADVICE);
    }
    let bounds = pairs.iter().filter_map(|(_, handed)| handed.bound(step));
    let bound = bounds.fold(0.0, f64::max);
    let seen =
        format!("no CPU's counter is more than {bound:.0} counts from the first CPU's, and none certainly differs");
    by_handoffs(OFFSETS, Finding::For, seen).figure(bound, "counts")
}

/// Observations between two CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Handed {
    handoffs: u64,
    backwards: u64,
    /// The second CPU's counter against the first one's.
    bounds: OffsetBounds,
    /// The test's time, in ticks and in ns.
    ticks: u64,
    ns: u64,
    /// A thread ran on another CPU than it was bound to.
    is_moved: bool,
}

impl Handed {
    /// The largest possible offset of a counter that moves in steps of `step` ticks, in ticks.
    fn bound(&self, step: f64) -> Option<f64> {
        self.bounds.offset(step).map(|found| found.offset.abs() + found.bound)
    }

    /// The largest possible offset, in ns.
    fn bound_ns(&self, step: f64) -> f64 {
        self.bound(step).unwrap_or(f64::INFINITY) * self.ns as f64 / self.ticks.max(1) as f64
    }
}

/// Two threads hand readings to each other through one word each.
struct Mailboxes {
    there: AtomicU64,
    back: AtomicU64,
    is_over: AtomicBool,
}

/// Hands readings back and forth between a thread on one CPU and one on another. CPU and counter of
/// each.
fn between<C: Counter + Copy + Send>(one: (u32, C), other: (u32, C)) -> Result<Handed, Errno> {
    let table = Mailboxes { there: AtomicU64::new(0), back: AtomicU64::new(0), is_over: AtomicBool::new(false) };
    let table = &table;
    let deadline = monotonic_ns()?.saturating_add(MAX_PAIR_NS);
    std::thread::scope(|scope| {
        // One closure for both: all that starts a thread is compiled for each.
        let [answering, asking] = [false, true].map(|is_asking| {
            std::thread::Builder::new().spawn_scoped(scope, move || {
                let side = if is_asking { one } else { other };
                let bound = os::set_allowed_cpus(&[side.0]);
                let handed = match bound {
                    Ok(()) if is_asking => ask(&side, table, deadline),
                    Ok(()) => answer(&side, table),
                    Err(_) => Handed::default(),
                };
                table.is_over.store(true, Ordering::Release);
                bound.map(|()| handed)
            })
        });
        if asking.is_err() || answering.is_err() {
            table.is_over.store(true, Ordering::Release);
        }
        // Neither can panic.
        let (asking, answering) =
            (asking.map_err(|error| Errno::from(&error))?, answering.map_err(|error| Errno::from(&error))?);
        let mut handed = asking.join().unwrap_or(Err(Errno::UNSUPPORTED))?;
        let answered = answering.join().unwrap_or(Err(Errno::UNSUPPORTED))?;
        handed.backwards += answered.backwards;
        handed.is_moved |= answered.is_moved;
        Ok(handed)
    })
}

fn monotonic_ns() -> Result<u64, Errno> {
    CLOCK.os().now_ns()
}

/// Zero marks an empty word of the table; a counter that shows it is changed by one tick.
fn nonzero(reading: u64) -> u64 {
    reading.max(1)
}

/// The side that begins: hands its reading over, waits for the answer, reads again. CPU and
/// counter.
fn ask((cpu, counter): &(u32, impl Counter), table: &Mailboxes, deadline: u64) -> Handed {
    let mut handed = Handed { is_moved: is_on_another(*cpu), ..Handed::default() };
    let (began_ns, began) = (monotonic_ns().unwrap_or(0), counter.ordered());
    for turn in 0..HANDOFFS / 2 {
        let sent = nonzero(counter.ordered());
        table.there.store(sent, Ordering::Release);
        let Some(answer) = receive(&table.back, &table.is_over, Some(deadline)) else { break };
        let received = counter.ordered();
        handed.handoffs += 2;
        handed.backwards += u64::from(went_back(answer, received));
        handed.bounds.push(&Bracket { before: sent, inner: answer, after: received });
        handed.is_moved |= turn % CPU_CHECK_INTERVAL == 0 && is_on_another(*cpu);
    }
    handed.ticks = counter.ordered().wrapping_sub(began);
    handed.ns = monotonic_ns().unwrap_or(0).saturating_sub(began_ns);
    handed.is_moved |= is_on_another(*cpu);
    handed
}

/// The other side: waits for a reading, reads, hands its own back. Counts those that went back, and
/// notices whether the thread ran on another CPU.
fn answer((cpu, counter): &(u32, impl Counter), table: &Mailboxes) -> Handed {
    let (mut backwards, mut is_moved) = (0, is_on_another(*cpu));
    let mut turn = 0u64;
    while let Some(sent) = receive(&table.there, &table.is_over, None) {
        let received = nonzero(counter.ordered());
        backwards += u64::from(went_back(sent, received));
        table.back.store(received, Ordering::Release);
        is_moved |= turn % CPU_CHECK_INTERVAL == 0 && is_on_another(*cpu);
        turn += 1;
    }
    Handed { backwards, is_moved: is_moved | is_on_another(*cpu), ..Handed::default() }
}

/// Returns true if the thread runs on another CPU: a binding may be changed from outside.
fn is_on_another(cpu: u32) -> bool {
    os::current_cpu().is_some_and(|now| now != cpu)
}

fn went_back(earlier: u64, later: u64) -> bool {
    (later.wrapping_sub(earlier) as i64) < 0
}

/// Waits for a word and takes it. The branch on it orders the caller's next reading after it
/// ([`Counter::ordered`]). `None` when it is over, or the deadline has passed.
fn receive(word: &AtomicU64, is_over: &AtomicBool, deadline: Option<u64>) -> Option<u64> {
    let mut turns = 0u32;
    loop {
        let reading = word.load(Ordering::Acquire);
        if reading != 0 {
            word.store(0, Ordering::Relaxed);
            return Some(reading);
        }
        if is_over.load(Ordering::Acquire) {
            return None;
        }
        turns = turns.wrapping_add(1);
        if turns % 4096 == 0 {
            // The other thread may be waiting for this CPU.
            std::thread::yield_now();
            if deadline.is_some_and(|deadline| monotonic_ns().is_ok_and(|now| now > deadline)) {
                return None;
            }
        }
        std::hint::spin_loop();
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// The counter with an offset of its own, as a CPU's that was not synchronized.
    #[derive(Clone, Copy)]
    struct OffsetCounter(i64);

    impl Counter for OffsetCounter {
        fn ordered(&self) -> u64 {
            Native.ordered().wrapping_add_signed(self.0)
        }
        fn is_permitted(&self) -> Option<bool> {
            Some(true)
        }
        fn is_clocksource(&self) -> Option<bool> {
            Some(false)
        }
        fn is_invariant(&self) -> Option<bool> {
            Some(true)
        }
    }

    fn two_cpus() -> Option<(u32, u32)> {
        let allowed = os::allowed_cpus().unwrap();
        if let [one, other, ..] = allowed[..] { Some((one, other)) } else { None }
    }

    #[test]
    fn an_offset_is_seen_on_either_side() {
        let Some((one, other)) = two_cpus() else { return };
        // More than a busy machine has either wait.
        const BACK: i64 = -(1 << 44);
        for (a, b) in [(0, BACK), (BACK, 0)] {
            let attempts = (0..100).map(|_| between((one, OffsetCounter(a)), (other, OffsetCounter(b))).unwrap());
            match attempts.into_iter().find(|handed| handed.handoffs > 0 || handed.backwards > 0) {
                Some(handed) => assert!(handed.backwards > 0, "{handed:?}"),
                None => clockscope_testing::skip("two threads on two CPUs never met"),
            }
        }
    }

    #[test]
    fn a_thread_on_another_cpu_is_noticed() {
        let Some((one, other)) = two_cpus() else { return };
        // As if the binding had been changed at once: each looks for a CPU that it does not run on.
        let table = Mailboxes { there: AtomicU64::new(0), back: AtomicU64::new(0), is_over: AtomicBool::new(true) };
        std::thread::scope(|scope| {
            let bound = scope.spawn(|| {
                os::set_allowed_cpus(&[one]).unwrap();
                let moved = [one, other].map(|cpu| ask(&(cpu, OffsetCounter(0)), &table, 0).is_moved);
                (moved, [one, other].map(|cpu| answer(&(cpu, OffsetCounter(0)), &table).is_moved))
            });
            assert_eq!(bound.join().unwrap(), ([false, true], [false, true]));
        });
    }

    #[test]
    fn an_offset_that_is_hardly_known_is_unknown() {
        let sound = handed(1_100, 1_200);
        let backwards = Handed { backwards: 1, ..sound };
        for (handed, findings) in [
            (sound, [Finding::For, Finding::For]),
            (handed(16_000, 31_000), [Finding::For, Finding::Unknown]),
            (handed(1_500, 1_200), [Finding::For, Finding::Against]),
            (backwards, [Finding::Against, Finding::For]),
        ] {
            let judged = judged(&[(1, handed)], 1);
            assert_eq!([judged[0].finding, judged[1].finding], findings, "{handed:?}");
        }
    }

    /// One handoff between 1,000 and `after`, answered at `inner`.
    fn handed(inner: u64, after: u64) -> Handed {
        let mut handed = Handed { handoffs: 20_000, ticks: 10_000_000, ns: 10_000_000, ..Handed::default() };
        handed.bounds.push(&Bracket { before: 1_000, inner, after });
        handed
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_an_error() {
        let Some((one, _)) = two_cpus() else { return };
        assert!(between((one, OffsetCounter(0)), (60_000, OffsetCounter(0))).is_err());
    }
}
