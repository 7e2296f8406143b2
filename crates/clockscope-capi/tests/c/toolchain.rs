//! Compilers of this machine, and the library as they link it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use clockscope_testing::skip;

/// Diagnostics that no program may cause which includes the headers.
pub(crate) const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// Compilers of C and C++ that include the headers.
const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];
/// The oldest standard and a new one, optimized and not: the standard differs in what the compiler
/// accepts, which `matrix.rs` tests of all of them, and the level in what the program does.
const C: [[&str; 2]; 2] = [["-std=c99", "-O2"], ["-std=c17", "-O0"]];
const CPP: [[&str; 2]; 2] = [["-std=c++11", "-O2"], ["-std=c++20", "-O0"]];

/// Every installed compiler, with each language.
pub(crate) fn each(mut check: impl FnMut(&str, &[&str])) {
    for (c, cpp) in COMPILERS {
        for (compiler, language, standards) in [(c, "c", C), (cpp, "c++", CPP)] {
            if !has(compiler) {
                skip(&format!("{compiler} is not installed"));
                continue;
            }
            for [standard, level] in standards {
                check(compiler, &[standard, level, "-x", language]);
            }
        }
    }
}

/// Headers that declare functions of the library.
pub(crate) const HEADERS: [&str; 4] =
    ["clockscope.h", "clockscope_stamps.h", "clockscope_upkeep.h", "clockscope_wall.h"];

/// Returns arguments, and behind them those that link after the source.
pub(crate) fn with<'a>(arguments: &[&'a str], more: &'a [String]) -> Vec<&'a str> {
    arguments.iter().copied().chain(more.iter().map(String::as_str)).collect()
}

/// Folder of the headers.
pub(crate) fn headers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// A program of the folder `tests/programs`.
pub(crate) fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Returns true if this compiler is installed.
pub(crate) fn has(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A folder for what is compiled, in which the libraries have the names that they are installed by.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (built, installed) in [
            ("libclockscope_c.so", "libclockscope.so"),
            ("libclockscope_c.so", "libclockscope.so.0"),
            ("libclockscope_c.a", "libclockscope.a"),
        ] {
            symlink(built_folder().join(built), folder.path().join(installed)).expect("a link");
        }
        Self(folder)
    }

    /// The file of this name in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles with these arguments, and the headers'; the result has this name.
    ///
    /// # Panics
    /// The compiler fails.
    pub(crate) fn compile<S: AsRef<OsStr>>(
        &self,
        compiler: &str,
        arguments: &[S],
        source: &Path,
        name: &str,
    ) -> PathBuf {
        let compiled = self.path(name);
        let mut command = Command::new(compiler);
        command.args(STRICT).arg("-I").arg(headers()).args(arguments).arg(source).arg("-o").arg(&compiled);
        let output = command.output().expect("the compiler runs");
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        compiled
    }

    /// The arguments after the source that link the shared library of this folder.
    pub(crate) fn shared(&self) -> [String; 3] {
        let folder = self.0.path().display();
        [format!("-L{folder}"), format!("-Wl,-rpath,{folder}"), "-Wl,--no-as-needed,-lclockscope".to_owned()]
    }
}

/// Folder of what cargo built, the test program among it.
pub(crate) fn built_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the test's path");
    test.parent().expect("a folder").to_path_buf()
}

/// Runs a program and returns what it printed.
///
/// # Panics
/// It fails.
pub(crate) fn run(program: &Path) -> String {
    run_with(program, &[])
}

/// Runs a program with arguments and returns what it printed.
pub(crate) fn run_with(program: &Path, arguments: &[&str]) -> String {
    command_succeeds(Command::new(program).args(arguments))
}

/// Runs a command and returns what it printed.
///
/// # Panics
/// It fails.
pub(crate) fn command_succeeds(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the program runs");
    let [printed, errors] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{command:?}: {status}\n{printed}{errors}");
    printed
}
