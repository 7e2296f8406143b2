//! Arguments of what shows the machine: `clocksource` and `list`.

use clap::Args;

use super::clocks::PathArg;
use super::output::OutputArgs;

#[derive(Args, Debug)]
pub(crate) struct ClocksourceArgs {
    /// Restore the clocksource that a killed run has left switched; needs root
    #[arg(long)]
    pub(crate) restore: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// List the clocks of every system that clockscope knows, with what each system documents
    #[arg(long, conflicts_with = "path")]
    pub(crate) all_platforms: bool,
    /// List clocks via libc, the vDSO or a system call
    #[arg(long = "via", alias = "path", value_name = "PATH", value_enum, default_value_t)]
    pub(crate) path: PathArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
