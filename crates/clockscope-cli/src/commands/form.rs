//! Formats that a command's answer does not have, refused before anything is measured.

use anyhow::Result;
use clockscope_records::Document;
use clockscope_report::Format;

use crate::args::{Cli, Command, MeasureArgs, OutputArgs};
use crate::usage::UsageError;

/// Refuses a format that no answer of the command can be rendered in.
pub(super) fn refuse(cli: &Cli) -> Result<(), UsageError> {
    match answer(cli) {
        Some((schema, output)) => supported(schema, output.format()),
        None => Ok(()),
    }
}

/// Does the same for documents that are there.
pub(super) fn refuse_documents(documents: &[Document], format: Format) -> Result<(), UsageError> {
    documents.iter().try_for_each(|document| supported(document.schema(), format))
}

fn supported(schema: &str, format: Format) -> Result<(), UsageError> {
    clockscope_report::supported(schema, format)
        .map_err(|error| UsageError(format!("--format {}: {error}", format.name())))
}

/// Returns the key `schema` of what a command answers, and how that is to be shown. `None` for
/// commands without a document of their own.
fn answer(cli: &Cli) -> Option<(&'static str, &OutputArgs)> {
    let measure = |args: &'_ MeasureArgs| match () {
        () if args.baseline.baseline.is_some() => "clockscope.compare",
        () if !args.clocksource.is_empty() => "clockscope.switched",
        () => "clockscope.measure",
    };
    Some(match &cli.command {
        None => (measure(&cli.measure), &cli.measure.output),
        Some(Command::Measure(args)) => (measure(args), &args.output),
        Some(Command::Steps(args)) => ("clockscope.steps", &args.answer.output),
        Some(Command::Replay(args)) => ("clockscope.steps", &args.answer.output),
        Some(Command::Advise(args)) => ("clockscope.advise", &args.output),
        Some(Command::Order(args)) => ("clockscope.order", &args.output),
        Some(Command::Offsets(args)) => ("clockscope.offsets", &args.output),
        Some(Command::Rate(args)) => ("clockscope.rate", &args.output),
        Some(Command::Gaps(args)) => ("clockscope.gaps", &args.output),
        Some(Command::Sleep(args)) => ("clockscope.sleep", &args.output),
        Some(Command::Runtimes(args)) if args.list => ("clockscope.runtimes_found", &args.output),
        Some(Command::Runtimes(args)) => ("clockscope.runtimes", &args.output),
        Some(Command::Check(args)) if args.baseline.baseline.is_some() => ("clockscope.compare", &args.output),
        Some(Command::Check(args)) => ("clockscope.check", &args.output),
        Some(Command::Shootout(args)) => ("clockscope.shootout", &args.output),
        Some(Command::Compare(args)) => ("clockscope.compare", &args.output),
        Some(Command::Clocksource(args)) => ("clockscope.clocksource", &args.output),
        Some(Command::List(args)) if args.all_platforms => ("clockscope.all_clocks", &args.output),
        Some(Command::List(args)) => ("clockscope.list", &args.output),
        Some(Command::Info(output)) => ("clockscope.info", output),
        Some(Command::Report(_) | Command::Schema { .. } | Command::Completions { .. } | Command::Man) => return None,
    })
}
