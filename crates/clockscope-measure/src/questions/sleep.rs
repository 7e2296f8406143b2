//! The question *sleep*: what calls that sleep give for the time that they are asked for.

use clockscope_records::{ClockReason, Envelope, Figure, Sleep, SleepRow, Unknown, texts};
use clockscope_statistics::quantile;
use clockscope_system::sleeping::{Call, SleepError};
use clockscope_system::{RawClock, ReadPath, Unit};

use crate::instrument::bench::{Bench, Progress, Setup};
use crate::instrument::catalog::{Catalog, CatalogEntry, Paths};
use crate::instrument::default_clocks;
use crate::instrument::error::MeasureError;
use crate::instrument::session::Session;
use crate::instrument::timer::read;
use crate::platform::failure_reason::call_refused;
use crate::platform::{Platform, ReferenceClock, SleepingCalls, Sleeps};

/// Times that are asked for, in ns.
const REQUESTED_NS: [u64; 6] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// Time that a short sleep takes beyond what it is asked for, in ns, roughly: for dividing the
/// time.
const USUAL_LATENESS_NS: f64 = 60e3;
/// Fewest and most sleeps of a call for one time.
const SLEEPS: (f64, f64) = (3.0, 1000.0);

/// Request for a test of sleeps: what to test, and for how long.
#[derive(Clone, Debug, Default)]
pub struct SleepRequest {
    /// Time for all calls together, in seconds. Lengths of which three sleeps of each call do not
    /// fit into it, too, are not asked for: with all of them Linux's calls take 2.4 s.
    pub duration_s: f64,
    /// CPU to sleep on; `None` for the current one.
    pub cpu: Option<u32>,
    /// Calls by the names that [`calls`] lists; all if there are none.
    pub calls: Vec<String>,
    /// Times to ask for, in ns, each for as many sleeps as have room in the duration; six from 1 us
    /// to 100 ms if there are none.
    pub requested_ns: Vec<u64>,
}

/// Returns the names of all calls that sleep on a system, as records have them.
#[must_use]
pub fn calls<P: Platform>(platform: &P) -> Vec<String> {
    ways(platform).iter().map(SleepMethod::name).collect()
}

fn ways<P: Platform>(platform: &P) -> Vec<SleepMethod> {
    platform.sleeping_calls().iter().copied().map(SleepMethod::Call).chain([SleepMethod::Spin]).collect()
}

/// The time in ns that the fewest sleeps of this length by `calls` calls take, if they are late by
/// `late_ns`.
fn least_ns(requested_ns: u64, calls: usize, late_ns: f64) -> f64 {
    SLEEPS.0 * calls as f64 * (requested_ns as f64 + late_ns)
}

/// The time that each length of sleep gets, in ns: the shorter ones, of which the fewest sleeps of
/// `calls` calls fit together, at least the shortest. What is left is shared equally.
fn shares(lengths_ns: &[u64], duration_ns: f64, calls: usize) -> Vec<(u64, f64)> {
    let mut left_ns = duration_ns;
    let mut shares = Vec::new();
    for requested_ns in lengths_ns.iter().copied() {
        let least_ns = least_ns(requested_ns, calls, USUAL_LATENESS_NS);
        if least_ns > left_ns && !shares.is_empty() {
            break;
        }
        left_ns -= least_ns;
        shares.push((requested_ns, least_ns));
    }
    let more_ns = left_ns.max(0.0) / shares.len() as f64;
    shares.into_iter().map(|(requested_ns, least_ns)| (requested_ns, least_ns + more_ns)).collect()
}

/// Something that waits for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SleepMethod {
    Call(Call),
    /// Reading our own clock until the time has come.
    Spin,
}

impl SleepMethod {
    /// Its name in records.
    fn name(&self) -> String {
        match self {
            Self::Call(call) => call.name().to_owned(),
            Self::Spin => "spin_clockscope_now".to_owned(),
        }
    }
}

/// The clock that the calls sleep by, or another one where that cannot be read.
struct SleepersClock<P: Platform> {
    name: String,
    /// The usual clock for intervals (CLOCK_MONOTONIC) by one of its paths.
    monotonic: Option<CatalogEntry<P>>,
    otherwise: P::Reference,
}

