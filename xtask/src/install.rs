//! Installs the C library: headers, libraries, and what pkg-config, CMake and man look for. And the
//! command.

mod layout;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::run;
pub(crate) use layout::filled;
use layout::{Content, Layout};

/// The task `install`.
#[derive(Args)]
pub(crate) struct Installation {
    /// Folder in which programs will find the files.
    #[arg(long)]
    prefix: PathBuf,
    /// Folder that is put in front of that, for packages.
    #[arg(long)]
    destdir: Option<PathBuf>,
    /// Folder of libraries, below the prefix.
    #[arg(long, default_value = "lib")]
    libdir: PathBuf,
    /// Folder of libraries that are built already, and of the command if it is to be installed.
    #[arg(long, value_name = "FOLDER")]
    built: Option<PathBuf>,
}

impl Installation {
    /// Builds the library and the command, and installs both.
    pub(crate) fn install(&self) -> Result<()> {
        if !cfg!(all(target_family = "unix", not(target_vendor = "apple"))) {
            bail!("cargo xtask install supports Linux and the BSDs");
        }
        self.check()?;
        let built = match &self.built {
            Some(folder) => folder.clone(),
            None => {
                let packages = ["--package", "clockscope-capi", "--package", "clockscope-cli"];
                run::cargo(&[&["build", "--profile", run::DIST_PROFILE], &packages[..]].concat())?;
                PathBuf::from(run::built(run::DIST_PROFILE))
            }
        };
        let layout = Layout::new(&self.prefix, &self.libdir, &built)?;
        for path in write(&layout, &self.root())? {
            println!("{}", path.display());
        }
        Ok(())
    }

    /// Refuses folders that are not where they have to be.
    fn check(&self) -> Result<()> {
        let Self { prefix, libdir, .. } = self;
        if !is_normalized(prefix) || !prefix.is_absolute() {
            bail!("--prefix {prefix:?} is not absolute: expected a path such as /usr/local");
        }
        if !is_normalized(libdir) || libdir.is_absolute() {
            bail!("--libdir {libdir:?} is not below the prefix: expected a path such as lib64");
        }
        Ok(())
    }

    /// The folder that the files are written below.
    fn root(&self) -> PathBuf {
        let Some(destdir) = &self.destdir else { return self.prefix.clone() };
        destdir.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix))
    }
}

/// Writes the library's files, which were built into a folder, below another, as an archive has
/// them. The prefix is what its file for pkg-config states.
pub(crate) fn unpacked(prefix: &Path, built: &Path, root: &Path) -> Result<()> {
    write(&Layout::new(prefix, Path::new("lib"), built)?, root).map(drop)
}

/// Returns the paths that it wrote.
fn write(layout: &Layout, root: &Path) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for file in &layout.files {
        let path = root.join(&file.path);
        replace_file(&path, &file.content, file.mode).with_context(|| format!("cannot install {}", path.display()))?;
        written.push(path);
    }
    Ok(written)
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
            fs::copy(source, &new).map(drop).with_context(|| format!("cannot copy {}", source.display()))?;
        }
        Content::Text(text) => fs::write(&new, text)?,
        Content::Link(target) => symlink(target, &new)?,
    }
    if !matches!(content, Content::Link(_)) {
        fs::set_permissions(&new, Permissions::from_mode(mode))?;
    }
    fs::rename(&new, path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installation(prefix: &str, destdir: Option<&str>, libdir: &str) -> Installation {
        Installation { prefix: prefix.into(), destdir: destdir.map(PathBuf::from), libdir: libdir.into(), built: None }
    }

    #[test]
    fn destdir_comes_before_the_prefix() {
        assert_eq!(installation("/usr", Some("/tmp/d"), "lib64").root(), Path::new("/tmp/d/usr"));
        assert_eq!(installation("/opt/x", None, "lib").root(), Path::new("/opt/x"));
    }

    #[test]
    fn folders_that_make_no_sense_are_named() {
        for (prefix, libdir, expected) in [
            ("usr", "lib", "--prefix \"usr\" is not absolute"),
            ("/usr/../opt", "lib", "is not absolute"),
            ("/usr", "/lib", "--libdir \"/lib\" is not below the prefix"),
            ("/usr", "../lib", "is not below the prefix"),
        ] {
            let error = installation(prefix, None, libdir).check().unwrap_err().to_string();
            assert!(error.contains(expected), "{prefix} {libdir}: {error}");
        }
        installation("/usr", None, "lib").check().unwrap();
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
