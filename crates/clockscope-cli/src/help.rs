//! The screens of `-h` and `--help`: commands in groups, examples, exit codes.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use crate::args::{Cli, formats_of};

/// The commands by what they are for, in the order of the screen.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Everyday", &["measure", "check", "advise", "list", "info"]),
    ("Diagnose", &["steps", "order", "offsets", "rate", "gaps", "sleep", "clocksource"]),
    ("Compare", &["compare", "shootout", "runtimes", "report"]),
    ("Other", &["replay", "schema", "completions", "man", "help"]),
];

/// Description of the command that clap adds.
const HELP: &str = "Print this screen, or the help of a command";

/// End of a command's `--help`.
struct Ending {
    command: &'static str,
    /// Command lines without the program's name, and what they do.
    examples: &'static [(&'static str, &'static str)],
    /// Further remarks.
    more: &'static str,
    /// Its exit codes 1 and 3; all commands have 0, 2, 4 and 130.
    exits: Exits,
}

/// The cases in which a command exits with 1 and with 3; empty if it never does.
#[derive(Clone, Copy)]
struct Exits {
    finding: &'static str,
    undecided: &'static str,
}

const ALWAYS: Exits = Exits { finding: "", undecided: "" };

const NO_MORE: Ending = Ending { command: "", examples: &[], more: "", exits: ALWAYS };

/// Columns of a terminal, in which `--help` of every command fits.
#[cfg(test)]
const SCREEN: usize = 80;

/// Of an option `--fail-on`.
const FINDINGS: Exits = Exits { finding: "a finding that --fail-on names", undecided: "it could not be determined" };

