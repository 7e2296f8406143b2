//! The project's own chores: `cargo xtask test` is all that a change has to pass.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to the person who runs them")]

mod bench;
mod browsers;
mod census;
mod cross;
mod dependencies;
mod dist;
mod docs;
mod fast_path;
mod fleet;
mod fuzz;
mod install;
mod machines;
mod members;
mod needs;
mod outcome;
mod package;
mod pictures;
mod plan;
mod platforms;
mod program_size;
mod python;
mod release_check;
mod run;
mod runtimes;
mod semver;
mod spelling;
mod structure;
mod tally;
mod test;
mod traces;
mod workflows;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask TASK

  test [STEP...]  everything that a change has to pass (35 minutes), or these steps; `cargo test` alone is
                the quick tier
  test --failed         the steps that failed last
  test --list           the names of all steps
  release-check [STEP...]  everything that a release has to pass beside `test`, or these steps; --failed and
                --list as above (some twenty minutes)
  missing [--release] [--targets]
                Debian packages that `test` lacks here, or `release-check`; or targets of rustup
  fuzz TARGET [RUNS]    a parser with mutated input, so many times or until something is found
  platforms [TARGET...]  the library on these platforms, or all: tests, the linker or the compiler;
                the command for macOS and the BSDs by the compiler (an hour and a quarter)
  platforms windows  builds the command for Windows; the last line is the executable's path
  machines [NAME...]  the instrument and the library in emulated machines: all clocksources, and clocks that change;
                by default the usual ones for x86-64
  browsers BROWSER PROGRAM  pages of --format html in that browser (two minutes)
  census HOSTS DAYS DIR [--last DAYS] [--seed N] [--without FAULT] [--compact] [--here] | bases
                records of check that a fleet would have left, with planted faults; --last writes the
                last days alone, --compact a file a day by zstd, --here derives some from a check of
                this machine; bases makes the kept checks of an emulated and of a simulated machine
  docs          the recorded figures and the outputs of commands, written into the pages, and the
                pictures (four minutes on a machine that does nothing else)
  docs check    links, anchors, the table of contents and the recorded figures of all pages
  docs site     the pages as a site, by mdBook; the last line is its first page
  docs figures  the first alone, and the picture of the recorded figures of a fleet
  docs outputs [PAGE]
                the outputs alone; of one page
  pictures [PROGRAM]  the README's pictures, of what the program prints on this machine (half a minute)
  package       cargo publish --dry-run: builds each package from its packaged files (two minutes)
  semver COMMIT compares the library's public API with that of a commit (two minutes)
  dist [PART...]  the files of a release: built, packed, installed in roots of their own and run there
  roots FILE... installs the command's archives and packages, and runs it: in an empty root, emulated
                machines, a fresh Debian, Wine
  install --prefix P [--destdir D] [--libdir L] [--built FOLDER]  the C library and the command
  wheel DIR     this machine's wheel of the Python package, with the command, into a folder
  bench --record NAME ...  any of the following, whose figures are kept in bench/recorded
  bench command what the command costs, beside C loops, quiet and beside a busy loop
  bench build   the times of cargo run --release and cargo test in a fresh clone (ten minutes)
  bench across  order and offsets across CPUs, and rates (two minutes)
  bench paths   CLOCK_MONOTONIC by the C library, the vDSO and system call (half a minute)
  bench steps   recording 10^8 reads, and the ticks of 30,000 simulated clocks (five minutes)
  bench runtimes  all language runtimes, and the C probe beside the instrument (four minutes)
  bench truth [MACHINES]  what the instrument says of 2,000 random machines with known truth
  bench check [RUNS]  whether a healthy machine is trusted every time (half an hour)
  bench compare [PAIRS]  how often compare raises an alarm of identical runs, 200 times, and beside load (half an hour)
  bench slower [PAIRS]  how often compare finds a clock that is slower by 5, 10 and 15 % (quarter of an hour)
  bench advice [ROUNDS]  the errors that advise states, beside those of intervals in C (fifteen minutes)
  bench hermetic [RUNS]  `cargo test` beside four busy loops 10 times, on one CPU 5 times (two hours)
  bench fleet [HOSTS DAYS]  ingest and queries of clockscope-fleet for so many hosts (10000) and days (30),
                and their growth from a tenth to ten times as many hosts (an hour)
  bench fuzz    every parser with a million inputs
  bench library [PART...]  the library's figures, beside its peers' (all of it half an hour)";

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
    if let ["bench", "--record", name, more @ ..] = arguments {
        // Also what was measured before something failed.
        let outcome = task(&[&["bench", name], more].concat());
        return bench::recorded::write(name).and(outcome);
    }
    match arguments {
        ["test", arguments @ ..] => test::TEST.run(arguments),
        ["release-check", arguments @ ..] => release_check::RELEASE_CHECK.run(arguments),
        ["missing", options @ ..] => needs::print_missing(options),
        ["fuzz", target] => fuzz::run(target, None),
        ["fuzz", target, runs] => fuzz::run(target, Some(runs)),
        ["platforms", "windows"] => platforms::windows(),
        ["platforms", targets @ ..] => platforms::check(targets),
        ["machines", names @ ..] => machines::measure(names),
        ["browsers", browser, program] => browsers::in_browser(browser, program),
        ["census", arguments @ ..] => census::make(arguments),
        ["docs"] => docs::make(),
        ["docs", "figures"] => docs::write(),
        ["docs", "check"] => docs::check(),
        ["docs", "site"] => docs::site::build().map(|site| println!("{}", site.join("index.html").display())),
        ["docs", "outputs"] => docs::outputs::write(None),
        ["docs", "outputs", page] => docs::outputs::write(Some(page)),
        ["pictures"] => pictures::draw(None),
        ["pictures", program] => pictures::draw(Some(program)),
        ["package"] => package::check().and_then(|()| package::verify()),
        ["semver", commit] => semver::check(commit),
        ["dist", targets @ ..] => dist::make(targets),
        ["roots", files @ ..] => dist::roots::check(files),
        ["install", arguments @ ..] => install::install(arguments),
        ["wheel", folder] => python::wheel(folder),
        ["bench", "command"] => bench::measure(),
        ["bench", "library", parts @ ..] => bench::library::measure(parts),
        ["bench", "across"] => bench::across::measure(),
        ["bench", "paths"] => bench::paths::measure(),
        ["bench", "steps"] => bench::steps::measure(),
        ["bench", "runtimes"] => bench::runtimes::measure(),
        ["bench", "truth"] => bench::truth::measure("2000"),
        ["bench", "truth", machines] => bench::truth::measure(machines),
        ["bench", "check"] => bench::check::measure("100"),
        ["bench", "check", runs] => bench::check::measure(runs),
        ["bench", "compare"] => bench::compare::measure("200"),
        ["bench", "compare", pairs] => bench::compare::measure(pairs),
        ["bench", "slower"] => bench::compare::measure_slower("200"),
        ["bench", "slower", pairs] => bench::compare::measure_slower(pairs),
        ["bench", "advice"] => bench::advice::measure("3"),
        ["bench", "advice", rounds] => bench::advice::measure(rounds),
        ["bench", "hermetic"] => bench::hermetic::measure("10"),
        ["bench", "hermetic", runs] => bench::hermetic::measure(runs),
        ["bench", "fleet"] => bench::fleet::measure("10000", "30"),
        ["bench", "fleet", hosts, days] => bench::fleet::measure(hosts, days),
        ["bench", "fuzz"] => fuzz::bench(),
        ["bench", "build"] => bench::build::measure(),
        _ => bail!("{USAGE}"),
    }
}
