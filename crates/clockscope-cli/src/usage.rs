//! Mistakes of the user, each with a hint.

use std::fmt;

use clap::CommandFactory;
use clockscope_machine::clocksource::{self, SwitchError};
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

/// A clock that there is not here: says where it is, or names the nearest ones.
pub(crate) fn unknown_clock(error: UnknownClock) -> UsageError {
    let known = error.known.iter().cloned();
    elsewhere(&error.name).unwrap_or_else(|| {
        let hint = nearest(&error.name, known);
        UsageError(format!("unknown clock: {}; {hint}`clockscope list` shows all clocks", error.name))
    })
}

/// The same of the first word after the program's name: a clock, or a command.
pub(crate) fn unknown_word(error: UnknownClock) -> UsageError {
    let commands = Cli::command();
    let known = commands.get_subcommands().map(|command| command.get_name().to_owned()).chain(error.known);
    elsewhere(&error.name).unwrap_or_else(|| {
        let hint = nearest(&error.name, known);
        UsageError(format!(
            "unknown command or clock: {}; {hint}`clockscope -h` shows all commands, `clockscope list` all clocks",
            error.name
        ))
    })
}

/// What a name means where it is no clock of this machine's: a clocksource, or a clock of another
/// system.
fn elsewhere(name: &str) -> Option<UsageError> {
    let systems = clockscope_measure::other_systems_with(name);
    if clocksource::known(name).is_some() {
        let switched = format!("`clockscope measure --clocksource {name}` measures with it, and needs root");
        return Some(UsageError(format!("{name} is a clocksource, not a clock: {switched}")));
    }
    let message =
        format!("{name} exists on {}, not here: `clockscope list` shows the clocks of this system", systems.join(", "));
    (!systems.is_empty()).then_some(UsageError(message))
}

/// How like a name must be to be meant (Jaro and Winkler: 1 for the same), and how much less like
/// than the one that is most alike.
const LIKE: f64 = 0.7;
const MUCH_LESS: f64 = 0.15;

/// The names that a name may have been meant for, as a question with a blank after it; nothing if
/// there is none.
pub(crate) fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    let asked = name.to_lowercase();
    let mut near: Vec<(f64, String)> = known.map(|name| (strsim::jaro_winkler(&asked, &name), name)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let least = near.first().map_or(0.0, |(likeness, _)| (likeness - MUCH_LESS).max(LIKE));
    let near: Vec<&str> =
        near.iter().take_while(|(likeness, _)| *likeness > least).take(3).map(|(_, name)| name.as_str()).collect();
    match near.as_slice() {
        [] => String::new(),
        [one] => format!("did you mean {one}? "),
        [first @ .., last] => format!("did you mean {} or {last}? ", first.join(", ")),
    }
}
