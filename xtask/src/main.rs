//! The project's own chores: `cargo xtask test` is all that a change has to pass.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to the person who runs them")]

mod bench;
mod cross;
mod fast_path;
mod loom;
mod machines;
mod run;
mod runtimes;
mod structure;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask TASK

  test          all that a change has to pass: format, lints, structure, tests, documentation, other
                architectures, emulated machines
  loom          the clock's protocol in every interleaving of two threads
  fast-path     what a reading executes, by the machine code
  structure     who may depend on whom, and where unsafe code may be
  cross         checks for other architectures, and the instrument on an emulated aarch64
  machines [NAME...]  the instrument and the library in emulated machines: all clocksources, and clocks that change
  runtimes      all language runtimes that CI installs, measured and interrupted
  bench [build] the figures that the README promises, measured here
  bench across  order and offsets across CPUs, and rates (two minutes)
  bench steps   recording 10^8 reads, and the ticks of 30,000 simulated clocks (five minutes)
  bench runtimes  all language runtimes, and the C probe beside the instrument (four minutes)
  bench trust [RUNS]  whether a healthy machine is trusted every time (half an hour)
  bench library [PART...]  the library's figures, beside its peers' (all of it a quarter of an hour)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match task(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn task(arguments: &[&str]) -> Result<()> {
    std::env::set_current_dir(run::root())?;
    match arguments {
        ["test"] => test(),
        ["structure"] => structure::check(),
        ["loom"] => loom::check(),
        ["fast-path"] => fast_path::check(),
        ["cross"] => cross::check(),
        ["runtimes"] => runtimes::check(),
        ["machines", names @ ..] => machines::measure(names),
        ["bench"] => bench::measure(false),
        ["bench", "library", parts @ ..] => bench::library::measure(parts),
        ["bench", "across"] => bench::across::measure(),
        ["bench", "steps"] => bench::steps::measure(),
        ["bench", "runtimes"] => bench::runtimes::measure(),
        ["bench", "trust"] => bench::trust::measure("100"),
        ["bench", "trust", runs] => bench::trust::measure(runs),
        ["bench", "build"] => bench::measure(true),
        _ => bail!("{USAGE}"),
    }
}

/// One thing that a change has to pass.
type Step = (&'static str, fn() -> Result<()>);

/// Everything, stopping at the first failure.
fn test() -> Result<()> {
    let steps: [Step; 12] = [
        ("what is needed", needs),
        ("format", || run::cargo(&["fmt", "--all", "--check"])),
        ("lints", || run::cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])),
        ("structure", structure::check),
        ("tests", || run::cargo(&["test", "--workspace", "--quiet"])),
        ("tests with Parquet", || {
            run::cargo(&["test", "--package", "clockscope-report", "--features", "parquet", "--lib", "--quiet"])
        }),
        ("every interleaving", loom::check),
        ("fast path", fast_path::check),
        ("documentation", || {
            run::with(&[("RUSTDOCFLAGS", "--deny warnings")], "cargo", &["doc", "--workspace", "--no-deps", "--quiet"])
        }),
        ("language runtimes", runtimes::check),
        ("other architectures", cross::check),
        ("emulated machines", machines::check),
    ];
    for (name, step) in steps {
        println!("== {name}");
        let start = Instant::now();
        step()?;
        println!("== {name}: passed in {:.0} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// What the tests need beside Rust.
fn needs() -> Result<()> {
    if !run::exists("cc") {
        bail!("the tests compile small C libraries and found no `cc`: apt-get install gcc libc6-dev");
    }
    for component in ["rustfmt", "cargo-clippy"] {
        if !run::exists(component) {
            bail!("{component} is missing: rustup component add rustfmt clippy");
        }
    }
    Ok(())
}
