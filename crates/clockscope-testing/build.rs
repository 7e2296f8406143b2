//! Compiles the rigs once, for all test programs. They are for the machine that the tests run on,
//! not for one that is emulated.

#![allow(clippy::expect_used, reason = "a build script may panic")]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=rigs");
    let variable = |name: &str| std::env::var(name).expect("cargo sets it");
    let is_native = variable("TARGET") == variable("HOST");
    if !is_native || variable("CARGO_CFG_TARGET_OS") != "linux" || variable("CARGO_CFG_TARGET_ARCH") != "x86_64" {
        return;
    }
    for source in std::fs::read_dir("rigs").expect("the folder of the rigs").map(|entry| entry.expect("a rig").path()) {
        let library = Path::new(&variable("OUT_DIR")).join(source.with_extension("so").file_name().expect("a name"));
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Werror", "-O2", "-shared", "-fPIC", "-o"]).arg(library).arg(source).arg("-ldl");
        assert!(compiler.status().expect("cc is installed").success(), "{compiler:?}");
    }
}
