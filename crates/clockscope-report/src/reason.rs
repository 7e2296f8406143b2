//! Reasons of unknown figures, as tables show them.

use clockscope_records::Figure;

/// Returns why a figure is unknown; `None` if it is known.
pub(crate) fn why<T>(figure: &Figure<T>) -> Option<String> {
    figure.reason().map(ToString::to_string)
}
