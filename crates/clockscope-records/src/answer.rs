//! What the answer to every question across CPUs and over time has in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Environment, Run, SCHEMA_VERSION};

/// One run of one question, and what it found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer<F> {
    /// Version of this document's schema.
    pub schema_version: u32,
    /// When the run started, RFC 3339 in UTC; `null` where no wall clock could be read.
    pub recorded_at: Option<String>,
    /// The machine.
    pub environment: Environment,
    /// How it was measured.
    pub run: Run,
    /// What was found.
    #[serde(flatten)]
    pub found: F,
}

impl<F> Answer<F> {
    /// An answer under the present version of the schema.
    pub fn new(recorded_at: Option<String>, environment: Environment, run: Run, found: F) -> Self {
        Self { schema_version: SCHEMA_VERSION, recorded_at, environment, run, found }
    }
}
