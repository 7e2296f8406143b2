//! Reasons of unknown figures, as tables show them.

use clockscope_records::{Figure, Rates};

/// Returns why a figure is unknown; `None` if it is known.
pub(crate) fn why<T>(figure: &Figure<T>) -> Option<String> {
    figure.reason().map(ToString::to_string)
}

/// Puts the sentences beside the words for what limits comparisons.
pub(crate) fn explain_rates(rates: &mut Rates) {
    for rate in &mut rates.clocks {
        rate.reason = rate.limit();
    }
    for pair in &mut rates.pairs {
        pair.reason = pair.failure.map(|failure| failure.to_string()).or_else(|| pair.reason.take());
    }
}
