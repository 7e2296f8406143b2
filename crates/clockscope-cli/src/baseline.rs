//! Earlier records that an answer is compared with.

pub(crate) mod folder;
mod save;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use clockscope_measure::{CompareError, CompareRequest, ComparedQuestion, ComparedRecord};
use clockscope_records::{Comparison, Document, Envelope, Measurement};

use crate::changes::ChangeFinding;
use crate::exit::Exit;
use crate::findings::Shows;
use crate::inputs::Inputs;
use crate::numbers::{self, Share};
use crate::options::OutputArgs;
use crate::output;
use crate::run::Run;
use crate::usage::{Undeterminable, UsageError};
pub(crate) use save::{NewBaseline, SaveArgs};

/// Largest change of a cost that does not matter by default.
pub(crate) const DEFAULT_MARGIN: &str = "5%";

/// Earlier records that an answer is compared with.
#[derive(Args, Debug)]
pub(crate) struct BaselineArgs {
    /// Compare with these records, as `clockscope compare` does, and show what has changed
    ///
    /// A file, a folder, a quoted pattern, a name of --save, or several with commas. --fail-on
    /// takes the changes as well: slower, verdict, clocksource, events.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) baseline: Option<String>,
    /// With --baseline: compare with records of another machine, too
    #[arg(long, requires = "baseline", hide_short_help = true)]
    pub(crate) across_machines: bool,
    /// With --baseline: change of a cost that does not matter, e.g. 2% or 0.02
    #[arg(long, value_name = "SHARE", default_value = DEFAULT_MARGIN, value_parser = numbers::share, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) margin: Share,
}

/// Earlier records that an answer is compared with as soon as it is there.
pub(crate) struct Baseline {
    records: Vec<ComparedRecord>,
    request: CompareRequest,
    fail_on: Vec<ChangeFinding>,
}

impl Baseline {
    /// Reads the records, and refuses those that an answer of this machine could not be compared
    /// with, and formats that comparisons do not have, before anything is measured. `None` if none
    /// were named; then nothing can be asked of changes.
    pub(crate) fn read(
        args: &BaselineArgs,
        output: &OutputArgs,
        fail_on: Vec<ChangeFinding>,
        question: ComparedQuestion,
        inputs: &mut Inputs,
    ) -> Result<Option<Self>> {
        let Some(named) = &args.baseline else {
            let wrong = "--fail-on: slower, verdict, clocksource and events are changes: --baseline FILE names what to \
                         compare with";
            return if fail_on.is_empty() { Ok(None) } else { Err(UsageError(wrong.to_owned()).into()) };
        };
        output.refuse_format_of("clockscope.compare")?;
        let request = CompareRequest {
            clocks: Vec::new(),
            all: false,
            margin: args.margin.0,
            across_machines: args.across_machines,
        };
        Self::new(records(named, inputs)?, request, fail_on, question).map(Some)
    }

    /// Takes records, and refuses those that an answer of this machine could not be compared with.
    pub(crate) fn new(
        records: Vec<ComparedRecord>,
        request: CompareRequest,
        fail_on: Vec<ChangeFinding>,
        question: ComparedQuestion,
    ) -> Result<Self> {
        let here = clockscope_system::environment();
        clockscope_measure::comparable(&records, question, &here, request.across_machines).map_err(refused)?;
        Ok(Self { records, request, fail_on })
    }

    fn measurements(&self) -> impl Iterator<Item = &Envelope<Measurement>> {
        self.records.iter().filter_map(|record| match &record.document {
            Document::Measurement(found) => Some(found),
            _ => None,
        })
    }

