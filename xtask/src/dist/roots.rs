//! Roots in which artifacts are installed and run: an empty folder, emulated machines, a fresh
//! Debian, and Wine.

mod artifact;
pub(super) mod chroot;
pub(super) mod debootstrap;
mod folder;
pub(super) mod machine;
pub(super) mod wine;

use std::path::Path;

use anyhow::{Result, bail};

use super::archive::file_name;
use super::trial::{self, Trial};
use crate::needs::Need;
use artifact::Archive;

/// Installs artifacts in the roots of their kind, runs them there, and prints the table of trials.
pub(crate) fn check(files: &[&str]) -> Result<()> {
    let mut trials = Vec::new();
    for file in files {
        check_one(Path::new(file), &mut trials)?;
    }
    print!("{}", trial::table(&trials));
    Ok(())
}

/// Requirements of all roots.
pub(super) fn needs() -> Vec<Need> {
    [&chroot::NEEDS[..], &machine::NEEDS, &debootstrap::NEEDS, &debootstrap::NEEDS_OF_OTHERS, &wine::NEEDS].concat()
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
