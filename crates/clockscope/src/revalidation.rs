//! Tests the counter of this machine itself: whether the CPUs' counters agree.
//!
//! Two pinned threads hand readings to each other. Who receives one and then reads less has seen the counter go back; and
//! from a reading, its answer and the reading after that follows between which bounds the two counters' offset lies.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::disciplined::Counter;
use crate::evidence::{Evidence, Finding};
use crate::process::{CLOCK, Native};
use crate::{Errno, os};

/// Hand-overs between two CPUs: a few milliseconds.
const HANDOVERS: u64 = 20_000;

/// Fewer than this in the time given test nothing.
const ENOUGH: u64 = 1000;

/// A pair of CPUs is given up after this time, in ns.
const PATIENCE_NS: u64 = 200_000_000;

/// What [`revalidate`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Revalidation {
    /// Whether the counter may be used now.
    pub passed: bool,
    /// Why, a line each.
    pub evidence: Vec<Evidence>,
}

/// Tests the counter across all CPUs, and takes it into use if it passes although the kernel does not build its clocks on
/// it; gives it up if a reading went back, whatever the kernel does.
///
/// It passes if the process may read it, the processor promises a constant rate, and between the first and each other
/// CPU no reading went back in 20,000 hand-overs. A process that may not run on every CPU cannot test that.
///
/// Starts a thread for each CPU, one after another, and takes some 5 ms a CPU, in which two CPUs are busy. Undoes nothing
/// when the machine changes later: a CPU that comes online was not tested.
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
    crate::os::keep_errno(test)
}

fn test() -> Revalidation {
    CLOCK.recheck();
    let mut evidence = Vec::new();
    let mut is_sound = Native.is_permitted() != Some(false) && Native.is_invariant() == Some(true);
    if is_sound {
        let order = order(&Native);
        is_sound = order.finding == Finding::For;
        if order.finding == Finding::Against {
            CLOCK.give_up();
        }
        evidence.push(order);
    }
    let passed = is_sound && CLOCK.readmit();
    let others = CLOCK.evidence();
    evidence.extend(others.into_iter().filter(|other| other.name != ORDER || evidence_is_missing(is_sound, other)));
    Revalidation { passed, evidence }
}

const ORDER: &str = "order across CPUs";

/// The clock's own word on order is kept only where the test was not made.
fn evidence_is_missing(is_sound: bool, other: &Evidence) -> bool {
    !is_sound && other.finding == Finding::Unknown
}

/// Tests all CPUs against the first.
fn order<C: Counter + Copy + Send>(counter: &C) -> Evidence {
    let said = |finding, seen: String, advice: &'static str| {
        Evidence::new(ORDER, finding, seen).by("hand-overs between CPUs").advise(advice)
    };
    let (Ok(allowed), Some(online)) = (os::allowed_cpus(), os::online_cpus()) else {
        return said(Finding::Unknown, "the system does not tell its CPUs".to_owned(), "");
    };
    if allowed.len() < online {
        let seen = format!("this process may run on {} of {online} CPUs", allowed.len());
        return said(Finding::Unknown, seen, "widen the affinity mask (taskset) and ask again");
    }
    let (first, others) = match allowed.split_first() {
        Some((first, others)) if !others.is_empty() => (*first, others),
        _ => return said(Finding::For, "there is one CPU".to_owned(), ""),
    };
    let mut sum = Handed::default();
    for other in others {
        match between((first, *counter), (*other, *counter)) {
            Ok(handed) if handed.handovers >= ENOUGH || handed.backwards > 0 => sum.add(&handed),
            Ok(handed) => {
                let seen = format!("{} hand-overs between CPUs {first} and {other} are too few", handed.handovers);
                return said(Finding::Unknown, seen, "ask again when the CPUs are less busy");
            }
            Err(errno) => {
                let seen = format!("no threads can be started on CPUs {first} and {other}: {errno}");
                return said(Finding::Unknown, seen, "");
            }
        }
    }
    let seen = format!(
        "{} of {} readings went back between {} CPUs; offsets are known to ±{} ticks",
        sum.backwards,
        sum.handovers,
        allowed.len(),
        sum.offset_bound
    );
    let evidence = if sum.backwards == 0 {
        said(Finding::For, seen, "")
    } else {
        said(Finding::Against, seen, "the CPUs' counters are not synchronised; the clock serves the OS clock")
    };
    evidence.figure(sum.backwards as f64, "")
}

/// What was seen between two CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Handed {
    handovers: u64,
    backwards: u64,
    /// Half of the tightest round trip, in ticks: the offset is no larger, if nothing went back.
    offset_bound: u64,
}

impl Handed {
    fn add(&mut self, other: &Self) {
        self.handovers += other.handovers;
        self.backwards += other.backwards;
        self.offset_bound = self.offset_bound.max(other.offset_bound);
    }
}

