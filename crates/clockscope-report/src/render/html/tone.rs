//! Classes of tones.

use crate::model::Tone;

/// The class of a tone; empty for none.
pub(super) fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Normal => "",
        Tone::Good => "good",
        Tone::Warning => "warning",
        Tone::Bad => "bad",
        Tone::Context => "context",
    }
}
