//! Text that may be printed, and the words that figures become.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

pub(crate) use clockscope_records::{counted, grouped};

use clockscope_records::printable;

/// Shown for an unknown figure. The table's notes give the reason.
pub(crate) const UNKNOWN: &str = "?";
/// Marks a shortened text, where that need not be ASCII.
pub(crate) const ELLIPSIS: &str = "…";
/// Shown where the question does not arise.
pub(crate) const EMPTY: &str = "-";

/// One line of text that steers no terminal.
///
/// A record may come from anywhere. Blocks and sheets hold only texts of this type, and only
/// [`printable`] makes them, so that no format can print a record's text uncleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(String);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(printable(text).into_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Cleans several texts.
pub(crate) fn texts<T: Into<Text>>(texts: impl IntoIterator<Item = T>) -> Vec<Text> {
    texts.into_iter().map(Into::into).collect()
}

/// Cleans several names and their values.
pub(crate) fn text_pairs<K: Into<Text>, V: Into<Text>>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(Text, Text)> {
    pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect()
}

/// Shows a value by `show`, or `?` if it is unknown.
pub(crate) fn known<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), show)
}

/// Groups names by their reasons: a line a reason, in the order of the reasons.
pub(crate) fn by_reason<R: Into<String>>(names: impl Iterator<Item = (String, R)>) -> Vec<String> {
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, reason) in names {
        lines.entry(reason.into()).or_default().push(name);
    }
    lines.into_iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect()
}

/// Explains unknown figures: a line for the figures and names with the same reason. A name has the
/// heads of its unknown figures with their reasons.
pub(crate) fn unknown_figures(names: impl Iterator<Item = (String, Vec<(&'static str, String)>)>) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>, Vec<String>)> = Vec::new();
    for (name, unknown) in names {
        let mut heads_of: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (head, reason) in unknown {
            heads_of.entry(reason).or_default().push(head);
        }
        for (reason, heads) in heads_of {
            match lines.iter_mut().find(|line| line.0 == reason && line.1 == heads) {
                Some((_, _, names)) => names.push(name.clone()),
                None => lines.push((reason, heads, vec![name.clone()])),
            }
        }
    }
    let lines = lines.iter();
    lines.map(|(reason, heads, names)| format!("? {} of {}: {reason}", heads.join(", "), names.join(", "))).collect()
}

/// Ends a sentence whose last words are a reason, which may be a question.
pub(crate) fn sentence(text: String) -> String {
    if text.ends_with('?') { text } else { text + "." }
}

/// Returns the text with a capital letter at its start.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Adds counts, up to the largest that the type holds.
pub(crate) fn total(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Shortens a text to `max_chars` characters; `mark` replaces its end.
pub(crate) fn shortened(text: &str, max_chars: usize, mark: &str) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    text.chars().take(max_chars.saturating_sub(mark.chars().count())).chain(mark.chars()).collect()
}

/// Shortens a name in its middle, because names differ at their ends.
pub(crate) fn shortened_inside(name: &str, max_chars: usize) -> String {
    let count = name.chars().count();
    if count <= max_chars {
        return name.to_owned();
    }
    let start = max_chars / 2;
    let end = max_chars.saturating_sub(1 + start);
    name.chars().take(start).chain(ELLIPSIS.chars()).chain(name.chars().skip(count - end)).collect()
}

/// Returns `yes` or `no`.
pub(crate) fn yes_no(whether: bool) -> &'static str {
    if whether { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened_to_so_many_characters() {
        assert_eq!([shortened("µµµ", 3, "..."), shortened("µµµµ", 3, ELLIPSIS)], ["µµµ", "µµ…"]);
        assert_eq!(shortened("twelve chars", 9, "..."), "twelve...");
        assert_eq!(shortened_inside("monotonic", 9), "monotonic");
        assert_eq!(shortened_inside("clock_gettime(MONOTONIC) (hpet)", 20), "clock_gett…C) (hpet)");
    }

    #[test]
    fn a_text_is_one_clean_line() {
        assert_eq!(&*Text::from("a\u{1b}[2Jb\r\nc\u{202e}"), "a [2Jb  c ");
        assert_eq!(format!("{:<4}|", Text::from("a\n")), "a   |");
    }

    #[test]
    fn counts_that_do_not_fit_together_are_the_largest() {
        assert_eq!([total([]), total([2, 3]), total([u64::MAX, 1, 5])], [0, 5, u64::MAX]);
    }
}
