//! Reasons why a file is not a record, each with what to do.

use serde_json::Value;

use crate::foreign::{Foreign, Json};
use crate::{Document, SCHEMA_VERSION, printable};

/// The key `schema` of a recording.
pub(crate) const RECORDING: &str = "clockscope.recording";

/// Length of a fault in an error. Lists of known words are shorter.
const MAX_FAULT_CHARS: usize = 1_000;

/// The mark at the start of a text in UTF-8, which some editors write.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A kind of file that this program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A document.
    Record,
    /// A recording of `clockscope steps`.
    Recording,
}

impl FileKind {
    fn name(self) -> &'static str {
        match self {
            Self::Record => "a clockscope record",
            Self::Recording => "a recording",
        }
    }

    fn origin(self) -> &'static str {
        match self {
            Self::Record => "--json",
            Self::Recording => "`clockscope steps --raw FILE.json`",
        }
    }

    /// Returns what to do with a file that is something else.
    fn remedy(self, found: Foreign) -> String {
        match found {
            Foreign::Compressed => "unpack it first".to_owned(),
            Foreign::Utf16 => "save it as UTF-8".to_owned(),
            Foreign::Json => format!("expected a file of {}", self.origin()),
            _ => format!("record with {}", self.origin()),
        }
    }
}

/// Reason why a file is not a record of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file is something else.
    #[error("it is {found}, not {}: {}", expected.name(), expected.remedy(*found))]
    Foreign {
        /// What it is.
        found: Foreign,
        /// What it was expected to be.
        expected: FileKind,
    },
    /// The file has no characters but blanks.
    #[error("the file is empty: expected {}, as {} writes it", .0.name(), .0.origin())]
    Empty(FileKind),
    /// The file ends too early.
    #[error("the file is cut off: get a whole copy")]
    CutOff,
    /// The file is not JSON from a place on.
    #[error("the file is damaged: not JSON at line {line}, column {column}: get another copy, or record again")]
    Broken {
        /// Its line, from 1 on.
        line: usize,
        /// Its column, from 1 on.
        column: usize,
    },
    /// Something follows the record.
    #[error("text follows the record at line {line}: keep one record a file")]
    Followed {
        /// The first line of what follows.
        line: usize,
    },
    /// The record was written under a version of the schema that this program does not know.
    #[error(
        "the record has schema_version {found}, this program reads {SCHEMA_VERSION}: use the version of clockscope that wrote it"
    )]
    Version {
        /// The version that the record bears.
        found: u64,
    },
    /// The record is of a kind that this program does not know.
    #[error("its schema is \"{0}\", which this program does not know: use the version of clockscope that wrote it")]
    UnknownSchema(String),
    /// The file is a recording, and a document was expected.
    #[error("it is a recording: `clockscope report FILE --json` computes its answer")]
    IsRecording,
    /// The file is a document, and a recording was expected.
    #[error("its schema is \"{0}\", expected \"clockscope.recording\": show documents with `clockscope report`")]
    OtherDocument(String),
    /// A value is missing, or of another kind. The text is its path and the fault.
    #[error("the record is damaged: {0}: get another copy, or record again")]
    Damaged(String),
}

/// Removes the mark at the start of a text.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// Returns why a file that could not be read is not what was expected. The fault, with its path, is
/// the one of typed reading.
pub(crate) fn diagnosed(bytes: &[u8], expected: FileKind, fault: &str) -> ReadError {
    if bytes.trim_ascii().is_empty() {
        return ReadError::Empty(expected);
    }
    let foreign = |found| ReadError::Foreign { found, expected };
    if let Some(found) = Foreign::of(bytes) {
        return foreign(found);
    }
    match Json::of(bytes) {
        Json::Object(object) => of_object(&object, expected, fault),
        Json::Foreign(found) => foreign(found),
        Json::CutOff => ReadError::CutOff,
        Json::Broken { line, column } => ReadError::Broken { line, column },
        Json::Followed { line } => ReadError::Followed { line },
    }
}

