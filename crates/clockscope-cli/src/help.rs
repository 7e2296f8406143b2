//! The screens of `-h` and `--help`: commands in groups, examples, exit codes.

use std::fmt::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clockscope_measure::{Catalog, ThisMachine};

use crate::options::formats_of;
use crate::questions::measure::MeasureArgs;
use crate::questions::{COMMANDS, Cli, HIDDEN, Row};
use crate::topics;

/// Columns of a terminal, in which `--help` of every command fits.
#[cfg(test)]
const SCREEN: usize = 80;

/// The command line with its help.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let template = template(&command);
    let command = command.help_template(template).after_long_help(MeasureArgs::HELP.text());
    let command = with_formats(command, "clockscope.measure");
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| {
        let schema = format!("clockscope.{name}");
        // It shows any record.
        command.mut_subcommand(&name, |command| if name == "report" { command } else { with_formats(command, &schema) })
    });
    COMMANDS.iter().fold(command, |command, row| {
        command.mut_subcommand(row.name(), |subcommand| subcommand.after_long_help(row.ending.text()))
    })
}

/// The command line for completion: clocks and runtimes have their names, and `help` its topics.
pub(crate) fn completed() -> Command {
    let clocks = Catalog::new(&ThisMachine).names_without_devices();
    let names: Vec<String> = COMMANDS.iter().map(Row::name).collect();
    let topics = names.iter().cloned().chain(topics::names());
    let help = Command::new("help").about("Explain a command, a topic or a pasted log line");
    let help = help.arg(Arg::new("TOPIC").value_parser(PossibleValuesParser::new(topics)));
    let command = with_clocks(command(), &clocks).disable_help_subcommand(true).subcommand(help);
    let command = command.mut_subcommand("runtimes", |runtimes| {
        runtimes.mut_arg("names", |names| names.value_parser(PossibleValuesParser::new(clockscope_runtimes::names())))
    });
    names.iter().fold(command, |command, name| command.mut_subcommand(name, |command| with_clocks(command, &clocks)))
}

/// The command, whose clocks have these names.
fn with_clocks(command: Command, names: &[String]) -> Command {
    command.mut_args(|argument| {
        let is_clock = argument.get_value_names().is_some_and(|values| values.iter().any(|value| *value == "CLOCK"));
        if is_clock { argument.value_parser(PossibleValuesParser::new(names.to_vec())) } else { argument }
    })
}

/// The command, whose help names only formats that its answer has.
fn with_formats(command: Command, schema: &str) -> Command {
    let has_format = command.get_arguments().any(|argument| argument.get_id() == "format");
    if !has_format {
        return command;
    }
    command.mut_arg("format", |argument| argument.value_parser(formats_of(schema)))
}

