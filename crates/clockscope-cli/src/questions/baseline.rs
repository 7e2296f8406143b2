//! Baselines: what was measured once, under a name, to compare with later.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use clockscope_records::{Document, printable};
use clockscope_report::{Format, Style};

use super::measure;
use crate::baseline::folder;
use crate::ending::{Ending, NO_MORE};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::output::{Destination, say, warn};
use crate::usage::UsageError;

#[derive(Args, Debug)]
pub(crate) struct NamedBaselineArgs {
    /// Name under which a record is stored; without one, all names are listed
    ///
    /// Letters, digits, dots, dashes and underscores. Wherever a record is expected to compare
    /// with, such a name stands for it, unless there is a file of that name.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Measure these clocks alone, e.g. tsc,monotonic
    #[arg(long = "clock", value_name = "CLOCK", value_delimiter = ',', num_args = 1, conflicts_with = "from")]
    pub(crate) clocks: Vec<String>,
    /// Store this record of `measure --json` or `check --json` instead of measuring
    #[arg(long, value_name = "FILE", requires = "name")]
    pub(crate) from: Option<PathBuf>,
    /// Replace the record that has this name
    #[arg(long, requires = "name")]
    pub(crate) replace: bool,
    /// Remove the record that has this name
    #[arg(long, requires = "name", conflicts_with_all = ["from", "replace", "clocks"])]
    pub(crate) remove: bool,
    /// Draw no progress bar
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl NamedBaselineArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("baseline before-upgrade", "measure, and store the record under this name"),
            ("compare before-upgrade", "measure again, and show what has changed"),
            ("baseline", "list all baselines"),
            ("baseline before-upgrade --replace", "measure it again"),
            ("baseline trusted --from check.json", "store an earlier record"),
            ("check --baseline trusted", "judge again, and show what has changed"),
        ],
        more: "Records are stored in XDG_DATA_HOME or ~/.local/share, clockscope/baselines.",
        ..NO_MORE
    };
}

/// Does what was asked.
pub(crate) fn run(args: &NamedBaselineArgs) -> Result<Exit> {
    match &args.name {
        None => list(),
        Some(name) if args.remove => remove(name),
        Some(name) => store(name, args),
    }
}

/// Lists names, with the time and the processor of each record.
fn list() -> Result<Exit> {
    let names = folder::names()?;
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for name in &names {
        let about = match Inputs::default().read_document(&folder::file(name)?, "list") {
            Ok(document) => about(&document),
            Err(error) => format!("damaged: {}", crate::error_text::text(&error)),
        };
        text.push_str(&format!("{name:longest$}  {about}\n"));
    }
    Destination::Stdout.write(&text)?;
    if names.is_empty() {
        say("there are no baselines: `clockscope baseline NAME` measures, and stores the record");
    }
    Ok(Exit::Success)
}

fn about(document: &Document) -> String {
    let question = document.schema().trim_start_matches("clockscope.").to_owned();
    let cpu = document.environment().cpu.name();
    let at = document.recorded_at().map(str::to_owned);
    // The record may be from anywhere.
    printable(&[at, Some(question), cpu].into_iter().flatten().collect::<Vec<_>>().join("  ")).into_owned()
}

fn remove(name: &str) -> Result<Exit> {
    let file = folder::existing(name).ok_or_else(|| folder::missing(name))?;
    fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
    Ok(Exit::Success)
}

fn store(name: &str, args: &NamedBaselineArgs) -> Result<Exit> {
    let file = folder::file(name)?;
    refuse_existing(name, &file, args.replace)?;
    let mut inputs = Inputs::default();
    let given = args.from.as_deref().map(|from| recorded(from, &mut inputs)).transpose()?;
    folder::make(&file)?;
    let destination = Destination::file(&file, "the baseline", &inputs)?;
    let (document, exit) = match given {
        Some(document) => (document, Exit::Success),
        None => {
            if let Some(warning) = clockscope_measure::warning() {
                warn(&warning);
            }
            let found = measure::usual(&args.clocks, None, args.quiet)?;
            let is_interrupted = found.is_interrupted();
            (Document::Measurement(found), if is_interrupted { Exit::Interrupted } else { Exit::Success })
        }
    };
    if exit == Exit::Interrupted {
        warn(&format!("interrupted: nothing is stored as {name}"));
        return Ok(exit);
    }
    // Another process may have stored one meanwhile.
    refuse_existing(name, &file, args.replace)?;
    let text = clockscope_report::render(&document, Format::Json, Style::default())?;
    destination.write(&text)?;
    if !args.quiet {
        let next = match document {
            Document::Check(_) => format!("clockscope check --baseline {name}"),
            _ => format!("clockscope compare {name}"),
        };
        say(&format!("stored as {name}: `{next}` shows what has changed since"));
    }
    Ok(exit)
}

/// Refuses to replace what is not to be replaced, and what is not a regular file.
fn refuse_existing(name: &str, file: &Path, replace: bool) -> Result<(), UsageError> {
    match fs::symlink_metadata(file) {
        Ok(found) if !found.is_file() => {
            Err(UsageError(format!("{} is not a regular file: remove it, or choose another name", file.display())))
        }
        Ok(_) if !replace => Err(UsageError(format!("the baseline {name} exists: --replace replaces it"))),
        _ => Ok(()),
    }
}

/// Reads a record that can be compared with.
fn recorded(file: &Path, inputs: &mut Inputs) -> Result<Document> {
    match inputs.read_document(file, "store")? {
        document @ (Document::Measurement(_) | Document::Check(_)) => Ok(document),
        other => {
            let is = format!("cannot store {}: its schema is \"{}\"", file.display(), other.schema());
            Err(UsageError(format!("{is}: expected a record of measure or of check")).into())
        }
    }
}
