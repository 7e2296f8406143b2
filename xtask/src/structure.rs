//! Checks the structure: edges between crates, files that may have unsafe code, the width of
//! comments and Markdown, the tests that the documentation names as evidence, and overrides of
//! profiles.

mod profiles;
mod width;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::package;

/// Every crate, and the crates of the workspace that it may depend on (ARCHITECTURE.md).
const ALLOWED: &[(&str, &[&str])] = &[
    ("clockscope-core", &[]),
    ("clockscope", &["clockscope-core"]),
    // The library's sources, for loom.
    ("clockscope-models", &[]),
    ("clockscope-capi", &["clockscope"]),
    ("clockscope-python", &["clockscope", "clockscope-records", "clockscope-statistics"]),
    ("clockscope-records", &["clockscope-core"]),
    ("clockscope-statistics", &["clockscope-core", "clockscope-records"]),
    ("clockscope-system", &["clockscope", "clockscope-core", "clockscope-records"]),
    (
        "clockscope-measure",
        &["clockscope", "clockscope-core", "clockscope-records", "clockscope-statistics", "clockscope-system"],
    ),
    ("clockscope-report", &["clockscope-records", "clockscope-statistics"]),
    ("clockscope-runtimes", &["clockscope-records", "clockscope-statistics"]),
    (
        "clockscope-cli",
        // The library, for stamps that are converted.
        &[
            "clockscope",
            "clockscope-measure",
            "clockscope-records",
            "clockscope-report",
            "clockscope-runtimes",
            "clockscope-system",
        ],
    ),
    // Run in the emulated machines.
    ("clockscope-emulated", &["clockscope", "clockscope-core", "clockscope-system"]),
    // Shared by tests; the table is of what is built into a program, so nobody may depend on it.
    ("clockscope-testing", &[]),
    ("xtask", &["clockscope-records", "clockscope-testing"]),
];

/// Folders in which a file may open unsafe code, and files that may.
const UNSAFE: &[&str] = &[
    "crates/clockscope-core/src",
    // The lock hands out what it guards; the memory of the process's clock is wiped in a forked
    // child.
    "crates/clockscope/src/disciplined/process/lock.rs",
    "crates/clockscope/src/disciplined/process/wiping.rs",
    // Exported names and the caller's pointers; C code that a test loads.
    "crates/clockscope-capi/src/exports.rs",
    "crates/clockscope-capi/src/exports/stamps.rs",
    "crates/clockscope-capi/src/exports/upkeep.rs",
    "crates/clockscope-capi/src/exports/wall.rs",
    "crates/clockscope-capi/tests/c/one_page.rs",
    // Python's objects, by its C interface: functions, values and exceptions, the types of stamps.
    "crates/clockscope-python/src/exports.rs",
    "crates/clockscope-python/src/objects.rs",
    "crates/clockscope-python/src/stamp_exports.rs",
    // What is done to a process there has no safe form.
    "crates/clockscope/tests/process",
    "crates/clockscope-system/src",
    // What a child does between fork and exec has none either.
    "crates/clockscope-runtimes/src/parent_death.rs",
];

/// Has a table of situations and of the tests that show what happens in each.
const SITUATIONS: &str = "docs/concepts/library/situations.md";

/// Checks all of it.
pub(crate) fn check() -> Result<()> {
    let mut wrong = forbidden_edges(&edges(&package::metadata()?));
    for (file, text) in files(".md")? {
        wrong.extend(width::wide_markdown(&file, &text));
    }
    wrong.extend(profiles::inherited_overrides(&fs::read_to_string("Cargo.toml")?)?);
    let mut sources = String::new();
    for (file, text) in files(".rs")? {
        if file.ends_with("/mod.rs") {
            wrong.push(format!("{file}: a module's file stands beside its folder"));
        }
        wrong.extend(misplaced_unsafe(&file, &text));
        wrong.extend(width::wide_comments(&file, &text));
        if file.starts_with("crates/") {
            sources.push_str(&text);
        }
    }
    let library = fs::read_to_string(SITUATIONS).with_context(|| format!("cannot read {SITUATIONS}"))?;
    let situations = library.split_once("# Situation by situation\n").map(|(_, tail)| tail);
    let situations = situations.with_context(|| format!("{SITUATIONS} has no table of situations"))?;
    wrong.extend(missing_tests(situations, &sources, &names_in("machines", ".sh")?));
    if wrong.is_empty() { Ok(()) } else { bail!("the structure is broken:\n  {}", wrong.join("\n  ")) }
}

/// Tests that a table of the documentation names, in the last cell of its rows, and that are not
/// there.
fn missing_tests(table: &str, sources: &str, machines: &[String]) -> Vec<String> {
    let rows = table.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    let cells = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|name| !name.contains(' '));
    let is_there = |name: &str| is_test(sources, name) || machines.iter().any(|machine| machine == name);
    names.filter(|name| !is_there(name)).map(|name| format!("{SITUATIONS} names {name}, which is no test")).collect()
}

