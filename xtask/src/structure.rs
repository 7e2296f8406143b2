//! Checks the structure: edges between crates, files that may have unsafe code, the width of
//! comments and Markdown, the tests that the documentation names as evidence, and overrides of
//! profiles.

mod profiles;
mod width;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{folder, package};

/// Every crate, and the crates of the workspace that it may depend on (ARCHITECTURE.md), without
/// `clockscope-`. None may depend on `testing`: the table is of what is built into a program.
const ALLOWED: [(&str, &str); 15] = [
    ("core", ""),
    ("clockscope", "core"),
    // The library's sources, for loom.
    ("models", ""),
    ("capi", "clockscope"),
    ("python", "clockscope records statistics"),
    ("records", "core"),
    ("statistics", "core records"),
    ("system", "clockscope core records"),
    ("measure", "clockscope core records statistics system"),
    ("report", "records statistics"),
    ("runtimes", "records statistics"),
    // The library, for stamps that are converted.
    ("cli", "clockscope measure records report runtimes system"),
    // Run in the emulated machines.
    ("emulated", "clockscope core system"),
    ("testing", ""),
    ("xtask", "records testing"),
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
    let mut wrong = forbidden_edges(&package::metadata()?);
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

/// Returns the sorted names of the files in a folder that have this ending, without it.
pub(crate) fn names_in(folder: &str, ending: &str) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {folder}"))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect();
    names.sort_unstable();
    Ok(names)
}

/// Edges between crates of the workspace that the table does not allow, but for those of tests, and
/// crates that it does not know.
fn forbidden_edges(metadata: &Value) -> Vec<String> {
    let members: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let mut wrong = Vec::new();
    for member in &members {
        let from = name_of(member);
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == short(from)) else {
            wrong.push(format!("crate {from} is not in the table of xtask/src/structure.rs"));
            continue;
        };
        let dependencies = member["dependencies"].as_array().into_iter().flatten();
        for to in dependencies.filter(|dependency| dependency["kind"] != "dev").map(name_of) {
            if members.iter().any(|member| name_of(member) == to) && !allowed.split(' ').any(|name| name == short(to)) {
                wrong.push(format!("{from} must not depend on {to}"));
            }
        }
    }
    wrong
}

fn name_of(package: &Value) -> &str {
    package["name"].as_str().unwrap_or_default()
}

/// Returns the name of a crate as in [`ALLOWED`].
fn short(name: &str) -> &str {
    name.strip_prefix("clockscope-").unwrap_or(name)
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

/// Names and texts of all files with this ending, but for what is built. Links lead to others of
/// them.
pub(crate) fn files(ending: &str) -> Result<Vec<(String, String)>> {
    let paths = folder::files(Path::new("."), |path| path.is_symlink() || path.is_dir() && is_hidden(path))?;
    let mut files = Vec::new();
    for path in paths.iter().filter_map(|path| path.to_str()).filter(|path| path.ends_with(ending)) {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
        files.push((path.trim_start_matches("./").to_owned(), text));
    }
    Ok(files)
}

/// Returns true for the folder that cargo builds into, and for those of other tools.
fn is_hidden(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name == "target" || name.starts_with('.')
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
            forbidden_edges(&metadata),
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
