//! The question *sleep*: calls that end late.

use anyhow::Result;
use clap::{Args, ValueEnum};
use clockscope_measure::{SleepRequest, ThisMachine};
use clockscope_records::Sleep;
use clockscope_records::units::time;

use crate::duration::{self, Seconds};
use crate::ending::{Ending, FINDINGS, NO_MORE};
use crate::exit::Exit;
use crate::findings::{Shows, any};
use crate::inputs::Inputs;
use crate::numbers;
use crate::options::{OutputArgs, RequestedTimer, TimerArgs};
use crate::run::{Run, warn_of_switched_clocksource};
use crate::usage::{UsageError, nearest};

#[derive(Args, Debug)]
pub(crate) struct SleepArgs {
    /// Calls that sleep, e.g. usleep [default: all]
    #[arg(value_name = "CALL")]
    pub(crate) calls: Vec<String>,
    /// Times to ask for, e.g. 1ms or 50us,2ms [default: six from 1us to 100ms]
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse, value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    pub(crate) requested: Vec<Seconds>,
    /// CPU to sleep on [default: the current one]
    #[arg(long, value_name = "N", value_parser = numbers::cpu, allow_negative_numbers = true)]
    pub(crate) cpu: Option<u32>,
    /// Approximate time for all calls together; shorter runs leave out the longest sleeps
    #[arg(long, short, value_name = "TIME", default_value = "6s", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    #[command(flatten)]
    pub(crate) timer: TimerArgs,
    /// Exit with 1 if any of these was seen, with 3 if that could not be determined
    #[arg(long, value_name = "FINDING", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<SleepFinding>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Something that `sleep` may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SleepFinding {
    /// A call that returned before its time
    Early,
}

impl Shows<SleepFinding> for Sleep {
    fn shows(&self, SleepFinding::Early: SleepFinding) -> Option<bool> {
        any(self.rows.iter().map(|row| row.early.get().map(|count| count > 0)))
    }
}

impl SleepArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("sleep", "every call, from 1 us to 100 ms"),
            ("sleep usleep --for 1ms", "how long does usleep(1000) really take?"),
        ],
        exits: FINDINGS,
        ..NO_MORE
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        known(&self.calls)?;
        let mut requested_ns: Vec<u64> = self.requested.iter().map(|time| (time.0 * 1e9).round() as u64).collect();
        requested_ns.sort_unstable();
        requested_ns.dedup();
        if let Some(longest) = requested_ns.last().map(|ns| *ns as f64 * 1e-9).filter(|s| *s > self.duration.0) {
            let [longest, duration] = [longest, self.duration.0].map(|s| time(s * 1e9));
            let wrong = format!(
                "--for: a sleep of {longest} does not fit into {duration}: expected less, or a longer --duration"
            );
            return Err(UsageError(wrong).into());
        }
        if requested_ns.contains(&0) {
            return Err(UsageError("--for: expected at least 1ns".to_owned()).into());
        }
        let timer = RequestedTimer::new(&self.timer)?;
        let request =
            SleepRequest { duration_s: self.duration.0, cpu: self.cpu, calls: self.calls.clone(), requested_ns };
        let run = Run::open("clockscope.sleep", &self.output, &Inputs::default())?;
        warn_of_switched_clocksource();
        let mut found = run.ask("--cpu", |session, progress| clockscope_measure::sleep(session, &request, progress))?;
        timer.note(&mut found);
        run.finish(found, |found| found.exit(&self.fail_on))
    }
}

/// Refuses calls that there are not.
fn known(calls: &[String]) -> Result<(), UsageError> {
    let known = clockscope_measure::sleeping_calls(&ThisMachine);
    match calls.iter().find(|call| !known.contains(call)) {
        None => Ok(()),
        Some(call) => {
            let hint = nearest(call, known.iter().cloned());
            Err(UsageError(format!("unknown call \"{call}\"; {hint}expected one of {}", known.join(", "))))
        }
    }
}
