//! Does what the command line says.

use anyhow::Result;
use clap::CommandFactory;
use clockscope_measure::{Catalog, Paths, ThisMachine};

use crate::exit::Exit;
use crate::output::Destination;
use crate::questions::Cli;
use crate::questions::measure::MeasureArgs;
use crate::usage::unknown_word;
use crate::version;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    if cli.version.wanted {
        let text = if cli.measure.verbose { version::long() } else { version::short() };
        Destination::Stdout.write(&text)?;
        return Ok(Exit::Success);
    }
    match cli.command {
        None => cli.measure.run().or_else(|error| {
            check_names(&cli.measure)?;
            Err(error)
        }),
        Some(command) => command.run(),
    }
}

/// Without a command, the first word may be meant for one.
fn check_names(args: &MeasureArgs) -> Result<()> {
    let names = args.clocks.all();
    if names.is_empty() {
        return Ok(());
    }
    Catalog::new(&ThisMachine).select(&names, Paths::default()).map(drop).map_err(|error| {
        let commands = Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        unknown_word(error, commands).into()
    })
}
