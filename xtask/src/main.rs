//! The project's own chores: `cargo xtask test` is all that a change has to pass.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to the person who runs them")]

mod bench;
mod browsers;
mod coverage;
mod cross;
mod dependencies;
mod dist;
mod fast_path;
mod fuzz;
mod install;
mod loom;
mod machines;
mod needs;
mod outcome;
mod package;
mod pictures;
mod platforms;
mod python;
mod quick;
mod run;
mod runtimes;
mod spelling;
mod structure;
mod tally;
mod test;

use std::process::ExitCode;

use anyhow::{Result, bail};

use tally::Tally;

const USAGE: &str = "usage: cargo xtask TASK

  test          everything that a change has to pass (25 minutes)
  test quick    format, lints, structure, packages, and the tests that run on any machine with Rust (2 minutes)
  coverage      which lines the tests reach, and which they do not
  fuzz [TARGET [RUNS]]  parsers with mutated input: each for 2 s, or one of them so many times
  loom          the clock's protocol in every interleaving of two threads
  fast-path     what a reading executes, by the machine code
  dependencies  licenses, sources and versions of other crates, by deny.toml (seconds)
  structure     which crates may depend on which, cycles between modules, where unsafe code may be, phrases to avoid
  spelling      the spelling of all files; needs typos (xtask/fetch-typos.sh)
  pictures [PROGRAM]  the README's pictures, of what the program prints on this machine (half a minute)
  package       packages every crate, checks what each published one holds and states, and builds it (a minute)
  dist [TARGET...]  archives of the command: built, run here, packed, with checksums and a bill of materials
  cross         checks for other architectures, and the instrument on an emulated aarch64
  cross quick   the tests of `test quick` on an emulated aarch64 (10 minutes)
  platforms [TARGET...]  the library on these platforms, or all: tests, the linker or the compiler (an hour)
  platforms windows  builds the command for Windows; the last line is the executable's path
  machines [NAME...]  the instrument and the library in emulated machines: all clocksources, and clocks that change
  browsers [BROWSER PROGRAM]  pages of --format html in Chromium, or in that browser (two minutes)
  install --prefix P [--destdir D] [--libdir L] [--built FOLDER]  the C library and the command
  python        the Python package: its wheel in an environment, its types and tests (two minutes)
  wheel DIR     this machine's wheel of the Python package, with the command, into a folder
  runtimes      all language runtimes that CI installs, measured and interrupted
  bench [build] the figures that the README promises, measured here
  bench across  order and offsets across CPUs, and rates (two minutes)
  bench steps   recording 10^8 reads, and the ticks of 30,000 simulated clocks (five minutes)
  bench runtimes  all language runtimes, and the C probe beside the instrument (four minutes)
  bench truth [MACHINES]  what the instrument says of 2,000 random machines with known truth
  bench trust [RUNS]  whether a healthy machine is trusted every time (half an hour)
  bench runs [TIMES]     whether the interval between runs holds what later runs show, 20 times (five minutes)
  bench compare [PAIRS]  how often compare raises an alarm of identical runs, 200 times, and finds slower clocks (two hours)
  bench hermetic [RUNS]  the step `tests` beside four busy loops and on one CPU, 20 times each (three hours)
  bench fuzz    every parser with a million inputs
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
        ["test"] => test::everything(),
        ["test", "quick"] => test::quickly(),
        ["coverage"] => coverage::measure(),
        ["fuzz"] => done(fuzz::check()),
        ["fuzz", target] => fuzz::run(target, None),
        ["fuzz", target, runs] => fuzz::run(target, Some(runs)),
        ["structure"] => structure::check(),
        ["dependencies"] => dependencies::check(),
        ["spelling"] => done(spelling::check()),
        ["pictures"] => pictures::draw(None),
        ["pictures", program] => pictures::draw(Some(program)),
        ["package"] => package::check().and_then(|()| package::verify()),
        ["dist", targets @ ..] => dist::make(targets),
        ["loom"] => loom::check(&Tally::default()),
        ["fast-path"] => fast_path::check(),
        ["cross"] => done(cross::check(&Tally::default())),
        ["cross", "quick"] => cross::quick(),
        ["platforms", "windows"] => platforms::windows(),
        ["platforms", targets @ ..] => platforms::check(targets),
        ["browsers"] => done(browsers::check()),
        ["browsers", browser, program] => browsers::in_browser(browser, program),
        ["install", arguments @ ..] => install::install(arguments),
        ["python"] => done(python::check(&Tally::default())),
        ["wheel", folder] => python::wheel(folder),
        ["runtimes"] => done(runtimes::check()),
        ["machines", names @ ..] => machines::measure(names),
        ["bench"] => bench::measure(false),
        ["bench", "library", parts @ ..] => bench::library::measure(parts),
        ["bench", "across"] => bench::across::measure(),
        ["bench", "steps"] => bench::steps::measure(),
        ["bench", "runtimes"] => bench::runtimes::measure(),
        ["bench", "truth"] => bench::truth::measure("2000"),
        ["bench", "truth", machines] => bench::truth::measure(machines),
        ["bench", "trust"] => bench::trust::measure("100"),
        ["bench", "trust", runs] => bench::trust::measure(runs),
        ["bench", "compare"] => bench::compare::measure("200"),
        ["bench", "compare", pairs] => bench::compare::measure(pairs),
        ["bench", "runs"] => bench::runs::measure("20"),
        ["bench", "runs", times] => bench::runs::measure(times),
        ["bench", "hermetic"] => bench::hermetic::measure("20"),
        ["bench", "hermetic", runs] => bench::hermetic::measure(runs),
        ["bench", "fuzz"] => fuzz::bench(),
        ["bench", "build"] => bench::measure(true),
        _ => bail!("{USAGE}"),
    }
}

/// A step by itself: what it lacks is an error.
fn done(outcome: Result<outcome::Outcome>) -> Result<()> {
    match outcome? {
        outcome::Outcome::Passed => Ok(()),
        outcome::Outcome::Skipped(missing) => bail!("{missing}"),
    }
}
