//! NumPy's format NPY 1.0, as a sequence of arrays of one field each.
//!
//! `numpy.load` reads one array of an open file and leaves the file at the next one. The field
//! has a clock's name, and is a view of the array.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Types of values, as NumPy names them: 64 bits, lowest byte first.
pub(super) const INTEGER: &str = "<i8";
pub(super) const FLOAT: &str = "<f8";

/// Every file of the format begins with it; the version follows.
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
/// The data begin at a multiple of this number of bytes.
const ALIGNMENT: usize = 64;
/// Values that are written at once.
const CHUNK: usize = 1 << 16;

/// Writes an array of `count` values.
pub(super) fn write<W: Write>(
    mut out: W,
    name: &str,
    kind: &str,
    count: usize,
    words: impl Iterator<Item = [u8; 8]>,
) -> io::Result<()> {
    out.write_all(&header(name, kind, count)?)?;
    let mut chunk = Vec::with_capacity(8 * CHUNK.min(count));
    for word in words {
        chunk.extend(word);
        if chunk.len() == 8 * CHUNK {
            out.write_all(&chunk)?;
            chunk.clear();
        }
    }
    out.write_all(&chunk)
}

/// Returns the header, which precedes the data.
fn header(name: &str, kind: &str, count: usize) -> io::Result<Vec<u8>> {
    let name = literal(name);
    let mut words = format!("{{'descr': [({name}, '{kind}')], 'fortran_order': False, 'shape': ({count},), }}");
    // Two bytes hold the length of the words, and a line feed ends them.
    let unpadded = MAGIC.len() + 2 + words.len() + 1;
    let padding = unpadded.next_multiple_of(ALIGNMENT) - unpadded;
    words.extend(std::iter::repeat_n(' ', padding));
    words.push('\n');
    let length = u16::try_from(words.len()).map_err(|_| io::Error::other("the clock's name is too long for NPY"))?;
    Ok([MAGIC, &length.to_le_bytes(), words.as_bytes()].concat())
}

/// Returns a text as Python writes it, in ASCII.
fn literal(text: &str) -> String {
    let mut literal = String::from("'");
    for char in text.chars() {
        match char {
            '\'' | '\\' => literal.extend(['\\', char]),
            ' '..='~' => literal.push(char),
            // Writing to a string cannot fail.
            _ => drop(write!(literal, "\\U{:08x}", u32::from(char))),
        }
    }
    literal.push('\'');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(values: &[i64]) -> Vec<u8> {
        let mut out = Vec::new();
        let words = values.iter().map(|value| value.to_le_bytes());
        write(&mut out, "monotonic", INTEGER, values.len(), words).expect("memory takes everything");
        out
    }

    /// Splits bytes into the words of the header and the data.
    fn split(bytes: &[u8]) -> (String, &[u8]) {
        let remaining = bytes.strip_prefix(MAGIC).expect("the magic");
        let (length, remaining) = remaining.split_first_chunk().expect("a length");
        let (words, remaining) = remaining.split_at(u16::from_le_bytes(*length).into());
        assert_eq!((bytes.len() - remaining.len()) % ALIGNMENT, 0);
        (String::from_utf8(words.to_vec()).expect("ASCII"), remaining)
    }

    #[test]
    fn an_array_has_a_header_and_its_values() {
        let bytes = written(&[0, 20, -10]);
        let (words, data) = split(&bytes);
        assert_eq!(words.trim_end(), "{'descr': [('monotonic', '<i8')], 'fortran_order': False, 'shape': (3,), }");
        assert!(words.ends_with('\n'));
        assert_eq!(data, [0i64, 20, -10].map(i64::to_le_bytes).concat());
    }

    #[test]
    fn chunks_lose_nothing() {
        for count in [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK, 2 * CHUNK + 1] {
            let values: Vec<i64> = (0..count as i64).collect();
            let bytes = written(&values);
            let (words, data) = split(&bytes);
            assert!(words.contains(&format!("'shape': ({count},)")));
            let expected: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            assert!(data == expected, "{count} values");
        }
    }

    #[test]
    fn a_name_stays_inside_of_its_quotes() {
        assert_eq!(literal("it's \\ é"), "'it\\'s \\\\ \\U000000e9'");
    }

    #[test]
    fn a_name_that_the_format_cannot_hold_is_an_error() {
        assert!(write(io::sink(), &"a".repeat(70_000), FLOAT, 0, std::iter::empty()).is_err());
    }
}
