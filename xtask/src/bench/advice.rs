//! Test that the reading errors of `advise` and of the first screen are those of intervals that a
//! program in C measures, which shares no code with the instrument.

use anyhow::{Context, Result, bail};

use super::{CPU, PROGRAM, compile, figure, median};
use crate::run;

const ERRORS: &str = "bench-errors";
/// Intervals around a spin, in ns, and how many of each are measured.
const SPINS: [(u64, u32); 9] = [
    (100, 1000),
    (1_000, 1000),
    (10_000, 1000),
    (50_000, 1000),
    (100_000, 1000),
    (1_000_000, 1000),
    (10_000_000, 1000),
    (100_000_000, 100),
    (1_000_000_000, 100),
];
/// Other work: its name in `advise`, in C, the bytes or ns of it, and how often it is measured.
const OTHERS: [(&str, &str, u64, u32); 4] = [
    ("touch-32k", "touch", 32 << 10, 1000),
    ("touch-256k", "touch", 256 << 10, 1000),
    ("touch-4m", "touch", 4 << 20, 1000),
    ("sleep", "sleep", 10_000_000, 300),
];
/// The interval that advice is asked for with other work, in ns.
const OTHERS_NS: u64 = 1_000_000;

/// Advice, and what C then found in each round.
#[derive(Default)]
struct Found {
    within: u32,
    all: u32,
    ratios: Vec<f64>,
    clocks: Vec<String>,
}

/// Asks and measures in so many rounds, alternating.
pub(crate) fn measure(rounds: u32) -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    compile("errors.c", ERRORS)?;
    first_screen(rounds)?;
    for (ns, count) in SPINS {
        compare(&format!("a spin of {ns} ns"), rounds, ns, "spin", ("spin", ns, count))?;
    }
    for (after, work, amount, count) in OTHERS {
        compare(after, rounds, OTHERS_NS, after, (work, amount, count))?;
    }
    Ok(())
}

/// Compares the stated error of such an interval after this work with those that C finds.
fn compare(what: &str, rounds: u32, ns: u64, after: &str, (work, amount, count): (&str, u64, u32)) -> Result<()> {
    let mut found = Found::default();
    for _ in 0..rounds {
        let interval = format!("{ns}ns");
        let words = ["advise", "--quiet", "--json", "--cpu", &CPU, "--interval", &interval, "--after", after];
        let advice = run::document(&run::built(PROGRAM), &words)?;
        let row = &advice["rows"][0];
        let clock = row["clock"].as_str().context("no clock is advised")?;
        let stated_ns = row["reading_error"].as_f64().context("no error is stated")? * ns as f64;
        if !is_of_library(clock) {
            found.push(clock, stated_ns, &errors(clock, work, amount, count)?)?;
        }
    }
    found.show(&format!("after {what}"));
    Ok(())
}

/// Compares the shortest interval of the first screen, of which the error is 1 %.
fn first_screen(rounds: u32) -> Result<()> {
    let mut found = Found::default();
    for _ in 0..rounds {
        let screen = run::document(&run::built(PROGRAM), &["--quiet", "--json", "--cpu", &CPU])?;
        let advice = &screen["advice"];
        let clock = advice["clock"].as_str().context("no clock is recommended")?;
        let ns = advice["interval_ns"].as_f64().context("no interval is stated")?;
        if !is_of_library(clock) {
            found.push(clock, ns * 0.01, &errors(clock, "spin", ns as u64, 1000)?)?;
        }
    }
    found.show("the first screen's shortest interval");
    Ok(())
}

/// Returns whether a clock is one of the library's, which C alone does not have.
fn is_of_library(clock: &str) -> bool {
    let is_of_library = clock.starts_with("clockscope.");
    if is_of_library {
        println!("  {clock} is advised, which C does not have: this round has no figure");
    }
    is_of_library
}

/// Measures so many intervals in C; returns their errors in ns, in ascending order.
fn errors(clock: &str, work: &str, amount: u64, count: u32) -> Result<Vec<f64>> {
    let (amount, count) = (amount.to_string(), count.to_string());
    let program = run::built(ERRORS);
    let said = run::output("taskset", &["-c", &CPU, &program, clock, work, &amount, &count])?;
    let mut errors = said.lines().map(|line| Ok(line.parse::<f64>()?.abs())).collect::<Result<Vec<_>>>()?;
    errors.sort_by(f64::total_cmp);
    Ok(errors)
}

impl Found {
    fn push(&mut self, clock: &str, stated_ns: f64, errors: &[f64]) -> Result<()> {
        let Some(p99) = errors.get((errors.len() * 99).div_ceil(100).max(1) - 1) else {
            bail!("C measured nothing by {clock}")
        };
        self.within += errors.iter().filter(|error| **error <= stated_ns).count() as u32;
        self.all += errors.len() as u32;
        self.ratios.push(stated_ns / p99);
        self.clocks.push(format!("{clock} {stated_ns:.0} ns"));
        Ok(())
    }

    fn show(mut self, what: &str) {
        if self.all == 0 {
            return;
        }
        let share = f64::from(self.within) / f64::from(self.all) * 100.0;
        figure(
            &format!("{what}: within the stated error"),
            "98 to 100 %",
            &format!("{share:.1} % ({})", self.clocks.join(", ")),
        );
        figure(
            &format!("{what}: stated error / 99th percentile"),
            "<= 1.5",
            &format!("{:.2}", median(&mut self.ratios)),
        );
    }
}
