//! Requirements of a chore on this machine, and the check that they are met.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};

use crate::plan::NotInstalled;
use crate::run;

/// A program, a file, a module or a target that is needed, and the package that has it.
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

/// The needs of tasks beside the tests, for [`listed`].
const OTHERS: &str = include_str!("../needs/others.txt");

/// Reads a list: a line such as `program cc gcc` for each need.
pub(crate) fn listed(list: &'static str) -> Vec<Need> {
    list.lines().filter_map(Need::parse).collect()
}

impl Need {
    /// Reads a line of a list; `None` for a comment and for an empty line.
    fn parse(line: &'static str) -> Option<Self> {
        let words: Vec<&'static str> = line.split_whitespace().collect();
        let (what, installer, package) = match words[..] {
            ["program", name, package] => (What::Program(name), DEBIAN, package),
            ["file", path, package] => (What::File(path), DEBIAN, package),
            ["module", name, package] => (What::PythonModule(name), DEBIAN, package),
            ["compiler", program, sysroot, package] => (What::Compiler { program, sysroot }, DEBIAN, package),
            ["pip-program", name, package] => (What::Program(name), PYTHON, package),
            ["pip-module", name, package] => (What::PythonModule(name), PYTHON, package),
            ["target", triple] => (What::Target(triple), RUST, triple),
            _ => return None,
        };
        Some(Self { what, installer, package })
    }

    /// Returns the need whose program, path, module or target a list has by this name.
    ///
    /// # Panics
    /// No list has it.
    fn named(name: &str) -> Self {
        let known = [TEST, RELEASE, OTHERS].into_iter().flat_map(listed).find(|need| need.name() == name);
        known.unwrap_or_else(|| panic!("xtask/needs has no line for {name}"))
    }

    fn name(&self) -> &'static str {
        match self.what {
            What::Program(name) | What::File(name) | What::PythonModule(name) | What::Target(name) => name,
            What::Compiler { program, .. } => program,
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
pub(crate) fn missing(needs: impl IntoIterator<Item = Need>) -> Option<Missing> {
    let absent = needs.into_iter().filter(|need| !need.is_here());
    let packages: BTreeSet<_> = absent.map(|need| (need.installer, need.package)).collect();
    (!packages.is_empty()).then_some(Missing(packages))
}

/// Returns what is missing of these names, which are separated by spaces.
pub(crate) fn missing_of(names: &str) -> Option<Missing> {
    missing(names.split_whitespace().map(Need::named))
}

/// Prints Debian's packages that are missing, a line each, or the targets of rustup.
pub(crate) fn print_missing(needs: &'static str, are_targets: bool) {
    let Some(missing) = missing(listed(needs)) else { return };
    missing.packages(if are_targets { RUST } else { DEBIAN }).for_each(|package| println!("{package}"));
}

/// Refuses a purpose that lacks something: `archives need packages: apt-get install tar`. The names
/// are those of programs, files, modules or targets in xtask/needs, separated by spaces.
pub(crate) fn require(purpose: &str, names: &str) -> Result<()> {
    refuse(purpose, missing_of(names))
}

fn refuse(purpose: &str, missing: Option<Missing>) -> Result<()> {
    match missing {
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
        for list in [TEST, RELEASE, OTHERS] {
            let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            assert_eq!(listed(list).len(), lines.count());
        }
        assert!(listed(TEST).len() > 40 && listed(RELEASE).len() > 20);
    }

    #[test]
    fn what_is_missing_is_named_once_with_the_command_that_installs_it() {
        const HERE: &str = concat!("program cargo cargo\nfile ", env!("CARGO_MANIFEST_DIR"), " xtask\n");
        assert_eq!(missing(listed(HERE)), None);
        assert!(refuse("tests", None).is_ok());
        let error = refuse("tests", missing(listed("program no-such-program one"))).unwrap_err();
        assert!(error.is::<NotInstalled>());
        assert_eq!(error.to_string(), "tests need packages: apt-get install one");
        let needs = listed(
            "program no-such-program one\nfile /no/such/file one\ncompiler cargo /no/such/sysroot two\n\
             pip-program no-such-program three\npip-module no_such_module three\ntarget no-such-target\n",
        );
        let missing = missing(listed(HERE).into_iter().chain(needs)).unwrap();
        assert_eq!(
            missing.to_string(),
            "apt-get install one two, python3 -m pip install three, rustup target add no-such-target"
        );
        assert_eq!(missing.packages(DEBIAN).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(missing.packages(RUST).collect::<Vec<_>>(), ["no-such-target"]);
    }
}
