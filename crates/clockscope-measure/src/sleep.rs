//! The question *sleep*: what calls that sleep give for the time that they are asked for.

use std::sync::atomic::AtomicBool;

use clockscope_machine::sleeping::Call;
use clockscope_records::{Answer, Sleep, SleepRow, Unknown};
use clockscope_statistics::quantile;

use crate::bench::{Progress, Setup};
use crate::catalogue::{Catalogue, Paths, Row};
use crate::error::MeasureError;
use crate::platform::{Platform, Sleeps, Yardstick};
use crate::session::Session;
use crate::timer::read;

/// Times that are asked for, in ns.
const ASKED_NS: [u64; 6] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// What a short sleep takes more than it is asked for, in ns, roughly: for dividing the time.
const USUALLY_LATE_NS: f64 = 60e3;
/// Fewest and most sleeps of a call for one time.
const SLEEPS: (f64, f64) = (3.0, 1000.0);

/// What to test, and for how long.
#[derive(Clone, Debug)]
pub struct SleepRequest {
    /// Time for all calls together, in seconds; three sleeps of each are made at least, which takes 2.5 s.
    pub duration_s: f64,
    /// CPU to sleep on; `None` for the current one.
    pub cpu: Option<u32>,
}

/// Something that waits for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Call(Call),
    /// Reading our own clock until the time has come.
    Spin,
}

/// The clock that the calls sleep by, or another one where that cannot be read.
struct SleepersClock<P: Platform> {
    name: String,
    /// CLOCK_MONOTONIC by one of its paths.
    monotonic: Option<Row<P>>,
    otherwise: P::Reference,
}

impl<P: Platform> SleepersClock<P> {
    /// The first that answers: by a system call of our own, by the vDSO, by the C library.
    fn find(setup: &Setup<'_, P>) -> Result<Self, MeasureError> {
        let session = setup.session;
        let otherwise = setup.bench.reference.clone();
        let paths = ["monotonic:syscall", "monotonic:vdso", "monotonic"].map(str::to_owned);
        let mut found = None;
        for path in &paths {
            let all = Catalogue::new(session.platform);
            let Ok(named) = all.select(std::slice::from_ref(path), Paths::Libc) else { continue };
            found = named.tried(session)?.entries.into_iter().find(|row| row.sampler.is_ok());
            if found.is_some() {
                break;
            }
        }
        let name = found.as_ref().map_or_else(|| otherwise.name().to_owned(), |row| row.identity().label());
        Ok(Self { name, monotonic: found, otherwise })
    }

    /// ns since some moment.
    fn now(&self) -> u64 {
        match self.monotonic.as_ref().map(|row| &row.sampler) {
            Some(Ok(sampler)) => sampler.now().unwrap_or(0),
            _ => read(&self.otherwise),
        }
    }
}

/// Why nothing is said of early returns.
const UNREADABLE: &str = "CLOCK_MONOTONIC, by which the calls sleep, cannot be read";

/// One call and time, and what was got so far.
struct Trial {
    way: Way,
    asked_ns: u64,
    got_ns: Vec<f64>,
    early: u64,
    reason: Option<String>,
}

/// Sleeps in all ways, in turn, so that a drift of the machine's speed hits all alike. Pins the
/// calling thread meanwhile.
///
/// # Errors
/// The CPU cannot be used, or no clock answers that time could be told by.
/// Or the process has more than one thread: clocks are first tried in a forked child.
pub fn sleep<P: Platform>(
    session: &Session<'_, P>,
    request: &SleepRequest,
    progress: &mut Progress<'_>,
) -> Result<Answer<Sleep>, MeasureError> {
    let SleepRequest { duration_s, cpu } = *request;
    let platform = session.platform;
    let setup = Setup::new(session, Catalogue::counters(platform), cpu)?;
    let clock = SleepersClock::find(&setup)?;
    let sampling = setup.bench.calibrate();
    let ways: Vec<Way> = platform.sleeping_calls().iter().copied().map(Way::Call).chain([Way::Spin]).collect();
    let sleeper = platform.sleeper();
    let mut rows = Vec::new();
    for asked_ns in ASKED_NS {
        let mut together: Vec<Trial> = ways.iter().map(|way| Trial::new(*way, asked_ns)).collect();
        let share_ns = duration_s * 1e9 / ASKED_NS.len() as f64 / ways.len() as f64;
        let sleeps = (share_ns / (asked_ns as f64 + USUALLY_LATE_NS)).clamp(SLEEPS.0, SLEEPS.1) as u64;
        for _ in 0..sleeps {
            for row in together.iter_mut().filter(|row| row.reason.is_none()) {
                if setup.bench.is_stopped() {
                    break;
                }
                row.sleep(platform, &sleeper, &clock, session.stop);
            }
            progress((sampling.elapsed_ns() / (duration_s * 1e9)).min(1.0));
        }
        rows.extend(together);
    }
    let mut unknown = Unknown::new();
    let timer_slack_ns = platform.timer_slack_ns();
    if timer_slack_ns.is_none() {
        unknown.insert("timer_slack_ns".to_owned(), "the system does not tell".to_owned());
    }
    // By call, then by time: as a reader looks for it.
    rows.sort_by_key(|row| ways.iter().position(|way| *way == row.way));
    let rows = rows.into_iter().map(|trial| trial.record(clock.monotonic.is_some())).collect();
    let found = Sleep { clock: clock.name, timer_slack_ns, rows, unknown };
    Ok(setup.answer((duration_s, &sampling), None, found))
}