/// The names of the clocks that calls may sleep by, the one that shares least with other programs
/// first. Those that show counts instead of ns have the reference in their place.
fn sleepers_clocks<P: Platform>(catalog: &Catalog<P>) -> Vec<String> {
    let stopwatches = catalog.entries.iter().filter(|row| default_clocks::is_stopwatch(&row.info));
    let ranked = stopwatches.filter(|row| row.info.unit == Unit::Nanoseconds).filter_map(|row| {
        let rank = match row.info.path {
            ReadPath::Syscall => 0,
            ReadPath::Vdso => 1,
            path if path.is_usual() => 2,
            _ => return None,
        };
        Some((rank, row.label()))
    });
    let mut ranked: Vec<(u8, String)> = ranked.collect();
    ranked.sort();
    ranked.into_iter().map(|(_, name)| name).collect()
}

impl<P: Platform> SleepersClock<P> {
    /// The first that answers: by a system call of our own, by the vDSO, by the C library.
    fn find(setup: &Setup<'_, P>) -> Result<Self, MeasureError> {
        let session = setup.session;
        let otherwise = setup.bench.reference.clone();
        let mut found = None;
        for name in sleepers_clocks(&Catalog::new(session.platform)) {
            let all = Catalog::new(session.platform);
            let Ok(named) = all.select(&[name], Paths::Libc) else { continue };
            found = named.tried(session)?.entries.into_iter().find(|row| row.sampler.is_ok());
            if found.is_some() {
                break;
            }
        }
        let name = found.as_ref().map_or_else(|| otherwise.name().to_owned(), |row| row.label());
        Ok(Self { name, monotonic: found, otherwise })
    }

    /// Returns ns since some moment; `None` if the clock refuses.
    fn now(&self) -> Option<u64> {
        match self.monotonic.as_ref().map(|row| &row.sampler) {
            Some(Ok(sampler)) => sampler.now().ok(),
            _ => {
                let mut raw = <P::Reference as RawClock>::Raw::default();
                self.otherwise.read(&mut raw).ok().map(|()| self.otherwise.value(&raw))
            }
        }
    }
}

/// Largest share by which the rates of steered clocks differ.
const MAX_STEERED_DIFFERENCE: f64 = 0.15;
/// Largest share by which the rates of clocks differ that are not steered, or not much.
const MAX_UNSTEERED_DIFFERENCE: f64 = 1e-3;
/// Time by which an interval may be longer than one that encloses it, in ns: the steps of both
/// clocks.
const MAX_STEPS_NS: f64 = 2e3;

/// The sleeper's clock at a moment, and clocks that are no part of the question.
#[derive(Clone, Copy)]
struct Moment {
    monotonic_ns: u64,
    timer: u64,
    reference_ns: u64,
}

/// Time that passed between two moments, in ns.
#[derive(Clone, Copy)]
struct Passed {
    monotonic_ns: f64,
    timer_ns: f64,
    reference_ns: f64,
}

impl Moment {
    fn until<P: Platform>(self, later: Self, bench: &Bench<'_, P>) -> Passed {
        Passed {
            monotonic_ns: later.monotonic_ns.wrapping_sub(self.monotonic_ns) as i64 as f64,
            timer_ns: later.timer.wrapping_sub(self.timer) as i64 as f64 * bench.facts.first_rate.ns_per_unit,
            reference_ns: later.reference_ns.wrapping_sub(self.reference_ns) as i64 as f64,
        }
    }
}

impl Passed {
    /// Returns true if no other clock agrees, so that the sleeper's clock stood still, went back or
    /// jumped.
    fn is_contradicted(self) -> bool {
        let others = [self.timer_ns, self.reference_ns];
        others.iter().all(|ns| self.monotonic_ns < ns * (1.0 - MAX_STEERED_DIFFERENCE) - MAX_STEPS_NS)
            || others.iter().all(|ns| self.monotonic_ns > ns * (1.0 + MAX_STEERED_DIFFERENCE) + MAX_STEPS_NS)
    }

    /// Returns true if another clock shows less than this, whatever the rates of clocks usually
    /// are.
    fn is_shorter_than(self, ns: f64) -> bool {
        self.timer_ns.min(self.reference_ns) < ns * (1.0 - MAX_UNSTEERED_DIFFERENCE)
    }

