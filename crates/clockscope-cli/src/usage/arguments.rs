//! Hints for arguments that the command line refuses.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use clockscope_records::printable;
use clockscope_records::units::TIME_UNITS;

use crate::help;

/// Adds what to write instead, where that is known.
pub(crate) fn with_hint(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let hint = match error.kind() {
        ErrorKind::UnknownArgument => command_behind_options(words).or_else(|| other_commands(&error, words)),
        ErrorKind::ArgumentConflict if has_positional(&error) => other_commands(&error, words),
        ErrorKind::InvalidValue => command_behind_options(words),
        ErrorKind::ValueValidation => unit_apart(words),
        _ => return error,
    };
    if let Some(hint) = hint {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    } else if error.kind() == ErrorKind::UnknownArgument {
        // Clap suggests to name a clock like the option.
        error.remove(ContextKind::Suggested);
    }
    error
}

/// The line that was probably meant, if a command stands behind options: these are then taken for
/// those of `measure`.
pub(crate) fn command_behind_options(words: &[OsString]) -> Option<String> {
    let words: Vec<Cow<'_, str>> = words.iter().map(|word| word.to_string_lossy()).collect();
    let command = help::command();
    let place = first_positional(&words, &command).filter(|place| *place > 0)?;
    command.find_subcommand(words[place].as_ref())?;
    let mut line = vec!["clockscope".to_owned(), quoted(&words[place])];
    line.extend(words.iter().enumerate().filter(|(index, _)| *index != place).map(|(_, word)| quoted(word)));
    Some(format!("write the command before its options: {}", printable(&line.join(" "))))
}

/// The place of the first word that is neither an option nor an option's value.
fn first_positional(words: &[Cow<'_, str>], command: &Command) -> Option<usize> {
    let mut index = 0;
    while let Some(word) = words.get(index).filter(|word| *word != "--") {
        if !word.starts_with('-') || *word == "-" {
            return Some(index);
        }
        let takes_value = !word.contains('=')
            && std::iter::once(command).chain(command.get_subcommands()).any(|command| takes_value(command, word));
        index += if takes_value { 2 } else { 1 };
    }
    None
}

fn takes_value(command: &Command, option: &str) -> bool {
    arguments(command, option).any(|argument| argument.get_action().takes_values())
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) { format!("'{word}'") } else { word.to_owned() }
}

/// A unit with a blank before it, as in `-d 10 min`.
fn unit_apart(words: &[OsString]) -> Option<String> {
    let words: Vec<Cow<'_, str>> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.windows(3).find_map(|three| {
        let [option, number, unit] = three else { return None };
        let is_unit = TIME_UNITS.iter().any(|(_, names)| names.contains(&unit.as_ref()));
        if is_unit && option.starts_with('-') && number.parse::<f64>().is_ok() {
            Some(format!("write the time as one word: {option} {number}{unit}"))
        } else {
            None
        }
    })
}

/// Returns true if one of two conflicting arguments is positional.
fn has_positional(error: &clap::Error) -> bool {
    [ContextKind::InvalidArg, ContextKind::PriorArg].into_iter().any(|kind| match error.get(kind) {
        Some(ContextValue::String(name)) => !name.starts_with('-'),
        Some(ContextValue::Strings(names)) => names.iter().any(|name| !name.starts_with('-')),
        _ => false,
    })
}

/// The commands that have an option which this one lacks, or cannot use beside its other arguments.
fn other_commands(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let kinds = [ContextKind::InvalidArg, ContextKind::PriorArg];
    let option = kinds.into_iter().find_map(|kind| named_option(error.get(kind)?))?;
    let command = help::command();
    let given = words.first().and_then(|word| command.find_subcommand(word)).map_or("measure", Command::get_name);
    let owners: Vec<&str> = command
        .get_subcommands()
        .filter(|other| other.get_name() != given && arguments(other, &option).next().is_some())
        .map(Command::get_name)
        .collect();
    let (last, others) = owners.split_last()?;
    let owners = if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
    Some(format!("{option} is an option of {owners}"))
}

/// The option that an error names, without its value.
fn named_option(named: &ContextValue) -> Option<String> {
    let names = match named {
        ContextValue::String(name) => std::slice::from_ref(name),
        ContextValue::Strings(names) => names,
        _ => return None,
    };
    let option = names.iter().find(|name| name.starts_with('-'))?;
    option.split([' ', '=']).next().map(str::to_owned)
}

/// The arguments of a command that an option such as `--duration` or `-d` names.
fn arguments<'a>(command: &'a Command, option: &'a str) -> impl Iterator<Item = &'a Arg> {
    command.get_arguments().filter(move |argument| match option.strip_prefix("--") {
        Some(long) => argument.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long)),
        None => argument.get_short().is_some_and(|letter| option[1..].starts_with(letter)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tips of the error of a command line.
    fn tips(line: &str) -> Vec<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let whole = std::iter::once("clockscope".into()).chain(words.clone());
        let error = help::command().try_get_matches_from(whole).unwrap_err();
        let text = with_hint(error, &words).render().to_string();
        text.lines().filter_map(|line| line.trim().strip_prefix("tip: ").map(str::to_owned)).collect()
    }

    #[test]
    fn an_option_of_other_commands_names_them() {
        assert_eq!(tips("measure --offsets"), ["--offsets is an option of order"]);
        assert_eq!(tips("tsc --offsets"), ["--offsets is an option of order"]);
        assert_eq!(tips("rate --save x"), ["--save is an option of measure and check"]);
        assert!(tips("compare a.json b.json -d 2s")[0].starts_with("--duration is an option of "));
        assert_eq!(tips("check --durration 1s"), ["a similar argument exists: '--duration'"]);
        assert_eq!(tips("check --zzzz"), [""; 0]);
        assert_eq!(tips("check --json --csv"), [""; 0]);
        assert_eq!(tips("check -d 10 min"), ["write the time as one word: -d 10min"]);
    }

    #[test]
    fn a_command_behind_options_is_put_before_them() {
        let found = |line: &str| command_behind_options(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        let expected = "write the command before its options: clockscope check -d 5s";
        assert_eq!(found("-d 5s check").as_deref(), Some(expected));
        assert_eq!(
            found("--clock check advise").as_deref().map(|line| line.ends_with("clockscope advise --clock check")),
            Some(true)
        );
        for line in ["check -d 5s", "tsc check", "-d 5s tsc", "-- check", "-o check -d 5s", "--save check tsc"] {
            assert_eq!(found(line), None, "{line}");
        }
        assert_eq!(tips("--fail-on unfit check").len(), 1);
    }
}