/// Returns why an object is not what was expected.
fn of_object(object: &Value, expected: FileKind, fault: &str) -> ReadError {
    let schema = object.get("schema").and_then(Value::as_str);
    let ours = schema.filter(|schema| schema.starts_with("clockscope."));
    match (ours, object.get("schema_version").and_then(Value::as_u64)) {
        (_, Some(found)) if schema == ours && found != u64::from(SCHEMA_VERSION) => ReadError::Version { found },
        (None, _) => ReadError::Foreign { found: Foreign::Json, expected },
        (Some(schema), _) => of_schema(schema, expected, fault),
    }
}

/// Returns why an object whose key `schema` is ours is not what was expected.
fn of_schema(schema: &str, expected: FileKind, fault: &str) -> ReadError {
    let is_document = Document::KINDS.iter().any(|kind| kind.schema == schema);
    match (expected, schema == RECORDING) {
        (FileKind::Record, true) => ReadError::IsRecording,
        (FileKind::Recording, false) => ReadError::OtherDocument(schema.to_owned()),
        (FileKind::Record, false) if !is_document => ReadError::UnknownSchema(schema.to_owned()),
        _ => ReadError::Damaged(shortened(fault)),
    }
}

/// Returns a fault for one line. The record's own texts are in it.
fn shortened(fault: &str) -> String {
    printable(fault.trim_start_matches(['.', ':', ' '])).chars().take(MAX_FAULT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recording;

    fn said(bytes: &[u8]) -> String {
        Document::from_bytes(bytes).unwrap_err().to_string()
    }

    #[test]
    fn files_that_are_no_records_are_named() {
        for (bytes, expected) in [
            (&b"\x1f\x8b\x08\x00"[..], "it is compressed, not a clockscope record: unpack it first"),
            (b"\xff\xfe{\0", "it is UTF-16, not a clockscope record: save it as UTF-8"),
            (b"\x00\x01", "it is binary data, not a clockscope record: record with --json"),
            (b"\xff", "it is binary data, not a clockscope record: record with --json"),
            (b"<html>", "it is a page or an image, not a clockscope record: record with --json"),
            (b"a,b\n1,2\n", "it is CSV, not a clockscope record: record with --json"),
            (b"tsc 21 ns\n", "it is text, not a clockscope record: record with --json"),
            (b"{}\n{}\n", "it is one object a line, not a clockscope record: record with --json"),
            (b"[1]", "it is JSON of another program, not a clockscope record: expected a file of --json"),
            (b"{}", "it is JSON of another program, not a clockscope record: expected a file of --json"),
            (b" \n", "the file is empty: expected a clockscope record, as --json writes it"),
            (b"{\"schema\": \"clocksc", "the file is cut off: get a whole copy"),
            (b"{}\n\n]", "text follows the record at line 3: keep one record a file"),
        ] {
            assert_eq!(said(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
        let broken = "the file is damaged: not JSON at line 2, column 5: get another copy, or record again";
        assert_eq!(said(b"{\n\"a\":?}"), broken);
    }

    #[test]
    fn a_record_says_where_it_is_damaged() {
        for (text, expected) in [
            (
                r#"{"schema":"clockscope.info","schema_version":1}"#,
                "the record is damaged: missing key `environment`: get another copy, or record again",
            ),
            (
                r#"{"schema":"clockscope.info","schema_version":"1","environment":{}}"#,
                "the record is damaged: schema_version: found string \"1\", expected a whole number from 0 on: get another copy, or record again",
            ),
            (
                r#"{"schema":"clockscope.recording","schema_version":1}"#,
                "it is a recording: `clockscope report FILE --json` computes its answer",
            ),
        ] {
            assert_eq!(said(text.as_bytes()), expected, "{text}");
        }
        assert!(said(br#"{"schema":"clockscope.info","schema_version":2}"#).contains("schema_version 2"));
        assert!(said(br#"{"schema":"clockscope.sundial","schema_version":1}"#).contains("clockscope.sundial"));
        let recording = Recording::from_json(b"").unwrap_err().to_string();
        assert_eq!(
            recording,
            "the file is empty: expected a recording, as `clockscope steps --raw FILE.json` writes it"
        );
    }
}
