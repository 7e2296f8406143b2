//! Finds modules of a crate that depend on each other in a cycle.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::modules::Modules;
use super::references::{Edge, edges};

/// Returns the cycles in all crates of a folder and in the chores.
pub(super) fn found(crates: &Path, chores: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(crates).with_context(|| format!("cannot list {}", crates.display()))?;
    let mut folders: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    folders.push(chores.to_owned());
    let mut wrong = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        for root in ["lib.rs", "main.rs"].map(|root| folder.join("src").join(root)) {
            if root.exists() {
                wrong.extend(cycles(&Modules::read(&root)?).iter().map(|cycle| cycle.named(&name)));
            }
        }
    }
    Ok(wrong)
}

/// Modules that all depend on each other, and for each of them the edges to others of them.
#[derive(Debug)]
struct Cycle {
    modules: Vec<String>,
    edges: Vec<String>,
}

impl Cycle {
    /// Returns what is wrong in a crate that has it.
    fn named(&self, krate: &str) -> String {
        let modules = self.modules.join(", ");
        format!("{krate}: modules depend on each other: {modules}\n    {}", self.edges.join("\n    "))
    }
}

/// The cycles among each module and its children, where a child stands for all that is below it:
/// what a folder's files use, the folder uses. So a cycle between files is found where their paths
/// part, and one between folders as well, even if no file is in a cycle itself.
fn cycles(modules: &Modules) -> Vec<Cycle> {
    let edges = edges(modules);
    let parents = (0..modules.files.len()).filter(|file| modules.files.iter().any(|child| child.parent == Some(*file)));
    parents.flat_map(|parent| cycles_at(parent, modules, &edges)).collect()
}

/// The strongly connected components of more than one among a module's own file and its children.
fn cycles_at(parent: usize, modules: &Modules, edges: &[Edge]) -> Vec<Cycle> {
    let part_of = |file: usize| part_of(file, parent, modules);
    let lifted: Vec<(usize, usize, &Edge)> =
        edges.iter().filter_map(|edge| Some((part_of(edge.from)?, part_of(edge.to)?, edge))).collect();
    let count = modules.files.len();
    let reached: Vec<Vec<bool>> = (0..count).map(|start| reached_from(start, count, &lifted)).collect();
    let mut is_known = vec![false; count];
    let mut found = Vec::new();
    for start in 0..count {
        let is_member = |other: &usize| *other != start && reached[start][*other] && reached[*other][start];
        let mut members: Vec<usize> = (0..count).filter(is_member).collect();
        if members.is_empty() || is_known[start] {
            continue;
        }
        members.insert(0, start);
        members.iter().for_each(|member| is_known[*member] = true);
        let is_inside =
            |(from, to, _): &&(usize, usize, &Edge)| from != to && members.contains(from) && members.contains(to);
        let names = |edge: &Edge| edge.names.iter().map(String::as_str).collect::<Vec<&str>>().join(", ");
        let formatted = lifted.iter().filter(is_inside).map(|(.., edge)| {
            format!("{} -> {}: {}", modules.files[edge.from].name, modules.files[edge.to].name, names(edge))
        });
        found.push(Cycle {
            modules: members.iter().map(|member| modules.files[*member].name.clone()).collect(),
            edges: formatted.collect(),
        });
    }
    found
}

/// The child of `parent` that a file is or is below, or `parent` itself; `None` for a file
/// elsewhere.
fn part_of(file: usize, parent: usize, modules: &Modules) -> Option<usize> {
    if file == parent {
        return Some(parent);
    }
    let above = modules.files[file].parent?;
    if above == parent { Some(file) } else { part_of(above, parent, modules) }
}

