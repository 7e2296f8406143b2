//! Recorded documents in any format.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use clockscope_records::{Document, Recording};
use clockscope_report::{Format, RenderError, Style};

use super::measure;
use crate::ending::{Ending, FINDINGS};
use crate::exit::Exit;
use crate::findings::{FailOn, judge};
use crate::inputs::Inputs;
use crate::numbers;
use crate::options::{ColumnsArg, OutputArgs};
use crate::run::{Run, exit};
use crate::usage::UsageError;

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Recorded documents, as --format json wrote them, or recordings of `clockscope steps --raw
    /// FILE.json`; - for standard input
    ///
    /// Several make one page of --format html.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Chart to draw with --format svg [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) chart: Option<String>,
    /// Open the written file in a browser
    #[arg(long, requires = "output")]
    pub(crate) open: bool,
    /// Show all figures, with this number of rows of distinct differences [default with --all: 40]
    #[arg(long, value_name = "N", value_parser = numbers::rows, allow_negative_numbers = true)]
    pub(crate) rows: Option<usize>,
    /// Draw histograms and curves in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Show all clocks of a measurement, all columns of a comparison and of `runtimes`, all figures
    /// of `advise`, `rate` and `steps`
    #[arg(long)]
    pub(crate) all: bool,
    /// Columns of a measurement's table [default: the most important ones]
    #[arg(long, value_name = "COLUMNS", value_enum)]
    pub(crate) columns: Option<ColumnsArg>,
    /// Show all evidence of verdicts, not only what decides them
    #[arg(long, short, conflicts_with = "brief")]
    pub(crate) verbose: bool,
    /// Exit with 1 if a clock of a recording, of `steps` or of `measure` shows any of these, with 3
    /// if that could not be determined
    #[arg(long, value_name = "EVENT", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ReportArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("report record.json", "as the command printed it"),
            ("report record.json -f markdown", "for a document"),
            ("report a.json b.json -f html -o report.html", "a page with charts, of several records"),
            ("report record.json -f html -o report.html --open", "the same of one, opened in a browser"),
            ("report record.json -f svg --chart cost -o cost.svg", "one chart"),
            ("report run.json", "the answer of a recorded run of steps, computed again"),
        ],
        more: "With a recording, or with --fail-on, the exit code is that of the recorded run.

Charts: clockscope help records",
        exits: FINDINGS,
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let mut inputs = Inputs::default();
        let mut documents = Vec::new();
        let mut is_judged = !self.fail_on.is_empty();
        for file in &self.files {
            let wrong = format!("cannot report {}", file.display());
            let bytes = inputs.read(file).context(wrong.clone())?;
            is_judged |= Recording::is_recording(&bytes);
            documents.push(document(&bytes).context(wrong)?);
        }
        refuse(self, &documents)?;
        documents.iter().try_for_each(|document| self.output.refuse_format_of(document.schema()))?;
        let chart = match &self.chart {
            Some(name) => Some(chart(&documents[0], name)?),
            None => None,
        };
        let mut run = Run::open(documents[0].schema(), &self.output, &inputs)?;
        let exit = if is_judged { judged(&documents, &self.fail_on) } else { Exit::Success };
        match chart {
            Some(image) => run.destination.write(&image)?,
            None => {
                run.style = Style {
                    ascii: self.ascii || run.style.ascii,
                    rows: self.rows,
                    columns: self.columns.map(Into::into),
                    all: self.all || self.rows.is_some(),
                    verbose: self.verbose,
                    plots: self.plot || run.style.plots,
                    ..run.style
                };
                run.write_all(&documents, exit)?;
            }
        }
        if let Some(file) = self.output.file()
            && self.open
        {
            open(file)?;
        }
        let failed = documents.iter().find_map(|document| match document {
            Document::Switched(switched) if is_judged => switched.found.error.as_ref(),
            _ => None,
        });
        match failed {
            Some(error) => Err(anyhow::anyhow!("the recorded run failed: {error}")),
            None => Ok(exit),
        }
    }
}

/// Returns a document, or the answer of the run that was recorded.
fn document(bytes: &[u8]) -> Result<Document> {
    if Recording::is_recording(bytes) {
        return Ok(Document::Steps(clockscope_measure::replay(Recording::from_json(bytes)?)?));
    }
    Ok(Document::from_bytes(bytes)?)
}

/// Returns the exit of the runs that the documents are of.
fn judged(documents: &[Document], fail_on: &[FailOn]) -> Exit {
    let exits = documents.iter().map(|document| match document {
        Document::Steps(steps) => exit(steps, |found| judge(&found.clocks, fail_on)),
        Document::Measurement(measured) => exit(measured, |found| judge(&found.clocks, fail_on)),
        Document::Switched(switched) => measure::exit_of_switched(&switched.found, fail_on),
        _ => Exit::Success,
    });
    exits.fold(Exit::Success, Exit::or)
}

/// Refuses options that would have no effect.
fn refuse(args: &ReportArgs, documents: &[Document]) -> Result<(), UsageError> {
    let format = args.output.format();
    let [mut has_measurement, mut has_more, mut has_verdicts, mut has_events] = [false; 4];
    for document in documents {
        let is_measurement = matches!(document, Document::Measurement(_) | Document::Switched(_));
        has_measurement |= is_measurement;
        has_events |= is_measurement || matches!(document, Document::Steps(_));
        has_more |= is_measurement || has_more_figures(document);
        has_verdicts |= matches!(document, Document::Check(_));
    }
    let wrong = if args.columns.is_some() && !has_measurement {
        "--columns: the record holds no measurement: leave the option out"
    } else if args.all && !has_more {
        "--all: this record has no longer page; --verbose shows all evidence of a check: leave the option out"
    } else if args.verbose && !has_verdicts {
        "--verbose: the record holds no verdicts: leave the option out"
    } else if !args.fail_on.is_empty() && !has_events {
        "--fail-on: the record holds no events: leave the option out"
    } else if documents.len() > 1 && format != Format::Html {
        "several records need --format html: the other formats hold one record each"
    } else if args.open && args.output.file().is_none() {
        "--open: a browser shows files: expected a file after --output"
    } else if args.chart.is_some() && format != Format::Svg {
        "--chart: needs --format svg; --format html has all charts"
    } else {
        return Ok(());
    };
    Err(UsageError(wrong.to_owned()))
}

/// Returns true for a document of which a screen leaves figures out.
fn has_more_figures(document: &Document) -> bool {
    matches!(
        document,
        Document::Advice(_)
            | Document::Comparison(_)
            | Document::Rate(_)
            | Document::Runtimes(_)
            | Document::Sleep(_)
            | Document::Steps(_)
    )
}

fn chart(document: &Document, name: &str) -> Result<String> {
    clockscope_report::render_chart(document, name).map_err(|error| match error {
        RenderError::UnknownChart { .. } | RenderError::NoChart => UsageError(format!("--chart: {error}")).into(),
        error => error.into(),
    })
}

/// Shows a file in the program that the desktop has for it.
fn open(file: &Path) -> Result<()> {
    let (program, arguments): (&str, &[&str]) = if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if cfg!(target_os = "macos") {
        ("open", &[])
    } else {
        ("xdg-open", &[])
    };
    let wrong = format!("cannot open {} with {program}", file.display());
    let path = std::path::absolute(file).context(wrong.clone())?;
    let mut command = Command::new(program);
    command.args(arguments).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().context(wrong.clone())?;
    if status.success() { Ok(()) } else { bail!("{wrong}: {status}") }
}
