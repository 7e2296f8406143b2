//! A page of Markdown as text for a terminal.

use std::collections::BTreeSet;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

/// Columns of a page by default.
pub(super) const WIDTH: u16 = 80;
/// Prose is no wider: longer lines are hard to follow.
const PROSE: usize = 100;
/// The narrowest that a page becomes.
const NARROWEST: usize = 40;
/// Of examples, and of what belongs to the name above it.
const INDENT: &str = "    ";
/// The beginning of bold text on a terminal, and its end.
const BOLD: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

fn events(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES)
}

/// Returns the title of a page.
pub(super) fn title(markdown: &str) -> String {
    let of_title = events(markdown).take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let text = of_title.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        _ => None,
    });
    text.collect::<Vec<CowStr<'_>>>().concat()
}

/// Lines of words that stay whole: commands and addresses are copied.
fn wrapping<'a>(width: usize, head: &'a str, hanging: &'a str) -> textwrap::Options<'a> {
    let options = textwrap::Options::new(width).initial_indent(head).subsequent_indent(hanging);
    options.word_splitter(textwrap::WordSplitter::NoHyphenation).break_words(false)
}

/// Returns the lines of a name, padded to `longest`, and what it stands for.
pub(super) fn entry(name: &str, longest: usize, text: &str, width: usize) -> String {
    let head = format!("  {name:longest$}  ");
    let hanging = " ".repeat(head.len());
    let width = width.clamp(NARROWEST.max(head.len() + 20), PROSE);
    textwrap::wrap(text, wrapping(width, &head, &hanging)).into_iter().map(|line| line.into_owned() + "\n").collect()
}

/// Appearance of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Appearance {
    pub(super) width: usize,
    pub(super) uses_color: bool,
}

/// Returns the page as text. Rows of a table become a name each, with the other cells below it.
/// Links to other topics name the command that shows them, links to other sites their address;
/// others are their words alone, and cells that have nothing else are left out.
pub(super) fn rendered(
    markdown: &str,
    appearance: Appearance,
    topic_of: impl Fn(&str) -> Option<&'static str>,
) -> String {
    let appearance = Appearance { width: appearance.width.clamp(NARROWEST, PROSE), ..appearance };
    let mut page = Page {
        text: String::new(),
        inline: String::new(),
        appearance,
        lists: Vec::new(),
        mark: None,
        head: Vec::new(),
        cells: Vec::new(),
        is_in_cell: false,
        says_more: false,
        named: BTreeSet::new(),
    };
    let mut addresses = Vec::new();
    let mut is_example = false;
    for event in events(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                page.item();
                is_example = true;
            }
            Event::End(TagEnd::CodeBlock) => {
                page.example();
                is_example = false;
            }
            Event::Text(text) | Event::Code(text) if is_example => page.inline.push_str(&text),
            Event::Text(text) => page.words(&text, addresses.is_empty()),
            Event::Code(text) => page.words(&format!("`{text}`"), addresses.is_empty()),
            Event::SoftBreak | Event::HardBreak => page.inline.push(' '),
            Event::Start(Tag::Link { dest_url, .. }) => addresses.push(dest_url),
            Event::End(TagEnd::Link) => {
                if let Some(address) = addresses.pop() {
                    page.link(&address, topic_of(&address));
                }
            }
            Event::Start(Tag::TableCell) => (page.is_in_cell, page.says_more) = (true, false),
            Event::Start(Tag::List(first)) => {
                page.item();
                page.lists.push(first);
            }
            Event::End(TagEnd::List(_)) => {
                page.lists.pop();
                page.blank();
            }
            Event::Start(Tag::Item) => page.begin_item(),
            Event::End(TagEnd::Item) => page.item(),
            Event::End(TagEnd::Heading(_)) => page.heading(),
            Event::End(TagEnd::Paragraph) if page.lists.is_empty() => page.paragraph(),
            Event::End(TagEnd::Paragraph) => page.item(),
            Event::End(TagEnd::TableCell) => {
                let text = std::mem::take(&mut page.inline);
                let is_kept = page.says_more || page.cells.is_empty();
                page.cells.push(if is_kept { text } else { String::new() });
                page.is_in_cell = false;
            }
            Event::End(TagEnd::TableHead) => page.head = std::mem::take(&mut page.cells),
            Event::End(TagEnd::TableRow) => {
                let cells = std::mem::take(&mut page.cells);
                page.row(&cells);
            }
            Event::End(TagEnd::Table) => page.blank(),
            _ => {}
        }
    }
    page.text.truncate(page.text.trim_end().len());
    page.text.push('\n');
    page.text
}

/// The text so far.
struct Page {
    text: String,
    /// Text of the paragraph, cell or item that has not ended.
    inline: String,
    appearance: Appearance,
    /// The lists around; those with numbers have the next one.
    lists: Vec<Option<u64>>,
    /// The mark of the item that begins.
    mark: Option<String>,
    /// The names of the table's columns.
    head: Vec<String>,
    /// The cells of the row so far.
    cells: Vec<String>,
    is_in_cell: bool,
    /// Topics that were named.
    named: BTreeSet<&'static str>,
    /// True if the cell has more than links to pages that are not here.
    says_more: bool,
}

