//! The bounds of the time of day: the system's statement of once a second, carried on by the
//! counter, or for callers that are not served by it by an unsteered clock.
//!
//! The interval is tied to true time, not to the wall clock. The counter carries it on at the rate
//! of the question, and it becomes wider by the largest drift. So a wall clock that is set or
//! slewed within the second takes the true time out of no interval. Each renewal of the line checks
//! the rate: if the clocks disagree, the system is asked anew. Only callers of `bounded` ask it:
//! readings of other kinds make no system call, because a confined process may not.

use clockscope_core::brackets::Bracket;

use super::layers::WallBounds;
use super::lines::agreement::MAX_RATE_DIFFERENCE;
use super::lines::carried::Carried;
use super::lines::errors::BracketInterval;
use super::page::OffsetClock;
use super::page::shared_statement::{ClockSnapshot, Statement, Turn};
use super::page::statement::{BoundedAt, Bounds, MAX_DRIFT, WallStatement, earlier, is_same_rate, later};
use super::page::version::Version;
use super::use_rate::Usage;
use super::{Counter, OsClock};
use clockscope_core::WallState;

/// Windows between two questions beside a line, so that a clock of unsteady rate does not lead to
/// one question after the other.
const RETRY_WINDOWS: u64 = 8;

/// Comparisons of the system's clocks that are tried, until one was not interrupted.
const TRIES: u32 = 4;

