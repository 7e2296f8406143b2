//! Trust in clocks, and the better of two.

use std::path::Path;

use anyhow::{Context, Result};
use clockscope_measure::{CheckRequest, ComparedQuestion, Progress, Session, ShootoutRequest};
use clockscope_records::{Document, Envelope, Policy, Shootout, Trust};
use clockscope_report::Format;

use super::common::{Drawing, write};
use super::compare::Baseline;
use super::questions::{answer, asked};
use crate::args::{CheckArgs, ExitCodes, ShootoutArgs};
use crate::changes::{changes_among, own_findings};
use crate::exit::Exit;
use crate::findings::Shows;
use crate::monitor;
use crate::output::{self, Destination};
use crate::usage::UsageError;

pub(super) fn check(args: &CheckArgs) -> Result<Exit> {
    let policy = args.policy.as_deref().map(read_policy).transpose()?.unwrap_or_default();
    let ask = |session: &Session<'_>, progress: &mut Progress<'_>| {
        let (clocks, for_use, duration_s) = (args.clocks.clone(), args.for_use.alone(), args.duration.0);
        let request = CheckRequest { clocks, policy, for_use, duration_s, cpu: args.cpu };
        clockscope_measure::check(session, &request, progress)
    };
    let baseline = Baseline::read(&args.baseline, &args.fail_on, ComparedQuestion::Check)?;
    let destination = Destination::open(args.output.output.as_deref())?;
    let found = asked(ask, &args.output, "--cpu")?;
    let exit = if found.is_interrupted() { Exit::Interrupted } else { end_of_check(&found.found, args) };
    match baseline {
        Some(baseline) => {
            baseline.show(Document::Check(found), &changes_among(&args.fail_on), (&args.output, destination), exit)
        }
        None => show_check(found, exit, args, destination),
    }
}

/// Shows a check to a reader or a monitor.
fn show_check(found: Envelope<Trust>, exit: Exit, args: &CheckArgs, destination: Destination) -> Result<Exit> {
    let health = monitor::health(&found.found, exit);
    if args.monitor.one_line {
        let line = clockscope_report::one_line(&found, health, monitor::remark(exit));
        destination.write(&(line + "\n"))?;
    } else if found.is_interrupted() && args.output.format() == Format::Prometheus && destination.is_replaced() {
        // Metrics of an interrupted check have no time of success. The former ones have, and an
        // alert on its age fires.
        output::warn("--output: the check was interrupted: the file is left as it was");
    } else {
        let drawing = Drawing { verbose: args.verbose, ..Drawing::default() };
        write(&Document::Check(found), &args.output, drawing, destination)?;
    }
    Ok(match args.monitor.exit_codes {
        ExitCodes::Clockscope => exit,
        ExitCodes::Nagios => Exit::Monitored(health),
    })
}

/// Exit of a check: the policy's demands count like what is asked for by `--fail-on`.
fn end_of_check(found: &Trust, args: &CheckArgs) -> Exit {
    if args.policy.is_some() && found.demands.is_empty() {
        output::warn("--policy: the policy demands nothing");
    }
    // The answer says which demands are not met.
    let demands = match () {
        () if found.demands.iter().any(|demand| demand.met == Some(false)) => Exit::Finding,
        () if found.demands.iter().any(|demand| demand.met.is_none()) => Exit::Undetermined,
        () => Exit::Success,
    };
    demands.or(found.exit(&own_findings(&args.fail_on)))
}

fn read_policy(file: &Path) -> Result<Policy> {
    let wrong = || format!("--policy {}", file.display());
    let text = std::fs::read_to_string(file).with_context(wrong)?;
    let policy = toml::from_str(&text);
    Ok(policy.map_err(|error| UsageError(format!("{}: {}", wrong(), error.to_string().trim_end())))?)
}

pub(super) fn shootout(args: &ShootoutArgs) -> Result<Exit> {
    let ask = |session: &Session<'_>, progress: &mut Progress<'_>| {
        let (a, b, duration_s) = (args.a.clone(), args.b.clone(), args.duration.0);
        clockscope_measure::shootout(session, &ShootoutRequest { a, b, duration_s, cpu: args.cpu }, progress)
    };
    answer(ask, (&args.output, Drawing::default()), "--cpu", end_of_shootout, Document::Shootout)
}

/// A clock that cannot be read leaves nothing to be compared.
fn end_of_shootout(found: &Shootout) -> Exit {
    let is_compared = found.metrics.iter().any(|metric| metric.a.is_known() && metric.b.is_known());
    if is_compared { Exit::Success } else { Exit::Undetermined }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use clockscope_measure::ThisMachine;
    use clockscope_records::{Demand, DemandTarget, DemandValue};
    use proptest::prelude::*;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn a_demand_that_is_unknown_is_not_met() {
        let Ok(Cli { command: Some(Command::Check(args)), .. }) = Cli::try_parse_from(["clockscope", "check"]) else {
            panic!("check is a command");
        };
        let ends = |met: &[Option<bool>]| {
            let demand = |met: &Option<bool>| Demand {
                demand: DemandTarget::Clocksource,
                required: DemandValue::Word("tsc".to_owned()),
                for_use: None,
                found: None,
                met: *met,
            };
            end_of_check(&Trust { demands: met.iter().map(demand).collect(), ..Trust::default() }, &args)
        };
        assert_eq!([ends(&[]), ends(&[Some(true)])], [Exit::Success; 2]);
        assert_eq!(ends(&[Some(true), None]), Exit::Undetermined);
        assert_eq!(ends(&[None, Some(false), Some(true)]), Exit::Finding);
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
