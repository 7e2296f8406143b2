//! The reference of commands: the help of each, as the command prints it.

use std::fmt::Write;

use anyhow::{Result, bail};

use crate::run;

/// Commands that the first screen leaves out.
const UNLISTED: [&str; 3] = ["schema", "completions", "man"];

/// Returns a section for each command, in the order of the first screen.
pub(super) fn sections() -> Result<String> {
    let program = run::release_program()?;
    let screen = run::output(&program, &["--help"])?;
    let listed = listed(&screen);
    if listed.is_empty() {
        bail!("`clockscope --help` lists no commands before its options");
    }
    let mut page = section("clockscope", &screen);
    for name in listed.into_iter().chain(UNLISTED) {
        page += &section(&format!("clockscope {name}"), &run::output(&program, &["help", name])?);
    }
    Ok(page)
}

/// The names of commands on the first screen: the first words of its indented lines before the
/// options.
fn listed(screen: &str) -> Vec<&str> {
    let lines = screen.lines().skip_while(|line| !line.starts_with("Usage:")).skip(2);
    let commands = lines.take_while(|line| *line != "Options:").filter(|line| line.starts_with("  "));
    commands.filter_map(|line| line.split_whitespace().next()).collect()
}

/// A heading, and the help below it.
fn section(title: &str, help: &str) -> String {
    let mut section = format!("## {title}\n\n```text\n");
    for line in help.trim_end().lines() {
        let _ = writeln!(section, "{}", line.trim_end());
    }
    section + "```\n\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_screen_lists_commands_before_its_options() {
        let screen = "About\n\nUsage: clockscope [OPTIONS]\n       clockscope <COMMAND>\n\nEveryday:\n  measure  \
                      Measure\n  check    Judge\n\nOptions:\n  -f, --format <FORMAT>  Format\n";
        assert_eq!(listed(screen), ["measure", "check"]);
    }
}