impl<C: Counter, S: OsClock> WallBounds<C, S> {
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
            // So that a line begins for frequent callers: each question is as expensive as many
            // readings.
            self.sample();
        }
        self.bounded_by_question()
    }

    /// The interval by the system's statement for an earlier caller, if it still holds.
    fn bounded_by_statement(&self, version: Version) -> Option<BoundedAt> {
        let statement = self.shared.statement.load()?;
        if version.has_line() && !statement.was_beside_line() {
            // The line cannot carry it on, which each call would find again.
            return None;
        }
        let now = self.clock_snapshot()?;
        let bounded = statement.at(&now, self.os_tick_ns())?;
        // Counted as any other reading of the OS clock.
        if !version.has_line() && version.is_tried() && Usage::is_sample(now.after_ns) {
            self.sample();
        }
        Some(bounded)
    }

    /// Reads the system's clocks at about one moment. `None` if one does not answer, or if all
    /// tries were interrupted.
    fn clock_snapshot(&self) -> Option<ClockSnapshot> {
        let os = &self.os;
        for _ in 0..TRIES {
            let before_ns = os.now_ns().ok()?;
            let (wall_ns, raw_ns) = (os.wall_ns().ok()?, os.raw_ns()?);
            let counter_ticks = if self.page.version().has_line() { self.counter.ordered() } else { 0 };
            let after_ns = os.now_ns().ok()?;
            let disruptions = os.disruptions().map_or(0, |number| number.wrapping_add(1));
            let clocks = ClockSnapshot { raw_ns, before_ns, after_ns, wall_ns, disruptions, counter_ticks };
            if clocks.width_ns() <= self.interrupted_ns() {
                return Some(clocks);
            }
        }
        None
    }

    /// The interval by the system's last statement of any age, without a question: for readings of
    /// other kinds.
    pub(super) fn bounded_unasked(&self) -> BoundedAt {
        let by_line = self.page.read_bounds(|| self.counter.ordered());
        by_line.or_else(|| self.bounded_at_any_age()).unwrap_or(BoundedAt::nothing(WallState::Unavailable))
    }

    fn bounded_at_any_age(&self) -> Option<BoundedAt> {
        self.shared.statement.load()?.at_any_age(&self.clock_snapshot()?, self.trust.os_tick_ns())
    }

    /// Asks the system, and keeps its statement if an unsteered clock can carry that on.
    fn bounded_by_question(&self) -> BoundedAt {
        let turn = self.shared.statement.turn();
        let (before, bounded) = self.ask_at_once();
        // Before the second question, so that changes during that one show as well.
        let Some(clocks) = self.clock_snapshot() else { return bounded };
        if before.lasts_ns == 0 {
            return bounded;
        }
        let (after, bounded) = self.ask_at_once();
        self.keep_statement(turn, [&before, &after], clocks);
        bounded
    }

    /// Keeps a statement that the system made before its clocks were read and after that.
    fn keep_statement(&self, turn: Turn, [before, after]: [&WallStatement; 2], clocks: ClockSnapshot) {
        if before.lasts_ns == 0 || !is_same(before, after) {
            return;
        }
        let Some(raw_ns) = self.os.raw_ns() else { return };
        let statement = Statement::new(*after, clocks, raw_ns, self.os_tick_ns(), self.interrupted_ns());
        if let Some(statement) = statement {
            self.shared.statement.keep(turn, &statement);
        }
    }

    /// The system's statement now, and its interval at some moment of this call.
    fn ask_at_once(&self) -> (WallStatement, BoundedAt) {
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

    fn ask_statement(&self) -> WallStatement {
        self.os.wall_statement().unwrap_or(WallStatement::nothing(WallState::Unavailable))
    }

    /// Asks the system, and publishes the line anew with the statement, if the counter can carry
    /// that on: at the rate between two brackets, before which the system stated the same. (Or a
    /// slew may have ended just now.) `None` without a line, while another thread holds the lock,
    /// shortly after the last question or bracket, and without a statement to compare with.
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
        let clocks = self.clock_snapshot();
        let bracket = self.anchor(&mut guard, &snapshot)?;
        let rate = guard.rate.ns_per_tick();
        let start = self.counter.ordered();
        let after = self.ask_statement();
        let end = self.counter.ordered();
        if let Some(clocks) = clocks {
            self.keep_statement(turn, [&before, &after], clocks);
        }
        let took_ns = end.wrapping_sub(start) as f64 * rate;
        let bounded =
            WallStatement { latest_ns: later(after.latest_ns, (took_ns * (1.0 + MAX_DRIFT)) as u64 + 1), ..after };
        let tick_ns = guard.rate.os_tick_ns();
        let on_os_clock = Bracket { inner: bracket.inner.wrapping_sub(self.page.offset()), ..bracket };
        let share = MAX_RATE_DIFFERENCE + guard.errors.interval().uncertain();
        // A slew that began since the former statement, and ended just now, shows in one of the
        // two. Bounds that are carried on at this rate were checked at each renewal since then.
        let is_stated = !has_raw
            || guard.beside.is_bounded_as(after.state, rate)
            || former.is_some_and(|former| {
                former.goes_on_as(&after, clocks.as_ref(), tick_ns)
                    && former.has_rate_since(&on_os_clock, tick_ns, rate, share)
            });
        let is_uninterrupted = (0.0..=self.interrupted_ns() as f64).contains(&took_ns);
        let is_usual = is_stated && is_same(&before, &after) && is_uninterrupted && !guard.ambiguous_change.is_open();
        if is_usual && is_steady(guard.errors.interval(), &bracket, rate) {
            // A change of the rate by this share may stay unnoticed until the renewal after the
            // next.
            let open_ns = (share * 3.0 * self.window_ns() as f64) as u64 + 1;
            let carried = WallStatement {
                earliest_ns: earlier(bounded.earliest_ns, open_ns),
                latest_ns: later(bounded.latest_ns, open_ns),
                ..bounded
            };
            guard.beside.carry(Carried::new(Bounds::new(&carried, end, rate), bracket, rate));
            self.publish(&mut guard, &snapshot.line);
        }
        if took_ns < 0.0 {
            return None;
        }
        let WallStatement { earliest_ns, latest_ns, state, .. } = bounded;
        Some(BoundedAt { earliest_ns, latest_ns, state })
    }
}

/// Returns true if the system stated the same at two moments, as far as its bounds go.
fn is_same(one: &WallStatement, other: &WallStatement) -> bool {
    one.state == other.state && is_same_rate(one.rate_ppm, other.rate_ppm)
}

/// Returns true if the interval ends with `bracket`, and its rate is this one.
fn is_steady(interval: &BracketInterval, bracket: &Bracket, rate: f64) -> bool {
    interval.end() == bracket && interval.is_known() && interval.is_at(rate, MAX_RATE_DIFFERENCE)
}
