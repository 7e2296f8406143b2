//! Raw readings as files: CSV, NDJSON and NPY.

mod npy;

use std::fmt::Write as _;
use std::io::{self, Write};

use clockscope_records::{Recording, plain};
use serde_json::Value;

/// All readings of one clock, in the order in which they were made.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The clock's name.
    pub clock: &'a str,
    /// The readings, in the clock's unit.
    pub values: &'a [u64],
    /// Length of that unit, in ns.
    pub ns_per_unit: f64,
}

/// The format of raw readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawFormat {
    /// A head `clock,ns` and a line a reading.
    Csv,
    /// A line `clock ns` a reading, no head.
    Labeled,
    /// An object `{"clock": ..., "ns": ...}` a line.
    Ndjson,
    /// An array of NumPy a clock, one after the other.
    Npy,
}

/// Writes the readings of all clocks, whose names are cleaned as all texts of a record are, or
/// escaped in JSON. Each is in ns since its first one: whole ns for a clock of whole ns,
/// picoseconds for others. A reading before the first is negative.
///
/// # Errors
/// What the writer refused.
pub fn write_raw<W: Write>(out: W, format: RawFormat, series: &[Series<'_>]) -> io::Result<()> {
    match format {
        RawFormat::Csv => sheet(out, series),
        RawFormat::Labeled => lines(out, series, |clock| format!("{} ", plain(clock)), ""),
        RawFormat::Ndjson => lines(out, series, |clock| format!(r#"{{"clock":{},"ns":"#, Value::from(clock)), "}"),
        RawFormat::Npy => arrays(out, series),
    }
}

/// Writes a recording as JSON, on one line.
///
/// # Errors
/// What the writer refused.
pub fn write_recording<W: Write>(mut out: W, recording: &Recording) -> io::Result<()> {
    serde_json::to_writer(&mut out, recording)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn sheet<W: Write>(out: W, series: &[Series<'_>]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["clock", "ns"])?;
    let mut field = String::new();
    for clock in series {
        let name = plain(clock.clock);
        for ns in clock.ns() {
            field.clear();
            // A string takes everything.
            let _ = write!(field, "{ns}");
            writer.write_record([name.as_ref(), field.as_str()])?;
        }
    }
    writer.flush()
}

/// Writes one array per clock.
fn arrays<W: Write>(mut out: W, series: &[Series<'_>]) -> io::Result<()> {
    for clock in series {
        let words = clock.ns().map(|ns| match ns {
            Ns::Whole(ns) => ns.to_le_bytes(),
            Ns::Fraction(ns) => ns.to_le_bytes(),
        });
        let kind = if clock.is_whole() { npy::INTEGER } else { npy::FLOAT };
        npy::write(&mut out, &plain(clock.clock), kind, clock.values.len(), words)?;
    }
    out.flush()
}

/// Writes one line per reading: what `start` makes of the clock's name, the reading, and `end`.
fn lines<W: Write>(mut out: W, series: &[Series<'_>], start: impl Fn(&str) -> String, end: &str) -> io::Result<()> {
    for clock in series {
        let start = start(clock.clock);
        for ns in clock.ns() {
            writeln!(out, "{start}{ns}{end}")?;
        }
    }
    out.flush()
}

impl<'a> Series<'a> {
    fn is_whole(&self) -> bool {
        self.ns_per_unit.fract() == 0.0
    }

    /// The readings since the first one.
    fn ns(self) -> impl Iterator<Item = Ns> + 'a {
        let first = self.values.first().copied().unwrap_or(0);
        let (whole, scale) = (self.is_whole(), self.ns_per_unit);
        self.values.iter().map(move |value| {
            let since = value.wrapping_sub(first) as i64;
            if whole { Ns::Whole(since.saturating_mul(scale as i64)) } else { Ns::Fraction(since as f64 * scale) }
        })
    }
}

/// A time in ns.
#[derive(Clone, Copy, Debug)]
enum Ns {
    Whole(i64),
    Fraction(f64),
}

impl std::fmt::Display for Ns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(ns) => write!(f, "{ns}"),
            Self::Fraction(ns) => write!(f, "{ns:.3}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: RawFormat, series: &[Series<'_>]) -> String {
        let mut out = Vec::new();
        write_raw(&mut out, format, series).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_name_does_not_steer_a_terminal() {
        let hostile = Series { clock: "a\u{1b}[2Jb\nc", values: &[7], ns_per_unit: 1.0 };
        assert_eq!(written(RawFormat::Csv, &[hostile]), "clock,ns\na [2Jb c,0\n");
        assert_eq!(written(RawFormat::Labeled, &[hostile]), "a [2Jb c 0\n");
        assert_eq!(written(RawFormat::Ndjson, &[hostile]), "{\"clock\":\"a\\u001b[2Jb\\nc\",\"ns\":0}\n");
    }

    #[test]
    fn readings_are_told_since_the_first() {
        let mono = Series { clock: "monotonic", values: &[1000, 1020, 990], ns_per_unit: 1.0 };
        let tsc = Series { clock: "tsc", values: &[u64::MAX, 25], ns_per_unit: 0.385 };
        assert_eq!(
            written(RawFormat::Csv, &[mono, tsc]),
            "clock,ns\nmonotonic,0\nmonotonic,20\nmonotonic,-10\ntsc,0.000\ntsc,10.010\n"
        );
        assert_eq!(written(RawFormat::Labeled, &[mono]), "monotonic 0\nmonotonic 20\nmonotonic -10\n");
        for line in written(RawFormat::Ndjson, &[mono, tsc]).lines() {
            assert!(serde_json::from_str::<serde_json::Value>(line).is_ok_and(|line| line["ns"].is_number()));
        }
    }

    #[test]
    fn arrays_hold_whole_ns_or_fractions() {
        let mono = Series { clock: "monotonic", values: &[1000, 1020, 990], ns_per_unit: 1.0 };
        let tsc = Series { clock: "tsc", values: &[u64::MAX, 25], ns_per_unit: 0.5 };
        let mut bytes = Vec::new();
        write_raw(&mut bytes, RawFormat::Npy, &[mono, tsc]).expect("memory takes everything");
        let (first, rest) = bytes.split_at(128 + 24);
        assert!(first.ends_with(&[0i64, 20, -10].map(i64::to_le_bytes).concat()));
        assert!(String::from_utf8_lossy(first).contains("('monotonic', '<i8')"));
        assert!(rest.ends_with(&[0f64, 13.0].map(f64::to_le_bytes).concat()));
        assert!(String::from_utf8_lossy(rest).contains("('tsc', '<f8')"));
    }
}
