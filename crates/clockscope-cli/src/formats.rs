//! Formats by the endings of files' names.

use std::fs;
use std::path::Path;

use clockscope_report::Format;

use crate::usage::UsageError;

/// Endings of file names, in lower case, and the formats that they stand for.
const ENDINGS: &[(&str, Format)] = &[
    ("json", Format::Json),
    ("ndjson", Format::Ndjson),
    ("jsonl", Format::Ndjson),
    ("csv", Format::Csv),
    ("md", Format::Markdown),
    ("markdown", Format::Markdown),
    ("html", Format::Html),
    ("htm", Format::Html),
    ("svg", Format::Svg),
    ("prom", Format::Prometheus),
    ("txt", Format::Table),
];

/// Returns the ending of a file's name, in lower case, where it is to name a format: that of a
/// device or a pipe does not.
pub(crate) fn ending(path: &Path) -> Option<String> {
    let ending = path.extension().filter(|_| is_file_to_be(path))?;
    Some(ending.to_string_lossy().to_ascii_lowercase())
}

/// Returns false for devices, pipes and folders.
pub(crate) fn is_file_to_be(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.is_file())
}

/// Returns the format that the ending of a file's name stands for, if it is a known one.
pub(crate) fn by_ending(path: &Path) -> Option<Format> {
    let ending = ending(path)?;
    ENDINGS.iter().find(|(name, _)| *name == ending).map(|(_, format)| *format)
}

/// Refuses a file whose name ends as another format than the one of the option `named`, or in a way
/// that names none where there is no such option.
pub(crate) fn refuse_ending(path: &Path, named: Option<(Format, &str)>) -> Result<(), UsageError> {
    let Some(ending) = ending(path) else { return Ok(()) };
    let file = path.display();
    match (by_ending(path), named) {
        (Some(format), Some((wanted, option))) if format != wanted && format != Format::Table => {
            let name = format.name();
            Err(UsageError(format!("{option} and --output {file}, which is {name} by its name: leave one out")))
        }
        (None, None) => {
            let known: Vec<&str> = ENDINGS.iter().map(|(ending, _)| *ending).collect();
            let known = known.join(", ");
            Err(UsageError(format!(
                "--output {file}: unknown ending \"{ending}\": expected one of {known}, or --format"
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_names_the_format_in_any_capitalization() {
        let format = |name: &str| by_ending(Path::new(name));
        assert_eq!(format("a.b/x.JSON"), Some(Format::Json));
        assert_eq!(format("x.tar.md"), Some(Format::Markdown));
        for name in ["x", "x.", ".json", "x.xlsx", "/dev/stdout", ""] {
            assert_eq!(format(name), None, "{name}");
        }
        assert!(Format::ALL.iter().all(|format| ENDINGS.iter().any(|(_, named)| named == format)));
    }

    #[test]
    fn an_ending_agrees_with_the_option() {
        let is_refused = |name: &str, named| refuse_ending(Path::new(name), named).is_err();
        let json = Some((Format::Json, "--json"));
        for (name, named) in [("x", None), ("x.csv", None), ("x.json", json), ("x.dat", json), ("x.txt", json)] {
            assert!(!is_refused(name, named), "{name}");
        }
        assert!(is_refused("x.dat", None) && is_refused("x.", None) && is_refused("x.html", json));
    }
}
