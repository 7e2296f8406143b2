//! Roots in which artifacts are installed and run: an empty folder, emulated machines, a fresh
//! Debian, and Wine.

mod artifact;
pub(super) mod chroot;
pub(super) mod debootstrap;
pub(super) mod machine;
pub(super) mod wine;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::archive::file_name;
use super::lock::Lock;
use super::target::Target;
use super::trial::{self, Trial};
use crate::{folder, machines, needs, run};
use artifact::Archive;

/// Installs artifacts in the roots of their kind, runs them there, and prints the table of trials.
pub(crate) fn check(files: &[PathBuf]) -> Result<()> {
    let _lock = Lock::take()?;
    let mut trials = Vec::new();
    for file in files {
        check_one(file, &mut trials)?;
    }
    print!("{}", trial::table(&trials));
    Ok(())
}

/// Returns the path of a folder of roots. It outlives a run only where it is a cache.
fn folder_of(name: &str) -> Result<PathBuf> {
    Ok(std::path::absolute(run::built("dist-roots"))?.join(name))
}

/// Returns the path of a folder of roots, which is empty.
pub(super) fn empty_folder(name: &str) -> Result<PathBuf> {
    let path = folder_of(name)?;
    folder::empty(&path)?;
    Ok(path)
}

/// Fails unless this machine has all that the roots of a target's archive need.
pub(super) fn require_for_archive(target: &Target) -> Result<()> {
    let of_chroot = if target.runner.is_empty() { chroot::NEEDS } else { "" };
    match target.debian {
        Some(architecture) => {
            needs::require("trials of archives", &[of_chroot, machine::NEEDS].join(" "))?;
            machines::require_to_install(architecture)
        }
        None => needs::require("trials under Wine", wine::NEEDS),
    }
}

/// Fails unless this machine has all that the root of a target's package for Debian needs.
pub(super) fn require_for_package(target: &Target) -> Result<()> {
    let of_others = if target.runner.is_empty() { "" } else { debootstrap::NEEDS_OF_OTHERS };
    needs::require("trials in a fresh Debian", &[debootstrap::NEEDS, of_others].join(" "))?;
    debootstrap::needs_root()
}

/// Installs one artifact in the roots of its kind, and runs it there.
pub(super) fn check_one(artifact: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    let name = file_name(artifact)?;
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("gz") => {
            if Archive::from_name(name)?.runs_here() {
                chroot::check(artifact, trials)?;
            }
            machine::check(artifact, trials)
        }
        Some("deb") => debootstrap::check(artifact, trials),
        Some("zip") => wine::check(artifact, trials),
        _ => bail!("no root for {name}: expected a .tar.gz, .deb or .zip"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_artifact_is_refused() {
        let error = check_one(Path::new("a/clockscope.rpm"), &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(error, "no root for clockscope.rpm: expected a .tar.gz, .deb or .zip");
    }
}
