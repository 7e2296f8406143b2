//! Mistakes of the user, each with a hint.

pub(crate) mod arguments;

use std::ffi::OsString;
use std::fmt;

use clockscope_measure::{MeasureError, MissingClock, UnknownClock};
use clockscope_records::with_unreadable;
use clockscope_system::clocksource::SwitchError;

use crate::suggestions;

/// The user asked for something that there is not.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Takes the first line, without `error:`.
impl From<clap::Error> for UsageError {
    fn from(error: clap::Error) -> Self {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        Self(line.strip_prefix("error: ").unwrap_or(line).to_owned())
    }
}

/// A request whose answer cannot be determined, which is known before anything is measured.
#[derive(Debug)]
pub(crate) struct Undeterminable(pub(crate) String);

impl fmt::Display for Undeterminable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Undeterminable {}

/// A signal ended the run before it had anything to report.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted before anything was measured")
    }
}

impl std::error::Error for Interrupted {}

/// A CPU or a clock that there is not is the user's mistake, anything else the machine's. `cpu` is
/// the option that names CPUs.
pub(crate) fn explained(error: MeasureError, cpu: &str) -> anyhow::Error {
    match error {
        MeasureError::Affinity(error) => UsageError(format!("{cpu}: {error}")).into(),
        MeasureError::Unknown(error) => unknown_clock(error).into(),
        MeasureError::Clocksource(SwitchError::NotAvailable { name, available }) => {
            let hint = clocksource_hint(&name, &available);
            UsageError(format!("--clocksource: {}{hint}", SwitchError::NotAvailable { name, available })).into()
        }
        MeasureError::Policy(error) => UsageError(format!("--policy: {error}")).into(),
        error @ (MeasureError::SameClock { .. } | MeasureError::NoTimeOfDay { .. }) => {
            UsageError(error.to_string()).into()
        }
        error @ (MeasureError::Reference(_) | MeasureError::OwnReference { .. }) => {
            UsageError(format!("--reference: {}", with_unreadable(&error.to_string(), error.unreadable()))).into()
        }
        error if error.unreadable().is_empty() => anyhow::Error::new(error),
        error => anyhow::anyhow!(with_unreadable(&error.to_string(), error.unreadable())),
    }
}

/// A clock that there is not here: says where it is, or names the nearest ones.
pub(crate) fn unknown_clock(error: UnknownClock) -> UsageError {
    let known = error.known.iter().cloned();
    explained_word(&error).unwrap_or_else(|| {
        let hint = nearest(&error.name, known);
        UsageError(format!("unknown clock: {}; {hint}`clockscope list` shows all clocks", error.name))
    })
}

/// Explains a first word after the program's name that is neither a clock nor a command.
pub(crate) fn unknown_word(error: UnknownClock, commands: Vec<String>) -> UsageError {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if commands.contains(&error.name)
        && let Some(hint) = arguments::command_behind_options(&words)
    {
        return UsageError(hint);
    }
    explained_word(&error).unwrap_or_else(|| {
        let hint = command_or_nearest(&error.name, commands.into_iter().chain(error.known));
        UsageError(format!(
            "unknown command or clock: {}; {hint}`clockscope -h` shows all commands, `clockscope list` all clocks",
            error.name
        ))
    })
}

/// Explains a word that cannot be a name, or names a clock that this machine lacks.
fn explained_word(error: &UnknownClock) -> Option<UsageError> {
    let not_a_name = suggestions::not_a_name(&error.name, &error.known).map(UsageError);
    not_a_name.or_else(|| missing_clock(&error.name))
}

/// The mistake, with its hint, behind a name that no clock of this machine bears; `None` for an
/// unknown name.
fn missing_clock(name: &str) -> Option<UsageError> {
    clockscope_measure::missing_clock(name).as_ref().map(hint).map(UsageError)
}

