//! The question *check*: trust in clocks, with the evidence.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use clockscope_measure::{Catalog, CheckRequest, ComparedQuestion, ThisMachine};
use clockscope_records::{Check, Document, EvidenceKind, Finding, Policy, Trustworthiness, Use, Verdict};
use clockscope_report::Format;

use crate::baseline::{Baseline, BaselineArgs, SaveArgs};
use crate::changes::{NamedFindings, OrChange, or_change};
use crate::duration::{self, Seconds};
use crate::ending::{Ending, Exits, FINDINGS};
use crate::exit::Exit;
use crate::findings::{Shows, any_of_all};
use crate::inputs::Inputs;
use crate::monitor::{self, ExitCodes, MonitorArgs};
use crate::numbers;
use crate::options::{OutputArgs, clocks};
use crate::output;
use crate::policy_file;
use crate::run::{Run, exit, warn_of_switched_clocksource};

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Clocks by name or alias; "counter" is the processor's [default: the counter and all POSIX
    /// clocks]
    #[arg(value_name = "CLOCK")]
    pub(crate) clocks: Vec<String>,
    /// Use to judge the clocks for: interval (how long something takes), time-of-day (date and
    /// time), or all; with time-of-day, only clocks that show it are judged
    #[arg(long = "for", value_name = "USE", default_value = "all")]
    pub(crate) for_use: JudgedUse,
    /// Demands on the clocks (TOML; `clockscope schema policy`): exit with 1 if one is not met,
    /// with 3 if that is unknown
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// CPU to measure on where one is enough [default: the current one]
    #[arg(long, value_name = "N", value_parser = numbers::cpu, allow_negative_numbers = true)]
    pub(crate) cpu: Option<u32>,
    /// Time for everything; 2s with --one-line
    #[arg(long, short, value_name = "TIME", default_value = "5s", default_value_if("one_line", ArgPredicate::IsPresent, monitor::ONE_LINE_DURATION), value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) duration: Seconds,
    /// Exit with 1 if a clock has any of these findings, with 3 if that could not be determined
    ///
    /// The changes (slower, verdict, clocksource, events) need --baseline.
    #[arg(long, value_name = "FINDING", value_parser = or_change::<CheckFinding>(), value_delimiter = ',')]
    pub(crate) fail_on: Vec<OrChange<CheckFinding>>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    #[command(flatten)]
    pub(crate) save: SaveArgs,
    /// Name of this machine in a fleet, in place of the code of its machine-id (JSON, NDJSON)
    #[arg(long, value_name = "NAME", value_parser = host_label, conflicts_with = "baseline")]
    pub(crate) host_label: Option<String>,
    /// Show all evidence, not only what decides a verdict
    ///
    /// JSON, CSV and Markdown always have all of it.
    #[arg(long, short, conflicts_with = "brief")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) monitor: MonitorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Uses that clocks are judged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JudgedUse {
    Interval,
    #[value(alias = "time_of_day")]
    TimeOfDay,
    All,
}

impl JudgedUse {
    /// The one use; `None` for all.
    pub(crate) fn alone(self) -> Option<Use> {
        match self {
            Self::Interval => Some(Use::Interval),
            Self::TimeOfDay => Some(Use::TimeOfDay),
            Self::All => None,
        }
    }
}

/// Something that `check` may find of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFinding {
    /// A verdict of limited or unfit; not known of a clock whose verdict is undecided
    Limited,
    /// A verdict of unfit
    Unfit,
    /// A step back, on one CPU or across CPUs
    Regression,
    /// A jump, a loss of time, or a rate that is not constant
    Jump,
    /// A clock that cannot be read
    Unavailable,
    /// A test without a result: of steps back, jumps, order, offsets or rates
    Unknown,
}

/// Checks by which `check` answers about regressions and jumps.
const REGRESSIONS: [EvidenceKind; 2] = [EvidenceKind::StepsBack, EvidenceKind::Order];
const JUMPS: [EvidenceKind; 2] = [EvidenceKind::Jumps, EvidenceKind::ConstantRate];

