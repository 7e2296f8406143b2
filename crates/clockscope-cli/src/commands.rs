//! One function a subcommand.

mod clocksource;
mod common;
mod compare;
mod form;
mod questions;
mod repeat;
mod report;
mod runtimes;
mod steps;
mod trust;

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap::CommandFactory;
use clockscope_measure::{AdviceInput, Catalog, ComparedQuestion, MeasureRequest, Paths, Session, ThisMachine};
use clockscope_records::units::time;
use clockscope_records::{Document, Envelope, Measurement};

use crate::args::{AdviseArgs, Cli, Command, ListArgs, MeasureArgs, OutputArgs, SchemaArg};
use crate::exit::Exit;
use crate::help;
use crate::output::{self, Destination};
use crate::progress::Bar;
use crate::usage::{UsageError, explained, unknown_clock, unknown_word};
use crate::version;
use common::{Drawing, RequestedTimer, read_document, selected, stop_on_signals, write};
use compare::Baseline;

/// Shortest interval that advice is given for, in seconds: no processor does anything in less.
const SHORTEST_INTERVAL_S: f64 = 1e-12;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Result<Exit> {
    if cli.version.wanted {
        let text = if cli.version.verbose { version::long() } else { version::short() };
        Destination::Stdout.write(&text)?;
        return Ok(Exit::Success);
    }
    form::refuse(&cli)?;
    if is_measuring(&cli)
        && let Some(warning) = clockscope_measure::warning()
    {
        output::warn(&warning);
    }
    match cli.command {
        None => measure(&cli.measure).or_else(|error| {
            check_names(&cli.measure)?;
            Err(error)
        }),
        Some(Command::Measure(args)) => measure(&args),
        Some(Command::Steps(args)) => steps::run(&args),
        Some(Command::Replay(args)) => steps::replay(&args),
        Some(Command::Advise(args)) => advise(&args),
        Some(Command::Order(args)) => questions::order(&args),
        Some(Command::Offsets(args)) => questions::offsets(&args),
        Some(Command::Rate(args)) => questions::rate(&args),
        Some(Command::Gaps(args)) => questions::gaps(&args),
        Some(Command::Sleep(args)) => questions::sleep(&args),
        Some(Command::Runtimes(args)) => runtimes::run(&args),
        Some(Command::Check(args)) => trust::check(&args),
        Some(Command::Shootout(args)) => trust::shootout(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Clocksource(args)) => clocksource::list(&args),
        Some(Command::List(args)) => list(&args),
        Some(Command::Info(output)) => info(&output),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Schema { of }) => schema(of),
        Some(Command::Completions { shell }) => completions(shell),
        Some(Command::Man) => man(),
    }
}

/// Without a command, the first word may be meant for one.
fn check_names(args: &MeasureArgs) -> Result<()> {
    let names = args.clocks.all();
    if names.is_empty() {
        return Ok(());
    }
    Catalog::new(&ThisMachine).select(&names, Paths::default()).map(drop).map_err(|error| unknown_word(error).into())
}

/// Returns true if a process that has left the clocksource switched, or is switching it, spoils
/// what is measured.
fn is_measuring(cli: &Cli) -> bool {
    match &cli.command {
        None => cli.measure.clocksource.is_empty(),
        Some(Command::Measure(args)) => args.clocksource.is_empty(),
        Some(Command::Runtimes(args)) => args.clocksource.is_empty() && !args.list,
        Some(
            Command::Clocksource(_)
            | Command::Compare(_)
            | Command::Replay(_)
            | Command::Report(_)
            | Command::Schema { .. }
            | Command::Completions { .. }
            | Command::Man,
        ) => false,
        Some(_) => true,
    }
}

