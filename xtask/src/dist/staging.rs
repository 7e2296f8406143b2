//! The folder of a release, which appears when it is whole.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A folder beside the release's, which takes its place at the end. The process that holds the lock
/// fills it.
#[derive(Debug)]
pub(super) struct Staging {
    out: PathBuf,
    folder: PathBuf,
}

impl Staging {
    /// Makes an empty folder; what an interrupted process left in it goes.
    pub(super) fn new(out: &Path) -> Result<Self> {
        // Commands run in other folders.
        let out = &std::path::absolute(out)?;
        let folder = beside(out, ".new");
        if let Some(parent) = out.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        // A process that was killed between the two moves of `publish` has left the former release.
        let former = beside(out, ".old");
        if former.exists() && !out.exists() {
            rename(&former, out)?;
        }
        remove(&folder)?;
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { out: out.to_owned(), folder })
    }

    /// The folder that is being filled.
    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// Puts the folder in the place of the former release; returns where it is.
    pub(super) fn publish(self) -> Result<PathBuf> {
        let former = beside(&self.out, ".old");
        remove(&former)?;
        if self.out.exists() {
            rename(&self.out, &former)?;
        }
        rename(&self.folder, &self.out)?;
        remove(&former)?;
        Ok(self.out.clone())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The next process removes it otherwise.
        let _ = remove(&self.folder);
    }
}

/// A path with another ending.
fn beside(out: &Path, ending: &str) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    out.with_file_name(name)
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).with_context(|| format!("cannot move {} to {}", from.display(), to.display()))
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("dist");
        let staging = Staging::new(&out).unwrap();
        fs::write(staging.path().join("one"), "1").unwrap();
        assert!(!out.exists());
        assert_eq!(staging.publish().unwrap(), out);
        assert_eq!(fs::read_to_string(out.join("one")).unwrap(), "1");
        // What was half-made when a process was killed does not come into a release, and one that
        // fails leaves the former.
        fs::create_dir(folder.path().join("dist.new")).unwrap();
        fs::write(folder.path().join("dist.new/half"), "").unwrap();
        let staging = Staging::new(&out).unwrap();
        assert_eq!(fs::read_dir(staging.path()).unwrap().count(), 0);
        drop(staging);
        assert!(out.join("one").exists() && !folder.path().join("dist.new").exists());
        fs::rename(&out, folder.path().join("dist.old")).unwrap();
        let staging = Staging::new(&out).unwrap();
        assert!(out.join("one").exists(), "a process was killed between two moves");
        fs::write(staging.path().join("two"), "2").unwrap();
        staging.publish().unwrap();
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(out.join("two").exists() && !out.join("one").exists() && names.len() == 1, "{names:?}");
    }
}
