//! Archives for those who do not build: each is made of a program that ran here before.
//!
//! Two clones of one commit are meant to give the same bytes, in whatever folders they are: paths
//! are remapped, and every time stamp is the commit's.

mod archive;
mod bill;
mod debian;
mod origin;
mod program;
pub(crate) mod roots;
mod target;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::run;
use origin::Origin;
use target::Target;

/// Files of the repository that every archive holds.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

const CHECKSUMS: &str = "SHA256SUMS";

/// Builds, runs and packs the command for these targets, or for all of the table.
pub(crate) fn make(names: &[&str]) -> Result<()> {
    let targets = target::chosen(names)?;
    let origin = Origin::of_clone()?;
    let out = PathBuf::from(run::built("dist"));
    // What an earlier run made may be of another commit.
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let mut files = Vec::new();
    for target in targets {
        files.extend(pack(target, &origin, &out)?);
    }
    files.sort_unstable();
    sum(&out, &files)?;
    for file in files.iter().map(String::as_str).chain([CHECKSUMS]) {
        println!("{}", out.join(file).display());
    }
    Ok(())
}

/// Returns the names of the files that it makes for one target.
fn pack(target: &Target, origin: &Origin, out: &Path) -> Result<Vec<String>> {
    println!("== {}: build", target.triple);
    let program = target.build(origin)?;
    println!("== {}: run {}", target.triple, target.location);
    let program = program::Program { path: program, runner: target.runner };
    program.check(target, origin)?;
    let name = name(&origin.version, target.triple);
    let folder = out.join(&name);
    assemble(&program, &folder)?;
    let archive = archive::tar(out, &name, origin)?;
    let bill_name = format!("{name}.cdx.json");
    fs::write(out.join(&bill_name), bill::of(target, origin)?)?;
    let mut files = vec![archive, bill_name];
    if let Some(architecture) = target.debian {
        files.push(debian::package(out, &folder, architecture, origin)?);
    }
    fs::remove_dir_all(&folder)?;
    Ok(files)
}

/// Returns the name of an archive without its ending, and of the folder in it.
fn name(version: &str, triple: &str) -> String {
    format!("clockscope-{version}-{triple}")
}

/// Puts together what the archive holds.
fn assemble(program: &program::Program, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("completions"))?;
    fs::create_dir_all(folder.join("man"))?;
    archive::copy(&program.path, &folder.join("clockscope"), archive::PROGRAM)?;
    for document in DOCUMENTS {
        archive::copy(Path::new(document), &folder.join(document), archive::TEXT)?;
    }
    archive::write(&folder.join("man/clockscope.1"), &program.output(&["man"])?)?;
    for (shell, file) in program::COMPLETIONS {
        archive::write(&folder.join("completions").join(file), &program.output(&["completions", shell])?)?;
    }
    Ok(())
}

/// Writes the checksums of all files, in the form that `sha256sum --check` reads.
fn sum(out: &Path, files: &[String]) -> Result<()> {
    let output = std::process::Command::new("sha256sum").args(files).current_dir(out).output();
    let output = output.context("cannot run sha256sum")?;
    if !output.status.success() {
        bail!("sha256sum: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    fs::write(out.join(CHECKSUMS), output.stdout).with_context(|| format!("cannot write {CHECKSUMS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// cargo-binstall finds what is packed here.
    #[test]
    fn the_package_states_where_its_archives_are() {
        let manifest = fs::read_to_string(run::root().join("crates/clockscope-cli/Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let binstall = &manifest["package"]["metadata"]["binstall"];
        let filled = |key: &str| {
            let text = binstall[key].as_str().unwrap().replace("{ version }", "1.2.3").replace("{ target }", "x-y");
            text.replace("{ bin }", "clockscope").replace("{ binary-ext }", "").replace("{ repo }", "REPO")
        };
        let name = name("1.2.3", "x-y");
        assert_eq!(filled("pkg-url"), format!("REPO/releases/download/v1.2.3/{name}.tar.gz"));
        assert_eq!(filled("bin-dir"), format!("{name}/clockscope"));
        assert_eq!(filled("pkg-fmt"), "tgz");
    }
}
