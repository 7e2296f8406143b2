//! Keeps what the system stated of the time of day for callers who are not served by the counter.
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
//! anew if it differs. The uncertainty of the comparison widens the interval.
//!
//! The words are shared by a sequence number:
//!
//! - **A writer** loads the number before it asks. Afterwards it makes that number the next one,
//!   marked as being written, by compare-and-swap; writes; and makes it the next one again, marked
//!   as complete.
//! - **A reader** takes the words only between two loads of one number that is marked as complete.
//! - **`forget`** replaces the number by the next one without that mark. So a statement that was
//!   asked for before it, and is written after it, is never read.
//!
//! No thread waits. A writer that never returns leaves the mark of being written: from then on each
//! caller asks.

use clockscope_core::brackets::Bracket;

use super::statement::{BoundedAt, Bounds, MAX_DRIFT, WallStatement, earlier, is_same_rate, later};
use super::sync::{AtomicU64, Ordering, array_of, const_fn, fence};

/// A thread is writing the words.
const WRITING: u64 = 1;
/// The words are a statement.
const COMPLETE: u64 = 2;
/// The number is above both marks.
const ONE_TURN: u64 = 4;

/// The state of a [`SharedStatement`] before a question, whose answer is kept if it is the state
/// afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn(u64);

impl Turn {
    fn next(self, mark: u64) -> Self {
        Self((self.0 & !(WRITING | COMPLETE)).wrapping_add(ONE_TURN) | mark)
    }
}

/// A statement that threads share. All zero is none.
#[repr(C)]
pub(crate) struct SharedStatement {
    turn: AtomicU64,
    words: [AtomicU64; Statement::WORDS],
}

impl SharedStatement {
    const_fn! {
        /// No statement.
        pub(crate) fn new() -> Self {
            Self { turn: AtomicU64::new(0), words: array_of!(AtomicU64::new(0); Statement::WORDS) }
        }
    }

    /// Returns the state before a question.
    pub(crate) fn turn(&self) -> Turn {
        Turn(self.turn.load(Ordering::Acquire))
    }

    /// Returns the statement, if there is one and no thread replaces it meanwhile.
    pub(crate) fn load(&self) -> Option<Statement> {
        let Turn(turn) = self.turn();
        if turn & COMPLETE == 0 {
            return None;
        }
        let words = core::array::from_fn(|index| self.words[index].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        if self.turn.load(Ordering::Relaxed) == turn { Some(Statement::from_words(words)) } else { None }
    }

    /// Keeps a statement that was asked for after `since`, unless anything was kept or forgotten
    /// since then.
    pub(crate) fn keep(&self, since: Turn, statement: &Statement) {
        let (writing, complete) = (since.next(WRITING), since.next(0).next(COMPLETE));
        if since.0 & WRITING != 0 || !self.replace(since, writing) {
            return;
        }
        // A reader that sees one of the new words also sees the number before them.
        fence(Ordering::Release);
        for (word, value) in self.words.iter().zip(statement.words()) {
            word.store(value, Ordering::Relaxed);
        }
        if !self.replace(writing, complete) {
            // Forgotten meanwhile; or this is a child that a signal handler forked, and its memory
            // was wiped.
            self.next_turn(0);
        }
    }

    /// Forgets the statement, and one that another thread is about to keep.
    pub(crate) fn forget(&self) {
        self.next_turn(WRITING);
    }

    fn replace(&self, from: Turn, to: Turn) -> bool {
        self.turn.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Goes on to the next turn without any mark but these.
    fn next_turn(&self, kept: u64) {
        let _ =
            self.turn.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |turn| Some(Turn(turn).next(turn & kept).0));
    }

    /// Returns to the state before the first statement: without a mark the words are not read.
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

    /// Returns the wall clock's smallest lead over the OS clock, and its uncertainty.
    fn ahead_ns(&self, tick_ns: u64) -> (u64, u64) {
        let least = (self.wall_ns as u64).wrapping_sub(self.after_ns).wrapping_sub(tick_ns);
        (least, self.width_ns().saturating_add(2 * tick_ns))
    }

    /// Returns the uncertainty of the wall clock's distance from the OS clock, in ns, if the
    /// distance may be the one before.
    fn uncertain_ns(&self, before: &Self, tick_ns: u64) -> Option<u64> {
        let ((now, width_ns), (then, then_ns)) = (self.ahead_ns(tick_ns), before.ahead_ns(tick_ns));
        let moved_ns = now.wrapping_sub(then) as i64;
        let is_same = moved_ns <= then_ns as i64 && moved_ns >= -(width_ns as i64);
        if is_same { Some(width_ns.saturating_add(then_ns)) } else { None }
    }
}

/// The system's statement, with its clocks' readings before that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Statement {
    /// In ns of the clock that no daemon steers.
    bounds: Bounds,
    clocks: ClockSnapshot,
    /// Length of one ns of that clock, in ns of the OS clock.
    rate: f64,
}

