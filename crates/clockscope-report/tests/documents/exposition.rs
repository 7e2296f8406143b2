//! A strict reader of Prometheus' text format, version 0.0.4, as the textfile collector of
//! node_exporter takes it: what it does not understand fails the test.

use std::collections::{BTreeMap, BTreeSet};

/// A series: its name, its labels, its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

impl Series {
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

/// Reads a whole file.
pub(crate) fn read(text: &str) -> Vec<Series> {
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is cut off");
    let mut families = BTreeSet::new();
    let mut unique = BTreeSet::new();
    let mut series = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (name, help) = line.strip_prefix("# HELP ").and_then(|remaining| remaining.split_once(' ')).expect(line);
        assert!(is_name(name) && !help.is_empty() && !help.contains('\\'), "{line}");
        assert!(families.insert(name.to_owned()), "a family twice: {line}");
        assert_eq!(lines.next(), Some(format!("# TYPE {name} gauge").as_str()), "after {line}");
        let of_family = |line: &&str| !line.starts_with('#');
        let before = series.len();
        while let Some(line) = lines.next_if(of_family) {
            let found = one(line);
            assert_eq!(found.name, name, "{line}");
            assert!(unique.insert(format!("{name}{:?}", found.labels)), "a series twice: {line}");
            series.push(found);
        }
        assert!(series.len() > before, "no series: {name}");
    }
    series
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads `name{label="value"} 1.5`.
fn one(line: &str) -> Series {
    let end = line.find(['{', ' ']).expect(line);
    let (name, mut remaining) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    if let Some(inner) = remaining.strip_prefix('{') {
        remaining = inner;
        loop {
            let (label, after) = remaining.split_once("=\"").expect(line);
            assert!(is_name(label), "{line}");
            let (value, after) = quoted(after).expect(line);
            assert!(!value.is_empty() && labels.insert(label.to_owned(), value).is_none(), "{line}");
            match after.strip_prefix(',') {
                Some(next) => remaining = next,
                None => {
                    remaining = after.strip_prefix('}').expect(line);
                    break;
                }
            }
        }
    }
    let value: f64 = remaining.strip_prefix(' ').expect(line).parse().expect(line);
    assert!(value.is_finite(), "{line}");
    Series { name: name.to_owned(), labels, value }
}

/// Reads a value up to its quote, and returns what follows that.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((index, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[index + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                _ => return None,
            }),
            c => value.push(c),
        }
    }
    None
}