    /// Returns true if another clock shows the same, as exactly as clocks usually run.
    fn is_agreed(self) -> bool {
        let others = [self.timer_ns, self.reference_ns];
        others.iter().any(|ns| (self.monotonic_ns - ns).abs() <= MAX_UNSTEERED_DIFFERENCE * ns + MAX_STEPS_NS)
    }

    /// Returns true if it was long enough to show that the sleeper's clock runs.
    fn shows_running(self) -> bool {
        !self.is_contradicted() && self.monotonic_ns > 2.0 * MAX_STEPS_NS
    }
}

/// One call and time, and what was got so far.
struct SleepSamples {
    way: SleepMethod,
    requested_ns: u64,
    got_ns: Vec<f64>,
    early: u64,
    /// Sleeps that the clock did not measure.
    left_out: u64,
    failure_reason: Option<Unknown>,
}

/// Returns why a call did not sleep, as records have it.
fn not_slept(error: &SleepError) -> ClockReason {
    match error {
        SleepError::Whole(unit) => ClockReason::NotApplicable { words: format!("it takes whole {unit} only").into() },
        SleepError::System { call, error } => call_refused(call, *error),
        _ => ClockReason::Missing { words: "clockscope does not know this call on this system".to_owned() },
    }
}

/// Sleeps in all ways, in turn, so that a drift of the machine's speed hits all alike. Pins the
/// calling thread meanwhile.
///
/// # Errors
/// The CPU cannot be used, or no clock answers that measures time.
/// Or the process has more than one thread: clocks are first tried in a forked child.
pub fn sleep<P: Platform>(
    session: &Session<'_, P>,
    request: &SleepRequest,
    progress: &mut Progress<'_>,
) -> Result<Envelope<Sleep>, MeasureError> {
    let SleepRequest { duration_s, cpu, calls, requested_ns } = request;
    let (duration_s, cpu) = (*duration_s, *cpu);
    let lengths_ns = if requested_ns.is_empty() { &REQUESTED_NS[..] } else { requested_ns };
    let platform = session.platform;
    let setup = Setup::new(session, Catalog::counters(platform), cpu)?;
    let clock = SleepersClock::find(&setup)?;
    let sampling = setup.bench.calibrate();
    let mut ways = ways(platform);
    ways.retain(|way| calls.is_empty() || calls.contains(&way.name()));
    let sleeper = platform.sleeper();
    let (mut rows, mut last) = (Vec::new(), None);
    let duration_ns = duration_s * 1e9;
    let (mut tried, mut late_ns) = (0, USUAL_LATENESS_NS);
    for (requested_ns, share_ns) in shares(lengths_ns, duration_ns, ways.len()) {
        let (began_ns, began) = (sampling.elapsed_ns(), setup.bench.timer.now());
        // Sleeps may be later than usual: a kernel may wake sleepers by its timer tick.
        if tried > 0 && began_ns + least_ns(requested_ns, ways.len(), late_ns) > duration_ns {
            break;
        }
        tried += 1;
        let mut together: Vec<SleepSamples> = ways.iter().map(|way| SleepSamples::new(*way, requested_ns)).collect();
        let each_ns = ways.len() as f64 * (requested_ns as f64 + USUAL_LATENESS_NS);
        let sleeps = (share_ns / each_ns).clamp(SLEEPS.0, SLEEPS.1) as u64;
        for done in 0..sleeps {
            // By two clocks: one of them may stand still.
            let passed_ns = (sampling.elapsed_ns() - began_ns).max(setup.bench.ns_since(began));
            let is_over = passed_ns > share_ns;
            if is_over && done >= SLEEPS.0 as u64 {
                break;
            }
            for row in together.iter_mut().filter(|row| row.failure_reason.is_none()) {
                if setup.bench.is_stopped() {
                    break;
                }
                row.sleep(&setup.bench, &sleeper, &clock, &mut last);
            }
            progress((sampling.elapsed_ns() / duration_ns).min(1.0));
        }
        late_ns = late_ns.max(together.iter().filter_map(SleepSamples::mean_late_ns).fold(0.0, f64::max));
        rows.extend(together);
    }
    let timer_slack_ns = Figure::of(platform.timer_slack_ns(), "the system does not show it");
    // By call, then by time: as a reader looks for it.
    rows.sort_by_key(|row| ways.iter().position(|way| *way == row.way));
    let rows = rows.into_iter().map(|sample| sample.record(clock.monotonic.is_some())).collect();
    let found = Sleep { clock: clock.name, timer_slack_ns, rows, untried_ns: lengths_ns[tried..].to_vec() };
    Ok(setup.answer((duration_s, &sampling), None, found))
}

