//! Files of a release: archives of the command, Debian's packages, the C library, wheels. Each was
//! installed in a root of its own and run there before it is one.
//!
//! Two clones of one commit are meant to give the same bytes, in whatever folders they are: paths
//! are remapped, and every time stamp is the commit's.

mod archive;
mod bill;
mod command;
mod debian;
mod library;
mod origin;
mod program;
mod release;
pub(crate) mod roots;
mod staging;
mod target;
mod trial;
mod wheels;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::needs::{self, Need};
use crate::run;
use origin::Origin;
use release::Release;
use staging::Staging;

const CHECKSUMS: &str = "SHA256SUMS";
/// The table of what was tried.
const TRIALS: &str = "TRIALS.md";

/// Tools that pack.
const TOOLS: [Need; 7] = [
    Need::program("tar", "tar"),
    Need::program("gzip", "gzip"),
    Need::program("zip", "zip"),
    Need::program("sha256sum", "coreutils"),
    Need::program("objdump", "binutils"),
    Need::program("dpkg-deb", "dpkg"),
    Need::program("git", "git"),
];

/// Files that are made together: of one target of the command, of the library, of the Python
/// package.
#[derive(Clone, Copy, Debug)]
enum Part {
    Command(&'static target::Target),
    Library,
    Wheels,
}

impl Part {
    /// All of them.
    fn all() -> impl Iterator<Item = Self> {
        target::TARGETS.iter().map(Self::Command).chain([Self::Library, Self::Wheels])
    }

    /// Its name as an argument.
    const fn name(self) -> &'static str {
        match self {
            Self::Command(target) => target.triple,
            Self::Library => "library",
            Self::Wheels => "wheels",
        }
    }

    const fn needs(self) -> &'static [Need] {
        match self {
            Self::Command(target) => target.needs,
            Self::Library => &library::NEEDS,
            Self::Wheels => &wheels::NEEDS,
        }
    }
}

/// Builds, packs and tries these parts, or all of them.
pub(crate) fn make(names: &[&str]) -> Result<()> {
    let parts = chosen(names)?;
    let origin = Origin::of_clone()?;
    let staging = Staging::new(Path::new(&run::built("dist")))?;
    let mut release = Release { origin, files: BTreeSet::new(), trials: Vec::new() };
    for part in parts {
        println!("== {}", part.name());
        match part {
            Part::Command(target) => command::make(target, &staging, &mut release),
            Part::Library => library::make(&staging, &mut release),
            Part::Wheels => wheels::make(&staging, &mut release),
        }
        .with_context(|| format!("nothing was made, because of {}", part.name()))?;
    }
    sum(staging.path(), &release.files)?;
    let table = trial::table(&release.trials);
    archive::write(&staging.path().join(TRIALS), &table)?;
    let out = staging.publish()?;
    print!("{table}");
    for file in release.files.iter().map(String::as_str).chain([CHECKSUMS, TRIALS]) {
        println!("{}", out.join(file).display());
    }
    Ok(())
}

/// Returns the parts of these names; all if there is none.
fn chosen(names: &[&str]) -> Result<Vec<Part>> {
    let known: Vec<&str> = Part::all().map(Part::name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        bail!("a release has no part {unknown}: expected {}", known.join(" or "));
    }
    let chosen: Vec<Part> = Part::all().filter(|part| names.is_empty() || names.contains(&part.name())).collect();
    let has_command = chosen.iter().any(|part| matches!(part, Part::Command(_)));
    let of_roots = if has_command { roots::needs() } else { Vec::new() };
    let needs = chosen.iter().flat_map(|part| part.needs()).chain(&TOOLS).chain(&of_roots);
    if let Some(missing) = needs::missing(needs) {
        bail!("a release needs packages: {missing}");
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
    archive::write(&out.join(CHECKSUMS), &String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_there_is_not_is_refused() {
        let error = chosen(&["mips-unknown-none"]).unwrap_err().to_string();
        assert!(error.starts_with("a release has no part mips-unknown-none: expected x86_64"), "{error}");
        assert!(error.ends_with(" or library or wheels"), "{error}");
    }
}
