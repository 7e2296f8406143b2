//! States the commit and the target that the command is built of.

#![allow(clippy::print_stdout, reason = "cargo reads what a build script prints")]

#[path = "build/commit.rs"]
mod commit;

use std::env;
use std::path::PathBuf;

/// The variable that states the commit.
const VARIABLE: &str = "CLOCKSCOPE_COMMIT";

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // One that packages an archive without git knows the commit.
    println!("cargo::rerun-if-env-changed={}", VARIABLE);
    for path in commit::changes_with(&folder) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let given = env::var(VARIABLE).ok().filter(|given| !given.is_empty());
    if let Some(commit) = given.or_else(|| commit::of(&folder)) {
        println!("cargo::rustc-env=CLOCKSCOPE_BUILT_COMMIT={commit}");
    }
    println!("cargo::rustc-env=CLOCKSCOPE_BUILT_TARGET={}", env::var("TARGET").unwrap_or_default());
}
