//! The folder of named baselines, below the folder for the user's data.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::usage::{UsageError, nearest};

/// Most characters of a name.
const MAX_NAME_LENGTH: usize = 64;
const ENDING: &str = ".json";

/// Returns the file of a baseline, whether there is one or not.
pub(crate) fn file(name: &str) -> Result<PathBuf> {
    let is_name = name.len() <= MAX_NAME_LENGTH
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-'));
    if !is_name {
        let expected = format!("expected at most {MAX_NAME_LENGTH} letters, digits, dots, dashes and underscores");
        return Err(
            UsageError(format!("\"{name}\" is not a name of a baseline: {expected}, such as before-upgrade")).into()
        );
    }
    Ok(path()?.join(format!("{name}{ENDING}")))
}

/// Returns the file of a baseline, if there is one.
pub(crate) fn existing(name: &str) -> Option<PathBuf> {
    file(name).ok().filter(|file| file.is_file())
}

/// Returns the names of all baselines, in their order.
pub(crate) fn names() -> Result<Vec<String>> {
    let folder = path()?;
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let mut names = Vec::new();
    for entry in entries.with_context(|| format!("cannot list {}", folder.display()))? {
        let file = entry.file_name();
        if let Some(name) = file.to_str().and_then(|file| file.strip_suffix(ENDING))
            && existing(name).is_some()
        {
            names.push(name.to_owned());
        }
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
    let data = if cfg!(windows) {
        absolute("LOCALAPPDATA").context("there is no folder for your data: set LOCALAPPDATA to its absolute path")?
    } else if let Some(data) = absolute("XDG_DATA_HOME") {
        data
    } else {
        let below = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
        let home = absolute("HOME");
        home.context("there is no folder for your data: set XDG_DATA_HOME or HOME to its absolute path")?.join(below)
    };
    Ok(data.join("clockscope").join("baselines"))
}

/// Returns the absolute path in an environment variable.
fn absolute(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    path.is_absolute().then_some(path)
}

/// Makes the folder of this file.
pub(crate) fn make(file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}
