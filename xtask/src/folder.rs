//! Folders that are made anew, and paths as text.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Makes an empty folder, in place of one that may be there.
pub(crate) fn empty(folder: impl AsRef<Path>) -> Result<()> {
    let folder = folder.as_ref();
    remove(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Removes a folder with its files, if it is there.
pub(crate) fn remove(folder: impl AsRef<Path>) -> Result<()> {
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
    .with_context(|| format!("cannot remove {}", folder.as_ref().display()))
}

/// Returns the sorted paths of the files below a folder, but for paths that are skipped.
pub(crate) fn files(folder: &Path, is_skipped: fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if is_skipped(&path) {
            continue;
        } else if path.is_dir() {
            found.extend(files(&path, is_skipped)?);
        } else {
            found.push(path);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns a path as text.
pub(crate) fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("the path {} is not text", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_empty_or_gone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        empty(&path).unwrap();
        fs::write(path.join("file"), "").unwrap();
        empty(&path).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        remove(&path).unwrap();
        assert!(remove(&path).is_ok() && !path.exists());
        fs::write(&path, "").unwrap();
        assert!(remove(&path).unwrap_err().to_string().starts_with("cannot remove "));
    }
}
