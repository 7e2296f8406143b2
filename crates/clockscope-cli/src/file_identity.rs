//! Identities of files.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// Identity of a regular file, the same for all its names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileIdentity {
    /// Device and inode of an existing file.
    #[cfg(unix)]
    Inode { device: u64, inode: u64 },
    /// Path without links: of a new file, and of an existing one where std has no inodes.
    Path(PathBuf),
}

impl FileIdentity {
    /// Returns the identity of the file at a path, or of the one that writing there makes. Devices,
    /// pipes and folders have none, because no file replaces them.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        if let Ok(found) = fs::metadata(path) {
            return Self::existing(path, &found);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(Self::Path(folder.join(path.file_name()?)))
    }

    /// Returns the identity of the file that standard input is redirected from.
    #[cfg(unix)]
    pub(crate) fn of_stdin() -> Option<Self> {
        use std::os::fd::AsFd;

        let stdin = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
        Self::existing(Path::new("-"), &fs::File::from(stdin).metadata().ok()?)
    }

    /// Returns `None`: std does not know the file that standard input is redirected from.
    #[cfg(not(unix))]
    pub(crate) fn of_stdin() -> Option<Self> {
        None
    }

    #[cfg(unix)]
    fn existing(_: &Path, found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        found.is_file().then(|| Self::Inode { device: found.dev(), inode: found.ino() })
    }

    #[cfg(not(unix))]
    fn existing(path: &Path, found: &Metadata) -> Option<Self> {
        fs::canonicalize(path).ok().filter(|_| found.is_file()).map(Self::Path)
    }
}
