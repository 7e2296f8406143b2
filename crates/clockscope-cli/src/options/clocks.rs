//! Arguments for the clocks that are read, their paths, CPUs, and the timer interrupt.

use clap::{Args, ValueEnum};
use clockscope_measure::Paths;

use crate::duration::{self, Seconds};
use crate::numbers::{self, Cpus};

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
    #[arg(long, value_name = "TIME", value_parser = duration::parse_interval, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) timer_period: Option<Seconds>,
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
