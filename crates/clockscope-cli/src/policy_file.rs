//! Reads the file of `check --policy`.

use std::path::Path;

use anyhow::{Context, Result};
use clockscope_records::{Policy, printable, reworded};

use crate::inputs::Inputs;
use crate::usage::UsageError;

/// Reads a policy; - is standard input.
pub(crate) fn read(file: &Path, inputs: &mut Inputs) -> Result<Policy> {
    let name = format!("--policy {}", file.display());
    let bytes = inputs.read(file).with_context(|| name.clone())?;
    Ok(parsed(&bytes).map_err(|problem| UsageError(name + &problem))?)
}

/// Parses a policy; an error is what follows the file's name.
fn parsed(bytes: &[u8]) -> Result<Policy, String> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(": it is not text in UTF-8: expected TOML, as `clockscope schema policy` describes it".to_owned());
    };
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return Err(": it is JSON: expected TOML, as `clockscope schema policy` describes it".to_owned());
    }
    let toml = toml::Deserializer::parse(text).map_err(|error| {
        let problem = "not TOML: expected a table or a value, such as [counter] or max_cost_ns = 50";
        format!(", line {}: {problem}", line(text, &error))
    })?;
    serde_path_to_error::deserialize(toml).map_err(|error| {
        let fault = error.inner();
        let problem = format!("{}: {}", error.path(), reworded(fault.message()));
        format!(", line {}: {}", line(text, fault), printable(&problem))
    })
}

/// Returns the line of a fault, from 1 on.
fn line(text: &str, fault: &toml::de::Error) -> usize {
    let before = &text[..fault.span().map_or(0, |span| span.start.min(text.len()))];
    before.matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_and_the_problem_are_named() {
        for (text, expected) in [
            (
                "[counter]\nmax_tick_ns = \"x\"\n",
                ", line 2: counter.max_tick_ns: found string \"x\", expected a number",
            ),
            ("\n[[bin]]\n", ", line 2: bin: unknown key `bin`, expected one of `clocksource`, `counter`, `clocks`"),
            ("a b\n", ", line 1: not TOML: expected a table or a value, such as [counter] or max_cost_ns = 50"),
            ("{}", ": it is JSON: expected TOML, as `clockscope schema policy` describes it"),
        ] {
            assert_eq!(parsed(text.as_bytes()).unwrap_err(), expected, "{text}");
        }
        assert!(parsed(b"\xff").is_err() && parsed("\u{feff}[counter]\ninvariant = true".as_bytes()).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused_in_one_line(text in ".*") {
            proptest::prop_assert!(parsed(text.as_bytes()).err().is_none_or(|problem| !problem.contains('\n')));
        }
    }
}
