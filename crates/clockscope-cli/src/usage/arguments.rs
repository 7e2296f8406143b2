//! Hints for arguments that the command line refuses.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clockscope_records::printable;

use crate::help;

/// Adds what to write instead, where that is known.
pub(crate) fn with_hint(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let hint = command_behind_options(words).or_else(|| other_commands(&error, words));
    match hint {
        Some(hint) => {
            error.remove(ContextKind::SuggestedArg);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
        }
        // Clap suggests to name a clock like the option.
        None if error.kind() == ErrorKind::UnknownArgument => {
            error.remove(ContextKind::Suggested);
        }
        None => {}
    }
    error
}

/// The line that was probably meant, if a command stands behind options: these are then taken for
/// those of `measure`.
pub(crate) fn command_behind_options(words: &[OsString]) -> Option<String> {
    let words: Vec<Cow<'_, str>> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.first().filter(|word| word.starts_with('-') && *word != "--")?;
    let command = help::command();
    let place = words.iter().position(|word| command.find_subcommand(word.as_ref()).is_some())?;
    let options = words.iter().enumerate().filter(|(index, _)| *index != place).map(|(_, word)| word.as_ref());
    let options = options.collect::<Vec<_>>().join(" ");
    let line = format!("clockscope {} {options}", words[place]);
    Some(format!("write the command before its options: {}", printable(&line)))
}

/// The commands that have an option which this one lacks, or cannot use beside its other arguments.
fn other_commands(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let kinds = match error.kind() {
        ErrorKind::UnknownArgument => [ContextKind::InvalidArg].as_slice(),
        ErrorKind::ArgumentConflict => &[ContextKind::InvalidArg, ContextKind::PriorArg],
        _ => return None,
    };
    let option = kinds.iter().find_map(|kind| named_option(error.get(*kind)?))?;
    let command = help::command();
    let given = words.first().and_then(|word| command.find_subcommand(word)).map_or("measure", Command::get_name);
    let owners: Vec<&str> = command
        .get_subcommands()
        .filter(|other| other.get_name() != given && has_option(other, &option))
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

fn has_option(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|argument| match option.strip_prefix("--") {
        Some(long) => argument.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long)),
        None => option
            .strip_prefix('-')
            .is_some_and(|short| argument.get_short().is_some_and(|letter| short.starts_with(letter))),
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
    }

    #[test]
    fn a_command_behind_options_is_put_before_them() {
        let found = |line: &str| command_behind_options(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        let expected = "write the command before its options: clockscope check -d 5s";
        assert_eq!(found("-d 5s check").as_deref(), Some(expected));
        assert_eq!(
            [found("check -d 5s"), found("tsc check"), found("-d 5s tsc"), found("-- check")],
            [const { None }; 4]
        );
        assert_eq!(tips("--fail-on unfit check").len(), 1);
    }
}
