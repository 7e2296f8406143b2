//! Roots in which artifacts are installed and run: an empty folder, emulated machines, a fresh
//! Debian, and Wine.

mod artifact;
pub(super) mod chroot;
pub(super) mod debootstrap;
pub(super) mod folder;
pub(super) mod machine;
pub(super) mod wine;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::archive::file_name;
use super::lock::Lock;
use super::target::Target;
use super::trial::{self, Trial};
use crate::machines;
use crate::needs::{self, Need};
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

/// Fails unless this machine has all that the roots of a target's archive need.
pub(super) fn require_for_archive(target: &Target) -> Result<()> {
    let of_chroot: &[Need] = if target.runner.is_empty() { &chroot::NEEDS } else { &[] };
    match target.debian {
        Some(architecture) => {
            needs::require("trials of archives", of_chroot.iter().chain(&machine::NEEDS))?;
            machines::require_to_install(architecture)
        }
        None => needs::require("trials under Wine", &wine::NEEDS),
    }
}

/// Fails unless this machine has all that the root of a target's package for Debian needs.
pub(super) fn require_for_package(target: &Target) -> Result<()> {
    let of_others: &[Need] = if target.runner.is_empty() { &[] } else { &debootstrap::NEEDS_OF_OTHERS };
    needs::require("trials in a fresh Debian", debootstrap::NEEDS.iter().chain(of_others))?;
    debootstrap::needs_root()
}

/// Installs one artifact in the roots of its kind, and runs it there.
pub(super) fn check_one(artifact: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    let name = file_name(artifact)?;
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("gz") => {
            if Archive::of(name)?.runs_here() {
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