const ENDINGS: &[Ending] = &[
    Ending {
        command: "measure",
        examples: &[
            ("", "all clocks, in less than 2 s"),
            ("tsc monotonic -d 10s", "two clocks, for longer"),
            ("--brief", "the conclusion, and as many clocks as fit into 15 lines"),
            ("--via all", "by the C library, the vDSO and the system call"),
            ("--json -o record.json", "for `clockscope report` and `advise --from`"),
            ("--columns clockperf", "the columns of the program clockperf"),
            ("monotonic --fail-on regression,stuck", "for a test: exits with 1 if it happens"),
        ],
        more: "Terms:   https://github.com/clockscope/clockscope/blob/HEAD/docs/glossary.md
Figures: https://github.com/clockscope/clockscope/blob/HEAD/docs/method.md",
        exits: FINDINGS,
    },
    Ending {
        command: "check",
        examples: &[
            ("check", "the counter and all POSIX clocks"),
            ("check --verbose", "with all evidence, not only what decides"),
            ("check counter --fail-on unfit", "exits with 1 if the counter must not be used"),
            ("check --for interval --fail-on limited", "does not ask for synchronized civil time"),
            ("check --policy policy.toml", "exits with 1 if a demand is not met"),
            ("check --format prometheus -o clockscope.prom", "metrics for node_exporter"),
            ("check --one-line --exit-codes nagios", "a line and a code for a monitor"),
        ],
        more: "Verdicts:
  trusted    nothing contradicts the clock, and every required test supports it
  undecided  nothing contradicts it, but a required test has no result
  limited    right within the limits that the evidence names
  unfit      do not use it: it went back, jumped, stood still, cannot be read,
             or the kernel found it bad

Clocks of civil time are judged for intervals and for civil time. With --fail-on
limited, an undecided clock is not known to be limited (exit code 3).

Evidence: https://github.com/clockscope/clockscope/blob/HEAD/docs/trust.md",
        exits: Exits { finding: "a finding that --fail-on names, or an unmet --policy", ..FINDINGS },
    },
    Ending {
        command: "advise",
        examples: &[
            ("advise --interval 100ns --error 1%", "for something that takes 100 ns"),
            ("advise --from record.json", "from a recorded measurement"),
        ],
        exits: Exits { undecided: "no clock can be advised", ..ALWAYS },
        ..NO_MORE
    },
    Ending {
        command: "list",
        examples: &[
            ("list", "names for all other commands"),
            ("list --via all", "one row for each path"),
            ("list --all-platforms", "the clocks of every system"),
        ],
        ..NO_MORE
    },
    Ending {
        command: "steps",
        examples: &[
            ("steps monotonic", "its tick, and a histogram of its steps"),
            ("steps tsc --raw tsc.csv --reads 1e6", "every reading, in ns"),
            ("steps tsc --raw run.json", "a recording for `clockscope replay`"),
        ],
        exits: FINDINGS,
        ..NO_MORE
    },
    Ending {
        command: "replay",
        examples: &[("replay run.json", "the same answer as the run's")],
        exits: FINDINGS,
        ..NO_MORE
    },
    Ending {
        command: "order",
        examples: &[("order", "all clocks and CPUs"), ("order tsc --cpus 0-3", "one clock on some CPUs")],
        exits: FINDINGS,
        ..NO_MORE
    },
    Ending {
        command: "offsets",
        examples: &[("offsets", "all CPUs"), ("offsets --serial -d 10s", "one pair at a time")],
        exits: FINDINGS,
        ..NO_MORE
    },
    Ending {
        command: "rate",
        examples: &[
            ("rate", "against CLOCK_MONOTONIC_RAW"),
            ("rate tsc --until 0.1ppm", "until the bound is that small"),
        ],
        exits: Exits { undecided: "it could not be determined, or --until was not reached", ..FINDINGS },
        ..NO_MORE
    },
    Ending {
        command: "gaps",
        examples: &[("gaps", "this CPU"), ("gaps --all-cpus --threshold 10us", "all CPUs, long gaps only")],
        exits: Exits { undecided: "a CPU could not be observed", ..ALWAYS },
        ..NO_MORE
    },
    Ending { command: "sleep", examples: &[("sleep", "every call, from 1 us to 100 ms")], exits: FINDINGS, ..NO_MORE },
    Ending {
        command: "compare",
        examples: &[
            ("measure --repeat 6 --json -o base.json", "six runs, to compare with later"),
            ("compare base.json new.json", "what is slower, and what else has changed"),
            ("compare base/ new/ --fail-on slower", "all records of two folders; exits with 1 if a clock is slower"),
            ("measure --repeat 6 --baseline base.json", "measure now, and compare"),
            ("compare base.json new.json -f html -o changes.html", "a page with charts"),
            ("check --baseline trusted.json --fail-on verdict", "exits with 1 if a verdict is worse"),
        ],
        more: "A clock is slower if it is so both in ns and relative to the machine's own
speed.

Method: https://github.com/clockscope/clockscope/blob/HEAD/docs/compare.md",
        exits: Exits {
            finding: "a change that --fail-on names",
            undecided: "it could not be determined, or the records are of different machines",
        },
    },
    Ending {
        command: "clocksource",
        examples: &[
            ("clocksource", "what is available, and why this one"),
            ("measure --clocksource hpet,acpi_pm", "measure with others; needs root"),
            ("clocksource --restore", "after a run that was killed; needs root"),
        ],
        ..NO_MORE
    },
    Ending {
        command: "shootout",
        examples: &[
            ("shootout", "the counter and CLOCK_MONOTONIC"),
            ("shootout monotonic monotonic_coarse", "two clocks by name"),
        ],
        exits: Exits { undecided: "they could not be compared", ..ALWAYS },
        ..NO_MORE
    },
    Ending {
        command: "runtimes",
        examples: &[
            ("runtimes", "every runtime that is found"),
            ("runtimes --list", "those that are found, and how to get the others"),
            ("runtimes python --runtime python=/opt/python/bin/python3", "another program of a runtime"),
        ],
        more: "Probes are built in a cache (XDG_CACHE_HOME or ~/.cache, clockscope/probes) and
run in a temporary folder; only the cache stays. A runtime that is missing,
crashes, hangs or prints rubbish is a row with the reason.

Figures:  https://github.com/clockscope/clockscope/blob/HEAD/docs/runtimes.md
Adding a language:
  https://github.com/clockscope/clockscope/blob/HEAD/docs/runtime-probes.md",
        exits: Exits { undecided: "it could not be determined, or nothing was measured", ..FINDINGS },
    },
    Ending {
        command: "report",
        examples: &[
            ("report record.json", "as the command printed it"),
            ("report record.json -f markdown", "for a document"),
            ("report a.json b.json -f html -o report.html", "a page with charts, of several records"),
            ("report record.json -f html -o report.html --open", "the same of one, opened in a browser"),
            ("report record.json -f svg --chart cost -o cost.svg", "one chart"),
        ],
        more: "Charts: https://github.com/clockscope/clockscope/blob/HEAD/docs/records.md",
        ..NO_MORE
    },
    Ending {
        command: "completions",
        examples: &[(
            "completions bash > clockscope.bash",
            "for bash: source it, or put it where bash-completion looks",
        )],
        ..NO_MORE
    },
    Ending { command: "man", examples: &[("man > clockscope.1", "the manual page")], ..NO_MORE },
];

