//! Steps that several questions have in common: choose clocks, ask this machine, write a document,
//! and end.

use std::io::{self, IsTerminal};

use anyhow::Result;
use clockscope_measure::{Catalog, MeasureError, Progress, Session, ThisMachine};
use clockscope_records::{Contents, CpuLimit, Document, Envelope, PairsReason, Unknown};
use clockscope_report::{RenderError, Style};
use clockscope_system::timer_period::{self, TimerPeriod};

use crate::exit::Exit;
use crate::findings::{self, FailOn, JudgedClock};
use crate::inputs::Inputs;
use crate::options::{ClockArgs, ColorArg, ColumnsArg, OutputArgs, TimerArgs};
use crate::output::Destination;
use crate::progress::Bar;
use crate::signals::stop_on_signals;
use crate::terminal;
use crate::usage::{UsageError, explained, unknown_clock};

/// A command that answers with a document.
pub(crate) trait Question {
    /// Returns the key `schema` of its answer, and how that is to be shown. There is no key where
    /// the document is not known before the run.
    fn document(&self) -> (Option<&'static str>, &OutputArgs);

    /// Returns false if the answer has a form of its own, which is none of the formats.
    fn has_format(&self) -> bool {
        true
    }

    /// Returns true if a process that has left the clocksource switched, or is switching it, spoils
    /// the answer.
    fn is_measuring(&self) -> bool {
        true
    }

    /// Answers.
    fn run(&self) -> Result<Exit>;
}

/// The clocks that were named, or all.
pub(crate) fn selected(clocks: &ClockArgs) -> Result<Catalog> {
    Ok(Catalog::new(&ThisMachine).select(&clocks.all(), clocks.path.into()).map_err(unknown_clock)?)
}

/// Exit of a run that could be interrupted: it answers nothing where no clock could be read.
pub(crate) fn exit<'a, C: 'a>(interrupted: bool, clocks: impl Iterator<Item = &'a C>, fail_on: &[FailOn]) -> Exit
where
    JudgedClock<'a>: From<&'a C>,
{
    if interrupted { Exit::Interrupted } else { findings::judge(clocks.map(JudgedClock::from), fail_on) }
}

/// Options by which tables are drawn, where a command has flags for it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Drawing {
    pub(crate) ascii: bool,
    pub(crate) rows: Option<usize>,
    pub(crate) columns: Option<ColumnsArg>,
    pub(crate) all: bool,
    pub(crate) verbose: bool,
    pub(crate) machine: bool,
    pub(crate) plot: bool,
}

/// A period of the timer that was requested for a run, until this is dropped.
pub(crate) struct RequestedTimer {
    request: Option<(TimerPeriod, u64)>,
}

impl RequestedTimer {
    /// Requests what the arguments ask for, if anything.
    pub(crate) fn of(args: &TimerArgs) -> Result<Self> {
        let Some(period) = args.timer_period else { return Ok(Self { request: None }) };
        let period_us = (period.0 * 1e6).round() as u64;
        let requested =
            timer_period::request(period_us).map_err(|error| UsageError(format!("--timer-period: {error}")))?;
        Ok(Self { request: Some((requested, period_us * 1000)) })
    }

    /// Withdraws the request, and notes down in the answer that it was made.
    pub(crate) fn note<F>(self, answer: &mut Envelope<F>) {
        if let Some(run) = &mut answer.run {
            run.timer_period_ns = self.request.as_ref().map(|(_, ns)| *ns);
        }
    }
}

/// Renders a document and writes it, unless the exit says that it answers nothing and it would
/// replace a file. Returns the exit.
pub(crate) fn write(
    document: &Document,
    output: &OutputArgs,
    drawing: Drawing,
    destination: Destination,
    exit: Exit,
) -> Result<Exit> {
    write_all(std::slice::from_ref(document), output, drawing, destination, exit)
}

/// Renders documents as one text and writes it, as [`write()`] does.
pub(crate) fn write_all(
    documents: &[Document],
    output: &OutputArgs,
    drawing: Drawing,
    destination: Destination,
    exit: Exit,
) -> Result<Exit> {
    let is_terminal = destination.is_stdout() && io::stdout().is_terminal();
    let style = Style {
        color: terminal::uses_color(output.color, destination.is_stdout()),
        bars: output.color == ColorArg::Always || is_terminal,
        width: if destination.is_stdout() { terminal::width() } else { None },
        ascii: drawing.ascii || !terminal::shows_unicode(),
        rows: drawing.rows,
        columns: drawing.columns.map(Into::into),
        brief: output.brief,
        all: drawing.all,
        machine: output.machine || drawing.machine,
        verbose: drawing.verbose,
        plots: drawing.plot || is_terminal,
    };
    let text = clockscope_report::render_all(documents, output.format(), style).map_err(|error| match error {
        RenderError::NoMetrics => UsageError(format!("{}: {error}", output.format_origin())).into(),
        error => anyhow::Error::new(error),
    })?;
    destination.write_answer(exit, |out| out.write_all(text.as_bytes()))
}

/// Asks a question, and writes its answer so. `cpu` is the option that names CPUs.
pub(crate) fn answer<F: Contents>(
    ask: impl FnOnce(&Session<'_>, &mut Progress<'_>) -> Result<Envelope<F>, MeasureError>,
    (output, drawing): (&OutputArgs, Drawing),
    cpu: &str,
    exit: impl FnOnce(&F) -> Exit,
    document: fn(Envelope<F>) -> Document,
) -> Result<Exit> {
    let destination = Destination::open(output.output.as_deref(), &Inputs::default())?;
    finish(ask_this_machine(ask, output, cpu)?, (output, drawing), destination, exit, document)
}

/// Asks a question of this machine.
pub(crate) fn ask_this_machine<F: Contents>(
    ask: impl FnOnce(&Session<'_>, &mut Progress<'_>) -> Result<Envelope<F>, MeasureError>,
    output: &OutputArgs,
    cpu: &str,
) -> Result<Envelope<F>> {
    let stop = stop_on_signals()?;
    let session = Session::new(&ThisMachine, &stop);
    let mut bar = Bar::new(output.quiet, session.environment().counter_readable.get());
    let result = ask(&session, &mut |share| bar.show(share));
    drop(bar);
    result.map_err(|error| explained(error, cpu))
}

/// Judges an answer, and writes it.
pub(crate) fn finish<F: Contents>(
    answer: Envelope<F>,
    (output, drawing): (&OutputArgs, Drawing),
    destination: Destination,
    exit: impl FnOnce(&F) -> Exit,
    document: fn(Envelope<F>) -> Document,
) -> Result<Exit> {
    let exit = if answer.is_interrupted() { Exit::Interrupted } else { exit(&answer.found) };
    write(&document(answer), output, drawing, destination, exit)
}

/// Returns the end of a question about pairs of CPUs. One that tested no pair answers nothing, but
/// where there is one CPU no other can disagree.
pub(crate) fn of_pairs(is_checked: bool, why: Option<&Unknown>) -> Exit {
    let is_alone = |why: &Unknown| match why {
        Unknown::Pairs(PairsReason::OneCpu { limit, .. }) => *limit == Some(CpuLimit::Machine),
        _ => false,
    };
    if is_checked || why.is_some_and(is_alone) { Exit::Success } else { Exit::Unanswered }
}
