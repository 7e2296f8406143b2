//! Arguments of `runtimes`.

use std::path::PathBuf;

use clap::Args;

use super::output::OutputArgs;
use crate::duration::{self, Seconds};
use crate::findings::RuntimesFinding;

#[derive(Args, Debug)]
pub(crate) struct RuntimesArgs {
    /// Runtimes by name, as --list shows them [default: all that are found]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Use this program of a runtime instead of the one on PATH; may be repeated, also for one
    /// runtime
    #[arg(long = "runtime", value_name = "NAME=PROGRAM", value_parser = program)]
    pub(crate) programs: Vec<(String, PathBuf)>,
    /// List the runtimes that are found, and how to get the others
    #[arg(long, conflicts_with_all = ["clocksource", "duration", "timeout", "fail_on"])]
    pub(crate) list: bool,
    /// Switch the kernel to each of these clocksources in turn, measure, and restore the original;
    /// needs root
    #[arg(long, value_name = "NAME", value_delimiter = ',', num_args = 1)]
    pub(crate) clocksource: Vec<String>,
    /// Time for which each API is read, 1ms to 1min
    #[arg(long, short, value_name = "TIME", default_value = "300ms", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Time limit of a probe [default: 20s and 10 times --duration]; a build may take 2min, a
    /// query of the version 10s
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Seconds>,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<RuntimesFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Parses a runtime's name and its program.
fn program(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), path.into())),
        _ => Err("expected a runtime and its program, such as python=/opt/python/bin/python3".to_owned()),
    }
}
