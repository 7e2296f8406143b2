//! What the answer to every question across CPUs and over time has in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Environment, Run, SCHEMA_VERSION};

/// One run of one question, and what it found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

/// What all answers begin with, as it is read.
#[derive(Deserialize)]
struct Head {
    schema_version: u32,
    recorded_at: Option<String>,
    environment: Environment,
    run: Run,
}

impl<'de, F: Deserialize<'de>> Answer<F> {
    /// Reads the head and what was found from the same object.
    pub(crate) fn from_value(value: &'de Value) -> Result<Self, serde_json::Error> {
        let Head { schema_version, recorded_at, environment, run } = Head::deserialize(value)?;
        Ok(Self { schema_version, recorded_at, environment, run, found: F::deserialize(value)? })
    }
}

impl<F> Answer<F> {
    /// An answer under the present version of the schema.
    pub fn new(recorded_at: Option<String>, environment: Environment, run: Run, found: F) -> Self {
        Self { schema_version: SCHEMA_VERSION, recorded_at, environment, run, found }
    }
}