/// Two threads hand readings to each other through one word each.
struct Table {
    there: AtomicU64,
    back: AtomicU64,
    is_over: AtomicBool,
}

/// Hands readings to and fro between a thread on one CPU and one on another. CPU and counter of each.
fn between<A: Counter + Send, B: Counter + Send>(one: (u32, A), other: (u32, B)) -> Result<Handed, Errno> {
    let table = Table { there: AtomicU64::new(0), back: AtomicU64::new(0), is_over: AtomicBool::new(false) };
    let table = &table;
    let deadline = monotonic_ns()?.saturating_add(PATIENCE_NS);
    std::thread::scope(|scope| {
        let answering = std::thread::Builder::new().spawn_scoped(scope, move || {
            let bound = os::set_allowed_cpus(&[other.0]);
            let backwards = if bound.is_ok() { answer(&other.1, table) } else { 0 };
            table.is_over.store(true, Ordering::Release);
            bound.map(|()| backwards)
        });
        let asking = std::thread::Builder::new().spawn_scoped(scope, move || {
            let bound = os::set_allowed_cpus(&[one.0]);
            let handed = if bound.is_ok() { ask(&one.1, table, deadline) } else { Handed::default() };
            table.is_over.store(true, Ordering::Release);
            bound.map(|()| handed)
        });
        if asking.is_err() || answering.is_err() {
            table.is_over.store(true, Ordering::Release);
        }
        let refused = |error: std::io::Error| Errno(error.raw_os_error().unwrap_or(0));
        let (asking, answering) = (asking.map_err(refused)?, answering.map_err(refused)?);
        // Neither can panic.
        let mut handed = asking.join().unwrap_or(Err(Errno(0)))?;
        handed.backwards += answering.join().unwrap_or(Err(Errno(0)))?;
        Ok(handed)
    })
}

fn monotonic_ns() -> Result<u64, Errno> {
    CLOCK.os().now_ns()
}

/// Zero means nothing in a word of the table; a counter that shows it is one tick early.
fn nonzero(reading: u64) -> u64 {
    reading.max(1)
}

/// The side that begins: hands its reading over, waits for the answer, reads again.
fn ask(counter: &impl Counter, table: &Table, deadline: u64) -> Handed {
    let mut handed = Handed { offset_bound: u64::MAX, ..Handed::default() };
    for _ in 0..HANDOVERS / 2 {
        let sent = nonzero(counter.ordered());
        table.there.store(sent, Ordering::Release);
        let Some(answer) = receive(&table.back, &table.is_over, Some(deadline)) else { break };
        let received = counter.ordered();
        handed.handovers += 2;
        handed.backwards += u64::from(went_back(answer, received));
        let round = received.wrapping_sub(sent);
        handed.offset_bound = handed.offset_bound.min(round / 2);
    }
    handed
}

/// The other side: waits for a reading, reads, hands its own back. How many went back.
fn answer(counter: &impl Counter, table: &Table) -> u64 {
    let mut backwards = 0;
    while let Some(sent) = receive(&table.there, &table.is_over, None) {
        let received = nonzero(counter.ordered());
        backwards += u64::from(went_back(sent, received));
        table.back.store(received, Ordering::Release);
    }
    backwards
}

fn went_back(earlier: u64, later: u64) -> bool {
    (later.wrapping_sub(earlier) as i64) < 0
}

/// Waits for a word and takes it; `None` when it is over, or the deadline has passed.
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
        let is_late = || deadline.is_some_and(|deadline| monotonic_ns().is_ok_and(|now| now > deadline));
        if turns.is_multiple_of(4096) {
            // The other one may be waiting for this very CPU.
            std::thread::yield_now();
            if is_late() {
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

    /// The counter with an offset of its own, as a CPU's that was not synchronised.
    #[derive(Clone, Copy)]
    struct Offset(i64);

    impl Counter for Offset {
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
        (allowed.len() > 1).then(|| (allowed[0], allowed[1]))
    }

    #[test]
    fn an_offset_is_seen_on_either_side() {
        let Some((one, other)) = two_cpus() else { return };
        // More than a busy machine has either wait.
        const BACK: i64 = -(1 << 44);
        for (a, b) in [(0, BACK), (BACK, 0)] {
            let tested = (0..100).map(|_| between((one, Offset(a)), (other, Offset(b))).unwrap());
            match tested.into_iter().find(|handed| handed.handovers > 0 || handed.backwards > 0) {
                Some(handed) => assert!(handed.backwards > 0, "{handed:?}"),
                None => clockscope_testing::skip("two threads on two CPUs never met"),
            }
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_told() {
        let Some((one, _)) = two_cpus() else { return };
        assert!(between((one, Offset(0)), (60_000, Offset(0))).is_err());
    }
}
