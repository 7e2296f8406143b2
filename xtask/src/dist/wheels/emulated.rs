//! Python for aarch64, of Debian's packages: it runs on this machine under qemu-user.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::run;

/// The suite, and the version of its Python.
const SUITE: &str = "bookworm";
pub(super) const PROGRAM: &str = "usr/bin/python3.11";

/// Packages of Python and its libraries, by the beginnings of their files' names.
const PACKAGES: [&str; 8] = [
    "libc6_",
    "libexpat1_",
    "libffi8_",
    "libgcc-s1_",
    "libpython3.11-minimal_",
    "libpython3.11-stdlib_",
    "python3.11-minimal_",
    "zlib1g_",
];

/// Downloads Python below a folder, unless it is there; returns its root.
pub(super) fn root(folder: &Path) -> Result<PathBuf> {
    let root = folder.join("debian-arm64");
    if root.join(PROGRAM).is_file() {
        return Ok(root);
    }
    let (downloaded, unpacked) = (folder.join("debian-arm64-packages"), folder.join("debian-arm64-new"));
    for fresh in [&downloaded, &unpacked] {
        // What an interrupted run has left is not complete.
        let _ = fs::remove_dir_all(fresh);
    }
    let text = |path: &Path| Ok::<_, anyhow::Error>(path.to_str().context("the folder's path is not text")?.to_owned());
    let how =
        ["--arch=arm64", "--variant=minbase", "--download-only", "--include=python3.11-minimal,libpython3.11-stdlib"];
    run::output("debootstrap", &[&how[..], &[SUITE, &text(&downloaded)?]].concat())?;
    let archives = downloaded.join("var/cache/apt/archives");
    let files = fs::read_dir(&archives).with_context(|| format!("cannot read {}", archives.display()))?.flatten();
    let wanted: Vec<PathBuf> = files.map(|file| file.path()).filter(|path| is_wanted(path)).collect();
    ensure!(wanted.len() == PACKAGES.len(), "debootstrap fetched {wanted:?}, expected {PACKAGES:?}");
    for package in &wanted {
        run::with(&[], "dpkg-deb", &["--extract", &text(package)?, &text(&unpacked)?])?;
    }
    fs::rename(&unpacked, &root).with_context(|| format!("cannot make {}", root.display()))?;
    let _ = fs::remove_dir_all(&downloaded);
    Ok(root)
}

fn is_wanted(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".deb") && PACKAGES.iter().any(|package| name.starts_with(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_python_are_unpacked_and_no_others() {
        assert!(is_wanted(Path::new("/a/libc6_2.36-9_arm64.deb")));
        assert!(!is_wanted(Path::new("/a/libc6-dev_2.36-9_arm64.deb")));
        assert!(!is_wanted(Path::new("/a/libc6_2.36-9_arm64.deb.part")));
    }
}
