//! One function a subcommand.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clockscope_measure::{Catalogue, MeasureError, Request, UnknownClock};
use clockscope_records::Document;
use clockscope_report::Style;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::{Cli, ColorArg, Command, ListArgs, MeasureArgs, OutputArgs, ReportArgs};
use crate::output::Destination;
use crate::progress::Bar;
use crate::{Exit, findings};

/// The user asked for something that there is not.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    match cli.command {
        None => measure(&cli.measure),
        Some(Command::Measure(args)) => measure(&args),
        Some(Command::List(args)) => list(&args),
        Some(Command::Info(output)) => info(&output),
        Some(Command::Report(args)) => report(&args),
        Some(Command::Schema) => schema(),
        Some(Command::Completions { shell }) => completions(shell),
        Some(Command::Man) => man(),
    }
}

fn measure(args: &MeasureArgs) -> Result<Exit> {
    let names: Vec<String> = args.names.iter().chain(&args.clocks).cloned().collect();
    let catalogue = Catalogue::new().select(&names, args.path.into()).map_err(unknown_clock)?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let environment = clockscope_machine::environment();
    let stop = stop_on_signals()?;
    let mut bar = Bar::new(args.output.quiet, environment.counter_readable);
    let request = Request { environment, duration_s: args.duration.0, cpu: args.cpu, stop: &stop };
    let measured = clockscope_measure::measure(catalogue, request, &mut |share| bar.show(share));
    drop(bar);
    let measurement = measured.map_err(|error| match error {
        MeasureError::Affinity(error) => UsageError(format!("--cpu: {error}")).into(),
        error => anyhow::Error::new(error),
    })?;
    let exit =
        if measurement.run.interrupted { Exit::Interrupted } else { findings::judge(&measurement, &args.fail_on) };
    write(&Document::Measurement(measurement), &args.output, destination)?;
    Ok(exit)
}

fn list(args: &ListArgs) -> Result<Exit> {
    let catalogue = Catalogue::new().select(&[], args.path.into()).map_err(unknown_clock)?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let listing = clockscope_measure::list(catalogue, clockscope_machine::environment());
    write(&Document::Listing(listing), &args.output, destination)?;
    Ok(Exit::Success)
}

fn info(output: &OutputArgs) -> Result<Exit> {
    let destination = Destination::open(output.output.as_deref())?;
    let info = clockscope_measure::info(clockscope_machine::environment());
    write(&Document::Info(info), output, destination)?;
    Ok(Exit::Success)
}

fn report(args: &ReportArgs) -> Result<Exit> {
    let wrong = || format!("cannot report {}", args.file.display());
    let text = read_text(&args.file).with_context(wrong)?;
    let document = Document::from_json(&text).with_context(wrong)?;
    write(&document, &args.output, Destination::open(args.output.output.as_deref())?)?;
    Ok(Exit::Success)
}

fn schema() -> Result<Exit> {
    let mut text = serde_json::to_string_pretty(&clockscope_records::json_schema())?;
    text.push('\n');
    Destination::Stdout.write(&text)?;
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
    let mut command = Cli::command();
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

/// Renders a document and writes it.
fn write(document: &Document, output: &OutputArgs, destination: Destination) -> Result<()> {
    let style = Style { color: use_color(output.color, destination.is_stdout()), width: None };
    let text = clockscope_report::render(document, output.format, style)?;
    destination.write(&text)
}

fn use_color(when: ColorArg, to_stdout: bool) -> bool {
    match when {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => to_stdout && anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never,
    }
}

/// A flag that SIGINT and SIGTERM set; a second signal ends the program at once.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))
            .context("cannot watch for signals")?;
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot watch for signals")?;
    }
    Ok(stop)
}

fn read_text(file: &Path) -> std::io::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(file)
}

/// Names the nearest clocks and subcommands.
fn unknown_clock(error: UnknownClock) -> UsageError {
    let asked = error.name.to_lowercase();
    let commands = Cli::command();
    let subcommands = commands.get_subcommands().map(|subcommand| subcommand.get_name().to_owned());
    let mut near: Vec<(f64, String)> = error
        .known
        .iter()
        .cloned()
        .chain(subcommands)
        .map(|name| (strsim::jaro_winkler(&asked, &name), name))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<&str> =
        near.iter().filter(|(likeness, _)| *likeness > 0.7).take(3).map(|(_, name)| name.as_str()).collect();
    let hint = if near.is_empty() { String::new() } else { format!(": did you mean {}?", near.join(", ")) };
    UsageError(format!("{error}{hint}\n  `clockscope list` shows all clocks"))
}