impl Page {
    /// Adds words, of a link or not.
    fn words(&mut self, text: &str, is_plain: bool) {
        self.says_more |= is_plain && text.contains(char::is_alphanumeric);
        self.inline.push_str(text);
    }

    /// An empty line, unless there is one.
    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn wrapped(&mut self, text: &str, head: &str, hanging: &str) {
        for line in textwrap::wrap(text, wrapping(self.appearance.width, head, hanging)) {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    fn heading(&mut self) {
        let text = std::mem::take(&mut self.inline);
        self.blank();
        self.name(&text, "");
        self.text.push('\n');
    }

    /// The name of what follows.
    fn name(&mut self, text: &str, indent: &str) {
        let begin = self.text.len();
        self.wrapped(text, indent, indent);
        if self.appearance.uses_color {
            let lines = self.text.split_off(begin);
            let [bold, end] = BOLD;
            self.text.extend(lines.lines().map(|line| format!("{bold}{line}{end}\n")));
        }
    }

    fn paragraph(&mut self) {
        let text = std::mem::take(&mut self.inline);
        self.wrapped(&text, "", "");
        self.text.push('\n');
    }

    /// Begins an item, whose first line has its mark.
    fn begin_item(&mut self) {
        self.mark = Some(match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "- ".to_owned(),
        });
    }

    /// Ends a paragraph of an item, if there is one.
    fn item(&mut self) {
        let text = std::mem::take(&mut self.inline);
        if text.is_empty() {
            return;
        }
        let outer = "  ".repeat(self.lists.len().saturating_sub(1));
        let widest = if matches!(self.lists.last(), Some(Some(_))) { 3 } else { 2 };
        let mark = self.mark.take().unwrap_or_else(|| " ".repeat(widest));
        let hanging = format!("{outer}{}", " ".repeat(mark.len()));
        self.wrapped(&text, &format!("{outer}{mark}"), &hanging);
    }

    fn example(&mut self) {
        let text = std::mem::take(&mut self.inline);
        for line in text.lines() {
            self.text.push_str(format!("{INDENT}{line}").trim_end());
            self.text.push('\n');
        }
        self.blank();
    }

    /// A row: its first cell, and the others below it. In tables of more columns than two, each
    /// that is not a sentence has the name of its column.
    fn row(&mut self, cells: &[String]) {
        let Some((first, others)) = cells.split_first() else { return };
        self.name(first, "");
        let columns: Vec<String> = self.head.iter().skip(1).cloned().collect();
        for (index, cell) in others.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let column =
                columns.get(index).filter(|column| others.len() > 1 && !column.is_empty() && !cell.ends_with('.'));
            let text = column.map_or_else(|| cell.clone(), |column| format!("{column}: {cell}"));
            self.wrapped(&text, INDENT, INDENT);
        }
    }

    /// Ends a link: names the topic, or the address on another site. A topic is named once in
    /// prose. The first cell of a row is a name, which stays as it is.
    fn link(&mut self, address: &str, topic: Option<&'static str>) {
        let is_name = self.is_in_cell && self.cells.is_empty();
        let shown = match topic {
            Some(topic) if !is_name && (self.is_in_cell || self.named.insert(topic)) => {
                format!("`clockscope help {topic}`")
            }
            None if address.starts_with("http") => address.to_owned(),
            _ => return,
        };
        self.inline.push_str(&format!(" ({shown})"));
        self.says_more = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(markdown: &str) -> String {
        let topic_of = |address: &str| (address == "topic.md").then_some("topic");
        rendered(markdown, Appearance { width: 60, uses_color: false }, topic_of)
    }

    #[test]
    fn words_of_links_stay() {
        let page = "A [word](topic.md), [again](topic.md), [there](https://x.example/a-very-long-address-that-is-wider-than-a-line), [b](b.md).\n";
        let expected = "A word (`clockscope help topic`), again, there\n\
                        (https://x.example/a-very-long-address-that-is-wider-than-a-line),\nb.\n";
        assert_eq!(of(page), expected);
    }

    #[test]
    fn rows_are_names_with_the_other_cells_below() {
        let page = "| name | meaning | more |\n|---|---|---|\n| [one](topic.md) | A sentence. | [b](b.md) |\n\
                    | `two` | 2 ns | [there](topic.md) |\n";
        let expected = "one\n    A sentence.\n`two`\n    meaning: 2 ns\n    more: there (`clockscope help topic`)\n";
        assert_eq!(of(page), expected);
    }

    #[test]
    fn items_have_one_mark() {
        let page = "1. First:\n\n   ```\n   an example\n   ```\n\n   It goes on.\n2. Second\n   - inner\n3. `--fail-on limited` is not\n   broken in its hyphens, wherever it-stands-in-the-line.\n";
        let expected = "1. First:\n    an example\n\n   It goes on.\n2. Second\n  - inner\n\n3. `--fail-on limited` is not broken in its hyphens,\n   wherever it-stands-in-the-line.\n";
        assert_eq!(of(page), expected);
    }
}
