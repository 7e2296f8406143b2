//! The question *steps*: every difference between readings, with the readings as files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use clap::{Args, ValueEnum};
use clockscope_measure::{Amount, MeasureRequest, RecordRequest, Session, StepsRequest, ThisMachine, record, steps};
use clockscope_records::RecordedRun;
use clockscope_report::{RawFormat, Style, write_raw};

use crate::duration::{self, Seconds};
use crate::ending::{Ending, FINDINGS, NO_MORE};
use crate::exit::Exit;
use crate::findings::{FailOn, judge};
use crate::formats;
use crate::inputs::Inputs;
use crate::numbers::{self, Reads};
use crate::options::{ClockArgs, OutputArgs};
use crate::output::{self, Destination};
use crate::run::{Run, warn_of_switched_clocksource};
use crate::signals::stop_on_signals;
use crate::usage::{UsageError, explained};

#[derive(Args, Debug)]
pub(crate) struct StepsArgs {
    #[command(flatten)]
    pub(crate) clocks: ClockArgs,
    /// CPU to read on [default: the current one]
    #[arg(long, value_name = "N", value_parser = numbers::cpu, allow_negative_numbers = true)]
    pub(crate) cpu: Option<u32>,
    /// Number of reads of each clock, e.g. 10000 or 1e8 [default with --raw: 10000]
    #[arg(long, value_name = "N", value_parser = numbers::reads, allow_hyphen_values = true)]
    pub(crate) reads: Option<Reads>,
    /// Time for all clocks together [default: 2s]
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true, conflicts_with_all = ["reads", "raw"])]
    pub(crate) duration: Option<Seconds>,
    /// Write every reading to this file, in ns since the clock's first one; a file that ends in
    /// .json is a recording for `clockscope report`
    #[arg(long, value_name = "FILE")]
    pub(crate) raw: Option<PathBuf>,
    /// Format of that file [default: by its ending]
    #[arg(long, value_name = "FORMAT", value_enum, requires = "raw")]
    pub(crate) raw_format: Option<RawFormatArg>,
    /// Style of CSV
    #[arg(long, value_name = "STYLE", value_enum, requires = "raw", default_value_t)]
    pub(crate) raw_style: RawStyleArg,
    /// Show all figures, with this number of rows of distinct differences: the most frequent ones
    /// [default with --all: 40]
    #[arg(long, value_name = "N", value_parser = numbers::rows, allow_negative_numbers = true)]
    pub(crate) rows: Option<usize>,
    /// Show all figures: each distinct difference, all figures of all clocks, clocks that could not
    /// be read
    #[arg(long)]
    pub(crate) all: bool,
    /// Draw histograms and curves in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Draw curves in characters, as on a terminal
    #[arg(long)]
    pub(crate) plot: bool,
    /// Exit with 1 if a clock shows any of these, with 3 if that could not be determined
    #[arg(long, value_name = "EVENT", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Format of raw readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawFormatArg {
    /// One line per reading
    Csv,
    /// One object per line
    Ndjson,
    /// One array per clock, one after the other, for `numpy.load`
    Npy,
    /// Everything that the run read, for `clockscope report`
    Recording,
}

/// Style of CSV.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawStyleArg {
    /// A header, and `clock,ns`
    #[default]
    Unlabeled,
    /// No header, and `clock ns`
    Labeled,
}

impl StepsArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("steps monotonic", "its tick, and a histogram of its steps"),
            ("steps tsc --raw tsc.csv --reads 1e6", "every reading, in ns"),
            ("steps tsc --raw run.json", "a recording for `clockscope report`"),
        ],
        exits: FINDINGS,
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let catalog = self.clocks.selected()?;
        let amount = match (self.reads, self.duration) {
            (Some(Reads(reads)), _) => Amount::Reads(reads),
            (None, Some(Seconds(seconds))) => Amount::Duration(seconds),
            (None, None) => Amount::Duration(DEFAULT_DURATION_S),
        };
        let raw = match &self.raw {
            Some(path) => Some(RawOutput::open(path, self, catalog.size() as u64)?),
            None => None,
        };
        let mut run = Run::open("clockscope.steps", &self.output, &Inputs::default())?;
        run.style = Style {
            ascii: self.ascii || run.style.ascii,
            rows: self.rows,
            plots: self.plot || run.style.plots,
            all: self.all || self.rows.is_some(),
            ..run.style
        };
        if let Some(raw) = &raw {
            raw.destination.refuse_same_file(&run.destination)?;
        }
        warn_of_switched_clocksource();
        let stop = stop_on_signals()?;
        if let Amount::Reads(reads @ MIN_ANNOUNCED_READS..) = amount
            && !run.is_quiet
        {
            announce(reads, self, &stop)?;
        }
        let cpu = self.cpu;
        let Some(raw) = raw else {
            let request = StepsRequest { amount, cpu };
            let found =
                run.ask_until(&stop, "--cpu", |session, progress| steps(session, catalog, &request, progress))?;
            return run.finish(found, |found| judge(&found.clocks, &self.fail_on));
        };
        let request = RecordRequest { reads: raw.reads, cpu };
        let (found, recorded) =
            run.ask_until(&stop, "--cpu", |session, progress| record(session, catalog, request, progress))?;
        let exit = run.finish(found, |found| judge(&found.clocks, &self.fail_on))?;
        raw.write(recorded)?;
        Ok(exit)
    }
}