impl Shows<CheckFinding> for Check {
    fn shows(&self, finding: CheckFinding) -> Option<bool> {
        if finding == CheckFinding::Unavailable && !self.unavailable.is_empty() {
            return Some(true);
        }
        // What is not available may be anything.
        let mut answers: Vec<Option<bool>> = self.unavailable.iter().map(|_| None).collect();
        for verdict in &self.verdicts {
            match finding {
                CheckFinding::Limited if verdict.verdict == Trustworthiness::Undecided => answers.push(None),
                CheckFinding::Limited => answers.push(Some(verdict.verdict <= Trustworthiness::Limited)),
                CheckFinding::Unfit => answers.push(Some(verdict.verdict == Trustworthiness::Unfit)),
                CheckFinding::Regression => answers.extend(answers_of(verdict, &REGRESSIONS)),
                CheckFinding::Jump => answers.extend(answers_of(verdict, &JUMPS)),
                CheckFinding::Unavailable => answers.extend(answers_of(verdict, &[EvidenceKind::Readable])),
                CheckFinding::Unknown => answers.push(Some(
                    verdict
                        .evidence
                        .iter()
                        .any(|evidence| evidence.finding == Finding::Unknown && evidence.data.kind().is_test()),
                )),
            }
        }
        any_of_all(answers.into_iter())
    }
}

/// Returns for each evidence of these checks whether it contradicts the clock.
fn answers_of(verdict: &Verdict, checks: &[EvidenceKind]) -> impl Iterator<Item = Option<bool>> {
    let selected = verdict.evidence.iter().filter(|evidence| checks.contains(&evidence.data.kind()));
    selected.map(|evidence| match evidence.finding {
        Finding::For => Some(false),
        Finding::Against => Some(true),
        Finding::Unknown => None,
    })
}

impl CheckArgs {
    /// End of its help.
    pub(crate) const HELP: Ending = Ending {
        examples: &[
            ("check", "the counter and all POSIX clocks"),
            ("check --verbose", "with all evidence, not only what decides"),
            ("check counter --fail-on unfit", "exits with 1 if the counter must not be used"),
            ("check --for interval --fail-on limited", "does not ask for a synchronized time of day"),
            ("check --policy policy.toml", "exits with 1 if a demand is not met"),
            ("check --format prometheus -o clockscope.prom", "metrics for node_exporter"),
            ("check --one-line --exit-codes nagios", "a line and a code for a monitor"),
        ],
        more: "Verdicts:
  trusted    nothing contradicts the clock, and every required test supports it
  undecided  nothing contradicts it, but a required test has no result
  limited    right within the limits that the evidence names
  unfit      do not use it: it went back, jumped, stood still, cannot be read,
         or the kernel found it bad

Clocks that show the time of day are judged for intervals and for the time of
day. With --fail-on limited, an undecided clock is not known to be limited (exit
code 3).

Evidence: clockscope help evidence",
        exits: Exits { finding: "a finding that --fail-on names, or an unmet --policy", ..FINDINGS },
    };

    /// Answers.
    pub(crate) fn run(&self) -> Result<Exit> {
        let mut inputs = Inputs::default();
        let policy = match &self.policy {
            Some(file) => policy_file::read(file, &mut inputs)?,
            None => Policy::default(),
        };
        let request = CheckRequest {
            clocks: self.clocks.clone(),
            policy,
            for_use: self.for_use.alone(),
            duration_s: self.duration.0,
            cpu: self.cpu,
        };
        let fail_on = NamedFindings::new(&self.fail_on);
        let baseline =
            Baseline::read(&self.baseline, &self.output, fail_on.changes, ComparedQuestion::Check, &mut inputs)?;
        let mut run = if self.monitor.one_line {
            Run::open_line(&self.output, &inputs)?
        } else {
            let schema = if baseline.is_some() { "clockscope.compare" } else { "clockscope.check" };
            Run::open(schema, &self.output, &inputs)?
        };
        run.new_baseline = self.save.open(&inputs, &run.destination)?;
        run.baseline = baseline;
        run.style.verbose = self.verbose;
        warn_of_switched_clocksource();
        clocks::explain_calls(&Catalog::new(&ThisMachine), &self.clocks);
        let mut found = run.ask("--cpu", |session, progress| clockscope_measure::check(session, &request, progress))?;
        found.found.check_id = check_id();
        found.found.identity = clockscope_system::identity(self.host_label.clone());
        if self.policy.is_some() && found.found.demands.is_empty() && !found.is_interrupted() {
            output::warn("--policy: the policy demands nothing");
        }
        let exit = exit(&found, |found| end_of_check(found, &fail_on.own));
        let health = monitor::health(&found.found, exit);
        let line = clockscope_report::one_line(&found, health, monitor::remark(exit));
        let document = Document::Check(found);
        let saved = run.save(&document, exit);
        let exit = if self.monitor.one_line {
            run.destination.write(&(line + "\n"))?;
            exit
        } else if exit == Exit::Interrupted && run.format == Format::Prometheus && run.destination.is_replaced() {
            // Metrics of an interrupted check have no time of success. The former ones have, and an
            // alert on its age fires.
            output::warn("--output: the check was interrupted: the file is left as it was");
            exit
        } else {
            run.show(document, exit)?
        };
        saved?;
        Ok(match self.monitor.exit_codes {
            ExitCodes::Clockscope => exit,
            ExitCodes::Nagios => Exit::Monitored(health),
        })
    }
}

