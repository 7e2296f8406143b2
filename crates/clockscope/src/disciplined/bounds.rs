//! The bounds of civil time: what the system states once a second, carried on by the counter, or
//! for callers who are not served by it by a clock that nobody steers.
//!
//! The interval is tied to true time, not to the wall clock. The counter carries it on at the rate
//! that it had when the system was asked, and both ends part by the system's own growth. So a wall
//! clock that is set or slewed within the second takes the true time out of no interval. That the
//! rate is right is checked at each renewal of the line: where the clocks part, the system is asked
//! anew. Only callers of `bounded` ask it: readings of other kinds make no system call, because a
//! confined process may not.

use clockscope_core::brackets::Bracket;

use super::layers::CivilBounds;
use super::lines::agreement::SAME;
use super::lines::carried::Carried;
use super::lines::errors::BracketInterval;
use super::page::OffsetClock;
use super::page::shared_statement::{ClockSnapshot, Statement, Turn};
use super::page::statement::{BoundedAt, Bounds, CivilStatement, GROWS, earlier, is_same_rate, later};
use super::page::version::Version;
use super::use_rate::Usage;
use super::{Counter, OsClock};
use clockscope_core::CivilState;

/// The line is not tried again for so many windows after a question beside it, so that a clock
/// whose rate is never the same does not lead to one question after the other.
const RETRY_WINDOWS: u64 = 8;

/// So many comparisons of the system's clocks are tried, until one was not interrupted.
const TRIES: u32 = 4;

impl<C: Counter, S: OsClock> CivilBounds<C, S> {
    /// Returns the interval in which the true time is, where the system states one.
    #[inline(always)]
    pub(super) fn bounded(&self) -> BoundedAt {
        self.page.read_bounds(|| self.counter.ordered()).unwrap_or_else(|| self.bounded_slow())
    }

    #[cold]
    #[inline(never)]
    fn bounded_slow(&self) -> BoundedAt {
        let page = &self.page;
        page.want(OffsetClock::Wall);
        let version = page.version();
        if version == Version::NEW || version.is_new() {
            // The first reading of a process asks whether a clock may be read at all.
            self.prepare();
        }
        if version.has_line() {
            self.read();
            self.advance();
            if let Some(bounded) = page.read_bounds(|| self.counter.ordered()) {
                return bounded;
            }
            if let Some(bounded) = self.bounded_beside_line() {
                return bounded;
            }
        }
        // The line may be gone: a reading after a pause leaves it.
        let version = page.version();
        if let Some(bounded) = self.bounded_by_statement(version) {
            return bounded;
        }
        if !version.has_line() {
            // So that a line begins for callers who ask often: each question is as expensive as
            // many readings.
            self.sample();
        }
        self.bounded_by_question()
    }

    /// Carries on what the system stated for an earlier caller, where that holds.
    fn bounded_by_statement(&self, version: Version) -> Option<BoundedAt> {
        let statement = self.shared.statement.load()?;
        if version.has_line() && !statement.was_beside_line() {
            // It cannot be carried on by the line, and shows at each call that it cannot.
            return None;
        }
        let now = self.see()?;
        let bounded = statement.at(&now, self.os_tick_ns())?;
        // Counted as any other reading of the OS clock.
        if !version.has_line() && version.is_tried() && Usage::is_sample(now.after_ns) {
            self.sample();
        }
        Some(bounded)
    }

    /// Reads the system's clocks at about one moment. `None` where one does not answer, or all
    /// tries were interrupted.
    fn see(&self) -> Option<ClockSnapshot> {
        let os = &self.os;
        let one = || {
            let before_ns = os.now_ns().ok()?;
            let (wall_ns, raw_ns) = (os.wall_ns().ok()?, os.raw_ns()?);
            let counter_ticks = if self.page.version().has_line() { self.counter.ordered() } else { 0 };
            let after_ns = os.now_ns().ok()?;
            let disruptions = os.disruptions().map_or(0, |number| number.wrapping_add(1));
            Some(ClockSnapshot { raw_ns, before_ns, after_ns, wall_ns, disruptions, counter_ticks })
        };
        for _ in 0..TRIES {
            let seen = one()?;
            if seen.width_ns() <= self.interrupted_ns() {
                return Some(seen);
            }
        }
        None
    }

    /// The interval by what the system stated before, however long ago, and without a question:
    /// for callers who want a time of another kind.
    pub(super) fn bounded_unasked(&self) -> BoundedAt {
        let by_line = self.page.read_bounds(|| self.counter.ordered());
        let by_statement = || self.shared.statement.load()?.at_any_age(&self.see()?, self.trust.os_tick_ns());
        by_line.or_else(by_statement).unwrap_or(BoundedAt::nothing(CivilState::Unavailable))
    }

    /// Asks the system, and keeps what it states where a clock that nobody steers can carry that
    /// on.
    fn bounded_by_question(&self) -> BoundedAt {
        let turn = self.shared.statement.turn();
        let (before, bounded) = self.ask_at_once();
        // Before the second question: what happens during that one shows as well.
        let Some(seen) = self.see().filter(|_| before.lasts_ns > 0) else { return bounded };
        let (after, bounded) = self.ask_at_once();
        self.keep_statement(turn, (&before, &after), seen);
        bounded
    }

