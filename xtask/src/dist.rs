//! Files of a release: archives of the command, Debian's packages, the C library, wheels. Each is
//! installed and run in a root of its own before the release contains it.
//!
//! Paths are remapped, and every time stamp is the commit's: two clones of one commit give the same
//! static program for x86-64 (`source`), in whatever folders they are.

mod archive;
mod bill;
mod command;
mod debian;
mod library;
mod lock;
mod origin;
mod program;
mod release;
pub(crate) mod roots;
mod source;
mod sources;
mod target;
mod trial;
mod wheels;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{folder, needs, run};
use lock::Lock;
use origin::Origin;
use release::Release;

/// The folder of a release. `dist` is the one in which cargo builds with the profile of that name.
const ARCHIVES: &str = "archives";
const CHECKSUMS: &str = "SHA256SUMS";
/// The table of what was tried.
const TRIALS: &str = "TRIALS.md";

/// Tools that pack.
const TOOLS: &str = "tar gzip zip sha256sum objdump dpkg-deb git";

/// A part of a release: files of one target of the command, of the library or of the Python
/// package; or the trials of the source, which make no file.
#[derive(Clone, Copy, Debug)]
enum Part {
    Command(&'static target::Target),
    Library,
    Wheels,
    Source,
}

impl Part {
    /// All of them.
    fn all() -> impl Iterator<Item = Self> {
        target::TARGETS.iter().map(Self::Command).chain([Self::Library, Self::Wheels, Self::Source])
    }

    /// Its name as an argument.
    const fn name(self) -> &'static str {
        match self {
            Self::Command(target) => target.triple,
            Self::Library => "library",
            Self::Wheels => "wheels",
            Self::Source => "source",
        }
    }

    const fn needs(self) -> &'static str {
        match self {
            Self::Command(target) => target.needs,
            Self::Library => library::NEEDS,
            Self::Wheels => wheels::NEEDS,
            Self::Source => source::NEEDS,
        }
    }
}

/// Builds, packs and tries these parts, or all of them.
pub(crate) fn make(names: &[String]) -> Result<()> {
    let _lock = Lock::take()?;
    let parts = chosen(names)?;
    let origin = Origin::of_clone()?;
    // The former release stays until this one is whole.
    let staging = roots::empty_folder("release")?;
    let mut release = Release { origin, files: BTreeSet::new(), trials: Vec::new() };
    for part in parts {
        println!("== {}", part.name());
        match part {
            Part::Command(target) => command::make(target, &staging, &mut release),
            Part::Library => library::make(&staging, &mut release),
            Part::Wheels => wheels::make(&staging, &mut release),
            Part::Source => source::check(&mut release),
        }
        .with_context(|| format!("the part {} failed, and target/{ARCHIVES} is unchanged", part.name()))?;
    }
    let table = trial::table(&release.trials);
    if release.files.is_empty() {
        print!("{table}");
        return Ok(());
    }
    archive::write(&staging.join(TRIALS), &table, archive::TEXT)?;
    release.files.insert(TRIALS.to_owned());
    sum(&staging, &release.files)?;
    let out = std::path::absolute(run::built(ARCHIVES))?;
    folder::remove(&out)?;
    fs::rename(&staging, &out).with_context(|| format!("cannot move {}", staging.display()))?;
    print!("{table}");
    for file in release.files.iter().map(String::as_str).chain([CHECKSUMS]) {
        println!("{}", out.join(file).display());
    }
    Ok(())
}

/// Makes and tries the archive of the first target, of the present sources, and publishes nothing.
pub(crate) fn check() -> Result<()> {
    let target = &target::TARGETS[0];
    needs::require("archives", &[target.needs, TOOLS].join(" "))?;
    roots::require_for_archive(target)?;
    let _lock = Lock::take()?;
    let staging = roots::empty_folder("check")?;
    let mut release = Release { origin: Origin::of_commit()?, files: BTreeSet::new(), trials: Vec::new() };
    command::make_archive(target, &staging, &mut release)?;
    print!("{}", trial::table(&release.trials));
    folder::remove(&staging)
}

/// Returns the parts of these names; all if there is none.
fn chosen(names: &[String]) -> Result<Vec<Part>> {
    let known: Vec<&str> = Part::all().map(Part::name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("unknown part {unknown:?}: expected {}", known.join(" or "));
    }
    let chosen: Vec<Part> =
        Part::all().filter(|part| names.is_empty() || names.iter().any(|name| name == part.name())).collect();
    let needed: Vec<&str> = chosen.iter().map(|part| part.needs()).chain([TOOLS]).collect();
    needs::require("files of a release", &needed.join(" "))?;
    for part in &chosen {
        match part {
            Part::Command(target) => {
                roots::require_for_archive(target)?;
                if target.debian.is_some() {
                    debian::maintainer()?;
                    roots::require_for_package(target)?;
                }
            }
            // The wheels for arm64 are tried in a Debian of their own.
            Part::Wheels => roots::debootstrap::needs_root()?,
            Part::Library | Part::Source => {}
        }
    }
    Ok(chosen)
}

/// Writes the checksums of all files, in the form that `sha256sum --check` reads.
fn sum(out: &Path, files: &BTreeSet<String>) -> Result<()> {
    let output = std::process::Command::new("sha256sum").args(files).current_dir(out).output();
    let output = output.context("cannot run sha256sum")?;
    if !output.status.success() {
        bail!("sha256sum: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    archive::write(&out.join(CHECKSUMS), &String::from_utf8(output.stdout)?, archive::TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_there_is_not_is_refused() {
        let error = chosen(&["mips-unknown-none".to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with("unknown part \"mips-unknown-none\": expected x86_64"), "{error}");
        assert!(error.ends_with(" or library or wheels or source"), "{error}");
    }

    #[test]
    fn what_is_needed_is_in_a_list() {
        let of_roots = [
            roots::chroot::NEEDS,
            roots::machine::NEEDS,
            roots::wine::NEEDS,
            roots::debootstrap::NEEDS,
            roots::debootstrap::NEEDS_OF_OTHERS,
        ];
        let needed = Part::all().map(Part::needs).chain([TOOLS]).chain(of_roots);
        // It panics if none has a name.
        needed.for_each(|names| drop(needs::missing_of(names)));
    }
}
