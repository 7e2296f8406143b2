//! Tables of the keys of JSON documents and policies, from their schemas.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result, bail};
use clockscope_records::{DOCUMENT_SCHEMA, POLICY_SCHEMA, RECORDING_SCHEMA};
use serde_json::{Map, Value};
use textwrap::{Options, WordSplitter};

/// Width of a description.
const MAX_COLUMNS: usize = 100;

/// Markdown of a schema: its documents first, then all other types by name.
pub(super) fn tables(schema: &str) -> Result<String> {
    let text = match schema {
        "documents" => DOCUMENT_SCHEMA,
        "policy" => POLICY_SCHEMA,
        "recording" => RECORDING_SCHEMA,
        _ => bail!("unknown schema {schema:?}: expected documents, policy or recording"),
    };
    let schema: Value = serde_json::from_str(text)?;
    let types: BTreeMap<&str, &Value> =
        object(&schema["$defs"])?.iter().map(|(name, of)| (name.as_str(), of)).collect();
    let mut page = String::new();
    let mut documents = Vec::new();
    for document in schema["oneOf"].as_array().into_iter().flatten() {
        let name = document["properties"]["schema"]["const"].as_str().context("a document without a name")?;
        let of = document["$ref"].as_str().and_then(|of| of.strip_prefix("#/$defs/")).context("a document's type")?;
        documents.push((of, name));
        section(&mut page, name, document, types.get(of).context("an unknown type")?);
    }
    if documents.is_empty() {
        section(&mut page, schema["title"].as_str().unwrap_or_default(), &schema, &schema);
    }
    for (name, of) in types.iter().filter(|(name, _)| !documents.iter().any(|(of, _)| of == *name)) {
        section(&mut page, name, of, of);
    }
    for (of, name) in documents {
        let anchor = name.replace('.', "");
        page = page.replace(&format!("](#{})", of.to_lowercase()), &format!("](#{anchor})"));
    }
    Ok(page)
}

fn object(value: &Value) -> Result<&Map<String, Value>> {
    value.as_object().context("a schema without types")
}

/// A heading, a sentence and a table.
fn section(page: &mut String, name: &str, described: &Value, of: &Value) {
    let _ = write!(page, "### {name}\n\n");
    if let Some(text) = described["description"].as_str() {
        let options = Options::new(MAX_COLUMNS).break_words(false).word_splitter(WordSplitter::NoHyphenation);
        let _ = write!(page, "{}\n\n", textwrap::fill(&words(text), options));
    }
    if let Some(fields) = of["properties"].as_object() {
        let _ = writeln!(page, "| key | type | meaning |\n|---|---|---|");
        for (key, field) in fields {
            let _ = writeln!(page, "| `{key}` | {} | {} |", type_of(field), cell(&field["description"]));
        }
        page.push('\n');
    }
    let variants: Vec<&Value> =
        ["oneOf", "anyOf"].iter().filter_map(|of_kind| of[of_kind].as_array()).flatten().collect();
    if !variants.is_empty() {
        let _ = writeln!(page, "| one of | meaning |\n|---|---|");
        for variant in variants {
            let _ = writeln!(page, "| {} | {} |", variant_of(variant), cell(&variant["description"]));
        }
        page.push('\n');
    }
}

/// A text on one line, its words separated by one space.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text of a cell.
fn cell(text: &Value) -> String {
    // Names of types are no links here.
    words(text.as_str().unwrap_or_default()).replace('|', "\\|").replace("[`", "`").replace("`]", "`")
}

/// A value of an enumeration, or the fields of one.
fn variant_of(variant: &Value) -> String {
    if let Some(value) = variant["const"].as_str() {
        return format!("`\"{value}\"`");
    }
    let fields = variant["properties"].as_object().into_iter().flatten();
    let named: Vec<String> = fields
        .map(|(key, field)| match field["const"].as_str() {
            Some(value) => format!("`{key}`: `\"{value}\"`"),
            None => format!("`{key}`: {}", type_of(field)),
        })
        .collect();
    if named.is_empty() { type_of(variant) } else { named.join(", ") }
}

/// The type of a value, with a link to its table.
fn type_of(value: &Value) -> String {
    if let Some(name) = value["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(values) = value["enum"].as_array() {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
    }
    if !value["const"].is_null() {
        return format!("`{}`", value["const"]);
    }
    for of_kind in ["anyOf", "oneOf"] {
        if let Some(variants) = value[of_kind].as_array() {
            return variants.iter().map(variant_of).collect::<Vec<_>>().join(" or ");
        }
    }
    let names: Vec<&str> = match &value["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec!["any"],
    };
    names.into_iter().map(|name| simple_type(name, value)).collect::<Vec<_>>().join(" or ")
}

fn simple_type(name: &str, value: &Value) -> String {
    match name {
        "array" if value["items"].is_object() => format!("list of {}", type_of(&value["items"])),
        "array" => "list".to_owned(),
        "object" if value["additionalProperties"].is_object() => {
            format!("map of {}", type_of(&value["additionalProperties"]))
        }
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_named_as_readers_say_them() {
        for (schema, name) in [
            (json!({ "$ref": "#/$defs/Cost" }), "[Cost](#cost)"),
            (json!({ "type": ["number", "null"] }), "number or null"),
            (json!({ "type": "array", "items": { "$ref": "#/$defs/Bin" } }), "list of [Bin](#bin)"),
            (json!({ "anyOf": [{ "$ref": "#/$defs/Bin" }, { "type": "null" }] }), "[Bin](#bin) or null"),
            (json!({ "type": "object", "additionalProperties": { "type": "string" } }), "map of string"),
            (json!({ "enum": ["a", "b"] }), "`\"a\"` or `\"b\"`"),
        ] {
            assert_eq!(type_of(&schema), name);
        }
    }

    #[test]
    fn every_document_has_a_table() {
        let page = tables("documents").unwrap();
        assert!(page.contains("### clockscope.measure\n") && page.contains("### Cost\n"));
        assert!(page.contains("| `schema_version` | integer | "), "{}", &page[..500]);
        assert!(tables("policy").unwrap().contains("| `max_cost_ns` | number or null | "));
    }
}
