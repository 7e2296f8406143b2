//! Asks questions of many machines, and says how to ask one of them again.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use clockscope_measure::Session;

use crate::machine::Machine;
use crate::platform::Simulated;

/// Machines of a question where nothing else is said.
const MACHINES: u64 = 100;

/// How often intervals that claim 95 % held the truth.
#[derive(Debug, Default)]
pub struct Coverage {
    held: u64,
    all: u64,
}

impl Coverage {
    /// An interval did or did not.
    pub fn count(&mut self, holds: bool) {
        self.all += 1;
        self.held += u64::from(holds);
    }

    /// At least 93 % of at least so many did.
    pub fn check(&self, fewest: u64) {
        assert!(self.all >= fewest, "only {} intervals were told", self.all);
        let share = self.held as f64 / self.all as f64;
        assert!(share >= 0.93, "{} of {} intervals held the truth: {:.1} %", self.held, self.all, share * 100.0);
    }
}

/// Asks `question` of random machines, which are made by `make` from their seeds. `CLOCKSCOPE_MACHINES` says of how many,
/// `CLOCKSCOPE_SEED` of which one alone.
///
/// # Panics
/// With the seed and what the machine did, where the question panics.
pub fn on_machines(test: &str, make: impl Fn(u64) -> Machine, question: impl FnMut(&Session<'_, Simulated>, u64)) {
    on_platforms(test, |seed| Simulated::new(make(seed)), question);
}

/// The same of machines whose questions have to end by some time.
///
/// # Panics
/// As above, and where they do not.
pub fn on_platforms(
    test: &str,
    make: impl Fn(u64) -> Simulated,
    mut question: impl FnMut(&Session<'_, Simulated>, u64),
) {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let seeds = match number("CLOCKSCOPE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CLOCKSCOPE_MACHINES").unwrap_or(MACHINES),
    };
    for seed in seeds {
        on_platform(test, seed, make(seed), &mut question);
    }
}

/// The same of one machine.
///
/// # Panics
/// As above.
pub fn on_one(test: &str, seed: u64, machine: Machine, question: &mut impl FnMut(&Session<'_, Simulated>, u64)) {
    on_platform(test, seed, Simulated::new(machine), question);
}

/// The same of a machine whose questions have to end by some time.
///
/// # Panics
/// As above, and where they do not.
pub fn on_platform(
    test: &str,
    seed: u64,
    platform: Simulated,
    question: &mut impl FnMut(&Session<'_, Simulated>, u64),
) {
    let stop = AtomicBool::new(false);
    let asked = catch_unwind(AssertUnwindSafe(|| question(&Session::new(&platform, &stop), seed)));
    if let Err(panic) = asked {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let why: &dyn Display = &text.unwrap_or("it panicked");
        panic!(
            "{why}\n\n{:#?}\n\n{}\n\nto repeat it:\nCLOCKSCOPE_SEED={seed} cargo test -p clockscope-measure --test truth {test}",
            platform.machine,
            platform.machine.cpus.trace()
        );
    }
}
