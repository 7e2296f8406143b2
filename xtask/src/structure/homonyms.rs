//! Public types have names of their own: no two crates call two things alike.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;
use syn::{Item, Visibility};

use super::modules::Modules;

/// Names that several crates may give to public types, and why.
const ALLOWED: &[(&str, &str)] = &[];

/// Names that several crates give to public types, beside those that are allowed. Types that macros
/// by example define are not seen.
pub(super) fn forbidden(metadata: &Value) -> Result<Vec<String>> {
    let mut types = Vec::new();
    for (name, root) in libraries(metadata) {
        types.push((name.to_owned(), public_types(&Modules::read(Path::new(root))?)));
    }
    Ok(shared(&types, ALLOWED))
}

/// The crates that have a library, each with the file of its root: also those that are not
/// published, whose readers are the same.
fn libraries(metadata: &Value) -> Vec<(&str, &str)> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages.filter_map(|package| Some((package["name"].as_str()?, library(package)?["src_path"].as_str()?))).collect()
}

/// The library among a package's targets.
fn library(package: &Value) -> Option<&Value> {
    let is_library = |target: &&Value| target["kind"].as_array().is_some_and(|kinds| kinds.contains(&"lib".into()));
    package["targets"].as_array()?.iter().find(is_library)
}

/// The names of a crate's public structures, enums and traits.
fn public_types(modules: &Modules) -> Vec<String> {
    let items = modules.scopes.iter().flat_map(|scope| &scope.items);
    let public = items.filter_map(|item| match item {
        Item::Struct(item) => Some((&item.vis, &item.ident)),
        Item::Enum(item) => Some((&item.vis, &item.ident)),
        Item::Trait(item) => Some((&item.vis, &item.ident)),
        _ => None,
    });
    public.filter(|(vis, _)| matches!(vis, Visibility::Public(_))).map(|(_, ident)| ident.to_string()).collect()
}

/// Names of several crates that are not allowed, and allowances that nothing needs.
fn shared(types: &[(String, Vec<String>)], allowed: &[(&str, &str)]) -> Vec<String> {
    let mut crates_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, types) in types {
        for found in types {
            let crates = crates_of.entry(found).or_default();
            if !crates.contains(&name.as_str()) {
                crates.push(name);
            }
        }
    }
    crates_of.retain(|_, crates| crates.len() > 1);
    let is_allowed = |found: &str| allowed.iter().any(|(name, _)| *name == found);
    let wrong = crates_of.iter().filter(|(found, _)| !is_allowed(found));
    let idle = allowed.iter().filter(|(found, _)| !crates_of.contains_key(found));
    wrong
        .map(|(found, crates)| format!("{} each have a public type named {found}", crates.join(" and ")))
        .chain(idle.map(|(found, _)| format!("no two crates have a type named {found}, which homonyms.rs allows")))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_planted_homonym_is_found() {
        let types = [("a", vec!["Clock", "Row"]), ("b", vec!["Clock", "Row", "Row"]), ("c", vec!["Only"])];
        let types = types.map(|(name, types)| (name.to_owned(), types.into_iter().map(str::to_owned).collect()));
        let of_row = "a and b each have a public type named Row";
        assert_eq!(shared(&types, &[]), ["a and b each have a public type named Clock", of_row]);
        assert_eq!(shared(&types, &[("Clock", "both give the time")]), [of_row]);
        let idle = "no two crates have a type named Only, which homonyms.rs allows";
        assert_eq!(shared(&types, &[("Clock", ""), ("Row", ""), ("Only", "")]), [idle]);
    }

    #[test]
    fn public_types_alone_are_looked_at() {
        let root = tempfile_with(
            "pub struct A; struct B; pub(crate) enum C {} pub mod d { pub enum D {} } pub trait E {}\n\
             #[cfg(test)] mod tests { pub struct F; }",
        );
        let mut found = public_types(&Modules::read(&root).unwrap());
        found.sort();
        std::fs::remove_file(root).unwrap();
        assert_eq!(found, ["A", "D", "E"]);
    }

    fn tempfile_with(text: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("clockscope-homonyms-{}.rs", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn crates_that_have_a_library_are_looked_at() {
        let library =
            |path: &str| json!([{ "kind": ["bin"], "src_path": "main" }, { "kind": ["lib"], "src_path": path }]);
        let metadata = json!({ "packages": [
            { "name": "everywhere", "publish": null, "targets": library("a") },
            { "name": "nowhere", "publish": [], "targets": library("b") },
            { "name": "somewhere", "publish": ["registry"], "targets": library("c") },
            { "name": "program", "publish": null, "targets": [{ "kind": ["bin"], "src_path": "d" }] },
        ]});
        assert_eq!(libraries(&metadata), [("everywhere", "a"), ("nowhere", "b"), ("somewhere", "c")]);
    }
}
