//! Raw readings as files: CSV, NDJSON, NPY, and the recording.

mod npy;

use std::fmt::Write as _;
use std::io::{self, Write};

use clockscope_records::{RecordedBatch, RecordedClock, RecordedRun, Recording, printable};
use serde_json::Value;

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
    /// The recording, as JSON on one line.
    Recording,
}

/// All readings of one clock, in the order in which they were made.
struct Series<'a> {
    /// The clock's name, with the path where that is not the usual one.
    clock: String,
    batches: &'a [RecordedBatch],
    /// Length of the unit of the readings, in ns.
    ns_per_unit: f64,
}

/// Writes the readings of all clocks, and returns the names of the clocks that were left out: those
/// whose unit has no fixed length, except in the recording.
///
/// Readings are in ns since the first one of their clock, with three decimals if its unit is not a
/// multiple of 1 ns. Names are cleaned, or escaped in JSON.
///
/// # Errors
/// Those of the writer.
pub fn write_raw<W: Write>(out: W, format: RawFormat, run: RecordedRun) -> io::Result<Vec<String>> {
    let (mut series, mut left_out) = (Vec::new(), Vec::new());
    for RecordedClock { identity, unit, batches, .. } in run.clocks.iter().filter(|clock| !clock.batches.is_empty()) {
        match unit.length_ns(identity.kind, run.timer.rate().ns_per_unit) {
            Some(ns_per_unit) => series.push(Series { clock: identity.label(), batches, ns_per_unit }),
            None => left_out.push(identity.label()),
        }
    }
    match format {
        RawFormat::Csv => sheet(out, &series)?,
        RawFormat::Labeled => lines(out, &series, |clock| format!("{} ", printable(clock)), "")?,
        RawFormat::Ndjson => {
            lines(out, &series, |clock| format!(r#"{{"clock":{},"ns":"#, Value::from(clock)), "}")?;
        }
        RawFormat::Npy => arrays(out, &series)?,
        RawFormat::Recording => {
            write_recording(out, run)?;
            left_out.clear();
        }
    }
    Ok(left_out)
}

fn write_recording<W: Write>(mut out: W, run: RecordedRun) -> io::Result<()> {
    serde_json::to_writer(&mut out, &Recording::new(run))?;
    out.write_all(b"\n")?;
    out.flush()
}

fn sheet<W: Write>(out: W, series: &[Series<'_>]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["clock", "ns"])?;
    let mut field = String::new();
    for clock in series {
        let name = printable(&clock.clock);
        for ns in clock.ns() {
            field.clear();
            // Writing to a string cannot fail.
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
        npy::write(&mut out, &printable(&clock.clock), kind, clock.readings().count(), words)?;
    }
    out.flush()
}

/// Writes one line per reading: the clock's name formatted by `start`, the reading, and `end`.
fn lines<W: Write>(mut out: W, series: &[Series<'_>], start: impl Fn(&str) -> String, end: &str) -> io::Result<()> {
    for clock in series {
        let start = start(&clock.clock);
        for ns in clock.ns() {
            writeln!(out, "{start}{ns}{end}")?;
        }
    }
    out.flush()
}

impl Series<'_> {
    fn is_whole(&self) -> bool {
        self.ns_per_unit.fract() == 0.0
    }

    fn readings(&self) -> impl Iterator<Item = u64> {
        self.batches.iter().flat_map(|batch| batch.readings.iter().copied())
    }

    /// The readings since the first one.
    fn ns(&self) -> impl Iterator<Item = Ns> {
        let first = self.readings().next().unwrap_or(0);
        let (is_whole, scale) = (self.is_whole(), self.ns_per_unit);
        self.readings().map(move |reading| {
            let since = reading.wrapping_sub(first) as i64;
            if is_whole { Ns::Whole(since.saturating_mul(scale as i64)) } else { Ns::Fraction(since as f64 * scale) }
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
    use clockscope_records::Environment;
    use serde_json::json;

    use super::*;

    /// A run that read these clocks: name, length of a unit in ns, readings. A length of 0 is
    /// unknown.
    fn run(clocks: &[(&str, f64, &[u64])]) -> RecordedRun {
        let rate = json!({"ns_per_unit": 1.0, "bound_ppm": 1.0});
        let clock = |(name, ns_per_unit, readings): &(&str, f64, &[u64])| {
            let known = *ns_per_unit > 0.0;
            let batch = RecordedBatch {
                timer: [0, 1],
                reference_ns: None,
                readings: readings.to_vec(),
                error: None,
                processed_at: 2,
            };
            json!({
                "identity": {
                    "name": name, "aliases": [], "kind": if known { "counter" } else { "cycles" }, "path": "instruction",
                    "description": "", "basis": "other", "counter_based": false, "unknown": {},
                    "is_ordered": false, "is_coarse": false, "is_wall": false, "is_cpu_time": false,
                    "is_steered": false, "counts_suspend": true, "is_device": false, "is_usual": false, "is_wrapper": false,
                },
                "unit": {"counts": known.then(|| 1e9 / ns_per_unit)}, "resolution": "one_count", "reason": null,
                "warm_up_ns": [], "batches": [batch],
            })
        };
        let run = json!({
            "environment": Environment::default(), "recorded_at": null, "run": {
                "requested_duration_s": null, "requested_reads": 3, "duration_s": 1.0, "runs": null, "cpu": 0,
                "unknown": {}, "interrupted": false,
                "timer": {
                    "name": "tsc", "frequency_hz": 1e9, "frequency_problem": null, "frequency_bound_ppm": 1.0,
                    "reference": "monotonic",
                },
            },
            "timer": {
                "name": "tsc", "is_counter": true, "tick_ns": 0.0, "step": 1.0, "call": 0.0, "origin": 0,
                "first_rate": rate, "mean_rate": rate, "reference": "monotonic", "reference_tick_ns": 1.0,
                "reference_origin": 0,
            },
            "clocks": clocks.iter().map(clock).collect::<Vec<_>>(),
        });
        serde_json::from_value(run).expect("a run")
    }

    fn written(format: RawFormat, clocks: &[(&str, f64, &[u64])]) -> String {
        let mut out = Vec::new();
        write_raw(&mut out, format, run(clocks)).expect("memory takes everything");
        String::from_utf8(out).expect("text")
    }

    const MONO: (&str, f64, &[u64]) = ("monotonic", 1.0, &[1000, 1020, 990]);

    #[test]
    fn a_name_does_not_steer_a_terminal() {
        let hostile: (&str, f64, &[u64]) = ("a\u{1b}[2Jb\nc", 1.0, &[7]);
        assert_eq!(written(RawFormat::Csv, &[hostile]), "clock,ns\na [2Jb c,0\n");
        assert_eq!(written(RawFormat::Labeled, &[hostile]), "a [2Jb c 0\n");
        assert_eq!(written(RawFormat::Ndjson, &[hostile]), "{\"clock\":\"a\\u001b[2Jb\\nc\",\"ns\":0}\n");
    }

    #[test]
    fn readings_are_relative_to_the_first() {
        let tsc: (&str, f64, &[u64]) = ("tsc", 0.385, &[u64::MAX, 25]);
        assert_eq!(
            written(RawFormat::Csv, &[MONO, tsc]),
            "clock,ns\nmonotonic,0\nmonotonic,20\nmonotonic,-10\ntsc,0.000\ntsc,10.010\n"
        );
        assert_eq!(written(RawFormat::Labeled, &[MONO]), "monotonic 0\nmonotonic 20\nmonotonic -10\n");
        for line in written(RawFormat::Ndjson, &[MONO, tsc]).lines() {
            assert!(serde_json::from_str::<serde_json::Value>(line).is_ok_and(|line| line["ns"].is_number()));
        }
    }

    /// Core cycles have no length: only the recording has them.
    #[test]
    fn a_clock_without_a_length_is_named() {
        let cycles: (&str, f64, &[u64]) = ("rdpmc", 0.0, &[1, 2]);
        let left_out = |format| write_raw(Vec::new(), format, run(&[MONO, cycles])).expect("memory takes everything");
        assert_eq!(left_out(RawFormat::Csv), ["rdpmc"]);
        assert!(left_out(RawFormat::Recording).is_empty());
        assert!(!written(RawFormat::Csv, &[MONO, cycles]).contains("rdpmc"));
        let recording = written(RawFormat::Recording, &[MONO, cycles]);
        assert_eq!(Recording::from_json(recording.as_bytes()).expect("a recording").recorded, run(&[MONO, cycles]));
    }

    #[test]
    fn arrays_hold_whole_ns_or_fractions() {
        let tsc: (&str, f64, &[u64]) = ("tsc", 0.5, &[u64::MAX, 25]);
        let mut bytes = Vec::new();
        write_raw(&mut bytes, RawFormat::Npy, run(&[MONO, tsc])).expect("memory takes everything");
        let (first, second) = bytes.split_at(128 + 24);
        assert!(first.ends_with(&[0i64, 20, -10].map(i64::to_le_bytes).concat()));
        assert!(String::from_utf8_lossy(first).contains("('monotonic', '<i8')"));
        assert!(second.ends_with(&[0f64, 13.0].map(f64::to_le_bytes).concat()));
        assert!(String::from_utf8_lossy(second).contains("('tsc', '<f8')"));
    }
}
