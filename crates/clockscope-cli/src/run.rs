//! Runs of questions: ask this machine, judge the answer, write it.

use std::io::{self, IsTerminal};
use std::slice;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clockscope_measure::{MeasureError, Progress, Session, ThisMachine};
use clockscope_records::{Contents, Document, Envelope, Environment};
use clockscope_report::{Format, Style};

use crate::baseline::{Baseline, NewBaseline};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::{ColorArg, OutputArgs};
use crate::output::{self, Destination};
use crate::progress::Bar;
use crate::signals::stop_on_signals;
use crate::terminal;
use crate::usage::explained;

/// A run of a question. Its files are open before anything is measured.
pub(crate) struct Run {
    pub(crate) format: Format,
    pub(crate) destination: Destination,
    pub(crate) style: Style,
    pub(crate) is_quiet: bool,
    /// Records that the answer is compared with.
    pub(crate) baseline: Option<Baseline>,
    /// The record under a name that the answer becomes.
    pub(crate) new_baseline: Option<NewBaseline>,
}

impl Run {
    /// Opens the destination of a document with this key `schema`, which replaces none of these
    /// inputs. A format that the document does not have is refused.
    pub(crate) fn open(schema: &str, output: &OutputArgs, inputs: &Inputs) -> Result<Self> {
        output.refuse_file_name()?;
        output.refuse_format_of(schema)?;
        Self::open_line(output, inputs)
    }

    /// Opens the destination of a line, which has none of the formats.
    pub(crate) fn open_line(output: &OutputArgs, inputs: &Inputs) -> Result<Self> {
        let destination = Destination::open(output.output.as_deref(), inputs)?;
        let is_terminal = destination.is_stdout() && io::stdout().is_terminal();
        let style = Style {
            color: terminal::uses_color(output.color, &destination),
            bars: output.color == ColorArg::Always || is_terminal,
            width: if destination.is_stdout() { terminal::width() } else { None },
            ascii: !terminal::shows_unicode(),
            brief: output.brief,
            machine: output.machine,
            plots: is_terminal,
            ..Style::default()
        };
        let (format, is_quiet) = (output.format(), output.quiet);
        Ok(Self { format, destination, style, is_quiet, baseline: None, new_baseline: None })
    }

    /// Draws a progress bar, where one is wanted.
    pub(crate) fn bar(&self, environment: &Environment) -> Bar {
        if self.is_quiet { Bar::default() } else { Bar::new(environment) }
    }

    /// Asks this machine, until a signal ends that. `cpu` is the option that names CPUs.
    pub(crate) fn ask<T>(
        &self,
        cpu: &str,
        ask: impl FnOnce(&Session<'_>, &mut Progress<'_>) -> Result<T, MeasureError>,
    ) -> Result<T> {
        self.ask_until(&*stop_on_signals()?, cpu, ask)
    }

    /// Asks this machine, until the flag ends that. `cpu` is the option that names CPUs.
    pub(crate) fn ask_until<T>(
        &self,
        stop: &AtomicBool,
        cpu: &str,
        ask: impl FnOnce(&Session<'_>, &mut Progress<'_>) -> Result<T, MeasureError>,
    ) -> Result<T> {
        let session = Session::new(&ThisMachine, stop);
        let mut bar = self.bar(session.environment());
        let answer = ask(&session, &mut |share| bar.show(share));
        drop(bar);
        answer.map_err(|error| explained(error, cpu))
    }

    /// Saves an answer under the name that it is to have. The caller shows it even if that fails.
    pub(crate) fn save(&mut self, document: &Document, exit: Exit) -> Result<()> {
        match self.new_baseline.take() {
            Some(new) => new.write(document, exit, self.is_quiet),
            None => Ok(()),
        }
    }

    /// Shows an answer, or its changes since the baseline. `own` is how the command ends by what it
    /// has found itself.
    pub(crate) fn show(mut self, document: Document, own: Exit) -> Result<Exit> {
        match self.baseline.take() {
            Some(baseline) => baseline.show(document, self, own),
            None => self.write(&document, own),
        }
    }

    /// Judges an answer, and writes it.
    pub(crate) fn finish<F: Contents>(self, answer: Envelope<F>, judge: impl FnOnce(&F) -> Exit) -> Result<Exit>
    where
        Document: From<Envelope<F>>,
    {
        let exit = exit(&answer, judge);
        self.write(&answer.into(), exit)
    }

    /// Renders a document and writes it, unless the exit says that it answers nothing and it would
    /// replace a file. Returns the exit.
    pub(crate) fn write(self, document: &Document, exit: Exit) -> Result<Exit> {
        self.write_all(slice::from_ref(document), exit)
    }

    /// Renders documents as one text and writes it, as [`Run::write`] does.
    pub(crate) fn write_all(self, documents: &[Document], exit: Exit) -> Result<Exit> {
        let text = clockscope_report::render_all(documents, self.format, self.style)?;
        self.destination.write_answer(exit, |out| out.write_all(text.as_bytes()))
    }
}

/// Warns if a process that has left the clocksource switched, or is switching it, spoils what is
/// measured.
pub(crate) fn warn_of_switched_clocksource() {
    if let Some(warning) = clockscope_measure::warning() {
        output::warn(&warning);
    }
}

/// Judges the answer of a run that could be interrupted.
pub(crate) fn exit<F: Contents>(answer: &Envelope<F>, judge: impl FnOnce(&F) -> Exit) -> Exit {
    if answer.is_interrupted() { Exit::Interrupted } else { judge(&answer.found) }
}
