//! The documents that are written and read back, and the schema that describes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Answer, Clocksources, Environment, Gaps, Listed, Measurement, Offsets, Order, Plan, Rates, Runtimes, RuntimesFound,
    SCHEMA_VERSION, Shootout, Sleep, Steps, Switched, Trust,
};

/// Everything that the instrument writes as JSON. The key `schema` tells which document it is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "schema")]
#[allow(clippy::large_enum_variant, reason = "one document exists at a time")]
pub enum Document {
    /// What `clockscope measure` found.
    #[serde(rename = "clockscope.measure")]
    Measurement(Measurement),
    /// What `clockscope steps` found.
    #[serde(rename = "clockscope.steps")]
    Steps(Steps),
    /// What `clockscope advise` found.
    #[serde(rename = "clockscope.advise")]
    Plan(Plan),
    /// What `clockscope order` found.
    #[serde(rename = "clockscope.order")]
    Order(Answer<Order>),
    /// What `clockscope offsets` found.
    #[serde(rename = "clockscope.offsets")]
    Offsets(Answer<Offsets>),
    /// What `clockscope rate` found.
    #[serde(rename = "clockscope.rate")]
    Rates(Answer<Rates>),
    /// What `clockscope gaps` found.
    #[serde(rename = "clockscope.gaps")]
    Gaps(Answer<Gaps>),
    /// What `clockscope sleep` found.
    #[serde(rename = "clockscope.sleep")]
    Sleep(Answer<Sleep>),
    /// What `clockscope check` found.
    #[serde(rename = "clockscope.check")]
    Check(Answer<Trust>),
    /// What `clockscope shootout` found.
    #[serde(rename = "clockscope.shootout")]
    Shootout(Answer<Shootout>),
    /// What `clockscope clocksource` found.
    #[serde(rename = "clockscope.clocksource")]
    Clocksources(Clocksources),
    /// What `clockscope measure --clocksource` found.
    #[serde(rename = "clockscope.switched")]
    Switched(Switched),
    /// What `clockscope runtimes` found.
    #[serde(rename = "clockscope.runtimes")]
    Runtimes(Runtimes),
    /// What `clockscope runtimes --list` found.
    #[serde(rename = "clockscope.runtimes_found")]
    RuntimesFound(RuntimesFound),
    /// What `clockscope list` found.
    #[serde(rename = "clockscope.list")]
    Listing(Listing),
    /// What `clockscope info` found.
    #[serde(rename = "clockscope.info")]
    Info(Info),
}

/// All clocks that the instrument knows, without a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Listing {
    /// Version of this document's schema.
    pub schema_version: u32,
    /// When the list was made, RFC 3339 in UTC; `null` where no wall clock could be read.
    pub recorded_at: Option<String>,
    /// The machine.
    pub environment: Environment,
    /// One entry a clock and path.
    pub clocks: Vec<Listed>,
}

/// Facts about the machine alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Info {
    /// Version of this document's schema.
    pub schema_version: u32,
    /// When the facts were read, RFC 3339 in UTC; `null` where no wall clock could be read.
    pub recorded_at: Option<String>,
    /// The machine.
    pub environment: Environment,
}

/// Why a text is no document of ours.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not JSON, or lacks keys that a record has.
    #[error("not a clockscope record")]
    Malformed(#[from] serde_json::Error),
    /// The record was written under a version of the schema that this program does not know.
    #[error(
        "the record has schema_version {found}, this program reads {SCHEMA_VERSION}: use the version of clockscope that wrote it"
    )]
    Version {
        /// The version that the record bears.
        found: u32,
    },
    /// The text is not a recording.
    #[error(
        "not a recording: expected a file that `clockscope steps --raw FILE.json` wrote; record again so, since CSV, NDJSON \
         and Parquet hold readings alone"
    )]
    NoRecording(#[source] serde_json::Error),
    /// The text ends too early.
    #[error("the file is cut off: get a whole copy")]
    CutOff(#[source] serde_json::Error),
    /// The text is another document.
    #[error("its schema is \"{0}\", expected \"clockscope.recording\": show documents with `clockscope report`")]
    OtherDocument(String),
}

impl Document {
    /// Reads a document from its JSON text.
    ///
    /// # Errors
    /// [`ReadError::Version`] when the version is another one, [`ReadError::Malformed`] for anything else.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        /// The version is looked at first, so that a newer record is named as such instead of "missing field".
        #[derive(Deserialize)]
        struct Version {
            schema_version: u32,
        }
        let Version { schema_version: found } = serde_json::from_str(text)?;
        if found != SCHEMA_VERSION {
            return Err(ReadError::Version { found });
        }
        Ok(Self::from_value(&serde_json::from_str(text)?)?)
    }

    /// By the key `schema`. Not derived: code that reads each record from whatever a tagged enum buffers is four times as
    /// large as code that reads it from a value.
    fn from_value(value: &Value) -> Result<Self, serde_json::Error> {
        match value["schema"].as_str().unwrap_or_default() {
            "clockscope.measure" => Deserialize::deserialize(value).map(Self::Measurement),
            "clockscope.steps" => Deserialize::deserialize(value).map(Self::Steps),
            "clockscope.advise" => Deserialize::deserialize(value).map(Self::Plan),
            "clockscope.order" => Answer::from_value(value).map(Self::Order),
            "clockscope.offsets" => Answer::from_value(value).map(Self::Offsets),
            "clockscope.rate" => Answer::from_value(value).map(Self::Rates),
            "clockscope.gaps" => Answer::from_value(value).map(Self::Gaps),
            "clockscope.sleep" => Answer::from_value(value).map(Self::Sleep),
            "clockscope.check" => Answer::from_value(value).map(Self::Check),
            "clockscope.shootout" => Answer::from_value(value).map(Self::Shootout),
            "clockscope.clocksource" => Deserialize::deserialize(value).map(Self::Clocksources),
            "clockscope.switched" => Deserialize::deserialize(value).map(Self::Switched),
            "clockscope.runtimes" => Deserialize::deserialize(value).map(Self::Runtimes),
            "clockscope.runtimes_found" => Deserialize::deserialize(value).map(Self::RuntimesFound),
            "clockscope.list" => Deserialize::deserialize(value).map(Self::Listing),
            "clockscope.info" => Deserialize::deserialize(value).map(Self::Info),
            "clockscope.recording" => {
                Err(serde::de::Error::custom("it is a recording: compute its answer with `clockscope replay`"))
            }
            unknown => Err(serde::de::Error::custom(format!("there is no schema \"{unknown}\""))),
        }
    }

    /// The machine that the document speaks of.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        match self {
            Self::Measurement(measurement) => &measurement.environment,
            Self::Steps(steps) => &steps.environment,
            Self::Plan(plan) => &plan.environment,
            Self::Order(answer) => &answer.environment,
            Self::Offsets(answer) => &answer.environment,
            Self::Rates(answer) => &answer.environment,
            Self::Gaps(answer) => &answer.environment,
            Self::Sleep(answer) => &answer.environment,
            Self::Check(answer) => &answer.environment,
            Self::Shootout(answer) => &answer.environment,
            Self::Clocksources(found) => &found.environment,
            Self::Switched(found) => &found.environment,
            Self::Runtimes(found) => &found.environment,
            Self::RuntimesFound(found) => &found.environment,
            Self::Listing(listing) => &listing.environment,
            Self::Info(info) => &info.environment,
        }
    }
}
