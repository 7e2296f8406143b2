//! The commands that the project's documentation names, and the outputs that it shows.

use std::fs;
use std::path::{Path, PathBuf};

/// A command in the documentation.
#[derive(Debug)]
pub struct DocumentedCommand {
    /// The page's file, from the project's root.
    pub page: String,
    /// Its line, from 1.
    pub line: usize,
    /// The arguments that follow `clockscope`.
    pub arguments: Vec<String>,
    /// The lines that are shown as its output; none where it is only named.
    pub output: Vec<String>,
}

impl DocumentedCommand {
    /// Returns its page and line.
    #[must_use]
    pub fn location(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

/// The project's root.
#[must_use]
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Lists the commands of README.md and of all pages below docs/, in the order of the text.
#[must_use]
pub fn documented_commands() -> Vec<DocumentedCommand> {
    let mut files = Vec::new();
    list_pages(&project().join("docs"), &mut files);
    files.sort();
    files.insert(0, project().join("README.md"));
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a page of the documentation");
        let file = file.strip_prefix(project()).expect("below the root").display().to_string();
        found.extend(of_page(&file, &text));
    }
    found
}

/// The folder of decisions, whose commands are those of their time.
const DECISIONS: &str = "decisions";

/// Adds the pages of a folder and of the folders in it, without decisions.
fn list_pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the documentation") {
        let path = entry.expect("an entry of the documentation").path();
        if path.is_dir() {
            if !path.ends_with(DECISIONS) {
                list_pages(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// A part of a page: a fenced block, or the text between two of them.
struct Part<'a> {
    /// The number of its first line, from 1.
    at: usize,
    fenced: bool,
    lines: Vec<&'a str>,
}

fn of_page(file: &str, text: &str) -> Vec<DocumentedCommand> {
    let parts = parts(text);
    parts.iter().flat_map(|part| if part.fenced { in_block(file, part) } else { in_text(file, part) }).collect()
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = vec![Part { at: 1, fenced: false, lines: Vec::new() }];
    for (index, line) in text.lines().enumerate() {
        let Some(last) = parts.last_mut() else { break };
        if line.starts_with("```") {
            let fenced = !last.fenced;
            parts.push(Part { at: index + 2, fenced, lines: Vec::new() });
        } else {
            last.lines.push(line);
        }
    }
    parts
}

/// `$ clockscope …` is followed by its output; a block without a `$` is a list of commands.
fn in_block(file: &str, part: &Part<'_>) -> Vec<DocumentedCommand> {
    let session = part.lines.iter().any(|line| line.starts_with("$ "));
    let mut found: Vec<DocumentedCommand> = Vec::new();
    let mut has_output = false;
    for (index, line) in part.lines.iter().enumerate() {
        let typed = line.strip_prefix("$ ").or((!session).then_some(*line));
        if let Some(typed) = typed {
            let arguments = arguments(typed);
            has_output = session && arguments.is_some();
            let (page, line) = (file.to_owned(), part.at + index);
            found.extend(arguments.map(|arguments| DocumentedCommand { page, line, arguments, output: Vec::new() }));
        } else if has_output && let Some(last) = found.last_mut() {
            last.output.push((*line).to_owned());
        }
    }
    found
}

/// Code in a sentence, which may go on in the next line.
fn in_text(file: &str, part: &Part<'_>) -> Vec<DocumentedCommand> {
    let text = part.lines.join("\n");
    let mut line = part.at;
    let mut found = Vec::new();
    for (index, piece) in text.split('`').enumerate() {
        if index % 2 == 1
            && let Some(arguments) = arguments(&piece.replace('\n', " "))
        {
            found.push(DocumentedCommand { page: file.to_owned(), line, arguments, output: Vec::new() });
        }
        line += piece.matches('\n').count();
    }
    found
}

/// The arguments of a line that runs clockscope, without what a shell takes for itself; none of a
/// line that has a placeholder (`FILE`, `…`).
fn arguments(line: &str) -> Option<Vec<String>> {
    let line = line.split(" #").next().unwrap_or_default();
    let mut words = line.split_whitespace().skip_while(|word| *word == "sudo");
    if words.next() != Some("clockscope") {
        return None;
    }
    let words: Vec<&str> = words.take_while(|word| !matches!(*word, ">" | "|" | "&&" | "<" | "2>")).collect();
    let has_placeholder = words.iter().any(|word| {
        let word = word.trim_matches(['\'', '"']);
        word.contains(['…', '[', '<', '=']) && !word.contains("=/")
            || word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '-')
    });
    (!has_placeholder).then(|| words.iter().map(|word| word.trim_matches(['\'', '"']).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_with_their_outputs() {
        let page = "Run `clockscope\ninfo --json`, or `clockscope = 1`.\n```\n$ clockscope list -q\na  b\n\nc\n\
                    $ sudo clockscope | cat\n$ cat x\nd\n```\n```sh\nclockscope check FILE\nclockscope  # all\n```\n";
        let found = of_page("a.md", page);
        let found: Vec<_> =
            found.iter().map(|found| (found.location(), found.arguments.join(" "), &found.output)).collect();
        let output = ["a  b", "", "c"].map(str::to_owned).to_vec();
        assert_eq!(
            found,
            [
                ("a.md:1".to_owned(), "info --json".to_owned(), &Vec::new()),
                ("a.md:4".to_owned(), "list -q".to_owned(), &output),
                ("a.md:8".to_owned(), String::new(), &Vec::new()),
                ("a.md:14".to_owned(), String::new(), &Vec::new()),
            ]
        );
    }

    #[test]
    fn placeholders_are_words_in_capitals_and_not_single_letters() {
        let is_command = |line: &str| arguments(line).is_some();
        assert!(["clockscope check X", "clockscope check --output=/dev/null"].into_iter().all(is_command));
        let templates =
            ["clockscope check FILE", "clockscope help \"LINE\"", "clockscope check A-B", "clockscope check [CLOCK]"];
        assert!(!templates.into_iter().any(is_command));
    }
}
