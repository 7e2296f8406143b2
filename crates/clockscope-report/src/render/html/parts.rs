//! The parts of a page that have no state: folds, lists, paragraphs, and classes of tones.

use maud::{Markup, html};

use crate::model::{Line, Tone};
use crate::words::Text;

/// Makes a part that opens on request, and in print.
pub(super) fn fold(title: &str, content: Markup) -> Markup {
    html! {
        details class="fold" {
            summary { (title) }
            (content)
        }
    }
}

/// Makes a list of lines, each in its tone.
pub(super) fn list(lines: &[Line]) -> Markup {
    html! {
        @if !lines.is_empty() {
            ul {
                @for line in lines {
                    li class=[tone(line.tone)] { (line.text) }
                }
            }
        }
    }
}

/// Makes a paragraph of each line.
pub(super) fn paragraphs(lines: &[Text]) -> Markup {
    html! {
        @for line in lines {
            p { (line) }
        }
    }
}

/// Makes a list of names and values.
pub(super) fn pairs(pairs: &[(Text, Text)]) -> Markup {
    html! {
        dl {
            @for (key, value) in pairs {
                dt { (key) }
                dd { (value) }
            }
        }
    }
}

/// Returns the class of a tone.
pub(super) fn tone(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Normal => None,
        Tone::Good => Some("good"),
        Tone::Warning => Some("warning"),
        Tone::Bad => Some("bad"),
        Tone::Context => Some("context"),
    }
}