impl SleepSamples {
    fn new(way: SleepMethod, requested_ns: u64) -> Self {
        Self { way, requested_ns, got_ns: Vec::new(), early: 0, left_out: 0, failure_reason: None }
    }

    /// Sleeps once. `last` is the last moment at which the clock was right.
    fn sleep<P: Platform>(
        &mut self,
        bench: &Bench<'_, P>,
        sleeper: &P::Sleeper,
        clock: &SleepersClock<P>,
        last: &mut Option<Moment>,
    ) {
        if clock.monotonic.is_none() && self.way == SleepMethod::Call(Call::ClockNanosleepAbsolute) {
            // It sleeps until a moment of a clock that cannot be read.
            self.failure_reason = Some(texts::SLEEPERS_CLOCK_UNREADABLE.into());
            return;
        }
        // The timer is read next to the clock, inside; the reference outside.
        let (reference_ns, monotonic_ns, timer) = (read(&bench.reference), clock.now(), bench.timer.now());
        let before = monotonic_ns.map(|monotonic_ns| Moment { monotonic_ns, timer, reference_ns });
        let slept = match self.way {
            SleepMethod::Call(call) => sleeper.sleep(call, self.requested_ns, monotonic_ns.unwrap_or(0)),
            SleepMethod::Spin => {
                bench.platform.spin(self.requested_ns);
                Ok(())
            }
        };
        let (timer, monotonic_ns, reference_ns) = (bench.timer.now(), clock.now(), read(&bench.reference));
        let after = monotonic_ns.map(|monotonic_ns| Moment { monotonic_ns, timer, reference_ns });
        if let Err(error) = slept {
            self.failure_reason = Some(not_slept(&error).into());
            return;
        }
        // A signal ends a sleep early, and rightly so.
        if bench.is_stopped() {
            return;
        }
        let Some((before, after)) = before.zip(after) else {
            self.left_out += 1;
            return;
        };
        let got = before.until(after, bench);
        let was_right = last.is_none_or(|last| !last.until(before, bench).is_contradicted());
        if got.shows_running() || was_right && !got.is_contradicted() {
            *last = Some(after);
        }
        let tolerance_ns = self.tolerance_ns(bench.platform);
        let is_short = got.monotonic_ns + tolerance_ns < self.requested_ns as f64;
        // What is held against a call has to be seen by a second clock.
        let is_early = is_short && got.is_shorter_than(self.requested_ns as f64);
        // A clock that did not move has measured nothing.
        let has_stopped = is_early && got.monotonic_ns <= 0.0;
        if !was_right || has_stopped || got.is_contradicted() || is_short && !is_early && !got.is_agreed() {
            self.left_out += 1;
        } else {
            self.take(got.monotonic_ns, is_early);
        }
    }

    /// The mean of what its sleeps took more than they were asked for, in ns.
    fn mean_late_ns(&self) -> Option<f64> {
        let mean_ns = self.got_ns.iter().sum::<f64>() / self.got_ns.len() as f64;
        (!self.got_ns.is_empty()).then_some(mean_ns - self.requested_ns as f64)
    }

    fn take(&mut self, got_ns: f64, is_early: bool) {
        self.got_ns.push(got_ns);
        self.early += u64::from(is_early);
    }

    /// Our own clock may differ from the kernel's by its error, at both ends.
    fn tolerance_ns(&self, platform: &impl Sleeps) -> f64 {
        match self.way {
            SleepMethod::Call(_) => 0.0,
            SleepMethod::Spin => platform.spin_error_ns() as f64,
        }
    }

    fn left_out_reason(&self) -> Unknown {
        let left_out = self.left_out;
        format!("{left_out} sleeps are left out: the clock refused, stood still, went back or jumped meanwhile").into()
    }

