//! The cost of a read in Rust, C and Python, beside the OS clock of the language.

use anyhow::Result;

use super::super::{Values, figure, median, value};
use super::programs::{pinned, pinned_command};
use crate::python::Environment;
use crate::run;

/// Processes of each language, in turn.
const ROUNDS: usize = 10;
/// Batches in one of them: after fewer, the library has not settled.
const BATCHES: &str = "4000";

/// A kind of read: language, name in the program's output, and name in the figure.
const KINDS: &[(usize, &str, &str)] = &[
    (RUST, "rdtsc", "Rust: RDTSC"),
    (RUST, "converted_rdtsc", "Rust: RDTSC and a conversion"),
    (RUST, "now_unordered", "Rust: now_unordered()"),
    (RUST, "now", "Rust: now()"),
    (RUST, "std", "Rust: std::time::Instant::now()"),
    (C, "rdtsc", "C: clockscope_ticks_unordered()"),
    (C, "converted_rdtsc", "C: clockscope_ticks_unordered(), clockscope_ticks_to_ns()"),
    (C, "now_unordered", "C: clockscope_now_unordered()"),
    (C, "now", "C: clockscope_now()"),
    (C, "os", "C: clock_gettime(CLOCK_MONOTONIC)"),
    (PYTHON, "stamp", "Python: now() of stamps.counter()"),
    (PYTHON, "now_unordered_ns", "Python: now_unordered_ns()"),
    (PYTHON, "now_ns", "Python: now_ns()"),
    (PYTHON, "os", "Python: time.monotonic_ns()"),
];

const RUST: usize = 0;
const C: usize = 1;
const PYTHON: usize = 2;

/// Measures all languages in turn, and prints the medians.
pub(super) fn measure() -> Result<()> {
    let c = c_program()?;
    let python = Environment::with_release()?.python;
    let mut runs: [Vec<Values>; 3] = Default::default();
    for _ in 0..ROUNDS {
        runs[RUST].push(pinned("cost", &[BATCHES])?);
        runs[C].push(pinned_command(&[&c, BATCHES])?);
        runs[PYTHON].push(pinned_command(&[&python, "bench/python/clocks.py", BATCHES])?);
    }
    for (language, name, label) in KINDS {
        let mut costs = runs[*language].iter().map(|run| value(run, name)).collect::<Result<Vec<_>>>()?;
        figure(label, "-", &format!("{:.1} ns", median(&mut costs)));
    }
    Ok(())
}

/// Builds the program in C with the library of this clone; returns its path.
fn c_program() -> Result<String> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-capi"])?;
    let (program, library) = (run::built("bench-clocks"), run::built("release/libclockscope_c.a"));
    let include = "-Icrates/clockscope-capi/include";
    run::with(&[], "cc", &["-O2", include, "-o", &program, "bench/c/clocks.c", &library, "-lm"])?;
    Ok(program)
}
