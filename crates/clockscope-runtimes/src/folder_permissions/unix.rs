//! Unix: permissions of folders, and the XDG Base Directory Specification.
//!
//! All systems have the same items: [`make_private`], a folder that other users cannot enter;
//! [`is_safe`], whether no other user can put something into a folder, and [`is_own`];
//! [`open_up`], before a folder is removed once more; [`user_cache`].

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// No other user looks or goes in.
const PRIVATE: u32 = 0o700;
/// Mode bits by which others can write into a folder.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Makes a folder that no other user can enter; with those that it lies in, if they are wanted.
pub(crate) fn make_private(folder: &Path, with_parents: bool) -> io::Result<()> {
    fs::DirBuilder::new().recursive(with_parents).mode(PRIVATE).create(folder)
}

pub(crate) fn is_own(found: &fs::Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// Returns true if no other user can put something into a folder.
pub(crate) fn is_safe(found: &fs::Metadata) -> bool {
    is_own(found) && found.mode() & WRITABLE_BY_OTHERS == 0
}

/// Makes a folder and those in it such that their owner can empty them.
pub(crate) fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(PRIVATE));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// An absolute path that a variable of the environment holds.
fn path_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Folder in which users keep what can be made again.
pub(crate) fn user_cache() -> Option<PathBuf> {
    path_in("XDG_CACHE_HOME").or_else(|| path_in("HOME").map(|home| home.join(".cache")))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn is_private(folder: &Path) {
        assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, PRIVATE);
    }

    pub(crate) fn forbid(folder: &Path) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o000)).unwrap();
    }
}