    fn record(mut self, is_monotonic: bool) -> SleepRow {
        self.got_ns.sort_by(f64::total_cmp);
        let got = self.got_ns.as_slice();
        let left_out = (self.left_out > 0).then(|| self.left_out_reason());
        let never: Unknown = match (&self.failure_reason, &left_out) {
            (Some(reason), _) => reason.clone(),
            (None, Some(left_out)) => Unknown::clone(left_out),
            (None, None) => texts::INTERRUPTED.into(),
        };
        let slept = if got.is_empty() { Err(never.clone()) } else { Ok(()) };
        let unreadable = texts::SLEEPERS_CLOCK_UNREADABLE.into();
        let [min_ns, p50_ns, max_ns] =
            [got.first().copied(), quantile(got, 0.5), got.last().copied()].map(|ns| Figure::of(ns, never.clone()));
        let p99_ns = if got.len() >= 100 { quantile(got, 0.99) } else { None };
        SleepRow {
            call: self.way.name(),
            requested_ns: self.requested_ns,
            sleeps: got.len() as u64,
            early: slept.clone().and(is_monotonic.then_some(self.early).ok_or(unreadable)).into(),
            min_ns,
            p50_ns,
            p99_ns: slept.and(p99_ns.ok_or("fewer than 100 sleeps".into())).into(),
            max_ns,
            reason: self.failure_reason.or(left_out),
            left_out: Some(self.left_out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_is_what_two_clocks_show_to_be_shorter_than_requested() {
        let mut row = SleepSamples::new(SleepMethod::Call(Call::ThreadSleep), 1000);
        for (got, is_early) in [(999.0, true), (1000.0, false), (1500.0, false), (900.0, false), (899.0, true)] {
            row.take(got, is_early);
        }
        let record = row.record(true);
        assert_eq!((record.early.get(), record.sleeps), (Some(2), 5));
        let figures = [record.min_ns, record.p50_ns, record.p99_ns, record.max_ns].map(|figure| figure.get());
        assert_eq!(figures, [Some(899.0), Some(999.0), None, Some(1500.0)]);
        let passed = |monotonic_ns, timer_ns, reference_ns| Passed { monotonic_ns, timer_ns, reference_ns };
        assert!(passed(9e4, 9.1e4, 1.2e5).is_shorter_than(1e5) && !passed(9e4, 1e5, 1e5).is_shorter_than(1e5));
        // The timer or the reference may be the one that is wrong.
        assert!(passed(0.0, 1e5, 1e5).is_contradicted() && !passed(1e5, 9e9, 1e5).is_contradicted());
        assert!(passed(-1e9, 1e5, 1e5).is_contradicted() && !passed(1e5, 1e5, 0.0).is_contradicted());
        assert!(!passed(8.6e7, 1e8, 1e8).is_agreed() && passed(9.99e7, 1e8, 0.0).is_agreed());
    }

    #[test]
    fn lengths_that_do_not_fit_are_left_out() {
        let lengths = |duration_ns: f64| {
            shares(&REQUESTED_NS, duration_ns, 7).iter().map(|(requested_ns, _)| *requested_ns).collect::<Vec<_>>()
        };
        assert_eq!(lengths(6e9), REQUESTED_NS);
        assert_eq!(lengths(5e8), REQUESTED_NS[..5]);
        assert_eq!(lengths(2e7), REQUESTED_NS[..3]);
        assert_eq!(lengths(1.0), REQUESTED_NS[..1]);
        for duration_ns in [2e7, 5e8, 6e9] {
            let sum: f64 = shares(&REQUESTED_NS, duration_ns, 7).iter().map(|(_, ns)| ns).sum();
            assert!((sum / duration_ns - 1.0).abs() < 1e-9, "{sum} of {duration_ns}");
        }
    }

    #[test]
    fn what_never_slept_was_not_never_early() {
        let mut row = SleepSamples::new(SleepMethod::Spin, 1000);
        let reason = Unknown::from(not_slept(&SleepError::Whole("milliseconds")));
        assert_eq!(reason.to_string(), "it takes whole milliseconds only");
        row.failure_reason = Some(reason.clone());
        let record = row.record(true);
        assert_eq!((record.early.reason(), record.max_ns.reason()), (Some(&reason), Some(&reason)));
        assert_eq!(record.reason, Some(reason));
        // Against another clock a sleep may seem too short because that one is slower.
        let mut row = SleepSamples::new(SleepMethod::Call(Call::Nanosleep), 1000);
        row.take(999.0, true);
        let record = row.record(false);
        assert_eq!(record.early, Figure::unknown(texts::SLEEPERS_CLOCK_UNREADABLE));
    }
}
