//! Recorded documents in any format.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clockscope_records::Document;
use clockscope_report::{Format, RenderError};

use super::common::{Drawing, read_document, write_all};
use super::form;
use crate::args::ReportArgs;
use crate::exit::Exit;
use crate::output::Destination;
use crate::usage::UsageError;

pub(super) fn run(args: &ReportArgs) -> Result<Exit> {
    let documents = args.files.iter().map(|file| read_document(file, "report")).collect::<Result<Vec<_>>>()?;
    refuse(args, &documents)?;
    form::refuse_documents(&documents, args.output.format())?;
    let chart =
        args.chart.as_deref().zip(documents.first()).map(|(name, document)| chart(document, name)).transpose()?;
    let destination = Destination::open(args.output.output.as_deref())?;
    match chart {
        Some(image) => destination.write(&image)?,
        None => {
            let ReportArgs { ascii, rows, columns, verbose, plot, .. } = *args;
            let drawing = Drawing { ascii, rows, columns, verbose, plot };
            write_all(&documents, &args.output, drawing, destination)?;
        }
    }
    if let Some(file) = args.output.output.as_deref().filter(|_| args.open) {
        open(file)?;
    }
    Ok(Exit::Success)
}

/// Refuses options that would have no effect.
fn refuse(args: &ReportArgs, documents: &[Document]) -> Result<(), UsageError> {
    let format = args.output.format();
    let has = |is: fn(&Document) -> bool| documents.iter().any(is);
    let wrong = if args.columns.is_some() && !has(|one| matches!(one, Document::Measurement(_) | Document::Switched(_)))
    {
        "--columns: the record holds no measurement: leave the option out"
    } else if args.verbose && !has(|one| matches!(one, Document::Check(_))) {
        "--verbose: the record holds no verdicts: leave the option out"
    } else if documents.len() > 1 && format != Format::Html {
        "several records need --format html: the other formats hold one record each"
    } else if args.chart.is_some() && format != Format::Svg {
        "--chart: needs --format svg; --format html has all charts"
    } else {
        return Ok(());
    };
    Err(UsageError(wrong.to_owned()))
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
    let wrong = || format!("cannot open {} with {program}", file.display());
    let path = std::path::absolute(file).with_context(wrong)?;
    let mut command = Command::new(program);
    command.args(arguments).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().with_context(wrong)?;
    if !status.success() {
        bail!("{}: {status}", wrong());
    }
    Ok(())
}
