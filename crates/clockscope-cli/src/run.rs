//! Runs of questions: ask this machine, judge the answer, write it.

use std::io::{self, IsTerminal};
use std::slice;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clockscope_measure::{MeasureError, Progress, Session, ThisMachine};
use clockscope_records::{Contents, Document, Envelope, Environment};
use clockscope_report::{Format, Style};

use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::options::{ColorArg, OutputArgs};
use crate::output::Destination;
use crate::progress::Bar;
use crate::signals::stop_on_signals;
use crate::terminal;
use crate::usage::explained;

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

/// A run of a question. Its destination is open before anything is measured.
pub(crate) struct Run<'a> {
    output: &'a OutputArgs,
    pub(crate) destination: Destination,
    pub(crate) style: Style,
}

impl<'a> Run<'a> {
    /// Opens the destination, which replaces none of these inputs.
    pub(crate) fn open(output: &'a OutputArgs, inputs: &Inputs) -> Result<Self> {
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
        Ok(Self { output, destination, style })
    }

    /// Returns the format of the answer.
    pub(crate) fn format(&self) -> Format {
        self.output.format()
    }

    /// Draws a progress bar, where one is wanted.
    pub(crate) fn bar(&self, environment: &Environment) -> Bar {
        Bar::new(self.output, environment)
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
        let text = clockscope_report::render_all(documents, self.format(), self.style)?;
        self.destination.write_answer(exit, |out| out.write_all(text.as_bytes()))
    }
}

/// Judges the answer of a run that could be interrupted.
pub(crate) fn exit<F: Contents>(answer: &Envelope<F>, judge: impl FnOnce(&F) -> Exit) -> Exit {
    if answer.is_interrupted() { Exit::Interrupted } else { judge(&answer.found) }
}
