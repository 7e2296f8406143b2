//! The command. Arguments, progress, printing and exit codes; everything else is in the crates that
//! it joins.

mod args;
mod commands;
mod duration;
mod exit;
mod findings;
mod numbers;
mod output;
mod progress;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use exit::Exit;

fn main() -> ExitCode {
    let exit = match commands::run(args::Cli::parse()) {
        Ok(exit) => exit,
        Err(error) => {
            output::complain(&error);
            if error.is::<usage::UsageError>() { Exit::Usage } else { Exit::Failed }
        }
    };
    ExitCode::from(exit as u8)
}
