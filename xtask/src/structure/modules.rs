//! The modules of a crate and what each of them names, as `syn` reads their files.
//!
//! A module here is a file. What a `mod` block holds belongs to the file, but names are resolved in
//! the block's own scope. What is compiled for tests alone does not count.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::{Attribute, Item, Meta, UseTree, Visibility};

/// A path as it is written: `["super", "line", "Line"]`.
pub(super) type Segments = Vec<String>;

/// All modules of one crate; the first is its root.
#[derive(Default)]
pub(super) struct Modules {
    pub(super) scopes: Vec<Scope>,
    /// In the order in which they are declared, each after its parent.
    pub(super) files: Vec<File>,
}

/// A file of a crate.
pub(super) struct File {
    /// `crate`, `crate::os::linux`.
    pub(super) name: String,
    /// Its folder, from which `path = "…"` counts.
    folder: PathBuf,
    /// The file that declares it.
    pub(super) parent: Option<usize>,
}

/// A file or a `mod` block, and the names that can be used in it.
pub(super) struct Scope {
    pub(super) parent: Option<usize>,
    /// The file that it belongs to.
    pub(super) file: usize,
    pub(super) names: HashMap<String, Vec<Named>>,
    /// Modules and enums of which all names are imported.
    pub(super) globs: Vec<Segments>,
    /// Imports for the scope's own use; what is re-exported is not among them.
    pub(super) imports: Vec<Segments>,
    pub(super) items: Vec<Item>,
}

/// Meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Named {
    /// Something that is defined here. Types and traits have members, functions and constants do
    /// not.
    Item {
        has_members: bool,
    },
    Scope(usize),
    Import(Segments),
}

impl Modules {
    /// Reads a crate from its root file on.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut modules = Self::default();
        let folder = root.parent().unwrap_or(Path::new(".")).to_owned();
        modules.add_file(root, &folder, "crate", None)?;
        Ok(modules)
    }

    /// Adds a file, whose children are in `folder`.
    fn add_file(&mut self, path: &Path, folder: &Path, name: &str, parent: Option<usize>) -> Result<usize> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = syn::parse_file(&text).with_context(|| format!("cannot parse {}", path.display()))?;
        let parent_file = parent.map(|parent| self.scopes[parent].file);
        let folder_of_file = path.parent().unwrap_or(folder).to_owned();
        self.files.push(File { name: name.to_owned(), folder: folder_of_file, parent: parent_file });
        self.add(file.items, self.files.len() - 1, name, parent, folder)
    }

    /// Adds what a file or a `mod` block holds.
    fn add(
        &mut self,
        items: Vec<Item>,
        file: usize,
        name: &str,
        parent: Option<usize>,
        folder: &Path,
    ) -> Result<usize> {
        let index = self.scopes.len();
        self.scopes.push(Scope {
            parent,
            file,
            names: HashMap::new(),
            globs: Vec::new(),
            imports: Vec::new(),
            items: Vec::new(),
        });
        for item in items {
            if is_for_tests(attributes(&item)) {
                continue;
            }
            match item {
                Item::Mod(child) => self.add_child(child, index, name, folder)?,
                Item::Use(item) => {
                    let is_exported = !matches!(item.vis, Visibility::Inherited);
                    self.scopes[index].import(&item.tree, is_exported);
                }
                item => {
                    if let Some((name, has_members)) = defined(&item) {
                        self.scopes[index].name(name, Named::Item { has_members });
                    }
                    self.scopes[index].items.push(item);
                }
            }
        }
        Ok(index)
    }

    /// Adds a `mod` block, or each file that a `mod` declaration may stand for.
    fn add_child(&mut self, child: syn::ItemMod, parent: usize, name: &str, folder: &Path) -> Result<()> {
        let ident = child.ident.to_string();
        let full = format!("{name}::{ident}");
        let below = folder.join(&ident);
        let mut children = Vec::new();
        if let Some((_, items)) = child.content {
            children.push(self.add(items, self.scopes[parent].file, &full, Some(parent), &below)?);
        } else {
            let named = named_files(&child.attrs);
            let flat = folder.join(format!("{ident}.rs"));
            // Its own file is that of all other targets, where the others are named under
            // conditions.
            if named.is_empty() || flat.exists() {
                children.push(self.add_file(&flat, &below, &full, Some(parent))?);
            }
            for named in named {
                let path = self.files[self.scopes[parent].file].folder.join(&named);
                let inside = path.parent().unwrap_or(folder).to_owned();
                let stem = PathBuf::from(&named).with_extension("").to_string_lossy().replace("/backend", "");
                children.push(self.add_file(&path, &inside, &format!("{full} ({stem})"), Some(parent))?);
            }
        }
        for child in children {
            self.scopes[parent].name(ident.clone(), Named::Scope(child));
        }
        Ok(())
    }
}

