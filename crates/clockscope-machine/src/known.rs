//! Facts that may be unknown, each with its reason.

use clockscope_records::Unknown;

/// Keeps the value, or notes why there is none.
pub(crate) fn known<T>(value: Option<T>, unknown: &mut Unknown, field: &str, reason: &str) -> Option<T> {
    if value.is_none() {
        unknown.insert(field.to_owned(), reason.to_owned());
    }
    value
}