fn hint(found: &MissingClock) -> String {
    const LIST: &str = "`clockscope list` shows the clocks of this system";
    match found {
        MissingClock::OtherSystems { name, systems } => {
            format!("{name} exists on {}, not here: {LIST}", systems.join(", "))
        }
        MissingClock::OtherMachines { name, description } => {
            format!("this machine lacks {name}: {description}; {LIST}")
        }
        MissingClock::Clocksource { known, is_offered: Some(false) } => {
            format!("{} is a clocksource, not a clock, and this kernel does not offer it: {LIST}", known.name)
        }
        MissingClock::Clocksource { known, .. } => {
            let name = known.name;
            let switched = format!("`clockscope measure --clocksource {name}` measures with it, and needs root");
            format!("{name} is a clocksource, not a clock: {switched}")
        }
    }
}

/// Hint, after the error, at what may have been meant by a clocksource that the kernel does not
/// offer.
fn clocksource_hint(name: &str, available: &str) -> String {
    let mut offered = available.split_ascii_whitespace();
    match clockscope_measure::known_clocksource(name) {
        // In another spelling.
        Some(known) if offered.any(|name| name == known.name) => format!("; did you mean {}?", known.name),
        Some(known) => format!("; {} is {}", known.name, known.description),
        None => match nearest(name, offered.map(str::to_owned)).trim_end() {
            "" => String::new(),
            near => format!("; {near}"),
        },
    }
}

/// Similarity that a suggested name needs (Jaro and Winkler: 1 for the same name).
const MIN_SIMILARITY: f64 = 0.7;
/// Largest difference to the similarity of the nearest name.
const MAX_SIMILARITY_GAP: f64 = 0.15;

/// The command that answers a word, or the names that it may have been meant for, as [`nearest`].
pub(crate) fn command_or_nearest(word: &str, known: impl Iterator<Item = String>) -> String {
    match suggestions::synonym(word) {
        Some(command) => format!("did you mean {command}? "),
        None => nearest(word, known),
    }
}

/// The names that a name may have been meant for, as a question with a blank after it; nothing if
/// there is none.
pub(crate) fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    let target = name.to_lowercase();
    let mut near: Vec<(f64, String)> = known.map(|name| (strsim::jaro_winkler(&target, &name), name)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let least = near.first().map_or(0.0, |(similarity, _)| (similarity - MAX_SIMILARITY_GAP).max(MIN_SIMILARITY));
    let near: Vec<&str> =
        near.iter().take_while(|(similarity, _)| *similarity > least).take(3).map(|(_, name)| name.as_str()).collect();
    match near.as_slice() {
        [] => String::new(),
        [one] => format!("did you mean {one}? "),
        [first @ .., last] => format!("did you mean {} or {last}? ", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clocksource_that_the_kernel_lacks_is_not_recommended() {
        let Some(known) = clockscope_measure::known_clocksource("CLOCK_ACPI_PM") else { panic!("it is known") };
        let of = |is_offered| hint(&MissingClock::Clocksource { known, is_offered });
        let switch = "acpi_pm is a clocksource, not a clock: `clockscope measure --clocksource acpi_pm` measures with it, and needs root";
        assert_eq!([of(Some(true)), of(None)], [switch, switch]);
        let list = "`clockscope list` shows the clocks of this system";
        let missing = format!("acpi_pm is a clocksource, not a clock, and this kernel does not offer it: {list}");
        assert_eq!(of(Some(false)), missing);
        let other =
            MissingClock::OtherMachines { name: "stckf".to_owned(), description: "STCKF (z/Architecture)".into() };
        assert_eq!(hint(&other), format!("this machine lacks stckf: STCKF (z/Architecture); {list}"));
    }

    #[test]
    fn a_clocksource_that_is_not_offered_is_explained_or_corrected() {
        for (name, expected) in [
            ("acpi_pm", "; acpi_pm is the ACPI power-management timer, a port of the chipset"),
            ("CLOCK_ACPI_PM", "; acpi_pm is the ACPI power-management timer, a port of the chipset"),
            ("TSC", "; did you mean tsc?"),
            ("kvm_clock", "; did you mean kvm-clock?"),
            ("sundial", ""),
        ] {
            assert_eq!(clocksource_hint(name, "tsc kvm-clock"), expected, "{name}");
        }
    }
}
