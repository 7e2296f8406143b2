//! The bounds of civil time: what the system states once a second, carried on by the counter.
//!
//! The interval is tied to true time, not to the wall clock. The counter carries it on at the rate that
//! it had when the system was asked, and both ends part by the system's own growth. So a wall clock that
//! is set or slewed within the second takes the true time out of no interval. That the rate is right is
//! checked at each renewal of the line: where the clocks part, the system is asked anew.

use super::agreement::SAME;
use super::bracket::Bracket;
use super::errors::Stretch;
use super::holding::Held;
use super::page::{WANTS_BOUNDS, WANTS_WALL};
use super::stated::{BoundedAt, Bounds, GROWS, State, Stated};
use super::version::Version;
use super::{Counter, Disciplined, OsClock};

/// Two answers of the system are of one rate if they differ by no more than this, in ppm.
const SAME_RATE_PPM: f64 = 1.0;

/// The bounds that the lock's holder publishes, and where the counter was compared for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) bounds: Bounds,
    since: Bracket,
    /// In ns a tick, of then.
    rate: f64,
}

impl Carried {
    pub(super) const NONE: Self = Self { bounds: Bounds::NONE, since: Bracket::ZERO, rate: 0.0 };
}

impl<C: Counter, S: OsClock> Disciplined<C, S> {
    /// The interval in which the true time is, where the system states one.
    ///
    /// Cost: the counter's ordered read and two products; once a second, the questions of
    /// [`OsClock::stated`]; without a line, that question at each call.
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
        } else {
            // So that a line begins for who asks often: each question is as dear as many readings.
            self.sample();
        }
        self.bounded_by_question()
    }

    /// Asks the system.
    fn bounded_by_question(&self) -> BoundedAt {
        let began_ns = self.now().as_ns();
        let stated = self.shared.os.stated().unwrap_or(Stated::nothing(State::Unavailable));
        let took_ns = self.now().as_ns().saturating_sub(began_ns);
        BoundedAt {
            earliest_ns: stated.earliest_ns,
            // The timeline may be slewed meanwhile, by a tenth.
            latest_ns: later(stated.latest_ns, took_ns.saturating_add(took_ns / 8)),
            state: stated.state,
        }
    }

    /// What the system states before the bracket of a renewal, if it is to be asked at all: nothing is
    /// carried on, or not for much longer.
    pub(super) fn ask_if_due(&self, held: &Held<'_>, tick: u64) -> Option<Stated> {
        if !self.shared.page.wants(WANTS_BOUNDS) {
            return None;
        }
        let (start, ticks) = held.carried.bounds.span();
        // The next two renewals, or the end of the line that follows, whichever is later.
        let ahead = (4.0 * self.window_ns() as f64 / held.ns_per_tick) as u64;
        let lasts = tick.wrapping_sub(start).saturating_add(ahead) < ticks;
        (!lasts).then(|| self.ask_stated())
    }

    fn ask_stated(&self) -> Stated {
        self.shared.os.stated().unwrap_or(Stated::nothing(State::Unavailable))
    }

    /// Carries on what the system stated, or takes it back. `asked` is what it stated before `bracket`.
    pub(super) fn carry_bounds(&self, held: &mut Held<'_>, asked: Option<Stated>, bracket: &Bracket) {
        if !self.is_carried_on(held, bracket) {
            held.carried = Carried::NONE;
        }
        let Some(before) = asked else { return };
        held.carried = Carried::NONE;
        let rate = held.ns_per_tick;
        let Some(uncertain) = is_steady(&held.stretch, bracket, rate) else { return };
        if held.doubt.is_open() {
            return;
        }
        let start = self.counter.ordered();
        let mut stated = self.ask_stated();
        let end = self.counter.ordered();
        let took_ns = end.wrapping_sub(start) as f64 * rate;
        let is_same = stated.state == before.state && (stated.rate_ppm - before.rate_ppm).abs() <= SAME_RATE_PPM;
        // Interrupted for so long that it is no bound for a second.
        if !is_same || !(0.0..=self.window_ns() as f64 / 8.0).contains(&took_ns) {
            return;
        }
        // The rate may have changed by as much without being seen until the renewal after the next.
        let unseen_ns = ((SAME + uncertain) * 3.0 * self.window_ns() as f64) as u64 + 1;
        stated.earliest_ns = earlier(stated.earliest_ns, unseen_ns);
        stated.latest_ns = later(stated.latest_ns, (took_ns * (1.0 + GROWS)) as u64 + 1 + unseen_ns);
        held.carried = Carried { bounds: Bounds::of(&stated, end, rate), since: *bracket, rate };
    }

    /// Whether the OS clock has gone on at the rate of then.
    fn is_carried_on(&self, held: &Held<'_>, bracket: &Bracket) -> bool {
        let Carried { since, rate, .. } = held.carried;
        rate > 0.0 && super::agreement::is_at(&since, bracket, held.os_tick_ns, rate)
    }
}

/// By what share the rate of the stretch that ends with `bracket` is uncertain, if it is this one.
fn is_steady(stretch: &Stretch, bracket: &Bracket, rate: f64) -> Option<f64> {
    let is_of_now = stretch.end() == bracket && stretch.is_known();
    (is_of_now && stretch.is_at(rate, SAME)).then(|| stretch.uncertain())
}

/// A moment that is so much later. Without a bound there is none.
fn later(ns: i64, by_ns: u64) -> i64 {
    ns.saturating_add_unsigned(by_ns)
}

/// A moment that is so much earlier, likewise.
fn earlier(ns: i64, by_ns: u64) -> i64 {
    ns.saturating_sub_unsigned(by_ns)
}
