//! The question *measure*: cost, tick and events of clocks.

mod arguments;
mod repeated;
mod switched;

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clockscope_measure::{AfterWorkRequest, Catalog, ComparedQuestion, MeasureRequest, Session, ThisMachine};
use clockscope_records::{Document, Envelope, Measurement};

pub(crate) use arguments::MeasureArgs;
use arguments::{finds_ticks, is_one_of_several};
pub(super) use switched::exit as exit_of_switched;

use crate::baseline::Baseline;
use crate::changes::NamedFindings;
use crate::ending::{Ending, FINDINGS};
use crate::exit::Exit;
use crate::findings::judge;
use crate::inputs::Inputs;
use crate::options::RequestedTimer;
use crate::run::{Run, exit, warn_of_switched_clocksource};
use crate::signals::{stop_on_signals, stop_with_parent};

impl MeasureArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("", "all clocks, in less than 2 s"),
            ("tsc monotonic -d 10s", "two clocks, for longer"),
            ("--brief", "the conclusion, and as many clocks as fit into 15 lines"),
            ("--via all", "by the C library, the vDSO and the system call"),
            ("--json -o record.json", "for `clockscope report` and `advise --from`"),
            ("--save before-upgrade", "for `clockscope compare before-upgrade`"),
            ("--columns clockperf", "the columns of the program clockperf"),
            ("monotonic --fail-on regression,stuck", "for a test: exits with 1 if it happens"),
        ],
        more: "Columns: clockscope help columns
Terms:   clockscope help glossary
Figures: clockscope help method
More:    clockscope help topics",
        exits: FINDINGS,
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let catalog = self.clocks.selected()?;
        let mut inputs = Inputs::default();
        let fail_on = NamedFindings::new(&self.fail_on);
        let baseline =
            Baseline::read(&self.baseline, &self.output, fail_on.changes, ComparedQuestion::Measure, &mut inputs)?;
        let is_switching = !self.clocksource.is_empty();
        let schema = if baseline.is_some() {
            "clockscope.compare"
        } else if is_switching {
            "clockscope.switched"
        } else {
            "clockscope.measure"
        };
        let mut run = Run::open(schema, &self.output, &inputs)?;
        run.new_baseline = self.save.open(&inputs, &run.destination)?;
        run.baseline = baseline;
        run.style.columns = self.columns.map(Into::into);
        run.style.all = self.shows_all();
        run.style.machine |= self.verbose;
        if is_switching {
            return switched::measure(self, &fail_on.own, run);
        }
        warn_of_switched_clocksource();
        let measurement = measured(catalog, self, &run)?;
        let exit = exit(&measurement, |found| judge(&found.clocks, &fail_on.own));
        let document = Document::Measurement(measurement);
        let saved = run.save(&document, exit);
        let exit = run.show(document, exit)?;
        saved.and(Ok(exit))
    }
}

/// Measures these clocks as usual, on this CPU: all if none is named, on the current one.
pub(super) fn usual(clocks: &[String], cpu: Option<u32>, run: &Run) -> Result<Envelope<Measurement>> {
    let args = MeasureArgs { cpu, ..MeasureArgs::usual(clocks)? };
    measured(args.clocks.selected()?, &args, run)
}

/// Measures in several runs, or once in this process, and then around other work.
fn measured(catalog: Catalog, args: &MeasureArgs, run: &Run) -> Result<Envelope<Measurement>> {
    let of_runs = args.runs().map(|runs| repeated::measure(args, runs, run)).transpose()?.flatten();
    let mut measurement = of_runs.map_or_else(|| here(catalog, args, run), Ok)?;
    if !is_one_of_several() {
        around_work(&mut measurement, AfterWorkRequest::Brief(args.work_s()), &*stop_on_signals()?);
    }
    Ok(measurement)
}

/// Reads the clocks of a measurement around other work, unless it was interrupted.
pub(super) fn around_work(measurement: &mut Envelope<Measurement>, request: AfterWorkRequest, stop: &AtomicBool) {
    if !measurement.is_interrupted() {
        clockscope_measure::after_work(&Session::new(&ThisMachine, stop), measurement, request);
    }
}

/// Measures once, in this process.
fn here(catalog: Catalog, args: &MeasureArgs, run: &Run) -> Result<Envelope<Measurement>> {
    let timer = RequestedTimer::new(&args.timer)?;
    let MeasureArgs { cpu, extended, .. } = *args;
    let request = MeasureRequest {
        duration_s: args.sampling_s(),
        cpu,
        extended,
        ticks: finds_ticks(),
        synchronization: extended,
    };
    let stop = if is_one_of_several() { stop_with_parent()? } else { stop_on_signals()? };
    let mut measurement = fresh(catalog, &request, run, &stop)?;
    timer.note(&mut measurement);
    Ok(measurement)
}

/// Measures now.
pub(super) fn fresh(
    catalog: Catalog,
    request: &MeasureRequest,
    run: &Run,
    stop: &AtomicBool,
) -> Result<Envelope<Measurement>> {
    run.ask_until(stop, "--cpu", |session, progress| clockscope_measure::measure(session, catalog, request, progress))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longest time in seconds that an answer takes besides sampling on an idle machine: trial
    /// reads, batches that find their size, the timer's calibration, the search for ticks.
    const BESIDES_S: f64 = 0.2;

    #[test]
    fn a_record_has_several_runs_where_there_is_time_for_them() {
        let runs = |words: &[&str]| {
            let args = MeasureArgs::of_words(words.iter().map(ToString::to_string)).unwrap();
            args.runs().map(|runs| (runs.count, (runs.duration_s * 1e3).round(), runs.is_wanted))
        };
        assert_eq!(runs(&[]), Some((16, 52.0, false)));
        assert_eq!(runs(&["-d", "12s", "tsc"]), Some((16, 559.0, false)));
        assert_eq!((runs(&["-d", "1.6s"]), runs(&["-d", "1.5s"])), (Some((16, 43.0, false)), None));
        assert_eq!(runs(&["-d", "50ms", "--repeat", "3"]), Some((3, 50.0, true)));
        for alone in [&["--extended"][..], &["--repeat", "1"], &["--timer-period", "1ms"]] {
            assert_eq!(runs(alone), None, "{alone:?}");
        }
    }

    #[test]
    fn the_default_answers_within_two_seconds() {
        let measure = MeasureArgs::usual(&[]).unwrap();
        assert!(measure.duration.0 + BESIDES_S <= 2.0, "{:?}", measure.duration);
    }
}
