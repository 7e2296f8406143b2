//! Language runtimes, on systems where their programs cannot be run within limits yet.

use anyhow::{Result, bail};

use crate::args::RuntimesArgs;
use crate::exit::Exit;

/// Fails: a probe is ended with all that it has started, which is written for Unix alone.
pub(super) fn run(_: &RuntimesArgs) -> Result<Exit> {
    bail!("clockscope does not run the probes of language runtimes on this system yet; it does on Linux")
}