impl Statement {
    const WORDS: usize = 13;

    /// Returns the statement that was made after the clocks were read and before the unsteered one
    /// showed `raw_ns`, where clocks may be a tick further than they show. `None` if that took
    /// longer than `max_ns`.
    pub(crate) fn new(
        mut reported: WallStatement,
        clocks: ClockSnapshot,
        raw_ns: u64,
        tick_ns: u64,
        max_ns: u64,
    ) -> Option<Self> {
        let rate = 1.0 + reported.rate_ppm * 1e-6;
        let took_ns = raw_ns.wrapping_sub(clocks.raw_ns);
        // So that no product overflows, whatever a system states.
        if took_ns > max_ns || clocks.width_ns() > max_ns || !(0.5..=1.5).contains(&rate) {
            return None;
        }
        // The clock may be a tick further at either end of the interval that it carries.
        let ticks_ns = 2 * tick_ns + 2;
        reported.earliest_ns = earlier(reported.earliest_ns, ticks_ns);
        reported.latest_ns = later(reported.latest_ns, (took_ns as f64 * rate * (1.0 + MAX_DRIFT)) as u64 + ticks_ns);
        Some(Self { bounds: Bounds::new(&reported, raw_ns, rate), clocks, rate })
    }

    /// Returns the interval when the clocks show this. `None` if the statement has expired, if the
    /// machine slept or a clock was set meanwhile, or if the OS clock has another rate than stated.
    pub(crate) fn at(&self, now: &ClockSnapshot, tick_ns: u64) -> Option<BoundedAt> {
        self.widened(self.bounds.at(now.raw_ns)?, now, tick_ns)
    }

    /// Returns the interval when the clocks show this, also of an expired statement: its age widens
    /// the interval.
    pub(crate) fn at_any_age(&self, now: &ClockSnapshot, tick_ns: u64) -> Option<BoundedAt> {
        self.widened(self.bounds.at_any_age(now.raw_ns)?, now, tick_ns)
    }

    /// An interval that was carried on, widened by the uncertainty of the comparison of the clocks.
    fn widened(&self, at: BoundedAt, now: &ClockSnapshot, tick_ns: u64) -> Option<BoundedAt> {
        let uncertain_ns = now.uncertain_ns(&self.clocks, tick_ns)?;
        if now.disruptions != self.clocks.disruptions || !self.has_stated_rate(now, tick_ns) {
            return None;
        }
        Some(BoundedAt {
            earliest_ns: earlier(at.earliest_ns, uncertain_ns),
            latest_ns: later(at.latest_ns, uncertain_ns),
            state: at.state,
        })
    }

    /// Returns true if there was a line at the question, so that the counter was read as well.
    pub(crate) fn was_beside_line(&self) -> bool {
        self.clocks.counter_ticks != 0
    }

    /// Returns true if the system was asked before the OS clock showed `ns`.
    pub(crate) fn was_asked_before(&self, ns: u64) -> bool {
        ns.wrapping_sub(self.clocks.after_ns) <= u64::MAX / 2
    }

