//! Typed reading of JSON. An error names the place of the fault and what is wrong there.

use serde::{Deserialize, Deserializer};
use serde_path_to_error::Segment;

/// Reads a value. An error is the path to the fault and the fault: `.cpu[3]: missing key`, or
/// `: missing key` for the value itself.
///
/// serde loses the path where a type reads from a buffer. Such a type calls this function, and the
/// path in its error follows the one that leads to it.
pub(crate) fn read<'de, T, D>(deserializer: D) -> Result<T, String>
where
    T: Deserialize<'de>,
    D: Deserializer<'de, Error = serde_json::Error>,
{
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let path = error.path().iter().fold(String::new(), |path, segment| match segment {
            Segment::Seq { index } => format!("{path}[{index}]"),
            Segment::Unknown => path,
            key => format!("{path}.{key}"),
        });
        let fault = error.inner().to_string();
        let position = format!(" at line {} column {}", error.inner().line(), error.inner().column());
        let fault = fault.strip_suffix(&position).unwrap_or(&fault);
        let is_path = fault.starts_with(['.', '[', ':']);
        if is_path { path + fault } else { format!("{path}: {}", reworded(fault)) }
    })
}

/// Returns serde's text of a fault in words for users.
#[must_use]
pub fn reworded(fault: &str) -> String {
    let (found, expected) = fault.rsplit_once(", expected ").unwrap_or((fault, ""));
    let found = found.replace("field `", "key `").replace("unknown variant", "unknown word");
    let found = found.replace("invalid type:", "found").replace("invalid value:", "found");
    let expected = match expected {
        "" => return found,
        "u8" | "u16" | "u32" | "u64" => "a whole number from 0 on",
        "i32" | "i64" => "a whole number",
        "f64" => "a number",
        "a sequence" => "a list",
        expected if expected.starts_with("struct ") => "an object",
        expected => expected,
    };
    format!("{found}, expected {expected}")
}
