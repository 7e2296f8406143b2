//! Keeps what the system stated of civil time for callers who are not served by the counter.
//!
//! They ask once a second, too. In between
//! [`OsClock::raw_ns`](crate::disciplined::OsClock::raw_ns) carries the statement on: a clock that
//! no daemon steers, at the rate that the system stated for its own clock. The steered clock itself
//! would carry an error of up to a tenth, because a slew moves it and not true time.
//!
//! That clock stops while the machine sleeps, and steps where the process joins another time
//! namespace. Both change the distance between the wall clock and the OS clock, and so does a wall
//! clock that is set. (CLOCK_BOOTTIME shows a suspend by the same sum that the kernel adds to the
//! wall clock.) So each caller compares that distance with the one before the question, and asks
//! anew where it differs. What the comparison leaves open widens the interval.
//!
//! The words are shared by a sequence number:
//!
//! - **A writer** notes the number before it asks. Afterwards it makes that number the next one,
//!   marked as being written, by compare-and-swap; writes; and makes it the next one again, marked
//!   as whole.
//! - **A reader** takes the words only between two loads of the same number that is marked as
//!   whole.
//! - **Whoever forgets** replaces the number by the next one without that mark. So a statement that
//!   was asked for before, and is written after, is never seen.
//!
//! Nobody waits. A writer that does not come back leaves the mark of being written: from then on
//! each caller asks.

use clockscope_core::brackets::Bracket;

use super::statement::{BoundedAt, Bounds, CivilStatement, GROWS, earlier, is_same_rate, later};
use super::sync::{AtomicU64, Ordering, fence};

/// The words are being written, by whoever set this.
const WRITING: u64 = 1;
/// The words are a statement.
const WHOLE: u64 = 2;
/// The number is above both.
const ONE: u64 = 4;

/// The state of a [`SharedStatement`] at some moment: a statement that is asked for after it may be
/// kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn(u64);

impl Turn {
    fn next(self, mark: u64) -> Self {
        Self((self.0 & !(WRITING | WHOLE)).wrapping_add(ONE) | mark)
    }
}

/// A statement that threads share. All zero is none.
#[repr(C)]
pub(crate) struct SharedStatement {
    turn: AtomicU64,
    words: [AtomicU64; Statement::WORDS],
}

impl SharedStatement {
    #[cfg(not(clockscope_models))]
    pub(crate) const fn new() -> Self {
        Self { turn: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; Statement::WORDS] }
    }

    /// Loom's atomics cannot be made at compile time.
    #[cfg(clockscope_models)]
    pub(crate) fn new() -> Self {
        Self { turn: AtomicU64::new(0), words: core::array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Returns the state before a question.
    pub(crate) fn turn(&self) -> Turn {
        Turn(self.turn.load(Ordering::Acquire))
    }

    /// Returns the statement, if there is one and nobody replaces it meanwhile.
    pub(crate) fn load(&self) -> Option<Statement> {
        let Turn(turn) = self.turn();
        if turn & WHOLE == 0 {
            return None;
        }
        let words = core::array::from_fn(|index| self.words[index].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        (self.turn.load(Ordering::Relaxed) == turn).then(|| Statement::of_words(words))
    }

    /// Keeps a statement that was asked for after `since`, unless anything was kept or forgotten
    /// since then.
    pub(crate) fn keep(&self, since: Turn, statement: &Statement) {
        let (writing, whole) = (since.next(WRITING), since.next(0).next(WHOLE));
        if since.0 & WRITING != 0 || !self.replace(since, writing) {
            return;
        }
        // A reader that sees one of the new words also sees the number before them.
        fence(Ordering::Release);
        for (word, value) in self.words.iter().zip(statement.words()) {
            word.store(value, Ordering::Relaxed);
        }
        if !self.replace(writing, whole) {
            // Forgotten meanwhile; or this is a child that a signal handler forked, and its memory
            // was wiped.
            self.mark(|_| 0);
        }
    }

    /// Takes the statement away, and one that is about to be kept.
    pub(crate) fn forget(&self) {
        self.mark(|turn| turn & WRITING);
    }

    fn replace(&self, from: Turn, to: Turn) -> bool {
        self.turn.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn mark(&self, mark: impl Fn(u64) -> u64) {
        let _ = self.turn.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |turn| Some(Turn(turn).next(mark(turn)).0));
    }

    /// Makes it the state before the first statement: without a mark nobody takes the words.
    #[cfg(not(clockscope_models))]
    pub(crate) fn wipe(&self) {
        self.turn.store(0, Ordering::Release);
    }
}

/// Readings of the system's clocks at about one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClockSnapshot {
    /// The clock that no daemon steers.
    pub(crate) raw_ns: u64,
    /// The OS clock, before the other two and after them.
    pub(crate) before_ns: u64,
    pub(crate) after_ns: u64,
    /// The wall clock.
    pub(crate) wall_ns: i64,
    /// [`OsClock::disruptions`](crate::disciplined::OsClock::disruptions) plus 1; 0 where that is
    /// not known.
    pub(crate) disruptions: u64,
    /// The counter; 0 where there was no line.
    pub(crate) counter_ticks: u64,
}

impl ClockSnapshot {
    /// Returns how long the reads took, in ns of the OS clock.
    pub(crate) fn width_ns(&self) -> u64 {
        self.after_ns.wrapping_sub(self.before_ns)
    }

    /// Returns by how much the wall clock was ahead of the OS clock at least, and how uncertain
    /// that is.
    fn ahead_ns(&self, tick_ns: u64) -> (u64, u64) {
        let least = (self.wall_ns as u64).wrapping_sub(self.after_ns).wrapping_sub(tick_ns);
        (least, self.width_ns().saturating_add(2 * tick_ns))
    }

    /// Returns how uncertain it is that the distance is the same as before, in ns. `None` if it is
    /// not.
    fn is_as_far(&self, before: &Self, tick_ns: u64) -> Option<u64> {
        let ((now, width_ns), (then, then_ns)) = (self.ahead_ns(tick_ns), before.ahead_ns(tick_ns));
        let moved_ns = now.wrapping_sub(then) as i64;
        let is_same = moved_ns <= then_ns as i64 && moved_ns >= -(width_ns as i64);
        is_same.then(|| width_ns.saturating_add(then_ns))
    }
}

/// The system's statement, with what its clocks showed before that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Statement {
    /// In ns of the clock that no daemon steers.
    bounds: Bounds,
    seen: ClockSnapshot,
    /// Length of one ns of that clock, in ns of the OS clock.
    rate: f64,
}

