//! Folders of roots, and of a release that is being made.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::run;

/// A folder of this name for roots. It outlives a run only where it is a cache.
pub(super) fn folder(name: &str) -> Result<PathBuf> {
    Ok(std::path::absolute(run::built("dist-roots"))?.join(name))
}

/// The same, new and empty.
pub(in crate::dist) fn empty(name: &str) -> Result<PathBuf> {
    let folder = folder(name)?;
    remove(&folder)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

pub(in crate::dist) fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}
