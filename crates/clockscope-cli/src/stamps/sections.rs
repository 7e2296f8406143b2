//! A stamp file's sections: counts, each with the header that converts them.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clockscope::stamps::Header;

use super::arguments::{CountsArg, StampsArgs};
use crate::inputs::Inputs;
use crate::usage::UsageError;

/// A mark that some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Counts with the header that converts them.
pub(super) struct Section<'a> {
    pub(super) header: Header,
    pub(super) counts: &'a [u8],
    /// Number of the line at which they begin, from 1 on.
    line: usize,
}

impl Section<'_> {
    /// Number of the line in the file that has this byte of the counts, or the first one after it
    /// that ends no line.
    pub(super) fn line_of(&self, byte: usize) -> usize {
        let rest = self.counts.get(byte..).unwrap_or_default();
        let skipped = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line + lines(&self.counts[..(byte + skipped).min(self.counts.len())])
    }
}

/// Splits a file at its headers.
pub(super) fn split<'a>(args: &StampsArgs, bytes: &'a [u8], inputs: &mut Inputs) -> Result<Vec<Section<'a>>> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let has_header = Header::begins_with(bytes);
    if let Some(file) = &args.header {
        if has_header {
            bail!(UsageError("the file has a header: leave --header out".to_owned()));
        }
        let header = read_header(file, inputs).with_context(|| format!("--header {}", file.display()))?;
        return Ok(vec![Section { header, counts: bytes, line: 1 }]);
    }
    if !has_header {
        bail!("it does not begin with a header of stamps; --header names that of bare counts");
    }
    let mut sections = Vec::new();
    let (mut rest, mut line) = (bytes, 1);
    while !rest.is_empty() {
        let (header, tail) = Header::split(rest).with_context(|| format!("the header at line {line}"))?;
        line += lines(&rest[..rest.len() - tail.len()]);
        let length = match args.counts {
            CountsArg::Csv => next_header(tail),
            CountsArg::Le64 => only_counts(tail)?,
        };
        sections.push(Section { header, counts: &tail[..length], line });
        line += lines(&tail[..length]);
        rest = &tail[length..];
    }
    Ok(sections)
}

fn read_header(file: &Path, inputs: &mut Inputs) -> Result<Header> {
    let bytes = inputs.read(file)?;
    let (header, rest) = Header::split(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes))?;
    if rest.trim_ascii().is_empty() { Ok(header) } else { bail!("counts follow it: name this file alone") }
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// The number of bytes before the next line that begins a header.
fn next_header(bytes: &[u8]) -> usize {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.take_while(|line| !Header::begins_with(line)).map(<[u8]>::len).sum()
}

/// The number of bytes, which hold no other header.
fn only_counts(bytes: &[u8]) -> Result<usize> {
    match (0..bytes.len()).find(|at| Header::begins_with(&bytes[*at..])) {
        Some(at) => bail!("another header follows after {at} bytes of counts: a file of le64 has one; split it there"),
        None => Ok(bytes.len()),
    }
}
