//! The documents that are written and read back, and the schema that describes them.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use crate::{
    Advice, AllClocks, Check, Clocksources, Comparison, Contents, Envelope, Environment, Fleet, Gaps, Info, Listing,
    Measurement, Offsets, Order, Rate, Runtimes, RuntimesFound, SCHEMA_VERSION, Shootout, Sleep, Steps, Switched,
};

/// Declares the documents: the variant of each, its contents, its key `schema`, and whether its
/// head has a run.
macro_rules! documents {
    ($dollar:tt $(
        $(#[$doc:meta])*
        $variant:ident($contents:ident) = $schema:tt, is_run = $is_run:tt, has_charts = $has_charts:tt;
    )*) => {
        /// Everything that the instrument writes as JSON. The key `schema` names the document.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "schema")]
        #[allow(clippy::large_enum_variant, reason = "one document exists at a time")]
        pub enum Document {
            $($(#[$doc])* #[serde(rename = $schema)] $variant(Envelope<$contents>),)*
        }

        $(impl Contents for $contents {
            const IS_RUN: bool = $is_run;
        })*

        impl Document {
            /// All kinds of documents, in the order of this type.
            pub const KINDS: &[DocumentKind] =
                &[$(DocumentKind { schema: $schema, is_run: $is_run, has_charts: $has_charts },)*];

            /// Returns the machine that the document describes.
            #[must_use]
            pub fn environment(&self) -> &Environment {
                match self {
                    $(Self::$variant(envelope) => &envelope.environment,)*
                }
            }

            /// Returns the key `schema`, which names the document: `clockscope.measure`.
            #[must_use]
            pub const fn schema(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $schema,)*
                }
            }

            /// Returns when it was made (RFC 3339), if a wall clock could be read.
            #[must_use]
            pub fn recorded_at(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(envelope) => envelope.recorded_at.as_deref(),)*
                }
            }
        }

        /// Evaluates an expression with the envelope of a document, whichever it is:
        /// `with_envelope!(&document, envelope => envelope.is_interrupted())`.
        #[macro_export]
        macro_rules! with_envelope {
            ($dollar document:expr, $dollar envelope:ident => $dollar do:expr) => {
                match $dollar document {
                    $($dollar crate::Document::$variant($dollar envelope) => $dollar do,)*
                }
            };
        }
    };
}

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentKind {
    /// The key `schema`: `clockscope.measure`.
    pub schema: &'static str,
    /// True if it is the result of a run, and has facts of that.
    pub is_run: bool,
    /// True if reports of it can have charts.
    pub has_charts: bool,
}

documents! {
    $
    /// The result of `clockscope measure`.
    Measurement(Measurement) = "clockscope.measure", is_run = true, has_charts = true;
    /// The result of `clockscope steps`.
    Steps(Steps) = "clockscope.steps", is_run = true, has_charts = true;
    /// The result of `clockscope advise`.
    Advice(Advice) = "clockscope.advise", is_run = false, has_charts = false;
    /// The result of `clockscope order`.
    Order(Order) = "clockscope.order", is_run = true, has_charts = true;
    /// The result of `clockscope offsets`.
    Offsets(Offsets) = "clockscope.offsets", is_run = true, has_charts = true;
    /// The result of `clockscope rate`.
    Rate(Rate) = "clockscope.rate", is_run = true, has_charts = true;
    /// The result of `clockscope gaps`.
    Gaps(Gaps) = "clockscope.gaps", is_run = true, has_charts = true;
    /// The result of `clockscope sleep`.
    Sleep(Sleep) = "clockscope.sleep", is_run = true, has_charts = true;
    /// The result of `clockscope check`.
    Check(Check) = "clockscope.check", is_run = true, has_charts = false;
    /// The result of `clockscope shootout`.
    Shootout(Shootout) = "clockscope.shootout", is_run = true, has_charts = false;
    /// The result of `clockscope compare`.
    Comparison(Comparison) = "clockscope.compare", is_run = false, has_charts = true;
    /// The result of `clockscope clocksource`.
    Clocksources(Clocksources) = "clockscope.clocksource", is_run = false, has_charts = false;
    /// The result of `clockscope measure --clocksource`.
    Switched(Switched) = "clockscope.switched", is_run = false, has_charts = true;
    /// The result of `clockscope runtimes`.
    Runtimes(Runtimes) = "clockscope.runtimes", is_run = false, has_charts = true;
    /// The result of `clockscope runtimes --list`.
    RuntimesFound(RuntimesFound) = "clockscope.runtimes_found", is_run = false, has_charts = false;
    /// The result of `clockscope list`.
    Listing(Listing) = "clockscope.list", is_run = false, has_charts = false;
    /// The result of `clockscope list --all-platforms`.
    AllClocks(AllClocks) = "clockscope.all_clocks", is_run = false, has_charts = false;
    /// The result of `clockscope info`.
    Info(Info) = "clockscope.info", is_run = false, has_charts = false;
    /// The result of `clockscope-fleet report`.
    Fleet(Fleet) = "clockscope.fleet", is_run = false, has_charts = true;
}

/// Reason why a text is no document of ours.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not JSON, or lacks keys that a record has.
    #[error("not a clockscope record, as --json writes it")]
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
         and NPY hold readings alone"
    )]
    NoRecording(#[source] serde_json::Error),
    /// The text has no characters but blanks.
    #[error("the file is empty: expected a record, as --json writes it")]
    Empty,
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
    /// [`ReadError::Version`] when the version is another one, [`ReadError::Empty`] for blanks
    /// alone, [`ReadError::CutOff`] for a part of an object, [`ReadError::Malformed`] for anything
    /// else.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        /// The version is looked at first, so that a newer record is named as such instead of
        /// "missing field".
        #[derive(Deserialize)]
        struct Head {
            schema_version: u32,
            #[serde(default)]
            schema: String,
        }
        if text.trim().is_empty() {
            return Err(ReadError::Empty);
        }
        let Head { schema_version: found, schema } = serde_json::from_str(text).map_err(|error| {
            let is_cut = error.is_eof() && text.trim_start().starts_with('{');
            if is_cut { ReadError::CutOff(error) } else { ReadError::Malformed(error) }
        })?;
        if found != SCHEMA_VERSION {
            return Err(ReadError::Version { found });
        }
        if schema == "clockscope.recording" {
            let why = "it is a recording: compute its answer with `clockscope replay`";
            return Err(serde_json::Error::custom(why).into());
        }
        Ok(serde_json::from_str(text)?)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn what_is_no_document_is_refused_with_the_reason() {
        let refused = |text: &str| Document::from_json(text).expect_err("it is none");
        let why = |text: &str| refused(text).source().map(ToString::to_string).unwrap_or_default();
        assert!(why(r#"{ "schema": "clockscope.recording", "schema_version": 1 }"#).contains("`clockscope replay`"));
        assert!(why(r#"{ "schema": "clockscope.sundial", "schema_version": 1 }"#).contains("clockscope.sundial"));
        assert!(why(r#"{ "schema_version": 1 }"#).contains("schema"));
        let newer = refused(r#"{ "schema": "clockscope.sundial", "schema_version": 2 }"#);
        assert!(matches!(newer, ReadError::Version { found: 2 }), "{newer:?}");
        let cut = refused(r#"{ "schema": "clockscope.measure", "schema_ver"#);
        assert!(matches!(cut, ReadError::CutOff(_)), "{cut:?}");
        assert!(matches!(refused(" \n"), ReadError::Empty));
    }
}
