//! Says of which commit, for which target and with which features the command is built.

#![allow(clippy::print_stdout, reason = "cargo reads what a build script prints")]

#[path = "build/commit.rs"]
mod commit;

use std::env;
use std::path::PathBuf;

/// The variable that states the commit.
const VARIABLE: &str = "CLOCKSCOPE_COMMIT";

/// What cargo puts before the names of features, in capitals.
const FEATURE: &str = "CARGO_FEATURE_";

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // One that packages an archive without git knows the commit.
    println!("cargo::rerun-if-env-changed={}", VARIABLE);
    for path in commit::changes_with(&folder) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let stated = env::var(VARIABLE).ok().filter(|stated| !stated.is_empty());
    if let Some(commit) = stated.or_else(|| commit::of(&folder)) {
        println!("cargo::rustc-env=CLOCKSCOPE_BUILT_COMMIT={commit}");
    }
    println!("cargo::rustc-env=CLOCKSCOPE_BUILT_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=CLOCKSCOPE_BUILT_FEATURES={}", features().join(" "));
}

fn features() -> Vec<String> {
    let names = env::vars().filter_map(|(name, _)| Some(name.strip_prefix(FEATURE)?.to_lowercase().replace('_', "-")));
    let mut features: Vec<String> = names.filter(|name| name != "default").collect();
    features.sort_unstable();
    features
}
