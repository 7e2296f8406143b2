//! Requirements of a chore on this machine, and the check that they are met.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};

use crate::plan::NotInstalled;
use crate::run;

/// One thing that is needed, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    what: What,
    /// The command that installs the package.
    installer: &'static str,
    package: &'static str,
}

const DEBIAN: &str = "apt-get install";
const PYTHON: &str = "python3 -m pip install";
const RUST: &str = "rustup target add";

#[derive(Clone, Copy, Debug)]
enum What {
    Program(&'static str),
    File(&'static str),
    /// A module that `python3` imports.
    PythonModule(&'static str),
    /// The standard library for a target of the compiler that builds the workspace.
    Target(&'static str),
    /// A compiler whose sysroot is this folder.
    Compiler {
        program: &'static str,
        sysroot: &'static str,
    },
}

/// Everything that the steps of `cargo xtask test` need, for [`listed`]. `.ci/run` installs it.
pub(crate) const TEST: &str = include_str!("../needs/test.txt");

/// Everything that the steps of `cargo xtask release-check` need, for [`listed`].
pub(crate) const RELEASE: &str = include_str!("../needs/release.txt");

/// Reads a list: a line such as `program cc gcc` for each need.
pub(crate) fn listed(list: &'static str) -> Vec<Need> {
    list.lines().filter_map(Need::parse).collect()
}

impl Need {
    /// A program of a Debian package.
    pub(crate) const fn program(name: &'static str, package: &'static str) -> Self {
        Self { what: What::Program(name), installer: DEBIAN, package }
    }

    /// A file of a Debian package.
    pub(crate) const fn file(path: &'static str, package: &'static str) -> Self {
        Self { what: What::File(path), installer: DEBIAN, package }
    }

    /// A compiler of a Debian package, with the standard library's sources in the same place.
    pub(crate) const fn compiler(program: &'static str, sysroot: &'static str, package: &'static str) -> Self {
        Self { what: What::Compiler { program, sysroot }, installer: DEBIAN, package }
    }

    /// A module of Python in a Debian package.
    pub(crate) const fn debian_module(name: &'static str, package: &'static str) -> Self {
        Self { what: What::PythonModule(name), installer: DEBIAN, package }
    }

    /// A program of a Python package.
    pub(crate) const fn python_program(name: &'static str, package: &'static str) -> Self {
        Self { what: What::Program(name), installer: PYTHON, package }
    }

    /// A module of a Python package.
    pub(crate) const fn python_module(name: &'static str, package: &'static str) -> Self {
        Self { what: What::PythonModule(name), installer: PYTHON, package }
    }

    /// The standard library for a target, which rustup brings.
    pub(crate) const fn target(triple: &'static str) -> Self {
        Self { what: What::Target(triple), installer: RUST, package: triple }
    }

    /// Reads a line of a list; `None` for a comment and for an empty line.
    fn parse(line: &'static str) -> Option<Self> {
        let words: Vec<&'static str> = line.split_whitespace().collect();
        match words[..] {
            ["program", name, package] => Some(Self::program(name, package)),
            ["file", path, package] => Some(Self::file(path, package)),
            ["module", name, package] => Some(Self::debian_module(name, package)),
            ["target", triple] => Some(Self::target(triple)),
            _ => None,
        }
    }

    fn is_here(&self) -> bool {
        match self.what {
            What::Program(name) => run::exists(name),
            What::File(path) => Path::new(path).exists(),
            What::PythonModule(name) => run::output("python3", &["-c", &format!("import {name}")]).is_ok(),
            What::Target(triple) => run::output("rustc", &["--print", "target-libdir", "--target", triple])
                .is_ok_and(|folder| Path::new(folder.trim()).is_dir()),
            What::Compiler { program, sysroot } => {
                run::output(program, &["--print", "sysroot"]).is_ok_and(|found| found.trim() == sysroot)
            }
        }
    }
}

/// Packages that have to be installed, without repetitions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing(BTreeSet<(&'static str, &'static str)>);

/// Returns what is missing of all that is needed; `None` where everything is here.
pub(crate) fn missing<'a>(needs: impl IntoIterator<Item = &'a Need>) -> Option<Missing> {
    let absent = needs.into_iter().filter(|need| !need.is_here());
    let packages: BTreeSet<_> = absent.map(|need| (need.installer, need.package)).collect();
    (!packages.is_empty()).then_some(Missing(packages))
}

/// Prints Debian's packages that are missing, a line each, or the targets of rustup.
pub(crate) fn print_missing(needs: &'static str, are_targets: bool) {
    let Some(missing) = missing(&listed(needs)) else { return };
    missing.packages(if are_targets { RUST } else { DEBIAN }).for_each(|package| println!("{package}"));
}

/// Refuses a purpose that lacks something: `archives need packages: apt-get install tar`.
pub(crate) fn require<'a>(purpose: &str, needs: impl IntoIterator<Item = &'a Need>) -> Result<()> {
    match missing(needs) {
        Some(missing) => bail!(NotInstalled(format!("{purpose} need packages: {missing}"))),
        None => Ok(()),
    }
}

impl Missing {
    /// The packages among them that this command installs.
    fn packages(&self, installer: &str) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter(move |(one, _)| *one == installer).map(|(_, package)| *package)
    }
}

/// The commands that install them.
impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let packages: Vec<_> = self.0.iter().collect();
        let commands = packages.chunk_by(|(one, _), (next, _)| one == next).map(|packages| {
            let names: Vec<&str> = packages.iter().map(|(_, name)| *name).collect();
            format!("{} {}", packages[0].0, names.join(" "))
        });
        f.write_str(&commands.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_list_is_a_need_or_a_comment() {
        for list in [TEST, RELEASE] {
            let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            assert_eq!(listed(list).len(), lines.count());
        }
        assert!(listed(TEST).len() > 40 && listed(RELEASE).len() > 20);
    }

    #[test]
    fn what_is_missing_is_named_once_with_the_command_that_installs_it() {
        let here = [Need::program("cargo", "cargo"), Need::file(env!("CARGO_MANIFEST_DIR"), "xtask")];
        assert_eq!(missing(&here), None);
        assert!(require("tests", &here).is_ok());
        let error = require("tests", &[Need::program("no-such-program", "one")]).unwrap_err().to_string();
        assert_eq!(error, "tests need packages: apt-get install one");
        let needs = [
            Need::program("no-such-program", "one"),
            Need::file("/no/such/file", "one"),
            Need::compiler("cargo", "/no/such/sysroot", "two"),
            Need::python_program("no-such-program", "three"),
            Need::python_module("no_such_module", "three"),
            Need::target("no-such-target"),
        ];
        let missing = missing(here.iter().chain(&needs)).unwrap();
        assert_eq!(
            missing.to_string(),
            "apt-get install one two, python3 -m pip install three, rustup target add no-such-target"
        );
        assert_eq!(missing.packages(DEBIAN).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(missing.packages(RUST).collect::<Vec<_>>(), ["no-such-target"]);
    }
}
