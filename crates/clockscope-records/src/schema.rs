//! The JSON Schemas (2020-12) as texts. They are made from the types, kept as files, so that a change of them is seen in review, and
//! compared by a test: what would make them at run time is larger than they are.

/// Schema of all documents, that is of [`crate::Document`].
pub const DOCUMENT_SCHEMA: &str = include_str!("../schema/documents.json");

/// Schema of [`crate::Policy`], for editors that know TOML.
pub const POLICY_SCHEMA: &str = include_str!("../schema/policy.json");

#[cfg(test)]
mod tests {
    use schemars::schema_for;
    use serde_json::Value;

    use super::*;
    use crate::{Document, Policy};

    /// The files are what the types say. `CLOCKSCOPE_SCHEMA=write` writes them anew.
    #[test]
    fn the_files_are_what_the_types_say() {
        let made = [
            ("documents", DOCUMENT_SCHEMA, schema_for!(Document).to_value()),
            ("policy", POLICY_SCHEMA, schema_for!(Policy).to_value()),
        ];
        for (name, kept, made) in made {
            let text = serde_json::to_string_pretty(&made).unwrap() + "\n";
            if std::env::var_os("CLOCKSCOPE_SCHEMA").is_some_and(|value| value == "write") {
                std::fs::write(format!("{}/schema/{name}.json", env!("CARGO_MANIFEST_DIR")), &text).unwrap();
            } else {
                let kept: Value = serde_json::from_str(kept).unwrap();
                assert_eq!(kept, made, "{name}: CLOCKSCOPE_SCHEMA=write cargo test -p clockscope-records writes it");
            }
        }
    }
}
