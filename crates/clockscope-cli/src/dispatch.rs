//! Does what the command line says.

use anyhow::Result;
use clap::CommandFactory;
use clockscope_measure::{Catalog, Paths, ThisMachine};

use crate::exit::Exit;
use crate::output::{self, Destination};
use crate::questions::measure::MeasureArgs;
use crate::questions::{Cli, Command, SchemaArg};
use crate::run::Question;
use crate::usage::unknown_word;
use crate::{help, stamps, version};

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    if cli.version.wanted {
        let text = if cli.measure.verbose { version::long() } else { version::short() };
        Destination::Stdout.write(&text)?;
        return Ok(Exit::Success);
    }
    match cli.command {
        None => ask(&cli.measure).or_else(|error| {
            check_names(&cli.measure)?;
            Err(error)
        }),
        Some(Command::Stamps(args)) => stamps::run(&args),
        Some(Command::Schema(args)) => schema(args.of),
        Some(Command::Completions(args)) => completions(args.shell),
        Some(Command::Man(_)) => man(),
        Some(command) => command.question().map_or(Ok(Exit::Success), ask),
    }
}

/// Answers a question. A format that its answer does not have is refused before anything is
/// measured.
fn ask(question: &dyn Question) -> Result<Exit> {
    let (schema, output) = question.document();
    if question.has_format() {
        output.refuse_file_name()?;
    }
    if let Some(schema) = schema {
        output.refuse_format_of(schema)?;
    }
    if question.is_measuring()
        && let Some(warning) = clockscope_measure::warning()
    {
        output::warn(&warning);
    }
    question.run()
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

fn schema(of: SchemaArg) -> Result<Exit> {
    let schema = match of {
        SchemaArg::Documents => clockscope_records::DOCUMENT_SCHEMA,
        SchemaArg::Policy => clockscope_records::POLICY_SCHEMA,
        SchemaArg::Recording => clockscope_records::RECORDING_SCHEMA,
    };
    Destination::Stdout.write(&clockscope_records::indented(schema)?)?;
    Ok(Exit::Success)
}

fn completions(shell: clap_complete::Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "clockscope", &mut script);
    Destination::Stdout.write(&String::from_utf8(script)?)?;
    Ok(Exit::Success)
}

/// The manual: the command's page, and its subcommands' below it.
fn man() -> Result<Exit> {
    let mut command = help::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let man = clap_mangen::Man::new(subcommand.clone());
        writeln_section(&mut page, subcommand.get_name());
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    Destination::Stdout.write(&String::from_utf8(page)?)?;
    Ok(Exit::Success)
}

/// A section's head in a manual page.
fn writeln_section(page: &mut Vec<u8>, name: &str) {
    page.extend(format!(".SH \"clockscope {name}\"\n").into_bytes());
}
