//! The bounds of civil time: what the system states once a second, carried on by the counter, or
//! for callers who are not served by it by a clock that nobody steers.
//!
//! The interval is tied to true time, not to the wall clock. The counter carries it on at the rate
//! that it had when the system was asked, and both ends part by the system's own growth. So a wall
//! clock that is set or slewed within the second takes the true time out of no interval. That the
//! rate is right is checked at each renewal of the line: where the clocks part, the system is asked
//! anew.

use clockscope_core::brackets::Bracket;

use super::agreement::SAME;
use super::carried::Carried;
use super::errors::BracketInterval;
use super::holding::SteeringGuard;
use super::page::{WANTS_BOUNDS, WANTS_WALL};
use super::shared_statement::{ClockSnapshot, Statement};
use super::statement::{BoundedAt, Bounds, CivilStatement, GROWS, earlier, later};
use super::use_rate::Usage;
use super::version::Version;
use super::{Counter, Disciplined, OsClock};
use clockscope_core::CivilState;

/// Two answers of the system are of one rate if they differ by no more than this, in ppm.
const SAME_RATE_PPM: f64 = 1.0;

/// So many comparisons of the system's clocks are tried, until one was not interrupted.
const TRIES: u32 = 4;

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// The interval in which the true time is, where the system states one.
    ///
    /// Cost: the counter's ordered read and two products; without a line, four reads of the
    /// system's clocks; once a second, the questions of [`OsClock::civil_statement`]. Without
    /// [`OsClock::raw_ns`] there is a question at each call that no line answers.
    #[inline(always)]
    pub fn bounded(&self) -> BoundedAt {
        self.shared.page.read_bounds(|| self.counter.ordered()).unwrap_or_else(|| self.bounded_slow())
    }

    #[cold]
    #[inline(never)]
    fn bounded_slow(&self) -> BoundedAt {
        let page = &self.shared.page;
        page.want(WANTS_WALL | WANTS_BOUNDS);
        let version = page.version();
        if version == Version::NEW || version.is_new() {
            // The first reading of a process asks whether a clock may be read at all.
            self.prepare();
        }
        if version.has_line() {
            self.now();
            self.advance();
            if let Some(bounded) = page.read_bounds(|| self.counter.ordered()) {
                return bounded;
            }
        }
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
        let os = &self.shared.os;
        let one = || {
            let before_ns = os.now_ns().ok()?;
            let (wall_ns, raw_ns) = (os.wall_ns().ok()?, os.raw_ns()?);
            let after_ns = os.now_ns().ok()?;
            let disruptions = os.disruptions().map_or(0, |number| number.wrapping_add(1));
            Some(ClockSnapshot { raw_ns, before_ns, after_ns, wall_ns, disruptions })
        };
        for _ in 0..TRIES {
            let seen = one()?;
            if seen.width_ns() <= self.interrupted_ns() {
                return Some(seen);
            }
        }
        None
    }

    /// Asks the system, and keeps what it states where a clock can carry that on.
    fn bounded_by_question(&self) -> BoundedAt {
        let turn = self.shared.statement.turn();
        let (before, bounded) = self.ask_at_once();
        // Before the second question: what happens during that one shows as well.
        let Some(seen) = self.see().filter(|_| before.lasts_ns > 0) else { return bounded };
        let (after, bounded) = self.ask_at_once();
        if is_same(&before, &after)
            && let Some(raw_ns) = self.shared.os.raw_ns()
            && let Some(statement) = Statement::of(after, seen, raw_ns, self.os_tick_ns(), self.interrupted_ns())
        {
            self.shared.statement.keep(turn, &statement);
        }
        bounded
    }

    /// The system's statement now, and that as the interval at some moment of this call.
    fn ask_at_once(&self) -> (CivilStatement, BoundedAt) {
        let began_ns = self.now().as_ns();
        let statement = self.ask_statement();
        let took_ns = self.now().as_ns().saturating_sub(began_ns);
        let bounded = BoundedAt {
            earliest_ns: statement.earliest_ns,
            // The timeline may be slewed meanwhile, by a tenth.
            latest_ns: later(statement.latest_ns, took_ns.saturating_add(took_ns / 8)),
            state: statement.state,
        };
        (statement, bounded)
    }

    /// Duration beyond which something was interrupted, in ns: too long for a bound that lasts a
    /// second.
    fn interrupted_ns(&self) -> u64 {
        self.window_ns() / 8
    }

    /// The system's statement before the bracket of a renewal, if it is to be asked at all: nothing
    /// is carried on, or not for much longer.
    pub(super) fn ask_if_due(&self, guard: &SteeringGuard<'_>, tick: u64) -> Option<CivilStatement> {
        if !self.shared.page.wants(WANTS_BOUNDS) {
            return None;
        }
        // The next two renewals, or the end of the line that follows, whichever is later.
        let ahead = (4.0 * self.window_ns() as f64 / guard.rate.ns_per_tick()) as u64;
        (!guard.civil.lasts(tick, ahead)).then(|| self.ask_statement())
    }

    fn ask_statement(&self) -> CivilStatement {
        self.shared.os.civil_statement().unwrap_or(CivilStatement::nothing(CivilState::Unavailable))
    }

    /// Carries on what the system stated, or takes it back. `statement` is what it stated before
    /// `bracket`.
    pub(super) fn carry_bounds(
        &self,
        guard: &mut SteeringGuard<'_>,
        statement: Option<CivilStatement>,
        bracket: &Bracket,
    ) {
        let os_tick_ns = guard.rate.os_tick_ns();
        guard.civil.check(bracket, os_tick_ns);
        if let Some(before) = statement {
            let carried = self.carry_on(guard, before, bracket);
            guard.civil.carry(carried);
        }
        if !guard.civil.has_bounds() && self.shared.page.wants(WANTS_BOUNDS) {
            // A slew may have begun that only the counter shows so soon: whoever calls next asks.
            self.shared.statement.forget();
        }
    }

    /// The system's statement after a bracket, if that may be carried on; `before` is what it
    /// stated before.
    fn carry_on(&self, guard: &SteeringGuard<'_>, before: CivilStatement, bracket: &Bracket) -> Option<Carried> {
        let rate = guard.rate.ns_per_tick();
        let uncertain = is_steady(guard.errors.interval(), bracket, rate)?;
        if guard.ambiguous_change.is_open() {
            return None;
        }
        let start = self.counter.ordered();
        let mut after = self.ask_statement();
        let end = self.counter.ordered();
        let took_ns = end.wrapping_sub(start) as f64 * rate;
        // Interrupted for so long that it is no bound for a second.
        if !is_same(&before, &after) || !(0.0..=self.interrupted_ns() as f64).contains(&took_ns) {
            return None;
        }
        // The rate may have changed by as much without being seen until the renewal after the next.
        let unseen_ns = ((SAME + uncertain) * 3.0 * self.window_ns() as f64) as u64 + 1;
        after.earliest_ns = earlier(after.earliest_ns, unseen_ns);
        after.latest_ns = later(after.latest_ns, (took_ns * (1.0 + GROWS)) as u64 + 1 + unseen_ns);
        Some(Carried::new(Bounds::of(&after, end, rate), *bracket, rate))
    }
}

/// Returns true if the system stated the same at two moments, as far as its bounds go.
fn is_same(one: &CivilStatement, other: &CivilStatement) -> bool {
    one.state == other.state && (one.rate_ppm - other.rate_ppm).abs() <= SAME_RATE_PPM
}

/// By what share the rate of the interval that ends with `bracket` is uncertain, if it is this one.
fn is_steady(interval: &BracketInterval, bracket: &Bracket, rate: f64) -> Option<f64> {
    let is_of_now = interval.end() == bracket && interval.is_known();
    (is_of_now && interval.is_at(rate, SAME)).then(|| interval.uncertain())
}
