//! First lines of doc comments: a noun phrase, or a verb in the third person. A question instead of
//! its answer helps no reader.

use std::sync::LazyLock;

use regex::Regex;

/// Question words that begin a doc comment.
static QUESTION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*//[/!] (What|Whether|How|Where|Who|Which|When|Why)\b").expect("it is a regex"));

/// The most that are left: help of the command, which clap takes from comments, and conversions of
/// one at a time.
const MOST: usize = 100;

/// Doc comments of a source file that begin with a question word.
pub(super) fn questions(file: &str, text: &str) -> Vec<String> {
    let is_doc = |line: &str| ["///", "//!"].iter().any(|mark| line.trim_start().starts_with(mark));
    let lines: Vec<&str> = text.lines().collect();
    let begins = |at: usize| at == 0 || !is_doc(lines[at - 1]);
    let wrong = lines.iter().enumerate().filter(|(at, line)| begins(*at) && QUESTION.is_match(line));
    wrong.map(|(at, line)| format!("{file}:{}: {}", at + 1, line.trim())).collect()
}

/// Complains if there are too many.
pub(super) fn too_many(questions: &[String]) -> Vec<String> {
    if questions.len() <= MOST {
        return Vec::new();
    }
    let count = questions.len();
    let mut wrong = vec![format!("{count} doc comments begin with a question word, more than {MOST}:")];
    wrong.extend_from_slice(questions);
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_at_the_start_of_a_doc_comment_is_found() {
        let text = "//! What a file is for.\n\n/// Whether it is.\nfn is() {}\n\n/// A clock\n/// Whether\nfn a() {}\n// Why\n";
        assert_eq!(questions("a.rs", text), ["a.rs:1: //! What a file is for.", "a.rs:3: /// Whether it is."]);
        assert_eq!(questions("a.rs", "/// Whatever it is.\n/// Howl.\n"), [""; 0]);
    }

    #[test]
    fn more_than_the_limit_are_too_many() {
        let questions = vec!["a.rs:1: /// Why".to_owned(); MOST + 1];
        assert!(too_many(&questions[1..]).is_empty());
        assert_eq!(too_many(&questions).len(), MOST + 2);
    }
}
