//! Machine code, as objdump disassembles it: that of the library's readings, and that of the loops
//! in which costs are measured. `cargo xtask test fast-path` runs the ignored tests.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "a test prints what it counted")]

mod instruction;
#[cfg(target_arch = "x86_64")]
mod loops;
mod readings;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that cargo builds into.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder's folder").to_owned()
}

/// Builds something of the workspace. Functions are found by their names.
fn cargo(what: &[&str]) {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet"]).args(what).env("CARGO_TARGET_DIR", target());
    command.envs([("CARGO_PROFILE_RELEASE_STRIP", "none"), ("CARGO_PROFILE_DIST_STRIP", "none")]);
    assert!(command.status().expect("cargo runs").success(), "cargo build {}", what.join(" "));
}

/// Returns the disassembly of a program or of a library.
fn disassembly(objdump: &str, options: &[&str], file: &Path) -> String {
    let mut command = Command::new(objdump);
    let output = command.args(["--disassemble", "--no-show-raw-insn"]).args(options).arg(file).output();
    let output = output.unwrap_or_else(|error| panic!("{objdump}: {error}: apt-get install binutils"));
    assert!(output.status.success(), "{objdump}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a disassembly is text")
}
