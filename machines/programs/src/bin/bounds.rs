//! Watches `utc_now()` and `bounded::now()` on a machine whose true time is known, and prints what
//! it saw as one JSON object.
//!
//! `bounds OFFSET_MS SECONDS [COMMAND...]`: the true time is that much ahead of CLOCK_REALTIME when
//! the program starts, and goes on as CLOCK_MONOTONIC_RAW does, whatever is done to the clock
//! meanwhile. The command is run once that is known; what it prints becomes `command`.
//! `bounds leap SECONDS`: the clock is right, and a second is inserted at the next midnight. It is
//! made for emulated machines (machines/bounds.sh): elsewhere nobody knows the true time.

#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use std::collections::BTreeMap;
use std::error::Error;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use clockscope::{Interval, Leap, Unbounded, WallState, WallTime, bounded, tai_now, utc_now};
use clockscope_system::RawClock;
use clockscope_system::os::{self, Reference};

const SECOND_NS: i128 = 1_000_000_000;
const DAY_NS: i128 = 86_400 * SECOND_NS;

/// The true time, as Unix time would be without leap seconds, and where the next one begins.
struct Truth {
    clock: Reference,
    began: u64,
    began_unix_ns: i128,
    leap_ns: Option<i128>,
    /// Lead of TAI.
    tai_offset_ns: Option<i128>,
}

/// Count of each answer, and of the times that the true time was in it; and for TAI.
#[derive(Default)]
struct Seen {
    answers: BTreeMap<&'static str, [u64; 2]>,
    tai: [u64; 2],
    /// The same of `bounded::now()`: those with ends, and by the state those without.
    bounded: [u64; 2],
    unbounded: BTreeMap<String, u64>,
    /// Number of readings while the inserted second was running.
    in_leap: u64,
    /// Number of readings at which `bounded::now()` said that it is near.
    in_leap_state: u64,
    /// The widest interval that was trusted, in ns.
    widest_ns: u128,
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: bounds OFFSET_MS|leap SECONDS [COMMAND...]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [offset, seconds, command @ ..] = arguments.as_slice() else { return Err(usage.into()) };
    let seconds: f64 = seconds.parse().map_err(|_| usage)?;
    let is_leap = offset == "leap";
    let offset_ms: i128 = if is_leap { 0 } else { offset.parse().map_err(|_| usage)? };
    let truth = Truth::now(offset_ms * 1_000_000, is_leap)?;
    let mut seen = Seen::default();
    seen.watch(&truth, BEFORE_NS)?;
    let child = started(command)?;
    seen.watch(&truth, BEFORE_NS + (seconds * 1e9) as i128)?;
    println!("{}", seen.json(&printed(child)?));
    Ok(())
}

/// Time for which the clock is watched before the command runs, in ns.
const BEFORE_NS: i128 = 500_000_000;

fn started(command: &[String]) -> Result<Option<Child>, Box<dyn Error>> {
    let [program, arguments @ ..] = command else { return Ok(None) };
    Ok(Some(Command::new(program).args(arguments).stdout(Stdio::piped()).spawn()?))
}

