//! Saves an answer under a name, as a baseline.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use clockscope_records::Document;
use clockscope_report::{Format, Style};

use super::folder;
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::output::{Destination, say, warn};
use crate::usage::UsageError;

/// Options by which an answer is saved as a baseline.
#[derive(Args, Clone, Debug)]
pub(crate) struct SaveArgs {
    /// Save the record under this name too, to compare with later
    ///
    /// Letters, digits, dots, dashes and underscores. Wherever a record is expected to compare
    /// with, such a name stands for it, unless there is a file of that name.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) save: Option<String>,
    /// With --save: replace the record that has this name
    #[arg(long, requires = "save", hide_short_help = true)]
    pub(crate) replace: bool,
}

/// A baseline that is to be written.
pub(crate) struct NewBaseline {
    args: SaveArgs,
    name: String,
    file: PathBuf,
    destination: Destination,
}

impl SaveArgs {
    /// Opens the baseline's file, if there is to be one. Done before anything is measured. An input
    /// and the file of `output` are refused.
    pub(crate) fn open(&self, inputs: &Inputs, output: &Destination) -> Result<Option<NewBaseline>> {
        let Some(name) = &self.save else { return Ok(None) };
        let file = folder::file(name)?;
        self.refuse_existing(&file)?;
        folder::make(&file)?;
        let destination = Destination::file(&file, "--save", inputs)?;
        destination.refuse_same_file(output)?;
        Ok(Some(NewBaseline { args: self.clone(), name: name.clone(), file, destination }))
    }

    /// Refuses to replace what is not to be replaced, and what is not a regular file.
    fn refuse_existing(&self, file: &Path) -> Result<(), UsageError> {
        let shown = file.display();
        match fs::symlink_metadata(file) {
            Ok(found) if !found.is_file() => {
                Err(UsageError(format!("--save: {shown} is not a regular file: remove it, or choose another name")))
            }
            Ok(_) if !self.replace => Err(UsageError(format!("--save: {shown} exists: --replace replaces it"))),
            _ => Ok(()),
        }
    }
}

impl NewBaseline {
    /// Writes the document of a run that ended so, and says so unless `is_quiet`. One that was
    /// interrupted, or answers nothing, is not saved.
    pub(crate) fn write(self, document: &Document, exit: Exit, is_quiet: bool) -> Result<()> {
        let name = self.name;
        if matches!(exit, Exit::Interrupted | Exit::Unanswered) {
            let why = if exit == Exit::Interrupted { "interrupted" } else { "there is no answer" };
            warn(&format!("{why}: nothing is saved as {name}"));
            return Ok(());
        }
        // Another process may have saved one meanwhile.
        self.args.refuse_existing(&self.file)?;
        self.destination.write(&clockscope_report::render(document, Format::Json, Style::default())?)?;
        let command = if matches!(document, Document::Check(_)) { "check --baseline" } else { "compare" };
        if !is_quiet {
            say(&format!("saved as {name}: `clockscope {command} {name}` shows what has changed since"));
        }
        Ok(())
    }
}