impl Statement {
    const WORDS: usize = 13;

    /// Returns what was stated after `seen` and before the unsteered clock showed `raw_ns`, where
    /// clocks may be a tick further than they show. `None` if that took longer than `most_ns`.
    pub(crate) fn of(
        mut reported: CivilStatement,
        seen: ClockSnapshot,
        raw_ns: u64,
        tick_ns: u64,
        most_ns: u64,
    ) -> Option<Self> {
        let rate = 1.0 + reported.rate_ppm * 1e-6;
        let took_ns = raw_ns.wrapping_sub(seen.raw_ns);
        // So that no product overflows, whatever a system states.
        if took_ns > most_ns || seen.width_ns() > most_ns || !(0.5..=1.5).contains(&rate) {
            return None;
        }
        // The clock may be a tick further at either end of the interval that it carries.
        let unseen_ns = 2 * tick_ns + 2;
        reported.earliest_ns = earlier(reported.earliest_ns, unseen_ns);
        reported.latest_ns = later(reported.latest_ns, (took_ns as f64 * rate * (1.0 + GROWS)) as u64 + unseen_ns);
        Some(Self { bounds: Bounds::of(&reported, raw_ns, rate), seen, rate })
    }

    /// Returns the interval when the clocks show this. `None` if the statement has lasted its time,
    /// if the machine slept or a clock was set meanwhile, or if the OS clock has a rate that was
    /// not stated.
    pub(crate) fn at(&self, now: &ClockSnapshot, tick_ns: u64) -> Option<BoundedAt> {
        self.widened(self.bounds.at(now.raw_ns)?, now, tick_ns)
    }

    /// The same of a statement that has lasted longer: its age is in the interval.
    pub(crate) fn at_any_age(&self, now: &ClockSnapshot, tick_ns: u64) -> Option<BoundedAt> {
        self.widened(self.bounds.at_any_age(now.raw_ns)?, now, tick_ns)
    }

    /// An interval that was carried on until then, with what the comparison of the clocks leaves
    /// open.
    fn widened(&self, at: BoundedAt, now: &ClockSnapshot, tick_ns: u64) -> Option<BoundedAt> {
        let unseen_ns = now.is_as_far(&self.seen, tick_ns)?;
        if now.disruptions != self.seen.disruptions || !self.is_of_its_rate(now, tick_ns) {
            return None;
        }
        Some(BoundedAt {
            earliest_ns: earlier(at.earliest_ns, unseen_ns),
            latest_ns: later(at.latest_ns, unseen_ns),
            state: at.state,
        })
    }

