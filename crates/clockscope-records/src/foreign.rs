//! Kinds of files that are no records.

use std::fmt;

use serde_json::{Deserializer, Value};

/// A kind of file that is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// A compressed file.
    Compressed,
    /// Text in UTF-16, as the redirections of Windows PowerShell write it.
    Utf16,
    /// Anything else that is not text.
    Binary,
    /// A page or an image.
    Markup,
    /// Values with commas between them.
    Csv,
    /// Other text, as a table is.
    Text,
    /// One JSON object a line.
    Lines,
    /// JSON of another program.
    Json,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compressed => "compressed",
            Self::Utf16 => "UTF-16",
            Self::Binary => "binary data",
            Self::Markup => "a page or an image",
            Self::Csv => "CSV",
            Self::Text => "text",
            Self::Lines => "one object a line",
            Self::Json => "JSON of another program",
        })
    }
}

/// The first bytes of compressed files: gzip, zstd, zip, xz, bzip2.
const COMPRESSED: [&[u8]; 5] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xfd7zXZ", b"BZh"];

impl Foreign {
    /// Returns the kind of a file that is not JSON; `None` where it begins like an object or list.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        if COMPRESSED.iter().any(|start| bytes.starts_with(start)) {
            return Some(Self::Compressed);
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Some(Self::Utf16);
        }
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        let Some(text) = text.map(str::trim_start) else { return Some(Self::Binary) };
        match text.chars().next() {
            Some('{' | '[') => None,
            Some('<') => Some(Self::Markup),
            _ if text.lines().next().is_some_and(|line| line.contains(',')) => Some(Self::Csv),
            _ => Some(Self::Text),
        }
    }
}

/// JSON of a file: an object alone, or what is wrong with it.
pub(crate) enum Json {
    Object(Value),
    Foreign(Foreign),
    /// The text ends early.
    CutOff,
    /// The text is not JSON from this line and column on.
    Broken {
        line: usize,
        column: usize,
    },
    /// Something follows in this line.
    Followed {
        line: usize,
    },
}

impl Json {
    /// Reads what begins like an object or a list.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut values = Deserializer::from_slice(bytes).into_iter::<Value>();
        let is_object = bytes.trim_ascii_start().starts_with(b"{");
        let first = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) if !error.is_eof() && is_object => {
                return Self::Broken { line: error.line(), column: error.column() };
            }
            // As the head of a section of a text: `[package]`.
            Some(Err(error)) if !error.is_eof() => return Self::Foreign(Foreign::Text),
            Some(Err(_)) | None if is_object => return Self::CutOff,
            Some(Err(_)) | None => return Self::Foreign(Foreign::Json),
        };
        let end = values.byte_offset();
        let rest = &bytes[end..];
        if rest.trim_ascii_start().starts_with(b"{") {
            return Self::Foreign(Foreign::Lines);
        }
        if let Some(at) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) {
            let line = bytes[..end + at].iter().filter(|byte| **byte == b'\n').count() + 1;
            return Self::Followed { line };
        }
        if first.is_object() { Self::Object(first) } else { Self::Foreign(Foreign::Json) }
    }
}