/// The command line with its help.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let template = template(&command);
    let measure = ENDINGS.iter().find(|ending| ending.command == "measure");
    let command = command.help_template(template).after_long_help(measure.map(Ending::text).unwrap_or_default());
    let command = with_formats(command, "clockscope.measure");
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| {
        // A record is replayed as what it is of; `report` shows any.
        let schema = format!("clockscope.{}", if name == "replay" { "steps" } else { &name });
        command.mut_subcommand(&name, |command| if name == "report" { command } else { with_formats(command, &schema) })
    });
    ENDINGS.iter().fold(command, |command, ending| {
        command.mut_subcommand(ending.command, |subcommand| subcommand.after_long_help(ending.text()))
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
    for (title, names) in GROUPS {
        let _ = writeln!(text, "\n{header}{title}:{header:#}");
        for of in names {
            let about = command.find_subcommand(of).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(text, "  {name}{of:11}{name:#}  {}", about.as_deref().unwrap_or(HELP));
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n{{positionals}}\n{{options}}{{after-help}}");
    text
}

impl Ending {
    fn text(&self) -> String {
        let mut parts = Vec::new();
        if !self.examples.is_empty() {
            let lines = self.examples.iter().map(|(line, what)| {
                let call = format!("clockscope {line}");
                format!("\n  {}\n      {what}", call.trim_end())
            });
            parts.push(format!("Examples:{}", lines.collect::<String>()));
        }
        if !self.more.is_empty() {
            parts.push(self.more.to_owned());
        }
        parts.push(self.exits.text());
        parts.join("\n\n")
    }
}

impl Exits {
    /// Lists the exit codes in ascending order.
    fn text(self) -> String {
        let codes = [
            (0, "success"),
            (1, self.finding),
            (2, "wrong arguments"),
            (3, self.undecided),
            (4, "failure"),
            (130, "interrupted; what was measured is reported"),
        ];
        let lines = codes.into_iter().filter(|(_, when)| !when.is_empty());
        let lines = lines.map(|(code, when)| format!("\n  {code:<3}  {when}"));
        format!("Exit codes:{}", lines.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut command = Cli::command();
        command.build();
        let known: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(grouped.len(), known.len());
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), known);
    }

    #[test]
    fn the_first_screen_is_one_screen() {
        let screen = command().render_help().to_string();
        assert!(screen.lines().count() <= 48, "{}\n{screen}", screen.lines().count());
        let wide = screen.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{screen}");
    }

    #[test]
    fn help_names_only_formats_that_the_answer_has() {
        let command = command();
        let shown = |command: &Command| {
            let format = command.get_arguments().find(|argument| argument.get_id() == "format")?;
            let shown = format.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
            Some(shown.map(|value| value.get_name().to_owned()).collect::<Vec<_>>())
        };
        let has = |name: &str, format: &str| {
            let formats = command.find_subcommand(name).and_then(shown).expect("a command with formats");
            formats.iter().any(|shown| shown == format)
        };
        for formats in command.get_subcommands().filter_map(shown) {
            assert!(["table", "json"].iter().all(|format| formats.iter().any(|shown| shown == format)), "{formats:?}");
        }
        assert!(has("check", "prometheus") && !has("order", "prometheus") && !has("steps", "prometheus"));
        assert!(has("order", "ndjson") && has("report", "prometheus") && has("report", "svg"));
        assert!(!has("advise", "svg"));
    }

    /// Clap would wrap a longer line, in the middle of a command or of a sentence.
    #[test]
    fn every_ending_fits_a_screen() {
        let wide = ENDINGS.iter().flat_map(|ending| {
            let text = ending.text();
            let wide = text.lines().filter(|line| line.chars().count() > SCREEN);
            wide.map(|line| format!("{}: {line}", ending.command)).collect::<Vec<_>>()
        });
        assert_eq!(wide.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn every_help_fits_a_screen() {
        let mut command = command().term_width(SCREEN);
        command.build();
        let others = command.get_subcommands().filter(|page| page.get_name() != "help").cloned();
        let pages: Vec<Command> = others.chain([command.clone()]).collect();
        assert!(pages.len() > 20, "{}", pages.len());
        for mut page in pages {
            let text = page.render_long_help().to_string();
            let wide = text.lines().find(|line| line.chars().count() > SCREEN);
            assert_eq!(wide, None, "{}", page.get_name());
        }
    }

    /// Exit codes ascend.
    #[test]
    fn exit_codes_ascend() {
        for ending in ENDINGS {
            let text = ending.text();
            let codes = text.split_once("Exit codes:\n").map(|(_, codes)| codes).unwrap_or_default();
            let codes: Vec<u8> =
                codes.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
            assert!(codes.is_sorted() && codes.len() >= 4, "{}: {codes:?}", ending.command);
        }
    }

    /// Examples are commands that there are, with options that they have.
    #[test]
    fn examples_are_understood() {
        for ending in ENDINGS {
            assert!(ending.command == "measure" || !ending.examples.is_empty(), "{}", ending.command);
            for (line, _) in ending.examples {
                let line = line.split(" > ").next().unwrap_or_default();
                let words = std::iter::once("clockscope").chain(line.split_whitespace());
                let found = command().try_get_matches_from(words);
                assert!(found.is_ok(), "{line}: {}", found.unwrap_err());
            }
        }
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
            .filter_map(|command| {
                let words = std::iter::once("clockscope").chain(command.arguments.iter().map(String::as_str));
                let error = super::command().try_get_matches_from(words).err()?;
                let shown = matches!(error.kind(), DisplayHelp | DisplayVersion);
                (!shown).then(|| format!("{}: {error}", command.place()))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
