//! Finds the commit of the sources that are built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Cargo writes the commit into a package that it makes of a clone.
const PACKAGED: &str = ".cargo_vcs_info.json";

/// Folder of this crate in the repository.
const IN_REPOSITORY: &str = "crates/clockscope-cli";

/// Follows a commit of sources that differ from it.
const CHANGED: &str = "-changed";

/// Returns the commit of the sources in this folder, if package or repository state it.
pub(crate) fn of(folder: &Path) -> Option<String> {
    match fs::read_to_string(folder.join(PACKAGED)) {
        Ok(text) => of_package(&text),
        Err(_) => of_repository(folder),
    }
}

/// Returns the files and folders that the answer depends on.
pub(crate) fn changes_with(folder: &Path) -> Vec<PathBuf> {
    let mut paths = vec![folder.join("build.rs"), folder.join("build")];
    if folder.join(PACKAGED).exists() {
        paths.push(folder.join(PACKAGED));
    } else if is_in_its_repository(folder) {
        let root = folder.join("../..");
        // Git notes there whatever moves HEAD.
        let log = git(folder, &["rev-parse", "--git-path", "logs/HEAD"]).map(|log| folder.join(log));
        paths.extend(log);
        paths.extend(["crates", "Cargo.toml", "Cargo.lock"].map(|part| root.join(part)));
    }
    paths.retain(|path| path.exists());
    paths
}

/// Reads the commit that cargo noted. `None` is for a note of another form.
fn of_package(text: &str) -> Option<String> {
    let (_, after) = text.split_once("\"sha1\"")?;
    let commit = after.split('"').nth(1).filter(|commit| is_hash(commit))?;
    let spaceless: String = text.split_whitespace().collect();
    Some(marked(commit, spaceless.contains("\"dirty\":true")))
}

/// Asks git, if the folder is this crate's in a clone. An archive that was unpacked in another
/// repository is not of that repository's commit.
fn of_repository(folder: &Path) -> Option<String> {
    if !is_in_its_repository(folder) {
        return None;
    }
    let commit = git(folder, &["rev-parse", "HEAD"]).filter(|commit| is_hash(commit))?;
    let changes = git(folder, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(marked(&commit, !changes.is_empty()))
}

fn is_in_its_repository(folder: &Path) -> bool {
    let tracked = git(folder, &["ls-files", "--full-name", "Cargo.toml"]);
    tracked.is_some_and(|tracked| tracked == format!("{IN_REPOSITORY}/Cargo.toml"))
}

/// Runs git, which writes nothing; `None` if git is missing or fails.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(["--no-optional-locks", "-C"]).arg(folder).args(arguments).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| printed.trim().to_owned())
}

fn is_hash(text: &str) -> bool {
    text.len() >= 40 && text.chars().all(|digit| digit.is_ascii_hexdigit())
}

fn marked(commit: &str, is_changed: bool) -> String {
    format!("{commit}{}", if is_changed { CHANGED } else { "" })
}
