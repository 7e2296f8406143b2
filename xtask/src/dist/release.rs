//! A release that is being made.

use std::collections::BTreeSet;

use super::origin::Origin;
use super::trial::Trial;

/// Files of the repository that every archive holds.
pub(super) const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Its origin, and what there is of it.
pub(super) struct Release {
    pub(super) origin: Origin,
    /// Names of its files so far.
    pub(super) files: BTreeSet<String>,
    pub(super) trials: Vec<Trial>,
}
