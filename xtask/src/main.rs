//! The project's own chores: `cargo xtask test` is all that a change has to pass.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to the person who runs them")]

mod bench;
mod browsers;
mod cross;
mod dist;
mod docs;
mod fleet;
mod folder;
mod fuzz;
mod install;
mod machines;
mod manual;
mod members;
mod needs;
mod package;
mod pictures;
mod plan;
mod platforms;
mod program_size;
mod python;
mod run;
mod structure;
mod tally;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use bench::Bench;
use docs::Docs;
use install::Installation;
use plan::Choice;

/// The project's own chores.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", max_term_width = 100, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs everything that a change has to pass, or some steps of it. `cargo test` alone is the
    /// quick tier.
    Test(Choice),
    /// Runs everything that a release has to pass beside `test`, or some steps of it.
    ReleaseCheck(Choice),
    /// Lists the Debian packages that `test` lacks here.
    Missing {
        /// Lists what `release-check` lacks.
        #[arg(long)]
        release: bool,
        /// Lists targets of rustup.
        #[arg(long)]
        targets: bool,
    },
    /// Feeds a parser with mutated input.
    Fuzz {
        target: String,
        /// Inputs; by default, it runs until something is found.
        runs: Option<u64>,
    },
    /// Tests, links or compiles the library for these targets, or all (75 minutes). For macOS and
    /// the BSDs, it also compiles the command. `windows` builds the command for Windows and prints
    /// its path.
    Platforms {
        #[arg(value_name = "TARGET")]
        targets: Vec<String>,
    },
    /// Runs the instrument and the library in emulated machines. By default, the usual ones for
    /// x86-64.
    Machines {
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Checks pages of `--format html` in another browser (2 minutes).
    Browsers {
        #[arg(value_parser = ["chromium", "firefox"])]
        browser: String,
        /// Program of the browser.
        program: String,
    },
    /// Makes and checks parts of the documentation.
    #[command(subcommand)]
    Docs(Docs),
    /// Draws the README's pictures of what the program prints on this machine.
    Pictures {
        /// Program to run; by default, it is built.
        program: Option<String>,
    },
    /// Builds each package from its packaged files by `cargo publish --dry-run` (2 minutes).
    Package,
    /// Builds, packs and tries the files of a release.
    Dist {
        /// Targets of the command, `library`, `wheels` or `source`; by default, all of them.
        #[arg(value_name = "PART")]
        parts: Vec<String>,
    },
    /// Installs the command's archives and packages in roots of their own and runs it there.
    Roots {
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Installs the C library and the command.
    Install(Installation),
    /// Builds this machine's wheel of the Python package, with the command, into a folder.
    Wheel {
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Measures figures of bench/README.md.
    Bench {
        /// Keeps the figures in bench/recorded.
        #[arg(long)]
        record: bool,
        #[command(subcommand)]
        bench: Bench,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().task.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

impl Task {
    fn run(self) -> Result<()> {
        std::env::set_current_dir(run::root())?;
        match self {
            Self::Test(choice) => test::TEST.run(choice),
            Self::ReleaseCheck(choice) => test::RELEASE_CHECK.run(choice),
            Self::Missing { release, targets } => {
                needs::print_missing(if release { needs::RELEASE } else { needs::TEST }, targets);
                Ok(())
            }
            Self::Fuzz { target, runs } => fuzz::run(&target, runs),
            Self::Platforms { targets } if targets == ["windows"] => platforms::windows(),
            Self::Platforms { targets } => platforms::check(&targets),
            Self::Machines { names } => machines::measure(&names),
            Self::Browsers { browser, program } => browsers::check_pages(&browser, &program, browsers::ALL),
            Self::Docs(docs) => docs.run(),
            Self::Pictures { program } => pictures::draw(program),
            Self::Package => package::check().and_then(|()| package::verify()),
            Self::Dist { parts } => dist::make(&parts),
            Self::Roots { files } => dist::roots::check(&files),
            Self::Install(installation) => installation.install(),
            Self::Wheel { folder } => python::wheel(&folder),
            Self::Bench { record, bench } => bench.run(record),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(line: &str) -> clap::error::Result<Task> {
        let words = ["xtask"].into_iter().chain(line.split(' '));
        Arguments::try_parse_from(words).map(|arguments| arguments.task)
    }

    #[test]
    fn documented_commands_are_known() {
        for line in [
            "test",
            "test --only structure docs",
            "test structure",
            "test --failed",
            "release-check --list",
            "missing --release --targets",
            "fuzz records 1000",
            "platforms windows",
            "machines hpet switch",
            "browsers firefox /usr/bin/firefox",
            "docs outputs README.md",
            "dist x86_64-unknown-linux-musl",
            "install --prefix /usr --destdir /tmp/d --libdir lib64 --built target/dist",
            "bench --record fleet 200 12",
            "bench library costs wall",
        ] {
            assert!(task(line).is_ok(), "{line}: {}", task(line).err().unwrap());
        }
    }

    #[test]
    fn incomplete_commands_are_refused() {
        for line in ["docs", "bench", "bench terminal", "test --only", "test --failed docs", "roots", "fuzz"] {
            assert!(task(line).is_err(), "{line}");
        }
    }
}