/// Output of the command. Waits for its end.
fn printed(child: Option<Child>) -> Result<String, Box<dyn Error>> {
    let Some(child) = child else { return Ok(String::new()) };
    let output = child.wait_with_output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Truth {
    fn now(offset_ns: i128, is_leap: bool) -> Result<Self, Box<dyn Error>> {
        let clock = os::references().into_iter().next().ok_or("no clock goes on undisturbed")?;
        let real_ns = unix_ns(SystemTime::now().try_into()?);
        let began = read(&clock)?;
        let leap_ns = is_leap.then(|| (real_ns.div_euclid(DAY_NS) + 1) * DAY_NS);
        let began_unix_ns = real_ns + offset_ns;
        let tai_offset_ns = tai_ns().map(|tai| tai - began_unix_ns);
        Ok(Self { clock, began, began_unix_ns, leap_ns, tai_offset_ns })
    }

    fn elapsed_ns(&self) -> Result<i128, Box<dyn Error>> {
        Ok(i128::from(read(&self.clock)? - self.began))
    }

    /// Values that Unix time may have, that long after the beginning: two during an inserted
    /// second.
    fn unix_ns(&self, elapsed_ns: i128) -> [i128; 2] {
        let uniform = self.began_unix_ns + elapsed_ns;
        match self.leap_ns {
            Some(leap) if uniform >= leap + SECOND_NS => [uniform - SECOND_NS; 2],
            Some(leap) if uniform >= leap => [uniform - SECOND_NS, uniform],
            _ => [uniform; 2],
        }
    }
}

/// Readings of `bounded::now()` in a row.
const AT_ONCE: u32 = 300;

/// The middle of what TAI may be now, in ns since its epoch.
fn tai_ns() -> Option<i128> {
    tai_now().ok().map(|tai| (unix_ns(tai.earliest) + unix_ns(tai.latest)) / 2)
}

fn named(utc: &Result<Interval, Unbounded>) -> (&'static str, Option<&Interval>) {
    match utc {
        Ok(bounded) if bounded.state == WallState::Synchronized => ("synchronized", Some(bounded)),
        Ok(bounded) => ("while_not_slewing", Some(bounded)),
        Err(Unbounded::Slewing { interval, .. }) => ("slewing", Some(interval)),
        Err(Unbounded::Worthless(interval)) => ("worthless", Some(interval)),
        Err(Unbounded::Unsynchronized(_)) => ("unsynchronized", None),
        Err(_) => ("failed", None),
    }
}

impl Seen {
    /// Asks until the true time has gone on by `until_ns` since its beginning.
    fn watch(&mut self, truth: &Truth, until_ns: i128) -> Result<(), Box<dyn Error>> {
        loop {
            let before = truth.elapsed_ns()?;
            if before >= until_ns {
                return Ok(());
            }
            let utc = utc_now();
            let after = truth.elapsed_ns()?;
            // Between these the answer is about some moment: both must be possible.
            let is_inside = |bounded: &Interval| {
                let took_ns = after - before;
                let (earliest, latest) = (unix_ns(bounded.earliest) - took_ns, unix_ns(bounded.latest) + took_ns);
                truth.unix_ns(before).iter().all(|truth| (earliest..=latest).contains(truth))
            };
            let (name, bounded) = named(&utc);
            self.answers.entry(name).or_default()[usize::from(bounded.is_some_and(is_inside))] += 1;
            if let Ok(utc) = utc {
                self.in_leap += u64::from(utc.leap == Some(Leap::InProgress));
                self.widest_ns = self.widest_ns.max(utc.width().as_nanos());
            }
            self.count_tai(truth, after)?;
            // Often enough for the counter to serve it, and pauses in which others run.
            for _ in 0..AT_ONCE {
                self.count(truth, bounded::now)?;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Counts an answer of `tai_now()`, which is asked `after` ns.
    fn count_tai(&mut self, truth: &Truth, after: i128) -> Result<(), Box<dyn Error>> {
        let (Ok(tai), Some(offset)) = (tai_now(), truth.tai_offset_ns) else { return Ok(()) };
        let elapsed = truth.elapsed_ns()?;
        let expected = truth.began_unix_ns + elapsed + offset;
        let slack = (elapsed - after).max(1_000_000);
        let is_inside = unix_ns(tai.earliest) - slack <= expected && expected <= unix_ns(tai.latest) + slack;
        self.tai[usize::from(is_inside)] += 1;
        Ok(())
    }

    /// Counts an answer of `bounded::now()`.
    fn count(&mut self, truth: &Truth, now: impl FnOnce() -> Interval) -> Result<(), Box<dyn Error>> {
        let before = truth.elapsed_ns()?;
        let Interval { earliest, latest, state, .. } = now();
        let after = truth.elapsed_ns()?;
        if !state.is_bounded() {
            *self.unbounded.entry(format!("{state:?}")).or_default() += 1;
            return Ok(());
        }
        let took_ns = after - before;
        let (earliest, latest) = (unix_ns(earliest) - took_ns, unix_ns(latest) + took_ns);
        let mut truths = truth.unix_ns(before).into_iter();
        // Far from the inserted second both are one.
        let is_inside = truths.all(|truth| (earliest..=latest).contains(&truth));
        self.bounded[usize::from(is_inside)] += 1;
        self.in_leap_state += u64::from(state == WallState::LeapSecond);
        Ok(())
    }

    fn json(&self, command: &str) -> String {
        let answers = self
            .answers
            .iter()
            .map(|(name, [out, inside])| format!("\"{name}\": {{\"inside\": {inside}, \"outside\": {out}}}"));
        let answers: Vec<String> = answers.collect();
        let [out, inside] = self.tai;
        let [bounded_out, bounded_in] = self.bounded;
        let unbounded: Vec<String> =
            self.unbounded.iter().map(|(state, times)| format!("\"{state}\": {times}")).collect();
        format!(
            "{{{}, \"tai\": {{\"inside\": {inside}, \"outside\": {out}}}, \
             \"bounded\": {{\"inside\": {bounded_in}, \"outside\": {bounded_out}}}, \"unbounded\": {{{}}}, \
             \"leap_states\": {}, \"in_leap\": {}, \"widest_ns\": {}, \"command\": {command:?}}}",
            answers.join(", "),
            unbounded.join(", "),
            self.in_leap_state,
            self.in_leap,
            self.widest_ns
        )
    }
}

fn unix_ns(time: WallTime) -> i128 {
    time.as_unix_ns().into()
}

fn read(clock: &Reference) -> Result<u64, Box<dyn Error>> {
    let mut raw = Default::default();
    clock.read(&mut raw).map_err(|errno| format!("the reference refused: {errno}"))?;
    Ok(clock.value(&raw))
}