/// A name of a machine: a line of text.
fn host_label(text: &str) -> std::result::Result<String, String> {
    match text.trim() {
        "" => Err("expected a name".to_owned()),
        name if name.chars().any(char::is_control) => Err("expected a name without control characters".to_owned()),
        name if name.len() > MAX_LABEL_BYTES => Err(format!("expected {MAX_LABEL_BYTES} bytes at most")),
        name => Ok(name.to_owned()),
    }
}

/// The longest name of a machine that DNS has, in bytes.
const MAX_LABEL_BYTES: usize = 253;

/// A random number of 128 bits, in hexadecimal digits. Its key is that of std's maps, for which no
/// system waits: soon after a boot, the call that gives secure numbers may wait for minutes.
fn check_id() -> String {
    // No clock is read: that would end a process whose counter is disabled.
    let (key, process) = (RandomState::new(), std::process::id());
    format!("{:016x}{:016x}", key.hash_one((0, process)), key.hash_one((1, process)))
}

/// Exit of a check: the policy's demands count like what is asked for by `--fail-on`.
fn end_of_check(found: &Check, fail_on: &[CheckFinding]) -> Exit {
    // The answer says which demands are not met.
    let mut exit = found.exit(fail_on);
    for demand in &found.demands {
        exit = exit.or(match demand.met {
            Some(true) => Exit::Success,
            Some(false) => Exit::Finding,
            None => Exit::Undetermined,
        });
    }
    if found.verdicts.is_empty() {
        exit.or(Exit::Unanswered)
    } else if found.unavailable.is_empty() {
        exit
    } else {
        exit.or(Exit::Undetermined)
    }
}

#[cfg(test)]
mod tests {
    use clockscope_measure::ThisMachine;
    use clockscope_records::{Demand, DemandTarget, DemandValue, Uses};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_two_checks_have_the_same_number() {
        let ids: std::collections::BTreeSet<String> = (0..1000).map(|_| check_id()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == 32 && u128::from_str_radix(id, 16).is_ok()));
    }

    #[test]
    fn a_demand_that_is_unknown_is_not_met() {
        let ends = |met: &[Option<bool>]| {
            let demand = |met: &Option<bool>| Demand {
                demand: DemandTarget::Clocksource,
                required: DemandValue::Word("tsc".to_owned()),
                for_use: None,
                found: None,
                met: *met,
            };
            let verdict = Trustworthiness::Trusted;
            let tsc = Verdict { clock: "tsc".to_owned(), verdict, uses: Uses::default(), evidence: Vec::new() };
            let demands = met.iter().map(demand).collect();
            end_of_check(&Check { verdicts: vec![tsc], demands, ..Check::default() }, &[])
        };
        assert_eq!([ends(&[]), ends(&[Some(true)])], [Exit::Success; 2]);
        assert_eq!(ends(&[Some(true), None]), Exit::Undetermined);
        assert_eq!(ends(&[None, Some(false), Some(true)]), Exit::Finding);
        assert_eq!(end_of_check(&Check::default(), &[]), Exit::Unanswered);
    }

    /// A policy or something like it.
    fn almost_a_policy() -> impl Strategy<Value = String> {
        let words = prop::sample::select(vec![
            "clocksource",
            "[counter]",
            "[clocks.monotonic]",
            "[clocks.tsc]",
            "[clocks.\"\"]",
            "verdict",
            "max_cost_ns",
            "max_regressions",
            "invariant",
            "=",
            "\n",
            "\"trusted\"",
            "\"tsc\"",
            "[\"hpet\"]",
            "[]",
            "0",
            "-1",
            "1e400",
            "nan",
            "inf",
            "true",
            "{",
            "}",
        ]);
        prop::collection::vec(words, 0..24).prop_map(|words| words.join(" "))
    }

    proptest! {
        /// Whatever stands in the file is read or refused; what is read is judged without
        /// measuring.
        #[test]
        fn any_text_is_a_policy_or_refused(text in prop_oneof![any::<String>(), almost_a_policy()]) {
            if let Ok(policy) = toml::from_str::<Policy>(&text) {
                let first = clockscope_measure::accepted(&ThisMachine, &policy).map_err(|error| error.to_string());
                let again = clockscope_measure::accepted(&ThisMachine, &policy).map_err(|error| error.to_string());
                prop_assert_eq!(first, again);
            }
        }
    }
}
