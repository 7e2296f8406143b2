//! Formats that a command's answer does not have, refused before anything is measured.

use clockscope_records::Document;
use clockscope_report::Format;

use crate::usage::UsageError;

/// Refuses a format that one of the documents cannot be rendered in.
pub(crate) fn refuse_documents(documents: &[Document], format: Format) -> Result<(), UsageError> {
    documents.iter().try_for_each(|document| refuse(document.schema(), format))
}

/// Refuses a format that documents of this schema cannot be rendered in.
pub(crate) fn refuse(schema: &str, format: Format) -> Result<(), UsageError> {
    clockscope_report::supported(schema, format)
        .map_err(|error| UsageError(format!("--format {}: {error}", format.name())))
}
