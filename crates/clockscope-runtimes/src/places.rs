//! Where probes are built and run: a cache that stays, and a temporary folder that does not.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folders of one run. All that is temporary is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Places {
    temporary: PathBuf,
    cache: PathBuf,
    is_kept: bool,
}

impl Places {
    /// Makes them. Where the cache cannot be written, the second value says why, and what is built lasts for this run.
    ///
    /// # Errors
    /// There is no place for temporary files.
    pub(crate) fn new() -> io::Result<(Self, Option<String>)> {
        let temporary = temporary()?;
        let (cache, warning) = match cache() {
            Ok(cache) => (cache, None),
            Err(why) => (temporary.join("cache"), Some(format!("probes are built anew in each run: {why}"))),
        };
        let places = Self { temporary, cache, is_kept: warning.is_none() };
        fs::create_dir_all(&places.cache)?;
        Ok((places, warning))
    }

    /// A folder for one probe, empty, which goes when the second value is dropped.
    pub(crate) fn folder(&self, name: &str) -> io::Result<Folder> {
        let path = self.temporary.join(name);
        fs::create_dir(&path)?;
        Ok(Folder { path })
    }

    /// The cache, where it goes with the run.
    pub(crate) fn unkept(&self) -> Option<&Path> {
        (!self.is_kept).then_some(&self.cache)
    }

    /// Where what is built of these is kept.
    pub(crate) fn built(&self, name: &str, made_of: &[String]) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        made_of.hash(&mut hasher);
        // .NET wants an ending that it knows; it is nothing to anybody else.
        self.cache.join(format!("{name}-{:016x}.exe", hasher.finish()))
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // Nothing sensible is left to be done if it cannot be removed.
        let _ = fs::remove_dir_all(&self.temporary);
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
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A new folder that nobody else can enter. Its name is made of the process's number: libraries that make random names seed them
/// by reading a clock, which kills the process where the counter is disabled. A name that is taken is left alone.
fn temporary() -> io::Result<PathBuf> {
    let base = std::env::temp_dir();
    let name = |turn: u32| base.join(format!("clockscope-{}-{turn}", std::process::id()));
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for turn in 0..100 {
        let path = name(turn);
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(in_place(&base, &error)),
        }
    }
    Err(in_place(&base, &last))
}

fn in_place(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("no temporary folder can be made in {}: {error}", path.display()))
}

/// The user's cache (XDG Base Directory Specification), where it can be written.
fn cache() -> Result<PathBuf, String> {
    let of = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")));
    let cache = base.ok_or("there is no home directory for a cache")?.join("clockscope").join("probes");
    let wrong = |error: io::Error| format!("{} cannot be written: {error}", cache.display());
    fs::create_dir_all(&cache).map_err(wrong)?;
    // That it can be made does not say that it can be written: it may have been there.
    let attempt = cache.join(format!(".{}.tmp", std::process::id()));
    fs::write(&attempt, []).and_then(|()| fs::remove_file(&attempt)).map_err(wrong)?;
    Ok(cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_temporary_goes_and_what_is_built_is_told_apart() {
        let (places, _) = Places::new().unwrap();
        let temporary = places.temporary.clone();
        let folder = places.folder("c").unwrap();
        fs::write(folder.path().join("probe.c"), "x").unwrap();
        assert!(places.folder("c").is_err(), "it is in use");
        drop(folder);
        assert!(places.folder("c").is_ok());
        let built = |of: &[&str]| places.built("c", &of.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(built(&["source", "12.2"]), built(&["source", "12.2"]));
        assert_ne!(built(&["source", "12.2"]), built(&["source1", "2.2"]));
        drop(places);
        assert!(!temporary.exists());
    }
}
