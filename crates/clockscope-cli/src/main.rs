//! The command. Arguments, progress, printing and exit codes; everything else is in the crates that it joins.

mod args;
mod commands;
mod duration;
mod findings;
mod numbers;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

/// How the program ends (the numbers are part of its interface).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// All went well.
    Success = 0,
    /// A finding that the user asked to fail on.
    Finding = 1,
    /// Bad arguments.
    Usage = 2,
    /// What the user asked to fail on could not be determined.
    Undetermined = 3,
    /// The measurement itself, or writing it, failed.
    Failed = 4,
    /// Interrupted; what was measured until then was reported.
    Interrupted = 130,
}

fn main() -> ExitCode {
    let exit = match commands::run(args::Cli::parse()) {
        Ok(exit) => exit,
        Err(error) => {
            output::complain(&error);
            if error.is::<commands::UsageError>() { Exit::Usage } else { Exit::Failed }
        }
    };
    ExitCode::from(exit as u8)
}
