//! The command. Arguments, progress, printing and exit codes; everything else is in the crates that
//! it joins.

mod baseline;
mod changes;
mod dispatch;
mod duration;
mod ending;
mod error_text;
mod exit;
mod file_identity;
mod findings;
mod formats;
mod help;
mod inputs;
mod monitor;
mod numbers;
mod options;
mod output;
mod policy_file;
mod progress;
mod questions;
mod run;
mod signals;
mod stamps;
mod suggestions;
mod terminal;
mod topics;
mod usage;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;

use exit::Exit;
use monitor::RequestedOutput;
use usage::arguments::with_hint;
use usage::{Interrupted, Undeterminable, UsageError};

fn main() -> ExitCode {
    signals::catch_file_limit();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let requested = RequestedOutput::new(&words);
    let end = match topics::answer(&words) {
        Some(answer) => answer.unwrap_or_else(|error| failed(requested, &error)),
        None => run(requested, &words),
    };
    ExitCode::from(end.code())
}

fn run(requested: RequestedOutput, words: &[OsString]) -> Exit {
    let parsed = help::command().try_get_matches().and_then(|matches| questions::Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(help) if !help.use_stderr() => return show_help(&help).unwrap_or_else(|error| failed(requested, &error)),
        // The mistakes of everybody but a monitor.
        Err(error) if !(requested.one_line || requested.is_nagios) => with_hint(error, words).exit(),
        Err(error) => return failed(requested, &anyhow::Error::new(UsageError::from(error))),
    };
    dispatch::run(cli).unwrap_or_else(|error| failed(requested, &error))
}

/// Prints help that was asked for.
fn show_help(help: &clap::Error) -> anyhow::Result<Exit> {
    let text = help.render();
    let uses_color = terminal::uses_color(options::ColorArg::Auto, &output::Destination::Stdout);
    let text = if uses_color { text.ansi().to_string() } else { text.to_string() };
    output::Destination::Stdout.write(&text)?;
    Ok(Exit::Success)
}

/// Says what went wrong, where the user looks.
fn failed(requested: RequestedOutput, error: &anyhow::Error) -> Exit {
    output::print_error(error);
    if requested.one_line {
        let line = clockscope_report::one_line_of_error(&error_text::text(error));
        // What is wrong is on standard error in any case.
        let _ = output::Destination::Stdout.write(&(line + "\n"));
    }
    requested.failed(if error.is::<UsageError>() {
        Exit::Usage
    } else if error.is::<Undeterminable>() {
        Exit::Undetermined
    } else if error.is::<Interrupted>() {
        Exit::Interrupted
    } else {
        Exit::Failed
    })
}