fn measure(args: &MeasureArgs) -> Result<Exit> {
    if !args.clocksource.is_empty() {
        // Without a baseline, nothing can be asked of changes.
        Baseline::read(&args.baseline, &args.fail_on, ComparedQuestion::Measure)?;
        return clocksource::measure(args);
    }
    if let Some(runs) = args.repeat {
        return repeat::measure(args, runs);
    }
    let catalog = selected(&args.clocks)?;
    let baseline = Baseline::read(&args.baseline, &args.fail_on, ComparedQuestion::Measure)?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let timer = RequestedTimer::of(&args.timer)?;
    let MeasureArgs { duration, cpu, thorough, .. } = *args;
    let request = MeasureRequest { duration_s: duration.0, cpu, thorough, synchronization: thorough };
    let mut measurement = fresh(catalog, &request, &args.output)?;
    timer.note(&mut measurement);
    compare::show_measurement(measurement, baseline.as_ref(), args, destination)
}

/// Measures now.
fn fresh(catalog: Catalog, request: &MeasureRequest, output: &OutputArgs) -> Result<Envelope<Measurement>> {
    let stop = stop_on_signals()?;
    let session = Session::new(&ThisMachine, &stop);
    let mut bar = Bar::new(output.quiet, session.environment().counter_readable.get());
    let measured = clockscope_measure::measure(&session, catalog, request, &mut |share| bar.show(share));
    drop(bar);
    measured.map_err(|error| explained(error, "--cpu"))
}

fn advise(args: &AdviseArgs) -> Result<Exit> {
    if let Some(interval) = args.interval.filter(|interval| interval.0 < SHORTEST_INTERVAL_S) {
        let asked = time(interval.0 * 1e9);
        return Err(UsageError(format!("--interval: {asked} is too short: expected at least 0.001ns")).into());
    }
    let destination = Destination::open(args.output.output.as_deref())?;
    let document = match &args.from {
        Some(file) => read_document(file, "advise from")?,
        None => {
            let catalog = Catalog::new(&ThisMachine).select(&[], Paths::default()).map_err(unknown_clock)?;
            let AdviseArgs { duration, cpu, .. } = *args;
            let request = MeasureRequest { duration_s: duration.0, cpu, thorough: false, synchronization: true };
            Document::Measurement(fresh(catalog, &request, &args.output)?)
        }
    };
    let (source, interrupted) = match &document {
        Document::Measurement(found) => (AdviceInput::Measurement(found), found.is_interrupted()),
        Document::Steps(found) => (AdviceInput::Steps(found), found.is_interrupted()),
        _ => {
            anyhow::bail!("cannot advise: the record holds no measurement; record one with `clockscope measure --json`")
        }
    };
    let advice = clockscope_measure::advise(source, args.error.0, args.interval.map(|interval| interval.0 * 1e9));
    let exit = match (interrupted && args.from.is_none(), !advice.found.rows.is_known()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Undetermined,
        (false, false) => Exit::Success,
    };
    write(&Document::Advice(advice), &args.output, Drawing::default(), destination)?;
    Ok(exit)
}

fn list(args: &ListArgs) -> Result<Exit> {
    if args.all_platforms {
        return list_all(&args.output);
    }
    let catalog = Catalog::new(&ThisMachine).select(&[], args.path.into()).map_err(unknown_clock)?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let never = AtomicBool::new(false);
    let listing = clockscope_measure::list(&Session::new(&ThisMachine, &never), catalog)?;
    write(&Document::Listing(listing), &args.output, Drawing::default(), destination)?;
    Ok(Exit::Success)
}

/// The clocks of every system.
fn list_all(output: &OutputArgs) -> Result<Exit> {
    let destination = Destination::open(output.output.as_deref())?;
    let never = AtomicBool::new(false);
    let all = clockscope_measure::all_clocks(&Session::new(&ThisMachine, &never))?;
    write(&Document::AllClocks(all), output, Drawing::default(), destination)?;
    Ok(Exit::Success)
}

fn info(output: &OutputArgs) -> Result<Exit> {
    let destination = Destination::open(output.output.as_deref())?;
    let never = AtomicBool::new(false);
    let info = clockscope_measure::info(&Session::new(&ThisMachine, &never))?;
    write(&Document::Info(info), output, Drawing::default(), destination)?;
    Ok(Exit::Success)
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
