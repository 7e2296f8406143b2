//! Colors, characters and columns of standard output.

use crate::options::ColorArg;
use crate::output::Destination;

/// Returns whether colors are wanted, and shown where they go.
pub(crate) fn uses_color(when: ColorArg, destination: &Destination) -> bool {
    match when {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => {
            let choice = anstream::AutoStream::choice(&std::io::stdout());
            destination.is_stdout() && choice != anstream::ColorChoice::Never
        }
    }
}

/// Returns false where the user has chosen a character set other than UTF-8. Where nothing is
/// chosen, as in many containers, terminals show UTF-8.
pub(crate) fn shows_unicode() -> bool {
    let mut values = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
    values.find(|value| !value.is_empty()).is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Columns of the terminal that standard output is, or else those that COLUMNS states.
pub(crate) fn width() -> Option<u16> {
    match terminal_size::terminal_size_of(std::io::stdout()) {
        Some((width, _)) => Some(width.0),
        None => std::env::var("COLUMNS").ok()?.parse().ok(),
    }
}
