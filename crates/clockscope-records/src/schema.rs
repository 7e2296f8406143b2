//! The JSON Schemas (2020-12) as texts. They are made from the types, kept as files, so that a
//! change of them is seen in review, and compared by a test: what would make them at run time is
//! larger than they are. They are kept without indentation, which would be a third of them.

use serde_json::Value;

#[cfg(test)]
mod from_types;
#[cfg(test)]
pub(crate) use from_types::{KnownFigure, add_text, add_unknown, add_words, omit_run};

/// Version of the JSON documents. It moves when a key disappears or changes its meaning; a new key
/// does not move it.
pub const SCHEMA_VERSION: u32 = 1;

/// Schema of all documents, that is of [`crate::Document`].
pub const DOCUMENT_SCHEMA: &str = include_str!("../schema/documents.json");

/// Schema of [`crate::Policy`], for editors that know TOML.
pub const POLICY_SCHEMA: &str = include_str!("../schema/policy.json");

/// Schema of [`crate::Recording`].
pub const RECORDING_SCHEMA: &str = include_str!("../schema/recording.json");

/// A schema for people to read.
///
/// # Errors
/// None for the schemas above: they are JSON.
pub fn indented(schema: &str) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&serde_json::from_str::<Value>(schema)?)? + "\n")
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;
    use serde::Serialize;
    use serde_json::ser::{PrettyFormatter, Serializer};

    use super::*;
    use crate::{Document, Policy, Recording};

    /// The files are what the types say. `CLOCKSCOPE_SCHEMA=write` writes them anew.
    #[test]
    fn the_files_are_what_the_types_say() {
        let made = [
            ("documents", DOCUMENT_SCHEMA, schema_for!(Document).to_value()),
            ("policy", POLICY_SCHEMA, schema_for!(Policy).to_value()),
            ("recording", RECORDING_SCHEMA, schema_for!(Recording).to_value()),
        ];
        for (name, stored, made) in made {
            if std::env::var_os("CLOCKSCOPE_SCHEMA").is_some_and(|value| value == "write") {
                let mut text = Vec::new();
                made.serialize(&mut Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b""))).unwrap();
                text.push(b'\n');
                std::fs::write(format!("{}/schema/{name}.json", env!("CARGO_MANIFEST_DIR")), &text).unwrap();
            } else {
                let stored: Value = serde_json::from_str(&indented(stored).unwrap()).unwrap();
                assert_eq!(stored, made, "{name}: CLOCKSCOPE_SCHEMA=write cargo test -p clockscope-records writes it");
            }
        }
    }
}