    /// The clocks that any of the records has measured, in their order.
    pub(crate) fn clocks(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for clock in self.measurements().flat_map(|record| &record.found.clocks).filter(|clock| clock.available) {
            let name = clock.identity.label();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The CPU that the first record was measured on, if this process may use it.
    pub(crate) fn cpu(&self) -> Option<u32> {
        let cpu = self.measurements().next()?.run.as_ref()?.cpu.get()?;
        let environment = clockscope_system::environment();
        environment.cpu.allowed.known()?.contains(&cpu).then_some(cpu)
    }

    /// Shows what has changed. `own` is how the command ends by what it has found itself: what the
    /// comparison says is added.
    pub(crate) fn show(mut self, answer: Document, run: Run, own: Exit) -> Result<Exit> {
        // What was not measured now was not asked for.
        self.request.clocks = match &answer {
            Document::Measurement(found) => found.found.clocks.iter().map(|clock| clock.identity.label()).collect(),
            _ => Vec::new(),
        };
        self.request.all |= run.style.all;
        let new = [ComparedRecord { file: None, document: answer }];
        match clockscope_measure::compare(&self.records, &new, &self.request) {
            Ok(found) => show(found, &self.fail_on, run, own),
            // The machine became another one during the run.
            Err(error) => {
                output::print_error(&error.into());
                Ok(own.or(Exit::Undetermined))
            }
        }
    }
}

/// Shows a comparison, and judges it.
pub(crate) fn show(found: Envelope<Comparison>, fail_on: &[ChangeFinding], run: Run, own: Exit) -> Result<Exit> {
    let exit = own.or(found.exit(fail_on));
    run.write(&Document::Comparison(found), exit)
}

/// Says why records cannot be compared. What has changed between two machines cannot be determined;
/// everything else is the user's mistake.
pub(crate) fn refused(error: CompareError) -> anyhow::Error {
    match error {
        error @ CompareError::OtherMachine { .. } => Undeterminable(error.to_string()).into(),
        error => UsageError(error.to_string()).into(),
    }
}

/// Reads the records of a side.
pub(crate) fn records(named: &str, inputs: &mut Inputs) -> Result<Vec<ComparedRecord>> {
    files(named)?.iter().map(|file| record(file, inputs)).collect()
}

fn record(file: &Path, inputs: &mut Inputs) -> Result<ComparedRecord> {
    if let Some(former) = inputs.name(file) {
        let names = format!("{} and {} are the same file", former.display(), file.display());
        return Err(UsageError(format!("{names}: expected records of different runs")).into());
    }
    let document = inputs.read_document(file, "compare")?;
    Ok(ComparedRecord { file: Some(file.display().to_string()), document })
}

/// The files that a word names: itself, those in a folder, those that match a pattern, that of a
/// baseline, or those of each of several words with commas between them.
fn files(named: &str) -> Result<Vec<PathBuf>> {
    let path = Path::new(named);
    if path.is_dir() {
        let escaped = glob::Pattern::escape(named);
        return matching(&format!("{escaped}/*.json"), || format!("{named} is a folder without a file *.json"));
    }
    if named == "-" || path.exists() {
        return Ok(vec![path.to_owned()]);
    }
    if named.contains(',') {
        let parts = named.split(',').filter(|part| !part.is_empty()).map(files).collect::<Result<Vec<_>>>()?;
        return Ok(parts.concat());
    }
    if named.contains(['*', '?', '[']) {
        return matching(named, || format!("no file matches {named}"));
    }
    match folder::existing(named) {
        Some(file) => Ok(vec![file]),
        // A name rather than a file's.
        None if !named.ends_with(".json") && folder::file(named).is_ok() => {
            bail!("cannot compare with {named}: there is no such file, and {}", folder::missing(named))
        }
        None => Ok(vec![path.to_owned()]),
    }
}

/// The files that match a pattern, in the order of their names.
fn matching(pattern: &str, none: impl FnOnce() -> String) -> Result<Vec<PathBuf>> {
    let found = glob::glob(pattern).map_err(|_| {
        UsageError(format!(
            "{pattern} is not a pattern: expected *, ?, ** as a whole folder, or letters in [], such as run-[0-9].json"
        ))
    })?;
    let files: Vec<PathBuf> = found.collect::<Result<_, _>>().context("cannot look for records")?;
    if files.is_empty() { Err(UsageError(none()).into()) } else { Ok(files) }
}
