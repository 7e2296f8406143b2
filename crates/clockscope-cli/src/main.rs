//! The command. Arguments, progress, printing and exit codes; everything else is in the crates that
//! it joins.

mod args;
mod changes;
mod commands;
mod duration;
mod exit;
mod findings;
mod help;
mod numbers;
mod output;
mod progress;
mod usage;
mod version;

use std::process::ExitCode;

use clap::FromArgMatches;

use exit::Exit;

fn main() -> ExitCode {
    let parsed = args::Cli::from_arg_matches(&help::command().get_matches());
    let exit = match commands::run(parsed.unwrap_or_else(|error| error.exit())) {
        Ok(exit) => exit,
        Err(error) => {
            output::complain(&error);
            if error.is::<usage::UsageError>() { Exit::Usage } else { Exit::Failed }
        }
    };
    ExitCode::from(exit as u8)
}
