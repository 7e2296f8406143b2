//! Installs the C library: headers, libraries, and what pkg-config, CMake and man look for. And the
//! command.

mod layout;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::run;
use layout::{Content, Layout};

/// Request of the user.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// Folder in which programs will find the files.
    prefix: PathBuf,
    /// Folder that is put in front of that, for packages.
    destdir: Option<PathBuf>,
    /// Folder of libraries, below the prefix.
    libdir: PathBuf,
    /// Folder of libraries that are built already, and of the command if it is to be installed.
    built: Option<PathBuf>,
}

/// Builds the library and the command, and installs both.
pub(crate) fn install(arguments: &[&str]) -> Result<()> {
    if !cfg!(all(target_family = "unix", not(target_vendor = "apple"))) {
        bail!("cargo xtask install supports Linux and the BSDs");
    }
    let request = Request::parse(arguments)?;
    let built = match &request.built {
        Some(folder) => folder.clone(),
        None => {
            let packages = ["--package", "clockscope-capi", "--package", "clockscope-cli"];
            run::cargo(&[&["build", "--profile", run::DIST_PROFILE], &packages[..]].concat())?;
            PathBuf::from(run::built(run::DIST_PROFILE))
        }
    };
    let layout = Layout::new(&request.prefix, &request.libdir, &built)?;
    for path in write(&layout, &request.root())? {
        println!("{}", path.display());
    }
    Ok(())
}

/// Writes the library's files, which were built into a folder, below another, as an archive has
/// them. The prefix is what its file for pkg-config states.
pub(crate) fn unpacked(prefix: &Path, built: &Path, root: &Path) -> Result<()> {
    write(&Layout::new(prefix, Path::new("lib"), built)?, root).map(drop)
}

/// Returns the paths that it wrote.
fn write(layout: &Layout, root: &Path) -> Result<Vec<PathBuf>> {
    let write = |file: &layout::File| {
        let path = root.join(&file.path);
        replace_file(&path, &file.content, file.mode).with_context(|| format!("cannot install {}", path.display()))?;
        Ok(path)
    };
    layout.files.iter().map(write).collect()
}

impl Request {
    fn parse(arguments: &[&str]) -> Result<Self> {
        const USAGE: &str = "usage: cargo xtask install --prefix P [--destdir D] [--libdir L] [--built FOLDER]";
        let (mut prefix, mut destdir, mut libdir, mut built) = (None, None, None, None);
        let mut remaining = arguments.iter();
        while let Some(name) = remaining.next() {
            let field = match *name {
                "--prefix" => &mut prefix,
                "--destdir" => &mut destdir,
                "--libdir" => &mut libdir,
                "--built" => &mut built,
                other => {
                    bail!("unknown argument {other:?}: expected --prefix, --destdir, --libdir or --built\n{USAGE}")
                }
            };
            let value = remaining.next().with_context(|| format!("{name} has no value: expected a folder\n{USAGE}"))?;
            *field = Some(PathBuf::from(value));
        }
        let prefix = prefix.with_context(|| format!("--prefix is missing: expected a folder\n{USAGE}"))?;
        let libdir = libdir.unwrap_or_else(|| PathBuf::from("lib"));
        if !is_normalized(&prefix) || !prefix.is_absolute() {
            bail!("--prefix {prefix:?} is not absolute: expected a path such as /usr/local");
        }
        if !is_normalized(&libdir) || libdir.is_absolute() {
            bail!("--libdir {libdir:?} is not below the prefix: expected a path such as lib64");
        }
        Ok(Self { prefix, destdir, libdir, built })
    }

    /// The folder that the files are written below.
    fn root(&self) -> PathBuf {
        let Some(destdir) = &self.destdir else { return self.prefix.clone() };
        destdir.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix))
    }
}

/// Returns true if a path goes nowhere but down, so that the way back up is as long.
fn is_normalized(path: &Path) -> bool {
    let mut components = path.components();
    components.all(|component| matches!(component, Component::Normal(_) | Component::RootDir))
}

/// Writes a file in place of one that may be there. A program that has the former one mapped keeps
/// it: the name moves, the file stays.
fn replace_file(path: &Path, content: &Content, mode: u32) -> Result<()> {
    let folder = path.parent().context("it has no folder")?;
    fs::create_dir_all(folder)?;
    let mut name = path.file_name().context("it has no name")?.to_owned();
    name.push(".new");
    let new = folder.join(name);
    // Of an attempt that was interrupted.
    let _ = fs::remove_file(&new);
    match content {
        Content::Copy(source) => {
            fs::copy(source, &new).with_context(|| format!("cannot copy {}", source.display()))?;
            fs::set_permissions(&new, Permissions::from_mode(mode))?;
        }
        Content::Text(text) => {
            fs::write(&new, text)?;
            fs::set_permissions(&new, Permissions::from_mode(mode))?;
        }
        Content::Link(target) => symlink(target, &new)?,
    }
    fs::rename(&new, path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destdir_comes_before_the_prefix() {
        let request = Request::parse(&["--prefix", "/usr", "--destdir", "/tmp/d", "--libdir", "lib64"]).unwrap();
        assert_eq!(request.root(), Path::new("/tmp/d/usr"));
        assert_eq!(request.libdir, Path::new("lib64"));
        let request = Request::parse(&["--prefix", "/opt/x"]).unwrap();
        assert_eq!((request.root().as_path(), request.libdir.as_path()), (Path::new("/opt/x"), Path::new("lib")));
    }

    #[test]
    fn arguments_that_make_no_sense_are_named() {
        for (arguments, expected) in [
            (&[][..], "--prefix is missing"),
            (&["--prefix"], "--prefix has no value"),
            (&["--prefix", "usr"], "is not absolute"),
            (&["--prefix", "/usr/../opt"], "is not absolute"),
            (&["--prefix", "/usr", "--libdir", "/lib"], "is not below the prefix"),
            (&["--prefix", "/usr", "--libdir", "../lib"], "is not below the prefix"),
            (&["--prefixes", "/usr"], "unknown argument \"--prefixes\""),
        ] {
            let error = Request::parse(arguments).unwrap_err().to_string();
            assert!(error.contains(expected), "{arguments:?}: {error}");
        }
    }

    #[test]
    fn a_file_is_replaced_and_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        replace_file(&path, &Content::Text("old".to_owned()), 0o644).unwrap();
        let mapped = fs::File::open(&path).unwrap();
        replace_file(&path, &Content::Text("new".to_owned()), 0o600).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::io::read_to_string(mapped).unwrap(), "old");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), 1);
    }
}