/// Returns true if the sources have a test function of this name: `#[test]` stands a few lines
/// above it.
fn is_test(sources: &str, name: &str) -> bool {
    const LINES_ABOVE: usize = 4;
    let before = sources.split_once(&format!("fn {name}(")).map_or("", |(before, _)| before);
    before.rsplit('\n').take(LINES_ABOVE).any(|line| line.trim() == "#[test]")
}

/// The files in a folder whose names have this ending, without it.
fn names_in(folder: &str, ending: &str) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {folder}"))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect())
}

/// From each crate of the workspace to each of its dependencies, those for tests left out.
fn edges(metadata: &Value) -> Vec<(String, Vec<String>)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let is_built_in = |dependency: &Value| dependency["kind"] != "dev";
    list(&metadata["packages"])
        .iter()
        .map(|package| {
            (
                name(package),
                list(&package["dependencies"]).iter().filter(|found| is_built_in(found)).map(name).collect(),
            )
        })
        .collect()
}

/// Edges between crates of the workspace that the table does not allow, and crates that it does not
/// know.
fn forbidden_edges(edges: &[(String, Vec<String>)]) -> Vec<String> {
    let members: Vec<&String> = edges.iter().map(|(from, _)| from).collect();
    let mut wrong = Vec::new();
    for (from, dependencies) in edges {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| name == from) else {
            wrong.push(format!("crate {from} is not in the table of xtask/src/structure.rs"));
            continue;
        };
        for to in dependencies.iter().filter(|to| members.contains(to) && !allowed.contains(&to.as_str())) {
            wrong.push(format!("{from} must not depend on {to}"));
        }
    }
    wrong
}

/// Openings of unsafe code where there may be none, or without a reason.
fn misplaced_unsafe(file: &str, text: &str) -> Vec<String> {
    // Put together, so that this file does not find itself.
    let opening = concat!("allow(unsafe", "_code");
    let openings = text.lines().filter(|line| line.contains(opening));
    openings
        .filter_map(|line| {
            if !UNSAFE.iter().any(|folder| file.starts_with(folder)) {
                Some(format!("{file} opens unsafe code, which only {} may", UNSAFE.join(", ")))
            } else if !line.contains("reason = \"") {
                Some(format!("{file} opens unsafe code without a reason"))
            } else {
                None
            }
        })
        .collect()
}

/// Names and texts of all files with this ending, but for what is built.
pub(crate) fn files(ending: &str) -> Result<Vec<(String, String)>> {
    let mut paths = Vec::new();
    list(Path::new("."), ending, &mut paths)?;
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((path.strip_prefix(".").unwrap_or(&path).to_string_lossy().into_owned(), text))
    };
    paths.into_iter().map(read).collect()
}

/// Adds the files below a folder with this ending, each once: links lead to others of them.
fn list(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            list(&path, ending, found)?;
        } else if name.ends_with(ending) && !path.is_symlink() {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_edge_is_found() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "clockscope-report", "dependencies": [
                { "name": "clockscope-records", "kind": null },
                { "name": "clockscope-measure", "kind": null },
                { "name": "clockscope", "kind": "dev" },
                { "name": "serde_json", "kind": null },
            ]},
            { "name": "clockscope-measure", "dependencies": [{ "name": "clockscope-report", "kind": "build" }] },
            { "name": "clockscope-records", "dependencies": [] },
            { "name": "clockscope-new", "dependencies": [] },
        ]});
        assert_eq!(
            forbidden_edges(&edges(&metadata)),
            [
                "clockscope-report must not depend on clockscope-measure",
                "clockscope-measure must not depend on clockscope-report",
                "crate clockscope-new is not in the table of xtask/src/structure.rs",
            ]
        );
    }

    #[test]
    fn a_test_that_is_not_there_is_found() {
        let table = "| # | situation | shown by |\n|---|---|---|\n| 1 | `no_name` | `there`, `gone` (trap), machine `hpet`, `cargo xtask x` |\n";
        let missing = missing_tests(table, "#[test]\nfn there() {}\n\n\n\n\nfn gone() {}", &["hpet".to_owned()]);
        assert_eq!(missing, ["docs/concepts/library/situations.md names gone, which is no test"]);
    }

    #[test]
    fn planted_unsafe_code_is_found() {
        let opened = concat!("#![allow(unsafe", "_code, reason = \"why\")]");
        let bare = concat!("#[allow(unsafe", "_code)]");
        assert_eq!(misplaced_unsafe("crates/clockscope-core/src/counter/x86.rs", opened).len(), 0);
        assert_eq!(misplaced_unsafe("crates/clockscope-core/src/counter/x86.rs", bare).len(), 1);
        assert_eq!(misplaced_unsafe("crates/clockscope-report/src/model.rs", opened).len(), 1);
    }
}
