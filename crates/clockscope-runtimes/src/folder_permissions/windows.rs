//! Windows: folders inherit the rights of the user's profile, which no other user can enter.
//!
//! All systems have the same items: [`make_private`], a folder that other users cannot enter;
//! [`is_safe`], whether no other user can put something into a folder, and [`is_own`];
//! [`open_up`], before a folder is removed once more; [`user_cache`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for which a program that was ended may still hold its files.
const LOCK_TIME: Duration = Duration::from_millis(200);

/// Makes a folder; with those that it lies in, if they are wanted. Temporary folders and the cache
/// lie in the user's profile, whose rights they inherit.
pub(crate) fn make_private(folder: &Path, with_parents: bool) -> io::Result<()> {
    fs::DirBuilder::new().recursive(with_parents).create(folder)
}

/// Another user's temporary folders are elsewhere.
pub(crate) fn is_own(_: &fs::Metadata) -> bool {
    true
}

/// As [`make_private`].
pub(crate) fn is_safe(_: &fs::Metadata) -> bool {
    true
}

/// Waits until the system has closed the files of a program that was ended.
pub(crate) fn open_up(_: &Path) {
    std::thread::sleep(LOCK_TIME);
}

/// Folder in which users keep what can be made again.
pub(crate) fn user_cache() -> Option<PathBuf> {
    std::env::var_os("LOCALAPPDATA").map(PathBuf::from).filter(|path| path.is_absolute())
}
