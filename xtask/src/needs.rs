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
    from: From,
}

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

/// Origin of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    Debian(&'static str),
    Python(&'static str),
    Rust(&'static str),
}

/// Everything that the steps of `cargo xtask test` need. `.ci/run` installs it.
pub(crate) const TEST: &[Need] = &[
    Need::program("cc", "gcc"),
    Need::file("/usr/include/stdio.h", "libc6-dev"),
    Need::program("objdump", "binutils"),
    Need::program("unshare", "util-linux"),
    // Programs that use the C library.
    Need::program("clang", "clang"),
    Need::file("/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.tsan-x86_64.a", "libclang-rt-14-dev"),
    // The only C++ library of Debian 12 that has `std::format`.
    Need::program("clang++-22", "clang-22"),
    Need::file("/usr/lib/llvm-22/include/c++/v1/format", "libc++-22-dev"),
    Need::file("/usr/lib/llvm-22/lib/libc++abi.so", "libc++abi-22-dev"),
    Need::program("cmake", "cmake"),
    Need::program("meson", "meson"),
    Need::program("ninja", "ninja-build"),
    Need::program("pkg-config", "pkgconf"),
    Need::program("valgrind", "valgrind"),
    Need::program("man", "man-db"),
    Need::program("mandoc", "mandoc"),
    // The C library's headers on another processor.
    Need::program("qemu-aarch64", "qemu-user"),
    Need::program("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    Need::file("/usr/aarch64-linux-gnu/lib/crt1.o", "libc6-dev-arm64-cross"),
    // Emulated machines.
    Need::program("qemu-system-x86_64", "qemu-system-x86"),
    Need::program("cpio", "cpio"),
    // Runtimes whose stopwatches are measured.
    Need::program("g++", "g++"),
    Need::program("go", "golang-go"),
    Need::program("java", "openjdk-17-jdk-headless"),
    Need::program("node", "nodejs"),
    Need::program("python3", "python3"),
    Need::debian_module("ensurepip", "python3-venv"),
    Need::debian_module("pip", "python3-pip"),
    Need::program("mono", "mono-runtime"),
    Need::program("mcs", "mono-mcs"),
    Need::program("php", "php-cli"),
    Need::program("ruby", "ruby"),
    Need::program("perl", "perl"),
    Need::program("chromium", "chromium"),
    // Pages are tested in it by packages that npm gets.
    Need::program("npm", "npm"),
    // They check metrics, alerts, manifests and units.
    Need::program("promtool", "prometheus"),
    Need::program("kubectl", "kubernetes-client"),
    Need::program("systemd-analyze", "systemd"),
    Need::file("/usr/share/i18n/locales/de_DE", "locales"),
    // It checks commands of workflows.
    Need::program("shellcheck", "shellcheck"),
    // It opens the traces of examples.
    Need::program("babeltrace2", "babeltrace2"),
];

/// Everything that the steps of `cargo xtask release-check` need.
pub(crate) const RELEASE: &[Need] = &[
    Need::program("cc", "gcc"),
    Need::file("/usr/include/stdio.h", "libc6-dev"),
    // The archive for x86-64, in an empty root and in an emulated machine.
    Need::target("x86_64-unknown-linux-musl"),
    Need::program("git", "git"),
    Need::program("objdump", "binutils"),
    Need::program("tar", "tar"),
    Need::program("zip", "zip"),
    Need::program("unshare", "util-linux"),
    Need::program("qemu-system-x86_64", "qemu-system-x86"),
    Need::program("cpio", "cpio"),
    // Other processors.
    Need::program("qemu-aarch64", "qemu-user"),
    Need::program("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    Need::file("/usr/aarch64-linux-gnu/lib/crt1.o", "libc6-dev-arm64-cross"),
    Need::program("qemu-system-aarch64", "qemu-system-arm"),
    // The fuzzer, pages, queries of a fleet, and what xtask/fetch-tools.sh fetches with.
    Need::program("g++", "g++"),
    Need::program("node", "nodejs"),
    Need::program("npm", "npm"),
    Need::program("chromium", "chromium"),
    Need::program("python3", "python3"),
    Need::debian_module("ensurepip", "python3-venv"),
    Need::debian_module("pip", "python3-pip"),
    Need::program("java", "openjdk-17-jdk-headless"),
    // A compiler for every target, with the standard library's sources.
    Need::file("/usr/bin/rustc", "rustc-web"),
    Need::file("/usr/lib/rustlib/src/rust/library/std/Cargo.toml", "rust-web-src"),
    // Windows.
    Need::program("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"),
    Need::program("wine", "wine"),
    Need::file("/usr/lib/wine/wine64", "wine64"),
];

impl Need {
    /// A program of a Debian package.
    pub(crate) const fn program(name: &'static str, package: &'static str) -> Self {
        Self { what: What::Program(name), from: From::Debian(package) }
    }

    /// A file of a Debian package.
    pub(crate) const fn file(path: &'static str, package: &'static str) -> Self {
        Self { what: What::File(path), from: From::Debian(package) }
    }

    /// A compiler of a Debian package, with the standard library's sources in the same place.
    pub(crate) const fn compiler(program: &'static str, sysroot: &'static str, package: &'static str) -> Self {
        Self { what: What::Compiler { program, sysroot }, from: From::Debian(package) }
    }

    /// A module of Python in a Debian package.
    pub(crate) const fn debian_module(name: &'static str, package: &'static str) -> Self {
        Self { what: What::PythonModule(name), from: From::Debian(package) }
    }

    /// A program of a Python package.
    pub(crate) const fn python_program(name: &'static str, package: &'static str) -> Self {
        Self { what: What::Program(name), from: From::Python(package) }
    }

    /// A module of a Python package.
    pub(crate) const fn python_module(name: &'static str, package: &'static str) -> Self {
        Self { what: What::PythonModule(name), from: From::Python(package) }
    }

    /// The standard library for a target, which rustup brings.
    pub(crate) const fn target(triple: &'static str) -> Self {
        Self { what: What::Target(triple), from: From::Rust(triple) }
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
pub(crate) struct Missing(BTreeSet<From>);

/// Returns what is missing of all that is needed; `None` where everything is here.
pub(crate) fn missing<'a>(needs: impl IntoIterator<Item = &'a Need>) -> Option<Missing> {
    let packages: BTreeSet<From> = needs.into_iter().filter(|need| !need.is_here()).map(|need| need.from).collect();
    (!packages.is_empty()).then_some(Missing(packages))
}

/// Prints Debian's packages that are missing, a line each, or the targets of rustup.
pub(crate) fn print_missing(needs: &[Need], are_targets: bool) {
    let Some(missing) = missing(needs) else { return };
    if are_targets {
        missing.of_rust().for_each(|triple| println!("{triple}"));
    } else {
        missing.of_debian().for_each(|package| println!("{package}"));
    }
}

/// Refuses a purpose that lacks something: `archives need packages: apt-get install tar`.
pub(crate) fn require<'a>(purpose: &str, needs: impl IntoIterator<Item = &'a Need>) -> Result<()> {
    match missing(needs) {
        Some(missing) => bail!(NotInstalled(format!("{purpose} need packages: {missing}"))),
        None => Ok(()),
    }
}

impl Missing {
    /// The targets of rustup among them.
    pub(crate) fn of_rust(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter_map(|package| match package {
            From::Rust(triple) => Some(*triple),
            From::Python(_) | From::Debian(_) => None,
        })
    }

    /// The Debian packages among them.
    pub(crate) fn of_debian(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter_map(|package| match package {
            From::Debian(name) => Some(*name),
            From::Python(_) | From::Rust(_) => None,
        })
    }
}

impl From {
    /// The command that installs packages of this origin, and the package.
    const fn installed_by(self) -> (&'static str, &'static str) {
        match self {
            Self::Debian(name) => ("apt-get install", name),
            Self::Python(name) => ("python3 -m pip install", name),
            Self::Rust(name) => ("rustup target add", name),
        }
    }
}

/// The commands that install them.
impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let packages: Vec<_> = self.0.iter().map(|package| package.installed_by()).collect();
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
        assert_eq!(missing.of_debian().collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(missing.of_rust().collect::<Vec<_>>(), ["no-such-target"]);
    }
}
