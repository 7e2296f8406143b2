//! Elements of HTML and SVG. The one place where text is escaped.

use std::fmt::{self, Display, Write};

/// Names of attributes and their values.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// Text with elements. Names are constants of the program, elements end where they have to, and
/// everything else is escaped: a record cannot add markup.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Begins with a line that precedes the first element.
    pub(super) fn beginning(line: &'static str) -> Self {
        Self(line.to_owned())
    }

    /// Adds an element with what `inside` adds.
    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) -> &mut Self {
        self.open(name, attributes);
        self.0.push('>');
        inside(self);
        self.0.extend(["</", name, ">"]);
        self
    }

    /// Adds an element that holds text alone.
    pub(super) fn leaf(&mut self, name: &'static str, attributes: Attributes<'_>, text: impl Display) -> &mut Self {
        self.element(name, attributes, |markup| {
            markup.text(text);
        })
    }

    /// Adds an element without content.
    pub(super) fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) -> &mut Self {
        self.open(name, attributes);
        self.0.push_str("/>");
        self
    }

    /// Adds text.
    pub(super) fn text(&mut self, text: impl Display) -> &mut Self {
        // A string takes whatever is written to it.
        let _ = write!(Escaped(&mut self.0), "{text}");
        self
    }

    /// Adds a part of the program: a style sheet or a script.
    pub(super) fn verbatim(&mut self, text: &'static str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    /// Adds other markup.
    pub(super) fn append(&mut self, other: Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Ends a line.
    pub(super) fn line(&mut self) -> &mut Self {
        self.0.push('\n');
        self
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.0.extend(["<", name]);
        for (name, value) in attributes {
            self.0.extend([" ", name, "=\""]);
            self.text(value);
            self.0.push('"');
        }
    }
}

/// Escapes what is written to it. References by number are the same in HTML and XML.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // XML has no place for them, escaped or not.
                '\u{fffe}' | '\u{ffff}' => self.0.push('\u{fffd}'),
                c if c.is_control() && !matches!(c, '\n' | '\t') => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut markup = Markup::default();
        let hostile = "</p><script>alert('1' & \"2\")</script>\u{0}\u{1b}\u{ffff}";
        markup.element("p", &[("title", &hostile), ("class", &7)], |p| {
            p.text(hostile).empty("br", &[]);
        });
        let safe =
            "&lt;/p&gt;&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)&lt;/script&gt;\u{fffd}\u{fffd}\u{fffd}";
        assert_eq!(markup.into_string(), format!("<p title=\"{safe}\" class=\"7\">{safe}<br/></p>"));
    }
}
