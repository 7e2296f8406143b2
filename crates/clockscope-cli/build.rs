//! States the commit and the target that the command is built of, and parses its topics.

#![allow(clippy::print_stdout, reason = "cargo reads what a build script prints")]

#[path = "build/commit.rs"]
mod commit;
#[path = "src/topics/events.rs"]
#[allow(dead_code, reason = "the program reads the lines that the build script writes")]
mod events;
#[path = "build/pages.rs"]
mod pages;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The variable that states the commit.
const VARIABLE: &str = "CLOCKSCOPE_COMMIT";

/// Folder of the topics: Markdown in this crate, parsed pages in cargo's OUT_DIR.
const TOPICS: &str = "topics";

fn main() -> io::Result<()> {
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
    let built = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo names no OUT_DIR"))?);
    write_topics(&folder.join(TOPICS), &built.join(TOPICS))
}

/// Parses each page of Markdown in a folder, and writes it into another folder.
fn write_topics(folder: &Path, built: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    fs::create_dir_all(built)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let markdown = fs::read_to_string(&path)
            .map_err(|error| io::Error::other(format!("cannot read {}: {error}", path.display())))?;
        fs::write(built.join(path.file_name().unwrap_or_default()).with_extension("txt"), pages::compiled(&markdown))?;
    }
    Ok(())
}
