//! From each module to the modules that define what it names.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use syn::buffer::{Cursor, TokenBuffer};
use syn::visit::{self, Visit};

use super::modules::{Imported, Modules, Named, Segments, attributes, is_for_tests};

/// From one file of a crate to another, with what the first names of the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) names: BTreeSet<String>,
}

/// All edges between the files of a crate. The rules:
///
/// - An edge goes to the file that defines what is named, through whatever re-exports:
///   `crate::Rate` is an edge to `crate::timer` if the root re-exports it from there.
/// - A module that is named on the way is not an edge: `super::line::Line` leads to `line` and not
///   to `super`.
/// - Declaring a child (`mod`) and re-exporting its items (`pub use`) are not edges: such a parent
///   does not use them. It does as soon as its own code names one.
/// - Importing a module is not an edge; what is then named through it is.
/// - A child that names what its parent defines is an edge to the parent. If the parent's code also
///   names what the child defines, that is a cycle as between any two modules.
/// - Implementing a type's methods in another file is an edge to the type; calling a method is not
///   an edge.
///
/// Not seen: macros by example, whose names follow the order of the text, and paths in strings of
/// attributes.
pub(super) fn edges(modules: &Modules) -> Vec<Edge> {
    let mut found: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
    for scope_index in 0..modules.scopes.len() {
        let scope = &modules.scopes[scope_index];
        let mut names = Names { scope_index, modules, local: Local::default(), targets: HashSet::new() };
        for path in &scope.imports {
            names.take_import(path);
        }
        for item in &scope.items {
            names.visit_item(item);
        }
        let from = scope.file;
        for (to, name) in names.targets.into_iter().filter(|(to, _)| *to != from) {
            found.entry((from, to)).or_default().insert(name);
        }
    }
    found.into_iter().map(|((from, to), names)| Edge { from, to, names }).collect()
}

/// Target of a path.
#[derive(Clone, Copy)]
enum Target<'a> {
    Scope(usize),
    /// Something that this file defines.
    Item {
        file: usize,
        name: &'a str,
        has_members: bool,
    },
}

impl Modules {
    /// All that a path in a scope may stand for: a name may be a module and a function at once, and
    /// may have one definition for each system.
    fn resolve(&self, scope_index: usize, path: &[String], depth: usize) -> Vec<Target<'_>> {
        let Some((first, tail)) = path.split_first() else { return vec![Target::Scope(scope_index)] };
        // Imports of one another lead nowhere.
        if depth == 0 {
            return Vec::new();
        }
        let starts = match first.as_str() {
            "crate" => vec![Target::Scope(0)],
            "self" => vec![Target::Scope(scope_index)],
            "super" => self.scopes[scope_index].parent.map(Target::Scope).into_iter().collect(),
            name => self.lookup(scope_index, name, depth - 1),
        };
        starts.into_iter().flat_map(|start| self.follow(start, tail, depth - 1)).collect()
    }

    /// Targets of the rest of a path from here.
    fn follow<'a>(&'a self, start: Target<'a>, tail: &[String], depth: usize) -> Vec<Target<'a>> {
        match (start, tail.split_first()) {
            (_, None) | (Target::Item { has_members: true, .. }, _) => vec![start],
            (Target::Item { has_members: false, .. }, Some(_)) => Vec::new(),
            (Target::Scope(scope_index), Some((name, tail))) => {
                if depth == 0 {
                    return Vec::new();
                }
                let next = match name.as_str() {
                    "super" => self.scopes[scope_index].parent.map(Target::Scope).into_iter().collect(),
                    name => self.lookup(scope_index, name, depth - 1),
                };
                next.into_iter().flat_map(|next| self.follow(next, tail, depth - 1)).collect()
            }
        }
    }

    /// Targets of a name in a scope; if nothing there bears it, in the scopes that it imports all
    /// names of.
    fn lookup(&self, scope_index: usize, name: &str, depth: usize) -> Vec<Target<'_>> {
        let scope = &self.scopes[scope_index];
        if let Some((name, all)) = scope.names.get_key_value(name) {
            let target = |named: &Named| match named {
                Named::Item { has_members } => vec![Target::Item { file: scope.file, name, has_members: *has_members }],
                Named::Scope(child) => vec![Target::Scope(*child)],
                // `pub use rate::rate`: the first is the module, not what is being imported.
                Named::Import(path) if path.first().is_some_and(|first| first == name) => {
                    let children = all.iter().filter_map(|named| match named {
                        Named::Scope(child) => Some(Target::Scope(*child)),
                        _ => None,
                    });
                    children.flat_map(|child| self.follow(child, &path[1..], depth)).collect()
                }
                Named::Import(path) => self.resolve(scope_index, path, depth),
            };
            return all.iter().flat_map(target).collect();
        }
        let through = |path: &Segments| {
            let scopes = self.resolve(scope_index, path, depth);
            let inside = |target: Target<'_>| match target {
                Target::Scope(other) if other != scope_index && depth > 0 => self.lookup(other, name, depth - 1),
                _ => Vec::new(),
            };
            scopes.into_iter().flat_map(inside).collect::<Vec<Target<'_>>>()
        };
        scope.globs.iter().filter(|_| depth > 0).flat_map(through).collect()
    }
}

