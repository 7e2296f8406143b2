//! Raw readings as arrays of NumPy: the format NPY 1.0, an array a clock.
//!
//! `numpy.load` reads one array of an open file and leaves the file at the next one. Each array has
//! one field, which bears the clock's name, so that the readings are a view of what was read.

use std::fmt::Write as _;
use std::io::{self, Write};

use clockscope_records::plain;

use super::{Ns, Series};

/// Every file of the format begins with it; the version follows.
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
/// The data begin at a multiple of so many bytes.
const ALIGNMENT: usize = 64;
/// Values that are handed over at a time.
const CHUNK: usize = 1 << 16;

pub(super) fn write<W: Write>(mut out: W, series: &[Series<'_>]) -> io::Result<()> {
    for clock in series {
        out.write_all(&header(clock)?)?;
        let mut chunk = Vec::with_capacity(8 * CHUNK);
        for ns in clock.ns() {
            chunk.extend(match ns {
                Ns::Whole(ns) => ns.to_le_bytes(),
                Ns::Fraction(ns) => ns.to_le_bytes(),
            });
            if chunk.len() == 8 * CHUNK {
                out.write_all(&chunk)?;
                chunk.clear();
            }
        }
        out.write_all(&chunk)?;
    }
    out.flush()
}

/// Returns all that comes before a clock's data.
fn header(clock: &Series<'_>) -> io::Result<Vec<u8>> {
    let kind = if clock.is_whole() { "<i8" } else { "<f8" };
    let (name, count) = (literal(&plain(clock.clock)), clock.values.len());
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
            // A string takes everything.
            _ => drop(write!(literal, "\\U{:08x}", u32::from(char))),
        }
    }
    literal.push('\'');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(series: &[Series<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, series).expect("memory takes everything");
        out
    }

    /// The words of the array's header that these bytes begin with, and what comes after it.
    fn split(bytes: &[u8]) -> (String, &[u8]) {
        let rest = bytes.strip_prefix(MAGIC).expect("the magic");
        let (length, rest) = rest.split_first_chunk().expect("a length");
        let (words, rest) = rest.split_at(u16::from_le_bytes(*length).into());
        assert_eq!((bytes.len() - rest.len()) % ALIGNMENT, 0);
        (String::from_utf8(words.to_vec()).expect("ASCII"), rest)
    }

    #[test]
    fn each_clock_is_an_array_of_its_own() {
        let mono = Series { clock: "monotonic", values: &[1000, 1020, 990], ns_per_unit: 1.0 };
        let tsc = Series { clock: "tsc", values: &[u64::MAX, 25], ns_per_unit: 0.5 };
        let bytes = written(&[mono, tsc]);
        let (words, rest) = split(&bytes);
        assert_eq!(words.trim_end(), "{'descr': [('monotonic', '<i8')], 'fortran_order': False, 'shape': (3,), }");
        assert!(words.ends_with('\n'));
        let (data, rest) = rest.split_at(24);
        assert_eq!(data, [0i64, 20, -10].map(i64::to_le_bytes).concat());
        let (words, data) = split(rest);
        assert_eq!(words.trim_end(), "{'descr': [('tsc', '<f8')], 'fortran_order': False, 'shape': (2,), }");
        assert_eq!(data, [0f64, 13.0].map(f64::to_le_bytes).concat());
    }

    #[test]
    fn chunks_lose_nothing() {
        for count in [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK, 2 * CHUNK + 1] {
            let values: Vec<u64> = (0..count as u64).collect();
            let bytes = written(&[Series { clock: "a", values: &values, ns_per_unit: 1.0 }]);
            let (words, data) = split(&bytes);
            assert!(words.contains(&format!("'shape': ({count},)")));
            assert!(data.iter().eq(values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>().iter()));
        }
    }

    #[test]
    fn a_name_stays_inside_of_its_quotes() {
        assert_eq!(literal("it's \\ é"), "'it\\'s \\\\ \\U000000e9'");
    }

    #[test]
    fn a_name_that_the_format_cannot_hold_is_an_error() {
        let name = "a".repeat(70_000);
        let series = Series { clock: &name, values: &[], ns_per_unit: 1.0 };
        assert!(write(io::sink(), &[series]).is_err());
    }
}