/// Modules on which one depends, directly or not.
fn reached_from(start: usize, count: usize, edges: &[(usize, usize, &Edge)]) -> Vec<bool> {
    let mut reached = vec![false; count];
    let mut open = vec![start];
    while let Some(from) = open.pop() {
        for (_, to, _) in edges.iter().filter(|(edge, ..)| *edge == from) {
            if !std::mem::replace(&mut reached[*to], true) {
                open.push(*to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycles of a crate of these files; the first is its root.
    fn planted(files: &[(&str, &str)]) -> Vec<Cycle> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        cycles(&Modules::read(&folder.path().join(files[0].0)).unwrap())
    }

    fn names(cycles: &[Cycle]) -> Vec<String> {
        cycles.iter().map(|cycle| cycle.modules.join(" ")).collect()
    }

    /// `a` names `b` in each of these ways, and `b` names `a`.
    #[test]
    fn a_planted_cycle_is_found_however_it_is_written() {
        let ways = [
            "use crate::b::B;",
            "use super::b::B;",
            "use crate::{b::{B, C}};",
            "use crate::B as Other;",
            "use super::b; fn f() -> b::B { todo!() }",
            "use crate::*; fn f(_: B) {}",
            "fn f() { use crate::b::*; c(); }",
            "fn f() { use crate::b; fn g() { b::c(); } }",
            "fn f() { use crate::b::C; }",
            "fn f(_: impl Fn(&[super::b::B])) {}",
            "fn f() { g!(crate::b::B); }",
            "fn f() { self::inner::g() } mod inner { pub fn g() { super::super::b::c() } }",
            "impl crate::b::C for u8 {}",
            "fn f() { let _ = super::b::KINDS[0]; }",
            "use super::reached; fn f() { reached() }",
        ];
        let b = "pub struct B; pub trait C {} pub fn c() {} pub const KINDS: [u8; 1] = [0]; use super::a::A;";
        for way in ways {
            let a = format!("{way} pub struct A;");
            let root = "mod a; mod b; pub use b::B; use b::c as reached;";
            let found = planted(&[("lib.rs", root), ("a.rs", &a), ("b.rs", b)]);
            assert_eq!(names(&found), ["crate::a crate::b"], "{way}");
            assert!(found[0].edges.contains(&"crate::b -> crate::a: A".to_owned()), "{found:?}");
        }
    }

    #[test]
    fn what_is_not_a_dependency_makes_no_cycle() {
        let ways = [
            "#[cfg(test)] use crate::b::B;",
            "#[cfg(all(test, unix))] mod tests { use crate::b::B; }",
            "#[cfg(test)] mod tests;",
            "impl A { #[cfg(test)] fn of(_: crate::b::B) {} }",
            "use crate::b;",
            "pub(in crate::b) fn f() {}",
            "fn f() { let c = 1; g(c); }",
            "use std::b::B;",
            "/// [`crate::b::B`]\npub struct Shown;",
        ];
        for way in ways {
            let a = format!("{way} pub struct A;");
            let files = [
                ("lib.rs", "mod a; mod b; pub use b::{B, c};"),
                ("a.rs", a.as_str()),
                ("a/tests.rs", "use crate::b::B;"),
                ("b.rs", "pub struct B; pub fn c() {} use super::a::A;"),
            ];
            assert_eq!(names(&planted(&files)), [""; 0], "{way}");
        }
    }

    /// A parent that declares and re-exports its children does not use them, although they use it.
    #[test]
    fn a_parent_is_in_a_cycle_once_its_own_code_names_a_child() {
        let files = |root: &'static str| {
            let child = "use super::Shared; pub struct Child(Shared); impl Shared { fn f(&self) {} }";
            planted(&[("main.rs", "mod p;"), ("p.rs", root), ("p/child.rs", child)])
        };
        assert_eq!(names(&files("mod child; pub use child::Child; pub struct Shared;")), [""; 0]);
        let names = names(&files("mod child; pub use child::Child; pub struct Shared; fn f(_: Child) {}"));
        assert_eq!(names, ["crate::p crate::p::child"]);
    }

    /// No file is in a cycle, but the folders are.
    #[test]
    fn folders_are_in_a_cycle_by_any_of_their_files() {
        let found = planted(&[
            ("lib.rs", "mod one; mod two;"),
            ("one.rs", "mod low; mod high;"),
            ("one/low.rs", "pub struct Low;"),
            ("one/high.rs", "use crate::two::Two;"),
            ("two.rs", "use crate::one::low::Low; pub struct Two(Low);"),
        ]);
        assert_eq!(names(&found), ["crate::one crate::two"]);
        assert_eq!(found[0].edges, ["crate::one::high -> crate::two: Two", "crate::two -> crate::one::low: Low"]);
    }

    /// One file for each system: each counts.
    #[test]
    fn a_module_may_have_several_files() {
        let found = planted(&[
            ("lib.rs", "#[cfg_attr(unix, path = \"x.rs\")] #[cfg_attr(not(unix), path = \"y.rs\")] mod of; mod user;"),
            ("x.rs", "pub struct Of;"),
            ("y.rs", "pub struct Of; use crate::user::User;"),
            ("user.rs", "use crate::of::Of; pub struct User;"),
        ]);
        assert_eq!(names(&found), ["crate::of (y) crate::user"]);
        let found = planted(&[
            ("lib.rs", "#[cfg_attr(unix, path = \"x.rs\")] mod of; mod user;"),
            ("x.rs", "pub struct Of;"),
            ("of.rs", "pub struct Of; use crate::user::User;"),
            ("user.rs", "use crate::of::Of; pub struct User;"),
        ]);
        assert_eq!(names(&found), ["crate::of crate::user"]);
    }
}