/// So many imports are followed from one name.
const DEPTH: usize = 24;

/// Collects what the code of one scope names.
struct Names<'a> {
    scope_index: usize,
    modules: &'a Modules,
    local: Local,
    targets: HashSet<(usize, String)>,
}

impl Names<'_> {
    /// A name that stands for a module, whatever else it stands for: its uses show what is meant.
    fn take_import(&mut self, path: &[String]) {
        let targets = self.modules.resolve(self.scope_index, path, DEPTH);
        if !targets.iter().any(|target| matches!(target, Target::Scope(_))) {
            self.add(&targets);
        }
    }

    fn take(&mut self, path: &[String]) {
        let Some((first, tail)) = path.split_first() else { return };
        if tail.is_empty() && self.local.variables.contains(first) {
            return;
        }
        self.resolve(path);
        for (_, imported) in self.local.imported.names.clone().iter().filter(|(name, _)| name == first) {
            self.resolve(&[imported, tail].concat());
        }
        for glob in &self.local.imported.globs.clone() {
            self.resolve(&[glob, path].concat());
        }
    }

    fn resolve(&mut self, path: &[String]) {
        let targets = self.modules.resolve(self.scope_index, path, DEPTH);
        self.add(&targets);
    }

    fn add(&mut self, targets: &[Target<'_>]) {
        for target in targets {
            if let Target::Item { file, name, .. } = target {
                self.targets.insert((*file, (*name).to_owned()));
            }
        }
    }

    /// Paths of several names among the tokens of a macro, which is not parsed:
    /// `matches!(x, Kind::Wall)`.
    fn take_tokens(&mut self, mut cursor: Cursor<'_>) {
        let mut path: Segments = Vec::new();
        while !cursor.eof() {
            if let Some((inside, _, _, after)) = cursor.any_group() {
                self.take_tokens(inside);
                cursor = after;
            } else if let Some((ident, after)) = cursor.ident() {
                path.push(ident.to_string());
                cursor = after;
                if let Some(after) = past_colons(cursor) {
                    cursor = after;
                    continue;
                }
            } else if let Some((_, after)) = cursor.token_tree() {
                cursor = after;
            }
            if path.len() > 1 {
                self.take(&path);
            }
            path.clear();
        }
    }
}

/// Behind `::`, if that comes next.
fn past_colons(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let (first, after) = cursor.punct()?;
    let (second, after) = after.punct()?;
    (first.as_char() == ':' && second.as_char() == ':').then_some(after)
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        let outer = std::mem::take(&mut self.local);
        // What surrounds an item imports for it, too, but its variables are not seen in it.
        self.local.imported.names.clone_from(&outer.imported.names);
        self.local.imported.globs.clone_from(&outer.imported.globs);
        self.local.visit_item(item);
        visit::visit_item(self, item);
        self.local = outer;
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes: &[syn::Attribute] = match item {
            syn::ImplItem::Fn(item) => &item.attrs,
            syn::ImplItem::Const(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments: Segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.take(&segments);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.take_tokens(TokenBuffer::new2(called.tokens.clone()).begin());
    }

    /// An import inside of a function: as one of the module.
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for (_, path) in Imported::of(&item.tree).names {
            self.take_import(&path);
        }
    }

    /// A visibility is skipped: it is not what the item uses.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// Names that are known inside of one item alone.
#[derive(Default)]
struct Local {
    /// Variables that patterns bind: such a name hides functions and constants of the same name.
    variables: HashSet<String>,
    /// By `use` inside of functions.
    imported: Imported,
}

impl<'ast> Visit<'ast> for Local {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.variables.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let Imported { names, globs } = Imported::of(&item.tree);
        self.imported.names.extend(names);
        self.imported.globs.extend(globs);
    }
}
