//! Phrases that Markdown, comments and the program's texts avoid, and what they say instead
//! (CONTRIBUTING.md, *Text*).

mod literals;

/// Texts in which a phrase is avoided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Everywhere,
    /// In Markdown and in strings: comments still have many of them.
    Markdown,
}

use Scope::{Everywhere, Markdown};

/// Each phrase in lower case, and what to write instead.
const PHRASES: &[(&str, Scope, &str)] = &[
    ("tell", Everywhere, "report, show"),
    ("tells", Everywhere, "reports, shows"),
    ("telling", Everywhere, "reporting, showing"),
    ("told", Everywhere, "reported, shown"),
    ("stand on", Everywhere, "are based on"),
    ("stands on", Everywhere, "is based on"),
    ("speak for", Everywhere, "support"),
    ("speaks for", Everywhere, "supports"),
    ("speak against", Everywhere, "contradict"),
    ("speaks against", Everywhere, "contradicts"),
    ("under way", Everywhere, "during the run"),
    ("to and fro", Everywhere, "back and forth"),
    ("dear", Everywhere, "expensive"),
    ("somebody", Everywhere, "a caller"),
    ("who asks", Everywhere, "a caller"),
    ("there is nothing that", Everywhere, "nothing"),
    ("give or take", Everywhere, "the range"),
    ("found out", Everywhere, "rejected, noticed"),
    ("hand-over", Everywhere, "handoff"),
    ("hand-overs", Everywhere, "handoffs"),
    ("granularity", Everywhere, "tick"),
    ("nobody", Markdown, "the actor, or a passive"),
    ("is no", Markdown, "is not a"),
    ("are no", Markdown, "are not"),
];
/// After this word, "is no" and "are no" are right.
const THERE: &str = "there";

/// Phrases in the comments of a source file. Examples are code.
pub(super) fn in_comments(file: &str, text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_start);
    let prose = lines.map(|line| if line.starts_with("//") { line.trim_start_matches(['/', '!']) } else { "" });
    found(file, prose, &[Everywhere])
}

/// Phrases in what a source file's strings say to users: literals of several words, before the
/// tests of the file. What a string quotes is another text's word.
pub(super) fn in_strings(file: &str, text: &str) -> Vec<String> {
    let program = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let mut wrong = Vec::new();
    for (at, literal) in literals::of(program) {
        if !literal.trim().contains(char::is_whitespace) {
            continue;
        }
        // A line break in a literal is a space, or parts two sentences.
        let lines = std::iter::repeat_n("", at - 1).chain([literal.as_str()]);
        wrong.extend(found(file, lines, &[Everywhere, Markdown]));
    }
    wrong
}

/// Phrases in a Markdown file. Examples show what a program prints.
pub(super) fn in_markdown(file: &str, text: &str) -> Vec<String> {
    found(file, text.lines(), &[Everywhere, Markdown])
}

/// Phrases in these lines. A phrase may begin at the end of a line.
fn found<'a>(file: &str, lines: impl Iterator<Item = &'a str>, scopes: &[Scope]) -> Vec<String> {
    let avoided: Vec<_> = PHRASES.iter().filter(|(_, scope, _)| scopes.contains(scope)).collect();
    let mut is_example = false;
    let mut wrong = Vec::new();
    // The words of the paragraph so far.
    let mut paragraph: Vec<String> = Vec::new();
    for (at, line) in lines.enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_example ^= is_fence;
        if is_example || is_fence || line.trim().is_empty() {
            paragraph.clear();
            continue;
        }
        for word in words(line) {
            paragraph.push(word);
            let ending = avoided.iter().filter(|(phrase, ..)| ends_with(&paragraph, phrase));
            wrong.extend(
                ending.map(|(phrase, _, instead)| format!("{file}:{} says \"{phrase}\"; write \"{instead}\"", at + 1)),
            );
        }
    }
    wrong
}

/// Returns true if a paragraph ends with a phrase.
fn ends_with(paragraph: &[String], phrase: &str) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    let Some(start) = paragraph.len().checked_sub(parts.len()) else { return false };
    let is_there = start > 0 && paragraph[start - 1] == THERE;
    paragraph[start..] == parts && !(parts.last() == Some(&"no") && is_there)
}

/// The words of a line in lower case, with an empty one where punctuation, code or a quotation
/// separates them.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split(['`', '"']).enumerate() {
        // What is quoted is a name or another text's word.
        if at % 2 == 1 {
            words.push(String::new());
            continue;
        }
        for word in part.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            words.push(bare.to_lowercase());
            if word.ends_with(|c: char| !c.is_alphanumeric()) {
                words.push(String::new());
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_phrases_are_found_and_code_and_quotations_are_not() {
        let page = "Programs tell the time.\n\nIt is\nno clock. `tell` and \"tell\"; retell, there is no clock.\n\
                    Nobody knows, as it is, no more.\n```\nwe tell\n```\nStands on it: told.\n";
        assert_eq!(
            in_markdown("a.md", page),
            [
                "a.md:1 says \"tell\"; write \"report, show\"",
                "a.md:4 says \"is no\"; write \"is not a\"",
                "a.md:5 says \"nobody\"; write \"the actor, or a passive\"",
                "a.md:9 says \"stands on\"; write \"is based on\"",
                "a.md:9 says \"told\"; write \"reported, shown\"",
            ]
        );
        let source =
            "let told = \"told\";\n    /// It stands\n    // on this; nobody is no clock.\n    //! to and\nfro();\n";
        let program = "let a = \"The clock\\\n  tells time\";\n// \"a clock tells\"\nlet b = '\"'; f(\"told\", r#\"It \"is\" told\"#);\n\
                       #[cfg(test)]\nmod tests { \"nothing told\" }\n";
        assert_eq!(
            in_strings("a.rs", program),
            ["a.rs:1 says \"tells\"; write \"reports, shows\"", "a.rs:4 says \"told\"; write \"reported, shown\"",]
        );
        assert_eq!(in_comments("a.rs", source), ["a.rs:3 says \"stands on\"; write \"is based on\""]);
    }
}