    /// Returns true if the system was asked when there was a line, so that the counter was read as
    /// well.
    pub(crate) fn was_beside_line(&self) -> bool {
        self.seen.counter_ticks != 0
    }

    /// Returns true if the system was asked before the OS clock showed `ns`.
    pub(crate) fn was_asked_before(&self, ns: u64) -> bool {
        ns.wrapping_sub(self.seen.after_ns) <= u64::MAX / 2
    }

    /// Returns true if the OS clock's mean rate from the question to this bracket was `rate`, in ns
    /// a tick, within a share. Only of a question that was asked beside a line.
    pub(crate) fn has_rate_since(&self, bracket: &Bracket, tick_ns: u64, rate: f64, share: f64) -> bool {
        let ClockSnapshot { before_ns, after_ns, counter_ticks, .. } = self.seen;
        let [least_ns, most_ns] = [after_ns, before_ns].map(|ns| bracket.inner.wrapping_sub(ns) as i64 as f64);
        let [least, most] = [bracket.before, bracket.after].map(|tick| tick.wrapping_sub(counter_ticks) as i64 as f64);
        let slack_ns = rate * most * share + tick_ns as f64;
        least_ns <= most * rate + slack_ns && least * rate - slack_ns <= most_ns
    }

    /// Returns true if the system states the same now, and the clocks have gone on as it stated.
    pub(crate) fn goes_on_as(&self, now: &CivilStatement, seen: Option<&ClockSnapshot>, tick_ns: u64) -> bool {
        let is_same = self.bounds.state() == now.state && is_same_rate((self.rate - 1.0) * 1e6, now.rate_ppm);
        is_same && seen.is_some_and(|seen| self.at_any_age(seen, tick_ns).is_some())
    }

    /// Returns whether the OS clock has gone on as stated: by no more than the system's own growth
    /// off. A slew takes the true time out of no interval, but who steers the clock may state
    /// something else.
    fn is_of_its_rate(&self, now: &ClockSnapshot, tick_ns: u64) -> bool {
        let expected_ns = now.raw_ns.wrapping_sub(self.seen.raw_ns) as f64 * self.rate;
        let slack_ns = expected_ns * GROWS + (2 * tick_ns) as f64;
        let least_ns = now.before_ns.wrapping_sub(self.seen.after_ns) as i64 as f64;
        let most_ns = now.after_ns.wrapping_sub(self.seen.before_ns) as i64 as f64;
        least_ns <= expected_ns + slack_ns && expected_ns - slack_ns <= most_ns
    }

    fn words(&self) -> [u64; Self::WORDS] {
        let [a, b, c, d, e, f] = self.bounds.words();
        let ClockSnapshot { raw_ns, before_ns, after_ns, wall_ns, disruptions, counter_ticks } = self.seen;
        let rate = self.rate.to_bits();
        [a, b, c, d, e, f, raw_ns, before_ns, after_ns, wall_ns as u64, disruptions, counter_ticks, rate]
    }

    fn of_words(
        [a, b, c, d, e, f, raw_ns, before_ns, after_ns, wall, disruptions, counter_ticks, rate]: [u64; Self::WORDS],
    ) -> Self {
        let wall_ns = wall as i64;
        let seen = ClockSnapshot { raw_ns, before_ns, after_ns, wall_ns, disruptions, counter_ticks };
        Self { bounds: Bounds::of_words([a, b, c, d, e, f]), seen, rate: f64::from_bits(rate) }
    }
}

/// Returns the interval of this statement when the clock that carries it on has gone on by so many
/// ns: by the counter, and by the unsteered clock. No time passes between the question and the
/// beginning.
#[cfg(all(test, not(clockscope_models)))]
pub(crate) fn carried_on(reported: CivilStatement, after_ns: u64) -> [Option<BoundedAt>; 2] {
    const START: u64 = 1 << 50;
    const MOST_NS: u64 = 125_000;
    let rate = 1.0 + reported.rate_ppm * 1e-6;
    let seen = |after_ns: u64| {
        let os_ns = START + (after_ns as f64 * rate) as u64;
        ClockSnapshot {
            raw_ns: START + after_ns,
            before_ns: os_ns,
            after_ns: os_ns,
            wall_ns: os_ns as i64,
            disruptions: 0,
            counter_ticks: 0,
        }
    };
    let by_counter = Bounds::of(&reported, START, rate).at(START + after_ns);
    let statement = Statement::of(reported, seen(0), START, 1, MOST_NS);
    [by_counter, statement.and_then(|statement| statement.at(&seen(after_ns), 1))]
}
