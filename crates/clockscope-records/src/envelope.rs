//! The head that all documents share.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::figure::{put_beside, put_in_place};
use crate::typed::read;
use crate::{Environment, Run, SCHEMA_VERSION};

/// A document: what was found, where and when, and how it was measured if it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(remote = "Self")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(bound = "F: Contents + schemars::JsonSchema", rename = "{F}Document", transform = crate::schema::omit_run::<F>))]
pub struct Envelope<F> {
    /// Version of this document's schema.
    pub schema_version: u32,
    /// Time at which the run started or the facts were read, RFC 3339 in UTC; `null` where no wall
    /// clock could be read.
    pub recorded_at: Option<String>,
    /// The machine; as it was before, where clocksources were switched.
    pub environment: Environment,
    /// The run in which it was measured.
    #[cfg_attr(test, schemars(with = "Run"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// The findings.
    #[serde(flatten)]
    pub found: F,
}

/// The part of a document below its head.
pub trait Contents {
    /// True if the head describes a run.
    const IS_RUN: bool;
}

impl<F: Contents> Envelope<F> {
    /// Returns the document of a run, under the present version of the schema. Does not compile for
    /// contents without a run.
    #[must_use]
    pub fn of_run(recorded_at: Option<String>, environment: Environment, run: Run, found: F) -> Self {
        const { assert!(F::IS_RUN, "its head has no run: use of_facts") }
        Self { schema_version: SCHEMA_VERSION, recorded_at, environment, run: Some(run), found }
    }

    /// Returns a document without a run, under the present version of the schema. Does not compile
    /// for contents of a run.
    #[must_use]
    pub fn of_facts(recorded_at: Option<String>, environment: Environment, found: F) -> Self {
        const { assert!(!F::IS_RUN, "its head has a run: use of_run") }
        Self { schema_version: SCHEMA_VERSION, recorded_at, environment, run: None, found }
    }

    /// Returns whether the user interrupted the run. Does not compile for contents without a run.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        const { assert!(F::IS_RUN, "its head has no run") }
        self.run.as_ref().is_some_and(|run| run.interrupted)
    }
}

/// The head of a document, as it is read.
#[derive(Deserialize)]
struct EnvelopeHead {
    schema_version: u32,
    recorded_at: Option<String>,
    environment: Environment,
    run: Option<Run>,
}

impl<F: Contents> Envelope<F> {
    /// Reads the head and the contents from the same object.
    fn from_value<'de>(value: &'de Value) -> Result<Self, String>
    where
        F: Deserialize<'de>,
    {
        let EnvelopeHead { schema_version, recorded_at, environment, run } = read(value)?;
        if F::IS_RUN && run.is_none() {
            return Err(": missing key `run`".to_owned());
        }
        let run = run.filter(|_| F::IS_RUN);
        Ok(Self { schema_version, recorded_at, environment, run, found: read(value)? })
    }
}

/// Not derived: code that reads each record from whatever a tagged enum buffers is four times as
/// large as code that reads it from a value.
impl<'de, F: Contents + DeserializeOwned> Deserialize<'de> for Envelope<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        put_in_place(&mut value).and_then(|()| Self::from_value(&value)).map_err(Error::custom)
    }
}

/// Writes reasons of unknown figures beside them.
impl<F: Serialize> Serialize for Envelope<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = Self::serialize(self, serde_json::value::Serializer).map_err(serde::ser::Error::custom)?;
        put_beside(&mut value);
        value.serialize(serializer)
    }
}
