//! Arguments for the clocks that are read, their paths, CPUs, and the timer interrupt.

use anyhow::Result;
use clap::{Args, ValueEnum};
use clockscope_measure::{Catalog, Paths, ThisMachine};
use clockscope_records::{Envelope, printable};
use clockscope_system::timer_period::{self, TimerPeriod};

use crate::duration::{self, Seconds};
use crate::numbers::{self, Cpus};
use crate::output;
use crate::usage::{UsageError, unknown_clock};

/// Arguments that choose clocks.
#[derive(Args, Debug)]
pub(crate) struct ClockArgs {
    /// Clocks by name, e.g. tsc or monotonic:vdso [default: all]
    ///
    /// `clockscope list` shows the names. The default is all clocks that the command is for.
    #[arg(value_name = "CLOCK")]
    pub(crate) names: Vec<String>,
    /// The same as naming CLOCK
    #[arg(long = "clock", value_name = "CLOCK", hide_short_help = true)]
    pub(crate) clocks: Vec<String>,
    /// How to read clocks with several paths
    #[arg(long = "via", alias = "path", value_name = "PATH", value_enum, default_value_t)]
    pub(crate) path: PathArg,
}

impl ClockArgs {
    /// All names.
    pub(crate) fn all(&self) -> Vec<String> {
        self.names.iter().chain(&self.clocks).cloned().collect()
    }

    /// Selects the clocks that were named, or all.
    pub(crate) fn selected(&self) -> Result<Catalog, UsageError> {
        selected(&self.all(), self.path.into())
    }
}

/// Selects the clocks of these names, or all, and says on stderr what is read where a call of a
/// language was named.
pub(crate) fn selected(names: &[String], paths: Paths) -> Result<Catalog, UsageError> {
    let catalog = Catalog::new(&ThisMachine);
    explain_calls(&catalog, names);
    catalog.select(names, paths).map_err(unknown_clock)
}

/// Says on stderr which clocks are read where calls of a language were named.
pub(crate) fn explain_calls(catalog: &Catalog, names: &[String]) {
    for name in names {
        if let Some((clock, language)) = catalog.behind_call(name) {
            let name = printable(name);
            output::say(&format!("{name} reads {clock} here; `clockscope runtimes {language}` measures the call"));
        }
    }
}

/// Options that choose the CPUs of a tournament.
#[derive(Args, Debug)]
pub(crate) struct PairArgs {
    /// CPUs that take part, e.g. 0-3,8 [default: all that this process may run on]
    #[arg(long, value_name = "LIST", value_parser = numbers::cpus, allow_negative_numbers = true)]
    pub(crate) cpus: Option<Cpus>,
    /// Test one pair of CPUs at a time instead of all pairs of a round at once
    #[arg(long)]
    pub(crate) serial: bool,
}

/// The timer interrupt during the run.
#[derive(Args, Debug)]
pub(crate) struct TimerArgs {
    /// Request this period of the timer interrupt during the run, e.g. 1ms; Windows only
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) timer_period: Option<Seconds>,
}

/// A period of the timer that was requested for a run, until this is dropped.
pub(crate) struct RequestedTimer {
    request: Option<(TimerPeriod, u64)>,
}

impl RequestedTimer {
    /// Requests what the arguments ask for, if anything.
    pub(crate) fn new(args: &TimerArgs) -> Result<Self> {
        let Some(period) = args.timer_period else { return Ok(Self { request: None }) };
        let period_us = (period.0 * 1e6).round() as u64;
        let requested =
            timer_period::request(period_us).map_err(|error| UsageError(format!("--timer-period: {error}")))?;
        Ok(Self { request: Some((requested, period_us * 1000)) })
    }

    /// Withdraws the request, and notes down in the answer that it was made.
    pub(crate) fn note<F>(self, answer: &mut Envelope<F>) {
        if let Some(run) = &mut answer.run {
            run.timer_period_ns = self.request.as_ref().map(|(_, ns)| *ns);
        }
    }
}

/// By which path to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PathArg {
    /// The C library
    #[default]
    Libc,
    /// The vDSO, resolved by clockscope
    Vdso,
    /// The bare system call
    Syscall,
    /// All three, one row each
    All,
}

impl From<PathArg> for Paths {
    fn from(path: PathArg) -> Self {
        match path {
            PathArg::Libc => Self::Libc,
            PathArg::Vdso => Self::Vdso,
            PathArg::Syscall => Self::Syscall,
            PathArg::All => Self::All,
        }
    }
}
