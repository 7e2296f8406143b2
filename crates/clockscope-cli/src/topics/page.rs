//! A page as text for a terminal.

use std::collections::BTreeSet;

use super::events::{self, Event};
use crate::options::ColorArg;
use crate::terminal;

/// Columns of a page by default.
const WIDTH: u16 = 80;
/// Prose is no wider: longer lines are hard to follow.
const PROSE: usize = 100;
/// The narrowest that a page becomes.
const NARROWEST: usize = 40;
/// Of examples, and of what belongs to the name above it.
const INDENT: &str = "    ";
/// The beginning of bold text on a terminal, and its end.
const BOLD: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

/// Returns the title of a page.
pub(super) fn title(page: &str) -> String {
    let of_title = events::of_page(page).take_while(|event| *event != Event::EndHeading);
    let text = of_title.filter_map(|event| match event {
        Event::Text(text) => Some(text.replace('`', "")),
        _ => None,
    });
    text.collect()
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

impl Appearance {
    /// Returns the appearance that suits standard output.
    pub(super) fn of_terminal() -> Self {
        let width = usize::from(terminal::width().unwrap_or(WIDTH));
        Self { width, uses_color: terminal::uses_color(ColorArg::Auto, true) }
    }
}

/// Returns the page as text. Rows of a table become a name each, with the other cells below it.
/// Links to other topics name the command that shows them, links to other sites their address;
/// others are their words alone, and cells that have nothing else are left out.
pub(super) fn rendered(page: &str, appearance: Appearance, topic_of: impl Fn(&str) -> Option<&'static str>) -> String {
    let appearance = Appearance { width: appearance.width.clamp(NARROWEST, PROSE), ..appearance };
    let mut rendered = Page {
        text: String::new(),
        inline: String::new(),
        appearance,
        addresses: Vec::new(),
        lists: Vec::new(),
        mark: None,
        head: Vec::new(),
        cells: Vec::new(),
        is_in_cell: false,
        says_more: false,
        named: BTreeSet::new(),
    };
    for event in events::of_page(page) {
        rendered.add(event, &topic_of);
    }
    let mut text = rendered.text;
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The text so far.
struct Page<'a> {
    text: String,
    /// Text of the paragraph, cell or item that has not ended.
    inline: String,
    appearance: Appearance,
    /// The addresses of links that have not ended.
    addresses: Vec<&'a str>,
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

impl<'a> Page<'a> {
    fn add(&mut self, event: Event<'a>, topic_of: impl Fn(&str) -> Option<&'static str>) {
        match event {
            Event::Text(text) => self.words(text),
            Event::BeginLink(address) => self.addresses.push(address),
            Event::EndLink => {
                if let Some(address) = self.addresses.pop() {
                    self.link(address, topic_of(address));
                }
            }
            Event::ExampleLine(line) => self.example_line(line),
            Event::BeginList(first) => {
                self.item();
                self.lists.push(first);
            }
            Event::EndList => {
                self.lists.pop();
                self.blank();
            }
            Event::BeginItem => self.begin_item(),
            Event::BeginExample | Event::EndItem => self.item(),
            Event::EndHeading => self.heading(),
            Event::EndParagraph if self.lists.is_empty() => self.paragraph(),
            Event::EndParagraph => self.item(),
            Event::BeginCell => (self.is_in_cell, self.says_more) = (true, false),
            Event::EndCell => self.cell(),
            Event::EndHead => self.head = std::mem::take(&mut self.cells),
            Event::EndRow => {
                let cells = std::mem::take(&mut self.cells);
                self.row(&cells);
            }
            Event::EndExample | Event::EndTable => self.blank(),
        }
    }

    /// Adds words, of a link or not.
    fn words(&mut self, text: &str) {
        self.says_more |= self.addresses.is_empty() && text.contains(char::is_alphanumeric);
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
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
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

    fn example_line(&mut self, line: &str) {
        self.text.push_str(format!("{INDENT}{line}").trim_end());
        self.text.push('\n');
    }

    /// Ends a cell. Cells without words of their own stay empty, except a row's first.
    fn cell(&mut self) {
        let text = std::mem::take(&mut self.inline);
        let is_kept = self.says_more || self.cells.is_empty();
        self.cells.push(if is_kept { text } else { String::new() });
        self.is_in_cell = false;
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
    use super::super::pages;
    use super::*;

    const NO_COLOR: Appearance = Appearance { width: 60, uses_color: false };

    fn topic_of(address: &str) -> Option<&'static str> {
        (address == "topic.md").then_some("topic")
    }

    fn of(markdown: &str) -> String {
        rendered(&pages::compiled(markdown), NO_COLOR, topic_of)
    }

    /// Lines of all kinds in any order, and lines of none.
    const DAMAGED: &str = r"([taAexElLiIHPcCNRTz][ -~\u{b5}]{0,8}\n|l18446744073709551615\n|\PC)*";

    proptest::proptest! {
        #[test]
        fn a_damaged_page_is_shown(page in DAMAGED, uses_color in proptest::bool::ANY) {
            let text = rendered(&page, Appearance { uses_color, ..NO_COLOR }, topic_of);
            proptest::prop_assert!(text.ends_with('\n'));
            title(&page);
        }
    }

    #[test]
    fn titles_are_words_alone() {
        assert_eq!(title(&pages::compiled("# Read `now()` & [more](topic.md)\n\nText.\n")), "Read now() & more");
        assert_eq!(title(&pages::compiled("../../../docs/topic.md")), "../../../docs/topic.md");
    }

    #[test]
    fn headings_are_bold() {
        let page = pages::compiled("# Title\n\nA\nparagraph.\n\n## Part\n");
        let expected = "\u{1b}[1mTitle\u{1b}[0m\n\nA paragraph.\n\n\u{1b}[1mPart\u{1b}[0m\n";
        assert_eq!(rendered(&page, Appearance { uses_color: true, ..NO_COLOR }, topic_of), expected);
    }

    #[test]
    fn examples_keep_their_lines() {
        let page = "Text:\n\n```console\n$ clockscope  *\n\n  <b>\n```\n```\n```\n\n    indented `code`\n";
        assert_eq!(of(page), "Text:\n\n    $ clockscope  *\n\n      <b>\n\n    indented `code`\n");
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
