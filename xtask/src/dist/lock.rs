//! The lock of releases and their roots: one process at a time has their folders.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::run;

/// The right to make a release and to use the folders of roots, for as long as this lives.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes it, or fails if another process has it.
    pub(super) fn take() -> Result<Self> {
        Self::at(Path::new(&run::built("dist.lock")))
    }

    fn at(path: &Path) -> Result<Self> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => {
                bail!("another cargo xtask dist or roots holds {}: wait until it ends", path.display())
            }
            Err(TryLockError::Error(error)) => bail!("cannot lock {}: {error}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time_has_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("target/dist.lock");
        let lock = Lock::at(&path).unwrap();
        let second = Lock::at(&path).unwrap_err().to_string();
        assert!(second.starts_with("another cargo xtask dist or roots holds /"), "{second}");
        drop(lock);
        assert!(Lock::at(&path).is_ok());
    }
}
