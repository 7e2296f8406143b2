//! The command *stamps*: files of stamps become times, by the headers in them.

mod arguments;
mod sections;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clockscope_report::Format;

use crate::exit::Exit;
use crate::formats;
use crate::inputs::Inputs;
use crate::output::{self, Destination};
use crate::usage::UsageError;
pub(crate) use arguments::StampsArgs;
use table::Table;

impl StampsArgs {
    pub(crate) fn run(&self) -> Result<Exit> {
        refuse(self)?;
        let wrong = format!("cannot convert {}", self.file.display());
        let mut inputs = Inputs::default();
        let bytes = inputs.read(&self.file).context(wrong.clone())?;
        let sections = sections::split(self, &bytes, &mut inputs).context(wrong.clone())?;
        let destination = Destination::open(self.output.as_deref(), &inputs)?;
        let table = Table::new(self, &sections).context(wrong.clone())?;
        // All of it, before anything is written.
        let mut without_time = BTreeMap::new();
        let mut total = 0_u64;
        table
            .answer(&mut |_, _, answer| {
                total += 1;
                if let Err(reason) = answer {
                    *without_time.entry(reason.to_string()).or_insert(0_u64) += 1;
                }
                Ok(())
            })
            .context(wrong)?;
        let undated: u64 = without_time.values().sum();
        let exit = if undated == 0 {
            Exit::Success
        } else if undated < total {
            Exit::Undetermined
        } else {
            Exit::Unanswered
        };
        let exit = destination.write_answer(exit, |out| table.write(out))?;
        for (reason, counts) in &without_time {
            output::warn(&format!("{counts} of {total} counts have no time: {reason}"));
        }
        Ok(exit)
    }
}

/// Refuses standard input that is named twice, and a name of another format than CSV.
fn refuse(args: &StampsArgs) -> Result<()> {
    if let Some(file) = &args.output
        && let Some(format) = formats::by_ending(file)
        && format != Format::Csv
        && format != Format::Table
    {
        let (file, name) = (file.display(), format.name());
        bail!(UsageError(format!("--output {file}: stamps writes CSV, not {name}: expected a name that ends in .csv")));
    }
    let inputs = [Some(&args.file), args.header.as_ref()];
    if inputs == [Some(&PathBuf::from("-")); 2] {
        bail!(UsageError("FILE and --header are both standard input: name a file for one".to_owned()));
    }
    Ok(())
}