/// Time for which `steps` reads by default, in seconds, all clocks together.
const DEFAULT_DURATION_S: f64 = 2.0;
/// Number of raw readings of each clock by default.
const DEFAULT_RAW_READS: u64 = 10_000;
/// Most raw readings, all clocks together: 2.4 GB while they are kept.
const MAX_RAW_READS: u64 = 100_000_000;
/// Shortest run that is announced with the time that it will take, in seconds.
const MIN_ANNOUNCED_S: f64 = 10.0;
/// Fewest reads of a run that may be announced.
const MIN_ANNOUNCED_READS: u64 = 1_000_000;

/// Says how long so many reads will take, where that is long, by what a read of each clock costs.
fn announce(reads: u64, args: &StepsArgs, stop: &AtomicBool) -> Result<()> {
    let request =
        MeasureRequest { duration_s: 0.0, cpu: args.cpu, extended: false, ticks: true, synchronization: false };
    let session = Session::new(&ThisMachine, stop);
    let pilot = clockscope_measure::measure(&session, args.clocks.selected()?, &request, &mut |_| {})
        .map_err(|error| explained(error, "--cpu"))?;
    let costs_ns = pilot.found.clocks.iter().filter_map(|clock| clock.cost_ns.known());
    let seconds = costs_ns.map(|cost| cost.median).sum::<f64>() * reads as f64 / 1e9;
    if seconds >= MIN_ANNOUNCED_S && !stop.load(Ordering::Relaxed) {
        output::say(&format!(
            "{reads} reads of each clock will take about {}; Ctrl-C ends them and shows what was read",
            long(seconds)
        ));
    }
    Ok(())
}

/// Shows a time of many seconds.
fn long(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} days", seconds / 86_400.0),
    }
}

/// Destination of raw readings, their format, and how many are made of each clock.
struct RawOutput {
    destination: Destination,
    format: RawFormat,
    reads: u64,
}

impl RawOutput {
    /// Opens the file. Done before anything is read.
    fn open(path: &Path, args: &StepsArgs, clocks: u64) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Err(UsageError("--raw -: standard output is the report's: expected a file".to_owned()).into());
        }
        let format = match args.raw_format {
            Some(format) => format,
            None => format_by_ending(path)?,
        };
        let format = match (format, args.raw_style) {
            (RawFormatArg::Csv, RawStyleArg::Unlabeled) => RawFormat::Csv,
            (RawFormatArg::Csv, RawStyleArg::Labeled) => RawFormat::Labeled,
            (RawFormatArg::Ndjson, RawStyleArg::Unlabeled) => RawFormat::Ndjson,
            (RawFormatArg::Npy, RawStyleArg::Unlabeled) => RawFormat::Npy,
            (RawFormatArg::Recording, RawStyleArg::Unlabeled) => RawFormat::Recording,
            (_, RawStyleArg::Labeled) => {
                return Err(
                    UsageError("--raw-style labeled: a style of CSV alone: use --raw-format csv".to_owned()).into()
                );
            }
        };
        let reads = args.reads.map_or(DEFAULT_RAW_READS, |Reads(reads)| reads);
        if reads.saturating_mul(clocks) > MAX_RAW_READS {
            let hint = format!(
                "--raw keeps every reading in memory: expected at most {MAX_RAW_READS} of all clocks together: ask for fewer --reads, or name clocks"
            );
            return Err(UsageError(hint).into());
        }
        Ok(Self { destination: Destination::file(path, "--raw", &Inputs::default())?, format, reads })
    }

    /// Writes all readings, but those of clocks whose unit has no fixed length into a recording
    /// alone.
    fn write(self, run: RecordedRun) -> Result<()> {
        let mut left_out = Vec::new();
        self.destination.write_by(|out| {
            left_out = write_raw(out, self.format, run)?;
            Ok(())
        })?;
        for clock in left_out {
            output::warn(&format!("{clock}: it counts core cycles: not written to --raw"));
        }
        Ok(())
    }
}

/// Returns the format that a file's name ends by; a device or a pipe takes CSV.
fn format_by_ending(path: &Path) -> Result<RawFormatArg> {
    if !formats::is_file_to_be(path) {
        return Ok(RawFormatArg::Csv);
    }
    let expected = "expected csv, json, jsonl, ndjson, npy or txt, or --raw-format";
    let problem = match formats::ending(path).as_deref() {
        Some("csv" | "txt") => return Ok(RawFormatArg::Csv),
        Some("ndjson" | "jsonl") => return Ok(RawFormatArg::Ndjson),
        Some("npy") => return Ok(RawFormatArg::Npy),
        Some("json") => return Ok(RawFormatArg::Recording),
        Some(ending) => format!("unknown ending \"{ending}\""),
        None => "its name has no ending".to_owned(),
    };
    Err(UsageError(format!("--raw {}: {problem}: {expected}", path.display())).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_have_fitting_units() {
        let formatted = [10.4, 119.0, 150.0, 22_240.0, 400_000.0].map(long);
        assert_eq!(formatted, ["10 s", "119 s", "2 min", "6.2 h", "4.6 days"]);
    }

    #[test]
    fn the_ending_of_a_file_names_the_format_in_any_capitalization() {
        let format = |name: &str| format_by_ending(Path::new(name)).ok();
        assert_eq!(format("x.csv"), Some(RawFormatArg::Csv));
        assert_eq!(format("x.CSV"), Some(RawFormatArg::Csv));
        assert_eq!([format("readings"), format("readings.")], [None; 2]);
        assert_eq!(format("x.jsonl"), Some(RawFormatArg::Ndjson));
        assert_eq!(format("x.Npy"), Some(RawFormatArg::Npy));
        assert_eq!(format("x.json"), Some(RawFormatArg::Recording));
        assert_eq!(format("x.parquet"), None);
    }
}
