//! Events of a page, and the lines that store them.
//!
//! The build script parses the Markdown and writes the events; the program reads them. A line has
//! a letter for the kind of event, then the event's text.

/// A part of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event<'a> {
    /// Words of a paragraph, heading, item or cell.
    Text(&'a str),
    /// Begins a link to this address.
    BeginLink(&'a str),
    EndLink,
    BeginExample,
    ExampleLine(&'a str),
    EndExample,
    /// Begins a list; one with numbers has the first of them.
    BeginList(Option<u64>),
    EndList,
    BeginItem,
    EndItem,
    EndHeading,
    EndParagraph,
    BeginCell,
    EndCell,
    /// Ends the row that names a table's columns.
    EndHead,
    EndRow,
    EndTable,
}

/// Returns the events of a page. Lines of another form are left out.
pub(super) fn of_page(page: &str) -> impl Iterator<Item = Event<'_>> {
    page.split('\n').filter_map(Event::of_line)
}

impl<'a> Event<'a> {
    /// Returns the event that a line stores. `None` is for a line of another form.
    fn of_line(line: &'a str) -> Option<Self> {
        let mut rest = line.chars();
        let letter = rest.next()?;
        let text = rest.as_str();
        Some(match letter {
            't' => Self::Text(text),
            'a' => Self::BeginLink(text),
            'A' => Self::EndLink,
            'e' => Self::BeginExample,
            'x' => Self::ExampleLine(text),
            'E' => Self::EndExample,
            'l' => Self::BeginList(text.parse().ok()),
            'L' => Self::EndList,
            'i' => Self::BeginItem,
            'I' => Self::EndItem,
            'H' => Self::EndHeading,
            'P' => Self::EndParagraph,
            'c' => Self::BeginCell,
            'C' => Self::EndCell,
            'N' => Self::EndHead,
            'R' => Self::EndRow,
            'T' => Self::EndTable,
            _ => return None,
        })
    }

    /// Returns the line that stores the event. Line breaks in its text become spaces.
    pub(super) fn line(self) -> String {
        let (letter, text) = match self {
            Self::Text(text) => ('t', text),
            Self::BeginLink(address) => ('a', address),
            Self::EndLink => ('A', ""),
            Self::BeginExample => ('e', ""),
            Self::ExampleLine(text) => ('x', text),
            Self::EndExample => ('E', ""),
            Self::BeginList(Some(first)) => return format!("l{first}\n"),
            Self::BeginList(None) => ('l', ""),
            Self::EndList => ('L', ""),
            Self::BeginItem => ('i', ""),
            Self::EndItem => ('I', ""),
            Self::EndHeading => ('H', ""),
            Self::EndParagraph => ('P', ""),
            Self::BeginCell => ('c', ""),
            Self::EndCell => ('C', ""),
            Self::EndHead => ('N', ""),
            Self::EndRow => ('R', ""),
            Self::EndTable => ('T', ""),
        };
        format!("{letter}{}\n", text.replace('\n', " "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_store_events() {
        let events = [
            Event::Text("Words, \u{b5}s \r"),
            Event::Text(""),
            Event::BeginLink("topic.md#part"),
            Event::EndLink,
            Event::BeginExample,
            Event::ExampleLine("  $ clockscope"),
            Event::EndExample,
            Event::BeginList(Some(u64::MAX)),
            Event::BeginList(None),
            Event::EndList,
            Event::BeginItem,
            Event::EndItem,
            Event::EndHeading,
            Event::EndParagraph,
            Event::BeginCell,
            Event::EndCell,
            Event::EndHead,
            Event::EndRow,
            Event::EndTable,
        ];
        let page: String = events.into_iter().map(Event::line).collect();
        assert_eq!(of_page(&page).collect::<Vec<_>>(), events);
        assert_eq!(Event::Text("two\nlines").line(), "ttwo lines\n");
    }

    #[test]
    fn lines_of_another_form_are_left_out() {
        let page = "\n?\n\u{b5}s\n\n l\nlfirst\nl-1\nttext";
        let expected = [Event::BeginList(None), Event::BeginList(None), Event::Text("text")];
        assert_eq!(of_page(page).collect::<Vec<_>>(), expected);
    }
}
