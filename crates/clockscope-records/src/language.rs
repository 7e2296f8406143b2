//! Languages whose clocks `advise` weighs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A language whose clocks `advise` weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Python.
    Python,
}

impl Language {
    /// Returns the name of its runtime, as `clockscope runtimes` accepts it.
    #[must_use]
    pub fn runtime(self) -> &'static str {
        match self {
            Self::Python => "python",
        }
    }

    /// Returns the way to have its errors after work measured as well.
    #[must_use]
    pub fn after_work_remedy(self) -> &'static str {
        match self {
            Self::Python => "with the package clockscope installed for this Python, `advise` measures that",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "Python",
        })
    }
}
