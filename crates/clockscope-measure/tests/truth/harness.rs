//! Asks questions of many machines, and says how to ask one of them again.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use clockscope_measure::Session;

use crate::platform::Simulated;

/// Machines of a test in the release check: of this number each share and each kind is known.
const FULL_MACHINES: u64 = 50;
/// Machines of a test in the quick tier.
const QUICK_MACHINES: u64 = 3;
/// The variable that says how many machines a test asks.
const MACHINES: &str = "CLOCKSCOPE_MACHINES";

/// Share of cases in which what need not always be right was right: intervals of 95 %, events that
/// are found nine times of ten.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    satisfied: u64,
    all: u64,
    /// The machines of which it was not.
    not_of: Vec<u64>,
}

thread_local! {
    /// The machine that is being asked, and the test that asks.
    static SEED: Cell<u64> = const { Cell::new(0) };
    static TEST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Message with which a simulation panics, before its trace, that goes on beyond its end.
const OVER: &str = "the simulated time is over";

/// The command that asks one machine again.
fn command(test: &str, seed: impl Display) -> String {
    let long = number(LONG).map_or_else(String::new, |one_in| format!("{LONG}={one_in} "));
    format!("{long}CLOCKSCOPE_SEED={seed} cargo test -p clockscope-measure --test truth {test}")
}

/// The variable that says one in how many busy machines is asked for long.
const LONG: &str = "CLOCKSCOPE_LONG";

/// One in how many busy machines is asked for 60 ms to 3 s: that is one in twenty of all.
pub(crate) fn long_one_in() -> u64 {
    number(LONG).unwrap_or(12).max(1)
}

impl Coverage {
    /// It was or was not.
    pub(crate) fn count(&mut self, holds: bool) {
        self.all += 1;
        self.satisfied += u64::from(holds);
        if !holds {
            self.not_of.push(SEED.get());
        }
    }

    /// At least this share did, but for chance, of at least one for each number of `machines`.
    pub(crate) fn check_nominal(&self, nominal: f64, machines: u64) {
        let deviation = (nominal * (1.0 - nominal) / self.all.max(1) as f64).sqrt();
        self.check(nominal - 3.0 * deviation, machines);
    }

    /// At least this share did, of at least one for each number of `machines`.
    pub(crate) fn check(&self, least: f64, machines: u64) {
        // Of few machines no share can be known.
        if !are_many() {
            return;
        }
        let repeat = TEST.with_borrow(|test| command(test, "N"));
        assert!(self.all >= machine_count() / machines, "only {} were counted", self.all);
        let share = self.satisfied as f64 / self.all as f64;
        // A single one is no share: one of ten is less than nine of ten.
        let is_one = self.satisfied + 1 == self.all;
        assert!(
            is_one || share >= least,
            "{} of {} were right: {:.1} %, not those of seeds {:?}; to ask of one:\n{repeat}",
            self.satisfied,
            self.all,
            share * 100.0,
            self.not_of
        );
    }
}

/// Asks `question` of random machines, which are made by `make` from their seeds.
/// `CLOCKSCOPE_MACHINES` says of how many (`full`: fifty), `CLOCKSCOPE_SEED` of
/// which one alone.
///
/// # Panics
/// Where the question panics, or goes on beyond its time: with the seed and what the first such
/// machine did, and with all such seeds.
pub(crate) fn on_machines(
    test: &str,
    make: impl Fn(u64) -> Simulated,
    mut question: impl FnMut(&Session<'_, Simulated>, u64),
) {
    // All machines are asked also where one is answered wrongly: one run lists every error. Where
    // one does not answer, it is the last: each would take its time.
    let mut wrong: Vec<(u64, String)> = Vec::new();
    for seed in seeds() {
        if let Err(why) = ask_one(test, seed, &make(seed), &mut question) {
            let is_over = why.starts_with(OVER);
            wrong.push((seed, why));
            if is_over {
                break;
            }
        }
    }
    if let Some((_, why)) = wrong.first() {
        let each: String = wrong
            .iter()
            .map(|(seed, why)| format!("\nseed {seed}: {}", why.lines().next().unwrap_or_default()))
            .collect();
        panic!("{why}\n\n{} of the machines are answered wrongly:{each}", wrong.len());
    }
}

/// Returns true if enough machines are asked that each kind of them is among these.
pub(crate) fn are_many() -> bool {
    number("CLOCKSCOPE_SEED").is_none() && machine_count() >= FULL_MACHINES
}

/// The seeds of the machines that a test asks.
pub(crate) fn seeds() -> Range<u64> {
    number("CLOCKSCOPE_SEED").map_or_else(|| 0..machine_count(), |seed| seed..seed + 1)
}

/// Machines of a test: few, unless `CLOCKSCOPE_MACHINES` is `full` or a number.
fn machine_count() -> u64 {
    match std::env::var(MACHINES) {
        Ok(all) if all == "full" => FULL_MACHINES,
        Ok(number) => number.parse().unwrap_or_else(|_| panic!("{MACHINES}={number}: expected a number, or full")),
        Err(_) => QUICK_MACHINES,
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

/// Asks one machine; its signal asks to stop.
///
/// # Panics
/// As above.
pub(crate) fn on_one(
    test: &str,
    seed: u64,
    platform: &Simulated,
    question: &mut impl FnMut(&Session<'_, Simulated>, u64),
) {
    if let Err(why) = ask_one(test, seed, platform, question) {
        panic!("{why}");
    }
}

/// Asks of one machine; the error says what was wrong, what the machine did and how to ask it
/// again.
fn ask_one(
    test: &str,
    seed: u64,
    platform: &Simulated,
    question: &mut impl FnMut(&Session<'_, Simulated>, u64),
) -> Result<(), String> {
    SEED.set(seed);
    TEST.with_borrow_mut(|current| test.clone_into(current));
    let never = AtomicBool::new(false);
    let stop = platform.signal.as_ref().map_or(&never, |signal| &signal.stop);
    catch_unwind(AssertUnwindSafe(|| question(&Session::new(platform, stop), seed))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let why = text.unwrap_or("it panicked");
        // The trace follows in any case.
        let why = if why.contains(OVER) { OVER } else { why };
        format!(
            "{why}\n\n{:#?}\n\n{}\n\nto repeat it:\n{}",
            platform.machine,
            platform.machine.cpus.trace(),
            command(test, seed)
        )
    })
}
