//! Parts of a page of Markdown, as far as a search needs them, and its links.

/// Columns of prose: longer lines are hard to follow.
const PROSE: usize = 100;
/// The narrowest that prose becomes.
const NARROWEST: usize = 40;

/// A part of a page, without links.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Heading(String),
    /// A paragraph, or an item of a list.
    Text(String),
    ExampleLine(String),
    /// The cells of a row of a table, each with the addresses of its links.
    Row(Vec<(String, Vec<String>)>),
}

/// Returns the parts of a page. The rows that name a table's columns are left out.
pub(super) fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut is_in_example = false;
    for line in without_comments(page).lines().chain([""]) {
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```");
        let is_row = trimmed.starts_with('|');
        let is_heading = line.starts_with('#');
        let item = trimmed.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_item = trimmed.starts_with("- ") || item.len() < trimmed.len() && item.starts_with(". ");
        if !text.is_empty() && (is_fence || is_row || is_heading || is_item || trimmed.is_empty()) {
            parts.push(Part::Text(without_links(&std::mem::take(&mut text))));
        }
        if is_fence {
            is_in_example = !is_in_example;
        } else if is_in_example {
            parts.push(Part::ExampleLine(line.to_owned()));
        } else if trimmed.starts_with("|--") {
            parts.pop();
        } else if is_row {
            let cells = trimmed.trim_matches('|').split('|').map(str::trim);
            parts.push(Part::Row(cells.map(|cell| (without_links(cell), addresses(cell))).collect()));
        } else if is_heading {
            parts.push(Part::Heading(without_links(line.trim_start_matches('#').trim())));
        } else if !trimmed.is_empty() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(if is_item { item.trim_start_matches(['-', '.']).trim() } else { trimmed });
        }
    }
    parts
}

/// Returns the page without lines that are comments, which mark what a program writes.
pub(super) fn without_comments(page: &str) -> String {
    page.lines().filter(|line| !line.starts_with("<!--")).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the title of a page.
pub(super) fn title(page: &str) -> String {
    let title = page.lines().find_map(|line| line.strip_prefix("# "));
    without_links(title.unwrap_or_default()).replace('`', "")
}

/// Returns the words of a text, with each link replaced by its words and what `shown` makes of its
/// address.
pub(super) fn with_links(text: &str, mut shown: impl FnMut(&str) -> String) -> String {
    let mut rest = text;
    let mut words = String::new();
    while let Some((before, (of_link, address, after))) = first_link(rest) {
        words.extend([before, of_link, &shown(address)]);
        rest = after;
    }
    words + rest
}

fn without_links(text: &str) -> String {
    with_links(text, |_| String::new())
}

fn addresses(text: &str) -> Vec<String> {
    let mut addresses = Vec::new();
    with_links(text, |address| {
        addresses.push(address.to_owned());
        String::new()
    });
    addresses
}

/// Returns the text before a link, and the link: its words, its address, and the text after it.
fn first_link(text: &str) -> Option<(&str, (&str, &str, &str))> {
    let (before, link) = text.split_once("](")?;
    let (address, after) = link.split_once(')')?;
    let (before, words) = before.rsplit_once('[')?;
    Some((before, (words, address, after)))
}

/// Wraps a text, with `head` before its first line and spaces before the others. Words stay whole:
/// commands and addresses are copied.
fn wrapped(text: &str, head: &str, width: usize) -> String {
    let hanging = " ".repeat(head.len());
    let width = width.clamp(NARROWEST.max(head.len() + 20), PROSE);
    let options = textwrap::Options::new(width).initial_indent(head).subsequent_indent(&hanging);
    let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation).break_words(false);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned() + "\n").collect()
}

/// Returns the lines of a paragraph.
pub(super) fn paragraph(text: &str, width: usize) -> String {
    wrapped(text, "", width)
}

/// Returns the lines of a name, padded to `longest`, and what it stands for.
pub(super) fn entry(name: &str, longest: usize, text: &str, width: usize) -> String {
    wrapped(text, &format!("  {name:longest$}  "), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn any_page_has_parts(page in r"(#|\||- |1\. |```|\[|\]\(|\)|\n|[ -~]|\PC){0,80}") {
            parts(&page);
            title(&page);
        }
    }

    #[test]
    fn titles_are_words_alone() {
        assert_eq!(title("# Read `now()` & [more](topic.md)\n\nText.\n"), "Read now() & more");
        assert_eq!(title("../../../docs/topic.md"), "");
    }

    #[test]
    fn pages_are_divided() {
        let text = |text: &str| Part::Text(text.to_owned());
        let page = "# A [b](c.md)\n\n```text\n$ x  *\n```\nOne\ntwo.\n- an [item](https://x.example)\n  of two\n12. b\n\n\
                    | line | page |\n|---|---|\n| `x` y | [p](p.md), [q](../q.md) |\n";
        let row =
            vec![("`x` y".to_owned(), Vec::new()), ("p, q".to_owned(), vec!["p.md".to_owned(), "../q.md".to_owned()])];
        let expected = [
            Part::Heading("A b".to_owned()),
            Part::ExampleLine("$ x  *".to_owned()),
            text("One two."),
            text("an item of two"),
            text("b"),
            Part::Row(row),
        ];
        assert_eq!(parts(page), expected);
    }

    #[test]
    fn links_are_their_words_and_what_is_shown() {
        let shown = |address: &str| format!(" ({address})");
        assert_eq!(with_links("a [b\nc](d.md), [e](f) [g] (h)", shown), "a b\nc (d.md), e (f) [g] (h)");
    }
}
