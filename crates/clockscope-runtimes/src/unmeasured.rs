//! Reasons why a runtime was not measured.

use clockscope_records::RuntimeFailure;

/// Reason why a runtime, or an API of it, was not measured: a word, and a sentence with the
/// details.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct Unmeasured {
    pub(crate) failure: RuntimeFailure,
    pub(crate) reason: String,
}

impl Unmeasured {
    pub(crate) fn new(failure: RuntimeFailure, reason: impl Into<String>) -> Self {
        Self { failure, reason: reason.into() }
    }
}
