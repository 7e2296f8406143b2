//! Steps that several subcommands have in common: choose clocks, stop on signals, write a document,
//! and end.

use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clockscope_measure::{Catalog, ThisMachine};
use clockscope_records::{Document, Envelope};
use clockscope_report::{RenderError, Style};
use clockscope_system::timer_period::{self, TimerPeriod};

use crate::args::{ClockArgs, ColorArg, ColumnsArg, OutputArgs, TimerArgs};
use crate::exit::Exit;
use crate::findings::{self, FailOn, JudgedClock};
use crate::output::Destination;
use crate::usage::{UsageError, unknown_clock};

/// The clocks that were named, or all.
pub(super) fn selected(clocks: &ClockArgs) -> Result<Catalog> {
    Ok(Catalog::new(&ThisMachine).select(&clocks.all(), clocks.path.into()).map_err(unknown_clock)?)
}

/// Exit of a run that could be interrupted.
pub(super) fn exit<'a, C: 'a>(interrupted: bool, clocks: impl Iterator<Item = &'a C>, fail_on: &[FailOn]) -> Exit
where
    JudgedClock<'a>: From<&'a C>,
{
    if interrupted { Exit::Interrupted } else { findings::judge(clocks.map(JudgedClock::from), fail_on) }
}

/// Options by which tables are drawn, where a command has flags for it.
#[derive(Clone, Copy, Default)]
pub(super) struct Drawing {
    pub(super) ascii: bool,
    pub(super) rows: Option<usize>,
    pub(super) columns: Option<ColumnsArg>,
    pub(super) verbose: bool,
    pub(super) plot: bool,
}

/// A period of the timer that was requested for a run, until this is dropped.
pub(super) struct RequestedTimer {
    request: Option<(TimerPeriod, u64)>,
}

impl RequestedTimer {
    /// Requests what the arguments ask for, if anything.
    pub(super) fn of(args: &TimerArgs) -> Result<Self> {
        let Some(period) = args.timer_period else { return Ok(Self { request: None }) };
        let asked_us = (period.0 * 1e6).round() as u64;
        let requested =
            timer_period::request(asked_us).map_err(|error| UsageError(format!("--timer-period: {error}")))?;
        Ok(Self { request: Some((requested, asked_us * 1000)) })
    }

    /// Withdraws the request, and notes down in the answer that it was made.
    pub(super) fn note<F>(self, answer: &mut Envelope<F>) {
        if let Some(run) = &mut answer.run {
            run.timer_period_ns = self.request.as_ref().map(|(_, ns)| *ns);
        }
    }
}

/// Renders a document and writes it.
pub(super) fn write(
    document: &Document,
    output: &OutputArgs,
    drawing: Drawing,
    destination: Destination,
) -> Result<()> {
    write_all(std::slice::from_ref(document), output, drawing, destination)
}

/// Renders documents as one text and writes it.
pub(super) fn write_all(
    documents: &[Document],
    output: &OutputArgs,
    drawing: Drawing,
    destination: Destination,
) -> Result<()> {
    let is_terminal = destination.is_stdout() && io::stdout().is_terminal();
    let style = Style {
        color: use_color(output.color, destination.is_stdout()),
        bars: output.color == ColorArg::Always || is_terminal,
        width: if destination.is_stdout() { terminal_width() } else { None },
        ascii: drawing.ascii,
        rows: drawing.rows,
        columns: drawing.columns.map(Into::into),
        brief: output.brief,
        verbose: drawing.verbose,
        plots: drawing.plot || is_terminal,
    };
    let text = clockscope_report::render_all(documents, output.format(), style).map_err(|error| match error {
        RenderError::NoMetrics => UsageError(format!("--format prometheus: {error}")).into(),
        error => anyhow::Error::new(error),
    })?;
    destination.write(&text)
}

fn use_color(when: ColorArg, to_stdout: bool) -> bool {
    match when {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => to_stdout && anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never,
    }
}

/// Columns of the terminal that standard output is.
fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0)
}

/// A flag that SIGINT and SIGTERM set; a second signal ends the program at once.
#[cfg(unix)]
pub(super) fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))
            .context("cannot watch for signals")?;
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot watch for signals")?;
    }
    Ok(stop)
}

/// A flag that Ctrl-C sets; a second one ends the program at once.
#[cfg(windows)]
pub(super) fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    clockscope_system::stop_on_ctrl_c(Arc::clone(&stop), clockscope_system::SecondCtrlC::Ends)
        .context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

/// Reads a file, or standard input for `-`.
pub(super) fn read_bytes(file: &Path) -> io::Result<Vec<u8>> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(file)
}

/// The same as text.
pub(super) fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(file)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a recorded document. The purpose is a part of errors.
pub(super) fn read_document(file: &Path, purpose: &str) -> Result<Document> {
    let wrong = || format!("cannot {purpose} {}", file.display());
    let text = read_text(file).with_context(wrong)?;
    Document::from_json(&text).with_context(wrong)
}
