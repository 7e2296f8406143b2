//! A page of Markdown as text for a terminal.

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

/// Returns the lines of a name, padded to `longest`, and what it stands for.
pub(super) fn entry(name: &str, longest: usize, text: &str, width: usize) -> String {
    let head = format!("  {name:longest$}  ");
    let hanging = " ".repeat(head.len());
    let width = width.clamp(NARROWEST.max(head.len() + 20), PROSE);
    let options = textwrap::Options::new(width).initial_indent(&head).subsequent_indent(&hanging);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned() + "\n").collect()
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
        head: Vec::new(),
        says_more: false,
    };
    let mut cells: Vec<String> = Vec::new();
    let mut goals = Vec::new();
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
            Event::Text(text) => page.words(&text, goals.is_empty()),
            Event::Code(text) => page.words(&format!("`{text}`"), goals.is_empty()),
            Event::SoftBreak | Event::HardBreak => page.inline.push(' '),
            Event::Start(Tag::Link { dest_url, .. }) => goals.push((dest_url, page.inline.len())),
            Event::End(TagEnd::Link) => {
                if let Some((goal, begin)) = goals.pop() {
                    page.link(&goal, begin, topic_of(&goal));
                }
            }
            Event::Start(Tag::TableCell) => page.says_more = false,
            Event::Start(Tag::List(first)) => {
                page.item();
                page.lists.push(first);
            }
            Event::End(TagEnd::List(_)) => {
                page.lists.pop();
                page.blank();
            }
            Event::End(TagEnd::Item) => page.item(),
            Event::End(TagEnd::Heading(_)) => page.heading(),
            Event::End(TagEnd::Paragraph) if page.lists.is_empty() => page.paragraph(),
            Event::End(TagEnd::Paragraph) => page.item(),
            Event::End(TagEnd::TableCell) => {
                let text = std::mem::take(&mut page.inline);
                cells.push(if page.says_more || cells.is_empty() { text } else { String::new() });
            }
            Event::End(TagEnd::TableHead) => page.head = std::mem::take(&mut cells),
            Event::End(TagEnd::TableRow) => page.row(&std::mem::take(&mut cells)),
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
    /// The names of the table's columns.
    head: Vec<String>,
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
        let options = textwrap::Options::new(self.appearance.width).initial_indent(head).subsequent_indent(hanging);
        for line in textwrap::wrap(text, options) {
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

    /// Ends the text of an item, if it has any left.
    fn item(&mut self) {
        let text = std::mem::take(&mut self.inline);
        if text.is_empty() {
            return;
        }
        let outer = "  ".repeat(self.lists.len().saturating_sub(1));
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "- ".to_owned(),
        };
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
    /// that is not a sentence bears the name of its column.
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

    /// Ends a link, whose words begin there.
    fn link(&mut self, goal: &str, begin: usize, topic: Option<&str>) {
        if let Some(topic) = topic {
            self.inline.truncate(begin);
            self.inline.push_str(&format!("`clockscope help {topic}`"));
            self.says_more = true;
        } else if goal.starts_with("http") {
            self.inline.push_str(&format!(" ({goal})"));
            self.says_more = true;
        }
    }
}