impl Scope {
    fn name(&mut self, name: String, named: Named) {
        self.names.entry(name).or_default().push(named);
    }

    fn import(&mut self, tree: &UseTree, is_exported: bool) {
        let imported = Imported::of(tree);
        self.globs.extend(imported.globs);
        for (name, path) in imported.names {
            if !is_exported {
                self.imports.push(path.clone());
            }
            self.name(name, Named::Import(path));
        }
    }
}

/// Names that a `use` brings in.
#[derive(Default)]
pub(super) struct Imported {
    /// Names, each with the path that it stands for.
    pub(super) names: Vec<(String, Segments)>,
    /// Modules and enums of which it brings in all names.
    pub(super) globs: Vec<Segments>,
}

impl Imported {
    pub(super) fn of(tree: &UseTree) -> Self {
        let mut imported = Self::default();
        imported.add(tree, &mut Vec::new());
        imported
    }

    fn add(&mut self, tree: &UseTree, before: &mut Segments) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add(&path.tree, before);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(tree, before)),
            UseTree::Glob(_) => self.globs.push(before.clone()),
            UseTree::Name(name) => self.names.push((last_name(&name.ident, before), joined(before, &name.ident))),
            UseTree::Rename(rename) => self.names.push((rename.rename.to_string(), joined(before, &rename.ident))),
        }
    }
}

/// `a::{self}` names `a`.
fn last_name(ident: &syn::Ident, before: &[String]) -> String {
    if ident == "self" { before.last().cloned().unwrap_or_default() } else { ident.to_string() }
}

fn joined(before: &[String], ident: &syn::Ident) -> Segments {
    let last = (ident != "self" || before.is_empty()).then(|| ident.to_string());
    before.iter().cloned().chain(last).collect()
}

/// The name that an item defines, and whether it has members.
fn defined(item: &Item) -> Option<(String, bool)> {
    Some(match item {
        Item::Const(item) => (item.ident.to_string(), false),
        Item::Fn(item) => (item.sig.ident.to_string(), false),
        Item::Static(item) => (item.ident.to_string(), false),
        Item::Enum(item) => (item.ident.to_string(), true),
        Item::Struct(item) => (item.ident.to_string(), true),
        Item::Trait(item) => (item.ident.to_string(), true),
        Item::Type(item) => (item.ident.to_string(), true),
        Item::Union(item) => (item.ident.to_string(), true),
        _ => return None,
    })
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns true if something is compiled for tests alone: `cfg(test)`, `cfg(all(test, unix))`.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    let predicate = |attribute: &Attribute| attribute.parse_args::<Meta>().ok();
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).filter_map(predicate);
    conditions.into_iter().any(|condition| requires_test(&condition))
}

fn requires_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => all_of(list).iter().any(requires_test),
        _ => false,
    }
}

/// The files that `path = "…"` names, by itself or in a `cfg_attr`.
fn named_files(attributes: &[Attribute]) -> Vec<String> {
    let metas = attributes.iter().flat_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg_attr") => all_of(list),
        meta => vec![meta.clone()],
    });
    metas.filter_map(|meta| named_file(&meta)).collect()
}

fn named_file(meta: &Meta) -> Option<String> {
    let value = meta.require_name_value().ok().filter(|value| value.path.is_ident("path"))?;
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(file), .. }) = &value.value else { return None };
    Some(file.value())
}

fn all_of(list: &syn::MetaList) -> Vec<Meta> {
    let parser = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
    list.parse_args_with(parser).map(|metas| metas.into_iter().collect()).unwrap_or_default()
}
