//! Clocks as programs in a language read them.

use crate::{AfterWork, ClockIdentity, RuntimeRecord, Summary};

/// A clock of a language: the figures that advice is based on.
#[derive(Clone, Debug, PartialEq)]
pub struct LanguageClock {
    /// Its identity. The name is the expression that reads it.
    pub identity: ClockIdentity,
    /// Its figures, as `clockscope runtimes` has them.
    pub row: RuntimeRecord,
    /// Differences between successive readings, in ns; `None` if it was not read.
    pub differences: Option<Summary>,
    /// Errors of intervals that it measured around other work; empty where none was done.
    pub after_work: Vec<AfterWork>,
}