/// The first screen: what the commands are for, each in a line.
fn template(command: &Command) -> String {
    let header = *command.get_styles().get_header();
    let name = *command.get_styles().get_literal();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for rows in COMMANDS.chunk_by(|one, next| one.group == next.group).filter(|rows| rows[0].group != HIDDEN) {
        let _ = writeln!(text, "\n{header}{}:{header:#}", rows[0].group);
        for of in rows.iter().map(Row::name) {
            let about = command.find_subcommand(&of).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(text, "  {name}{of:11}{name:#}  {}", about.unwrap_or_default());
        }
    }
    let _ = writeln!(
        text,
        "  {name}{:11}{name:#}  Explain a command, a topic (`help topics`) or a pasted log line",
        "help"
    );
    let _ = write!(text, "\n{header}Options:{header:#}\n{{positionals}}\n{{options}}{{after-help}}");
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_a_row() {
        let rows: BTreeSet<String> = COMMANDS.iter().map(Row::name).collect();
        let command = Cli::command();
        let known: BTreeSet<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        assert_eq!(rows, known);
        let groups: Vec<&str> =
            COMMANDS.chunk_by(|one, next| one.group == next.group).map(|rows| rows[0].group).collect();
        assert_eq!(groups, ["Everyday", "Diagnose", "Compare", "Other", HIDDEN]);
    }

    /// Commands by their names and aliases.
    fn words() -> Vec<String> {
        let command = Cli::command();
        let of = |command: &Command| {
            std::iter::once(command.get_name()).chain(command.get_all_aliases()).map(str::to_owned).collect::<Vec<_>>()
        };
        command.get_subcommands().flat_map(of).collect()
    }

    /// The first word may be a clock instead.
    #[test]
    fn no_command_is_named_like_a_clock_of_any_system() {
        let is_clock = |word: &String| clockscope_system::clocks::catalog::CLOCKS.iter().any(|clock| clock.bears(word));
        assert!(is_clock(&"monotonic".to_owned()) && is_clock(&"uptime".to_owned()));
        let words = words();
        assert!(words.contains(&"gaps".to_owned()) && words.contains(&"jitter".to_owned()), "{words:?}");
        assert_eq!(words.into_iter().find(is_clock), None);
    }

    /// Renders a record that is there, which a Python program reads instead.
    const NO_QUESTION: &str = "report";

    #[cfg(unix)]
    #[test]
    fn every_question_has_an_example_and_a_python_function() {
        let init = clockscope_testing::project().join("crates/clockscope-python/python/clockscope/__init__.py");
        let init = std::fs::read_to_string(init).unwrap();
        for row in COMMANDS.iter().filter(|row| row.group != "Other" && row.group != HIDDEN) {
            let name = row.name();
            assert!(row.ending.examples.iter().any(|(line, _)| line.starts_with(&name) || name == "measure"), "{name}");
            let function = if name == "list" { "list_clocks" } else { &name };
            let has_function = init.contains(&format!("\"{function}\": \"_"));
            assert_eq!(has_function, name != NO_QUESTION, "{name}");
        }
    }

    #[test]
    fn the_first_screen_is_one_screen() {
        let screen = command().render_help().to_string();
        assert!(screen.lines().count() <= 50, "{}\n{screen}", screen.lines().count());
        let wide = screen.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{screen}");
    }

    #[test]
    fn help_names_only_formats_that_the_answer_has() {
        let command = command();
        let visible_formats = |command: &Command| {
            let format = command.get_arguments().find(|argument| argument.get_id() == "format")?;
            let visible = format.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
            Some(visible.map(|value| value.get_name().to_owned()).collect::<Vec<_>>())
        };
        let has = |name: &str, format: &str| {
            let formats = command.find_subcommand(name).and_then(visible_formats).expect("a command with formats");
            formats.iter().any(|value| value == format)
        };
        for formats in command.get_subcommands().filter_map(visible_formats) {
            assert!(["table", "json"].iter().all(|format| formats.iter().any(|value| value == format)), "{formats:?}");
        }
        assert!(has("check", "prometheus") && !has("order", "prometheus") && !has("steps", "prometheus"));
        assert!(has("order", "ndjson") && has("report", "prometheus") && has("report", "svg"));
        assert!(!has("advise", "svg"));
    }

    /// Clap would wrap a longer line, in the middle of a command or of a sentence.
    #[test]
    fn every_ending_fits_a_screen() {
        let wide = COMMANDS.iter().flat_map(|row| {
            let text = row.ending.text();
            let wide = text.lines().filter(|line| line.chars().count() > SCREEN);
            wide.map(|line| format!("{}: {line}", row.name())).collect::<Vec<_>>()
        });
        assert_eq!(wide.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn every_help_fits_a_screen() {
        let mut command = command().term_width(SCREEN);
        command.build();
        let others = command.get_subcommands().filter(|page| page.get_name() != "help").cloned();
        let pages: Vec<Command> = others.chain([command.clone()]).collect();
        assert!(pages.len() > 15, "{}", pages.len());
        for mut page in pages {
            let text = page.render_long_help().to_string();
            let wide = text.lines().find(|line| line.chars().count() > SCREEN);
            assert_eq!(wide, None, "{}", page.get_name());
        }
    }

    /// Exit codes ascend.
    #[test]
    fn exit_codes_ascend() {
        for row in COMMANDS {
            let text = row.ending.text();
            let codes = text.split_once("Exit codes:\n").map(|(_, codes)| codes).unwrap_or_default();
            let codes: Vec<u8> =
                codes.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
            assert!(codes.is_sorted() && codes.len() >= 4, "{}: {codes:?}", row.name());
        }
    }

    /// Examples are commands that there are, with options that they have.
    #[test]
    fn examples_are_understood() {
        for row in COMMANDS {
            for (line, _) in row.ending.examples {
                let line = line.split(" > ").next().unwrap_or_default();
                let words = std::iter::once("clockscope").chain(line.split_whitespace());
                let found = command().try_get_matches_from(words);
                assert!(found.is_ok(), "{line}: {}", found.unwrap_err());
            }
        }
    }

    /// Values that few options take.
    const ODD: [&str; 5] = ["", "-1", "1e99", "1x", "abc"];

    /// Parts of the texts of libraries, which users cannot use.
    const RAW: [&str; 6] = ["invalid digit", "cannot parse", "u32", "u64", "utf-8", "os error"];

    #[test]
    fn no_option_answers_an_odd_value_by_a_librarys_text() {
        let all = command();
        let mut tried = 0;
        for name in all.get_subcommands().map(Command::get_name) {
            let Some(subcommand) = all.find_subcommand(name) else { continue };
            let valued = subcommand.get_arguments().filter(|argument| argument.get_action().takes_values());
            for option in valued.filter_map(clap::Arg::get_long) {
                for value in ODD {
                    let words = ["clockscope".to_owned(), name.to_owned(), format!("--{option}={value}")];
                    let error = all.clone().try_get_matches_from(words).err().map(|error| error.to_string());
                    let error = error.unwrap_or_default();
                    assert!(!RAW.iter().any(|raw| error.contains(raw)), "{name} --{option}={value}: {error}");
                    tried += 1;
                }
            }
        }
        assert!(tried > 500, "{tried}");
    }

    /// The documentation names commands that there are, with options that they have.
    #[cfg(unix)]
    #[test]
    fn documented_commands_are_understood() {
        use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};

        let documented = clockscope_testing::documented_commands();
        assert!(documented.len() > 100, "{}", documented.len());
        let wrong: Vec<String> = documented
            .iter()
            .filter(|command| {
                !matches!(command.arguments.as_slice(), [help, words @ ..] if help == "help" && crate::topics::is_answered(words))
            })
            .filter_map(|command| {
                let words = std::iter::once("clockscope").chain(command.arguments.iter().map(String::as_str));
                let error = super::command().try_get_matches_from(words).err()?;
                let is_help = matches!(error.kind(), DisplayHelp | DisplayVersion);
                (!is_help).then(|| format!("{}: {error}", command.location()))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