impl Trial {
    fn new(way: Way, asked_ns: u64) -> Self {
        Self { way, asked_ns, got_ns: Vec::new(), early: 0, reason: None }
    }

    /// Once.
    fn sleep<P: Platform>(&mut self, platform: &P, sleeper: &P::Sleeper, clock: &SleepersClock<P>, stop: &AtomicBool) {
        if clock.monotonic.is_none() && self.way == Way::Call(Call::ClockNanosleepAbsolute) {
            self.reason = Some(UNREADABLE.to_owned());
            return;
        }
        let before = clock.now();
        let slept = match self.way {
            Way::Call(call) => sleeper.sleep(call, self.asked_ns, before),
            Way::Spin => {
                platform.spin(self.asked_ns);
                Ok(())
            }
        };
        let got_ns = clock.now().wrapping_sub(before) as i64;
        match slept {
            // A signal ends a sleep early, and rightly so.
            Ok(()) if stop.load(std::sync::atomic::Ordering::Relaxed) => {}
            Ok(()) => self.take(got_ns, self.tolerance_ns(platform)),
            Err(reason) => self.reason = Some(reason),
        }
    }

    fn take(&mut self, got_ns: i64, tolerance_ns: i64) {
        self.got_ns.push(got_ns as f64);
        self.early += u64::from(got_ns.saturating_add(tolerance_ns) < self.asked_ns as i64);
    }

    /// Our own clock may differ from the kernel's by its error, at both ends.
    fn tolerance_ns(&self, platform: &impl Platform) -> i64 {
        match self.way {
            Way::Call(_) => 0,
            Way::Spin => platform.spin_error_ns() as i64,
        }
    }

    fn record(mut self, is_monotonic: bool) -> SleepRow {
        self.got_ns.sort_by(f64::total_cmp);
        let got = self.got_ns.as_slice();
        let has_slept = !got.is_empty();
        let mut unknown = Unknown::new();
        let never = self.reason.as_deref().unwrap_or("interrupted before its turn");
        if !has_slept {
            for field in ["early", "min_ns", "p50_ns", "max_ns"] {
                unknown.insert(field.to_owned(), never.to_owned());
            }
        }
        if has_slept && !is_monotonic {
            unknown.insert("early".to_owned(), UNREADABLE.to_owned());
        }
        let p99_ns = if got.len() >= 100 { quantile(got, 0.99) } else { None };
        if p99_ns.is_none() {
            let few = if has_slept { "fewer than 100 sleeps" } else { never };
            unknown.insert("p99_ns".to_owned(), few.to_owned());
        }
        SleepRow {
            call: match self.way {
                Way::Call(call) => call.name().to_owned(),
                Way::Spin => "spin_clockscope_now".to_owned(),
            },
            asked_ns: self.asked_ns,
            sleeps: got.len() as u64,
            early: (has_slept && is_monotonic).then_some(self.early),
            min_ns: got.first().copied(),
            p50_ns: quantile(got, 0.5),
            p99_ns,
            max_ns: got.last().copied(),
            reason: self.reason,
            unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_is_what_is_shorter_than_asked_for() {
        let mut row = Trial::new(Way::Call(Call::ThreadSleep), 1000);
        for (got, tolerance) in [(999, 0), (1000, 0), (1500, 0), (900, 100), (899, 100)] {
            row.take(got, tolerance);
        }
        let record = row.record(true);
        assert_eq!((record.early, record.sleeps, record.min_ns, record.p50_ns), (Some(2), 5, Some(899.0), Some(999.0)));
        assert_eq!((record.p99_ns, record.max_ns), (None, Some(1500.0)));
    }

    #[test]
    fn what_never_slept_was_not_never_early() {
        let mut row = Trial::new(Way::Spin, 1000);
        row.reason = Some("it takes whole milliseconds only".to_owned());
        let record = row.record(true);
        assert_eq!((record.early, record.max_ns), (None, None));
        // Against another clock a sleep may seem too short because that one is slower.
        let mut row = Trial::new(Way::Call(Call::Nanosleep), 1000);
        row.take(999, 0);
        let record = row.record(false);
        assert_eq!((record.early, record.unknown["early"].as_str()), (None, UNREADABLE));
        let mut row = Trial::new(Way::Spin, 1000);
        row.reason = Some("it takes whole milliseconds only".to_owned());
        let record = row.record(true);
        assert!(record.unknown["early"].contains("milliseconds"));
    }
}