    /// Keeps what the system stated twice, before the clocks showed `seen` and after it.
    fn keep_statement(&self, turn: Turn, (before, after): (&CivilStatement, &CivilStatement), seen: ClockSnapshot) {
        if !is_same(before, after) {
            return;
        }
        let Some(raw_ns) = self.os.raw_ns() else { return };
        let stated = Statement::of(*after, seen, raw_ns, self.os_tick_ns(), self.interrupted_ns());
        if let Some(statement) = stated {
            self.shared.statement.keep(turn, &statement);
        }
    }

    /// The system's statement now, and that as the interval at some moment of this call.
    fn ask_at_once(&self) -> (CivilStatement, BoundedAt) {
        let began_ns = self.read();
        let statement = self.ask_statement();
        let took_ns = self.read().saturating_sub(began_ns);
        let bounded = BoundedAt {
            earliest_ns: statement.earliest_ns,
            // The timeline may be slewed meanwhile, by a tenth.
            latest_ns: later(statement.latest_ns, took_ns.saturating_add(took_ns / 8)),
            state: statement.state,
        };
        (statement, bounded)
    }

    fn ask_statement(&self) -> CivilStatement {
        self.os.civil_statement().unwrap_or(CivilStatement::nothing(CivilState::Unavailable))
    }

    /// Asks the system, and publishes the line anew with what it states, where the counter can
    /// carry that on: at a rate that it had between two brackets, before which the system stated
    /// the same already. (Or a slew may have ended just now.) `None` without a line, while another
    /// thread holds the lock, where the system was not asked so shortly before, and where the
    /// clocks were compared so shortly before that a rate is not known since then.
    fn bounded_beside_line(&self) -> Option<BoundedAt> {
        let mut guard = self.try_lock()?;
        let snapshot = self.snapshot();
        snapshot.line.at(snapshot.tick)?;
        let since_last = snapshot.tick.wrapping_sub(guard.errors.interval().end().after);
        if guard.rate.ns_per_tick() * (since_last as f64) < self.shortest_ns() {
            return None;
        }
        let last_ns = guard.errors.interval().end().inner.wrapping_sub(self.page.offset());
        let former = self.shared.statement.load();
        let retry_ns = last_ns.wrapping_sub(RETRY_WINDOWS * self.window_ns());
        if former.is_some_and(|former| !former.was_asked_before(retry_ns)) {
            return None;
        }
        let former = former.filter(Statement::was_beside_line);
        let has_raw = self.os.raw_ns().is_some();
        if has_raw && former.is_none() && !guard.beside.has_bounds() {
            return None;
        }
        let (turn, before) = (self.shared.statement.turn(), self.ask_statement());
        let seen = self.see();
        let bracket = self.anchor(&mut guard, &snapshot)?;
        let rate = guard.rate.ns_per_tick();
        let start = self.counter.ordered();
        let after = self.ask_statement();
        let end = self.counter.ordered();
        if let Some(seen) = seen.filter(|_| before.lasts_ns > 0) {
            self.keep_statement(turn, (&before, &after), seen);
        }
        let took_ns = end.wrapping_sub(start) as f64 * rate;
        let bounded =
            CivilStatement { latest_ns: later(after.latest_ns, (took_ns * (1.0 + GROWS)) as u64 + 1), ..after };
        let tick_ns = guard.rate.os_tick_ns();
        let on_os_clock = Bracket { inner: bracket.inner.wrapping_sub(self.page.offset()), ..bracket };
        let share = SAME + guard.errors.interval().uncertain();
        // A slew that began since then, and ended just now, shows in one of the two.
        let goes_on = |former: &Statement| {
            former.goes_on_as(&after, seen.as_ref(), tick_ns)
                && former.has_rate_since(&on_os_clock, tick_ns, rate, share)
        };
        // What was carried on at this rate has been checked at each renewal since then.
        let is_stated =
            guard.beside.is_bounded_as(after.state, rate) || former.as_ref().is_some_and(goes_on) || !has_raw;
        // Interrupted for so long that it is no bound for a second.
        let is_interrupted = !(0.0..=self.interrupted_ns() as f64).contains(&took_ns);
        let is_usual = is_stated && is_same(&before, &after) && !is_interrupted;
        let uncertain = is_steady(guard.errors.interval(), &bracket, rate).filter(|_| is_usual);
        if let Some(uncertain) = uncertain.filter(|_| !guard.ambiguous_change.is_open()) {
            // The rate may have changed by as much without being seen until the renewal after the
            // next.
            let unseen_ns = ((SAME + uncertain) * 3.0 * self.window_ns() as f64) as u64 + 1;
            let carried = CivilStatement {
                earliest_ns: earlier(bounded.earliest_ns, unseen_ns),
                latest_ns: later(bounded.latest_ns, unseen_ns),
                ..bounded
            };
            guard.beside.carry(Carried::new(Bounds::of(&carried, end, rate), bracket, rate));
            self.publish(&mut guard, &snapshot.line);
        }
        let CivilStatement { earliest_ns, latest_ns, state, .. } = bounded;
        (took_ns >= 0.0).then_some(BoundedAt { earliest_ns, latest_ns, state })
    }
}

/// Returns true if the system stated the same at two moments, as far as its bounds go.
fn is_same(one: &CivilStatement, other: &CivilStatement) -> bool {
    one.state == other.state && is_same_rate(one.rate_ppm, other.rate_ppm)
}

/// By what share the rate of the interval that ends with `bracket` is uncertain, if it is this one.
fn is_steady(interval: &BracketInterval, bracket: &Bracket, rate: f64) -> Option<f64> {
    let is_of_now = interval.end() == bracket && interval.is_known();
    (is_of_now && interval.is_at(rate, SAME)).then(|| interval.uncertain())
}
