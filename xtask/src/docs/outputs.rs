//! The outputs that pages show, made anew by the commands above them.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clockscope_testing::{DocumentedCommand, documented_commands};

use crate::run;

/// A line that stands for those that are left out.
const LEFT_OUT: &str = "…";

/// Columns of the terminal that outputs are of.
const WIDTH: &str = "100";

/// Pages, and a folder of pages, whose outputs are of systems and runtimes that are not at hand.
const PAGES_OF_OTHERS: &[&str] = &["docs/guides/windows.md", "docs/reference/qpc.md", "docs/reference/runtimes/"];

/// Runs the documented commands that answer on this machine, one after the other, and puts what
/// they print in place of what is shown: of a page, or of all. What a page leaves out is left out
/// again, and as many lines are kept as were. Fails where that is not clear, after it has written
/// all others.
pub(crate) fn write(page: Option<&str>) -> Result<()> {
    let program = run::release_program()?;
    let is_wanted = |command: &DocumentedCommand| page.is_none_or(|page| command.page == page);
    let mut unknown = Vec::new();
    // From the last one on, so that the numbers of the lines before stay as they are.
    for command in documented_commands().iter().rev().filter(|command| is_wanted(command) && is_made_here(command)) {
        match replacement(&command.output, &printed(&program, command)?) {
            Some(output) => put(command, &output)?,
            None => unknown.push(command.location()),
        }
    }
    if unknown.is_empty() { Ok(()) } else { bail!("what these show begins otherwise by now: {}", unknown.join(", ")) }
}

/// Returns true if its output is shown, and of this machine as it is, without a file of the user's.
fn is_made_here(command: &DocumentedCommand) -> bool {
    !command.output.is_empty()
        && !PAGES_OF_OTHERS.iter().any(|page| command.page.starts_with(page))
        && !command.arguments.iter().any(|word| word == "--clocksource" || word == "stamps")
}

/// Output that it prints to stdout, whatever its exit code.
fn printed(program: &str, command: &DocumentedCommand) -> Result<Vec<String>> {
    println!("clockscope {}", command.arguments.join(" "));
    let output = Command::new(program)
        .args(&command.arguments)
        .env("COLUMNS", WIDTH)
        .output()
        .context("cannot run clockscope")?;
    let text = String::from_utf8(output.stdout).context("the output is no text")?;
    if text.is_empty() {
        bail!("{} prints nothing: {}", command.location(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(text.lines().map(str::to_owned).collect())
}

/// The lines of `printed` that take the place of `documented`; `None` where a part of it after
/// lines that are left out begins with a word that no later line begins with.
fn replacement(documented: &[String], printed: &[String]) -> Option<Vec<String>> {
    let parts: Vec<&[String]> = documented.split(|line| line == LEFT_OUT).collect();
    let (mut merged, mut at) = (Vec::new(), 0);
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            merged.push(LEFT_OUT.to_owned());
        }
        let Some(first) = part.first() else { continue };
        if number > 0 {
            at += most_like(first, &printed[at..])?;
        }
        let is_last = number + 1 == parts.len();
        let end = if is_last { printed.len() } else { printed.len().min(at + part.len()) };
        merged.extend_from_slice(&printed[at..end]);
        at = end;
    }
    Some(merged)
}

/// The index of the line that begins with the most words of `documented`, the first of them; `None`
/// where none begins with its first word.
fn most_like(documented: &str, lines: &[String]) -> Option<usize> {
    let shared = |line: &String| {
        let both = documented.split_whitespace().zip(line.split_whitespace());
        both.take_while(|(documented, printed)| documented == printed).count()
    };
    let most = lines.iter().map(shared).max().filter(|most| *most > 0 || documented.is_empty())?;
    lines.iter().position(|line| shared(line) == most)
}

/// Replaces what the page shows.
fn put(command: &DocumentedCommand, output: &[String]) -> Result<()> {
    let page = &command.page;
    let text = fs::read_to_string(page).with_context(|| format!("cannot read {page}"))?;
    let mut lines: Vec<&str> = text.lines().collect();
    let range = command.line..command.line + command.output.len();
    lines.splice(range, output.iter().map(String::as_str));
    fs::write(page, lines.join("\n") + "\n").with_context(|| format!("cannot write {page}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_was_left_out_is_left_out_again() {
        let printed = lines("It is fast.\n\nName  Cost\ntsc   8\nhpet  900\n\nTimes in ns.\nThe end.");
        let of = |documented: &str| replacement(&lines(documented), &printed).map(|merged| merged.join("\n"));
        assert_eq!(of("It was slow.").unwrap(), printed.join("\n"));
        assert_eq!(of("It was slow.\n…").unwrap(), "It is fast.\n…");
        assert_eq!(of("…\nName  Cost\ntsc   9\n…").unwrap(), "…\nName  Cost\ntsc   8\n…");
        assert_eq!(of("…\nhpet  9\n…\nThe end.").unwrap(), "…\nhpet  900\n…\nThe end.");
        assert_eq!(of("…\nacpi_pm  9\n…"), None);
        let sleeps = lines("usleep  1 µs  5\nusleep  10 µs  6\nusleep  1 ms  7");
        let merged =
            replacement(&lines("…\nusleep  1 µs  8\n…\nusleep  1 ms  9\n…"), &sleeps).map(|merged| merged.join("\n"));
        assert_eq!(merged.unwrap(), "…\nusleep  1 µs  5\n…\nusleep  1 ms  7\n…");
    }
}
