//! Parses pages of Markdown.

use pulldown_cmark::{Event as Parsed, Options, Parser, Tag, TagEnd};

use super::events::Event;

/// Returns a page of Markdown as the lines that the program reads.
pub(crate) fn compiled(markdown: &str) -> String {
    let mut page = CompiledPage::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.add(event);
    }
    page.lines
}

/// The page so far.
#[derive(Default)]
struct CompiledPage {
    lines: String,
    /// Text that has not ended: the parser divides it.
    text: String,
    is_in_example: bool,
}

impl CompiledPage {
    fn add(&mut self, event: Parsed<'_>) {
        match event {
            Parsed::Text(text) => self.text.push_str(&text),
            Parsed::Code(text) => self.text.extend(["`", &text, "`"]),
            Parsed::SoftBreak | Parsed::HardBreak => self.text.push(' '),
            Parsed::Start(tag) => self.begin(&tag),
            Parsed::End(tag) => self.end(tag),
            _ => {}
        }
    }

    fn begin(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::CodeBlock(_) => {
                self.write(Event::BeginExample);
                self.is_in_example = true;
            }
            Tag::Link { dest_url, .. } => self.write(Event::BeginLink(dest_url)),
            Tag::List(first) => self.write(Event::BeginList(*first)),
            Tag::Item => self.write(Event::BeginItem),
            Tag::TableCell => self.write(Event::BeginCell),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::CodeBlock => {
                self.write(Event::EndExample);
                self.is_in_example = false;
            }
            TagEnd::Link => self.write(Event::EndLink),
            TagEnd::List(_) => self.write(Event::EndList),
            TagEnd::Item => self.write(Event::EndItem),
            TagEnd::Heading(_) => self.write(Event::EndHeading),
            TagEnd::Paragraph => self.write(Event::EndParagraph),
            TagEnd::TableCell => self.write(Event::EndCell),
            TagEnd::TableHead => self.write(Event::EndHead),
            TagEnd::TableRow => self.write(Event::EndRow),
            TagEnd::Table => self.write(Event::EndTable),
            _ => {}
        }
    }

    /// Writes the text before an event, then the event.
    fn write(&mut self, event: Event<'_>) {
        let text = std::mem::take(&mut self.text);
        if self.is_in_example {
            self.lines.extend(text.lines().map(|line| Event::ExampleLine(line).line()));
        } else if !text.is_empty() {
            self.lines.push_str(&Event::Text(&text).line());
        }
        self.lines.push_str(&event.line());
    }
}
