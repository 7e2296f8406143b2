//! Mistakes of the user, each with a hint.

use std::fmt;

use clap::CommandFactory;
use clockscope_machine::clocksource::SwitchError;
use clockscope_measure::{MeasureError, UnknownClock};

use crate::args::Cli;

/// The user asked for something that there is not.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// A CPU or a clock that there is not is the user's mistake, anything else the machine's. `cpu` is
/// the option that names CPUs.
pub(crate) fn explained(error: MeasureError, cpu: &str) -> anyhow::Error {
    match error {
        MeasureError::Affinity(error) => UsageError(format!("{cpu}: {error}")).into(),
        MeasureError::Unknown(error) => unknown_clock(error).into(),
        MeasureError::Clocksource(error @ SwitchError::NotAvailable { .. }) => {
            UsageError(format!("--clocksource: {error}")).into()
        }
        MeasureError::Policy(error) => UsageError(format!("--policy: {error}")).into(),
        error @ MeasureError::SameClock { .. } => UsageError(error.to_string()).into(),
        error @ (MeasureError::Reference { .. } | MeasureError::OwnReference { .. }) => {
            UsageError(format!("--reference: {error}")).into()
        }
        error => anyhow::Error::new(error),
    }
}

/// Names the nearest clocks and subcommands.
pub(crate) fn unknown_clock(error: UnknownClock) -> UsageError {
    let commands = Cli::command();
    let subcommands = commands.get_subcommands().map(|subcommand| subcommand.get_name().to_owned());
    let hint = nearest(&error.name, error.known.iter().cloned().chain(subcommands));
    let systems = clockscope_measure::other_systems_with(&error.name);
    let message = match systems.as_slice() {
        [] => format!("{error}{hint}"),
        systems => format!("{} exists on {}, not here", error.name, systems.join(", ")),
    };
    UsageError(format!("{message}\n  `clockscope list` shows all clocks"))
}

/// The names that a name may have been meant for, as the end of a sentence.
pub(crate) fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    let asked = name.to_lowercase();
    let mut near: Vec<(f64, String)> = known.map(|name| (strsim::jaro_winkler(&asked, &name), name)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<&str> =
        near.iter().filter(|(likeness, _)| *likeness > 0.7).take(3).map(|(_, name)| name.as_str()).collect();
    if near.is_empty() { String::new() } else { format!(": did you mean {}?", near.join(", ")) }
}
