//! The folder of named baselines, below the folder for the user's data.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::usage::{UsageError, nearest};

/// Most characters of a name.
const LONGEST: usize = 64;
const ENDING: &str = "json";

/// Returns the file of a baseline, whether there is one or not.
pub(crate) fn file(name: &str) -> Result<PathBuf> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let is_name = (1..=LONGEST).contains(&name.len())
        && name.chars().all(is_plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if !is_name {
        let expected = format!("expected at most {LONGEST} letters, digits, dots, dashes and underscores");
        return Err(
            UsageError(format!("\"{name}\" is not a name of a baseline: {expected}, such as before-upgrade")).into()
        );
    }
    Ok(path()?.join(format!("{name}.{ENDING}")))
}

/// Returns the file of a baseline, if there is one.
pub(crate) fn existing(name: &str) -> Option<PathBuf> {
    file(name).ok().filter(|file| file.is_file())
}

/// Returns the names of all baselines, in their order.
pub(crate) fn names() -> Result<Vec<String>> {
    let folder = path()?;
    let wrong = || format!("cannot list {}", folder.display());
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(wrong)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.with_context(wrong)?.path();
        let name =
            path.file_stem().and_then(|name| name.to_str()).filter(|_| path.extension() == Some(ENDING.as_ref()));
        names.extend(name.filter(|name| existing(name).is_some()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Says that there is no such baseline, and which may have been meant.
pub(crate) fn missing(name: &str) -> UsageError {
    let near = nearest(name, names().unwrap_or_default().into_iter());
    UsageError(format!("there is no baseline {name}; {near}`clockscope compare --list` lists all"))
}

/// Returns the path of the folder.
fn path() -> Result<PathBuf> {
    let of = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = |below: &str| of("HOME").map(|home| home.join(below));
    let data = match () {
        () if cfg!(windows) => of("LOCALAPPDATA"),
        () if cfg!(target_os = "macos") => of("XDG_DATA_HOME").or_else(|| home("Library/Application Support")),
        () => of("XDG_DATA_HOME").or_else(|| home(".local/share")),
    };
    let wanted = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_DATA_HOME or HOME" };
    let data = data.with_context(|| format!("there is no folder for your data: set {wanted} to its absolute path"))?;
    Ok(data.join("clockscope").join("baselines"))
}

/// Makes the folder of this file.
pub(crate) fn make(file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}