    /// Returns true if the OS clock's mean rate from the question to this bracket was `rate`, in ns
    /// a tick, within a share. Only for a question beside a line.
    pub(crate) fn has_rate_since(&self, bracket: &Bracket, tick_ns: u64, rate: f64, share: f64) -> bool {
        let ClockSnapshot { before_ns, after_ns, counter_ticks, .. } = self.clocks;
        let [least_ns, most_ns] = [after_ns, before_ns].map(|ns| bracket.inner.wrapping_sub(ns) as i64 as f64);
        let [least, most] = [bracket.before, bracket.after].map(|tick| tick.wrapping_sub(counter_ticks) as i64 as f64);
        let slack_ns = rate * most * share + tick_ns as f64;
        least_ns <= most * rate + slack_ns && least * rate - slack_ns <= most_ns
    }

    /// Returns true if the system states the same now, and the clocks have advanced as it stated.
    pub(crate) fn goes_on_as(&self, now: &WallStatement, clocks: Option<&ClockSnapshot>, tick_ns: u64) -> bool {
        let is_same = self.bounds.state() == now.state && is_same_rate((self.rate - 1.0) * 1e6, now.rate_ppm);
        is_same && clocks.is_some_and(|clocks| self.at_any_age(clocks, tick_ns).is_some())
    }

    /// Returns true if the OS clock has advanced as stated, within the largest drift. A slew takes
    /// the true time out of no interval, but the daemon that slews may state something else.
    fn has_stated_rate(&self, now: &ClockSnapshot, tick_ns: u64) -> bool {
        let expected_ns = now.raw_ns.wrapping_sub(self.clocks.raw_ns) as f64 * self.rate;
        let slack_ns = expected_ns * MAX_DRIFT + (2 * tick_ns) as f64;
        let least_ns = now.before_ns.wrapping_sub(self.clocks.after_ns) as i64 as f64;
        let most_ns = now.after_ns.wrapping_sub(self.clocks.before_ns) as i64 as f64;
        least_ns <= expected_ns + slack_ns && expected_ns - slack_ns <= most_ns
    }

    fn words(&self) -> [u64; Self::WORDS] {
        let [a, b, c, d, e, f] = self.bounds.words();
        let ClockSnapshot { raw_ns, before_ns, after_ns, wall_ns, disruptions, counter_ticks } = self.clocks;
        let rate = self.rate.to_bits();
        [a, b, c, d, e, f, raw_ns, before_ns, after_ns, wall_ns as u64, disruptions, counter_ticks, rate]
    }

    fn from_words(
        [a, b, c, d, e, f, raw_ns, before_ns, after_ns, wall, disruptions, counter_ticks, rate]: [u64; Self::WORDS],
    ) -> Self {
        let wall_ns = wall as i64;
        let clocks = ClockSnapshot { raw_ns, before_ns, after_ns, wall_ns, disruptions, counter_ticks };
        Self { bounds: Bounds::from_words([a, b, c, d, e, f]), clocks, rate: f64::from_bits(rate) }
    }
}

/// Returns the interval of this statement after some time, by the counter and by the unsteered
/// clock. No time passes between the question and the beginning.
#[cfg(all(test, not(clockscope_models)))]
pub(crate) fn carried_on(reported: WallStatement, after_ns: u64) -> [Option<BoundedAt>; 2] {
    const START_NS: u64 = 1 << 50;
    const MAX_NS: u64 = 125_000;
    let rate = 1.0 + reported.rate_ppm * 1e-6;
    let [first, last] = [0, after_ns].map(|after_ns| {
        let os_ns = START_NS + (after_ns as f64 * rate) as u64;
        let raw_ns = START_NS + after_ns;
        ClockSnapshot { raw_ns, before_ns: os_ns, after_ns: os_ns, wall_ns: os_ns as i64, ..Default::default() }
    });
    let by_counter = Bounds::new(&reported, START_NS, rate).at(START_NS + after_ns);
    let statement = Statement::new(reported, first, START_NS, 1, MAX_NS);
    [by_counter, statement.and_then(|statement| statement.at(&last, 1))]
}
