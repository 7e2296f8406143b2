//! Folders in which probes are built and run: a cache that stays, and a temporary folder that does
//! not.

use std::cell::Cell;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::folder_permissions::{is_own, is_safe, make_private, open_up, user_cache};

/// Name of temporary folders, before the number of the process that has made them. Short, since
/// browsers put sockets there, whose paths may have 107 characters.
const NAME: &str = "clockscope-";
/// A file in such a folder that its process has locked.
const LOCK: &str = "lock";

/// The folders of one run. All that is temporary is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct RunFolders {
    temporary: PathBuf,
    cache: PathBuf,
    folders: Cell<u32>,
    /// Locked as long as this process lives. Closed first: Windows keeps a folder with an open
    /// file.
    lock: Option<File>,
}

impl RunFolders {
    /// Makes them. Where there can be no cache, the second value says why, and what is built lasts
    /// for this run.
    ///
    /// # Errors
    /// There is no place for temporary files.
    pub(crate) fn new() -> io::Result<(Self, Option<String>)> {
        let (temporary, lock) = temporary()?;
        let (cache, warning) = match cache() {
            Ok(cache) => (cache, None),
            Err(why) => (temporary.join("cache"), Some(format!("probes are rebuilt in each run: {why}"))),
        };
        let folders = Self { temporary, cache, folders: Cell::new(0), lock: Some(lock) };
        fs::create_dir_all(&folders.cache)?;
        Ok((folders, warning))
    }

    /// A folder for one probe, empty, which goes when it is dropped.
    pub(crate) fn folder(&self) -> io::Result<Folder> {
        // Numbered, since one that could not be removed is no reason not to go on.
        let number = self.folders.replace(self.folders.get() + 1);
        let path = self.temporary.join(number.to_string());
        make_private(&path, false)?;
        Ok(Folder { path })
    }

    /// Path at which something lasts for this run that cannot be kept there.
    pub(crate) fn lasting(&self, cached: &Path) -> PathBuf {
        self.temporary.join(cached.file_name().unwrap_or_default())
    }

    /// Folder in which what may be of use again is kept, or not, where there can be no cache.
    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    /// Path at which what is built of these is kept.
    pub(crate) fn built(&self, name: &str, made_of: &[String]) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        made_of.hash(&mut hasher);
        // .NET wants an ending that it knows; it is nothing to anybody else.
        self.cache.join(format!("{name}-{:016x}.exe", hasher.finish()))
    }
}

impl Drop for RunFolders {
    fn drop(&mut self) {
        drop(self.lock.take());
        remove(&self.temporary);
    }
}

/// A folder of one probe's own.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a folder with all that is in it, also what was made unreadable. Nothing sensible is left
/// to be done if that fails.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() {
        open_up(folder);
        let _ = fs::remove_dir_all(folder);
    }
}

/// A new folder that nobody else can enter. Its name is made of the process's number: libraries
/// that make random names seed them by reading a clock, which kills the process where the counter
/// is disabled. A name that is taken is left alone.
fn temporary() -> io::Result<(PathBuf, File)> {
    let base = std::path::absolute(std::env::temp_dir())?;
    sweep(&base);
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for turn in 0..100 {
        let path = base.join(format!("{NAME}{}-{turn}", std::process::id()));
        match make_private(&path, false) {
            Ok(()) => match locked(&path) {
                Ok(lock) => return Ok((path, lock)),
                Err(error) => {
                    remove(&path);
                    return Err(creation_error(&base, &error));
                }
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(creation_error(&base, &error)),
        }
    }
    Err(creation_error(&base, &last))
}

/// Locks a file in a new folder. It gets its name when it is locked, so that no sweep finds it
/// unlocked.
fn locked(folder: &Path) -> io::Result<File> {
    let draft = folder.join("lock.new");
    let lock = File::create(&draft)?;
    lock.lock()?;
    fs::rename(&draft, folder.join(LOCK))?;
    Ok(lock)
}

fn creation_error(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("no temporary folder can be made in {}: {error}", path.display()))
}

/// Removes what killed runs of this user have left: folders whose lock nobody holds. The number in
/// the name shows nothing, since containers that share the place have numbers of their own.
fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten().filter(is_left) {
        remove(&entry.path());
    }
}

/// Returns true for a folder of this user whose lock nobody holds.
fn is_left(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME))
        && entry.metadata().is_ok_and(|found| found.is_dir() && is_own(&found))
        && File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

/// The user's cache, where it can be written, and by no other user: what lies there is executed.
fn cache() -> Result<PathBuf, String> {
    let base = user_cache().ok_or("there is no home directory for a cache")?;
    let cache = base.join("clockscope").join("probes");
    let wrong = |error: io::Error| format!("{} cannot be written: {error}", cache.display());
    make_private(&cache, true).map_err(wrong)?;
    if !is_safe(&fs::metadata(&cache).map_err(wrong)?) {
        return Err(format!("{} belongs to another user, or can be written by others", cache.display()));
    }
    // That it can be made does not say that it can be written: it may have been there.
    let attempt = cache.join(format!(".{}.tmp", std::process::id()));
    fs::write(&attempt, []).and_then(|()| fs::remove_file(&attempt)).map_err(wrong)?;
    Ok(cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_temporary_goes_and_builds_are_distinguished() {
        let (folders, _) = RunFolders::new().unwrap();
        let temporary = folders.temporary.clone();
        assert!(is_safe(&fs::metadata(&temporary).unwrap()));
        #[cfg(unix)]
        crate::folder_permissions::tests::is_private(&temporary);
        let folder = folders.folder().unwrap();
        fs::create_dir_all(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("inner/probe.c"), "x").unwrap();
        #[cfg(unix)]
        crate::folder_permissions::tests::forbid(&folder.path().join("inner"));
        assert_ne!(folders.folder().unwrap().path(), folder.path());
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
        let built = |of: &[&str]| folders.built("c", &of.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(built(&["source", "12.2"]), built(&["source", "12.2"]));
        assert_ne!(built(&["source", "12.2"]), built(&["source1", "2.2"]));
        drop(folders);
        assert!(!temporary.exists());
    }

    #[test]
    fn what_killed_runs_left_is_swept() {
        let base = tempfile::tempdir().unwrap();
        let folders = ["1-0", "2-0", "3-0"].map(|end| base.path().join(format!("{NAME}{end}")));
        let other = base.path().join("somebody's");
        for folder in folders.iter().chain([&other]) {
            fs::create_dir(folder).unwrap();
        }
        drop(locked(&folders[0]).unwrap());
        let lock = locked(&folders[1]).unwrap();
        File::create(other.join(LOCK)).unwrap();
        sweep(base.path());
        let left = folders.each_ref().map(|folder| folder.exists());
        assert_eq!((left, other.exists()), ([false, true, true], true));
        drop(lock);
    }
}
