//! The command's archive for a target, with the bill of materials, and Debian's package.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::origin::Origin;
use super::program::{COMPLETIONS, Program};
use super::release::{DOCUMENTS, Release};
use super::sources::Sources;
use super::target::{System, Target};
use super::{archive, bill, debian, roots};
use crate::{manual, platforms};

/// Units for systemd, the age of records, and alerts for Prometheus, in their folders of packaging
/// and of the archive.
const MONITORING: [&str; 6] = [
    "prometheus/clockscope.rules.yml",
    "systemd/clockscope-records.service",
    "systemd/clockscope-records.timer",
    "systemd/clockscope-records.tmpfiles",
    "systemd/clockscope-textfile.service",
    "systemd/clockscope-textfile.timer",
];

/// Makes all files of a target.
pub(super) fn make(target: &'static Target, out: &Path, release: &mut Release) -> Result<()> {
    let folder = out.join(name(&release.origin.version, target.triple));
    build(target, &folder, &release.origin)?;
    archive_of(target, out, release)?;
    if let Some(architecture) = target.debian {
        let package = debian::package(out, &folder, architecture, &release.origin)?;
        roots::check_one(&out.join(&package), &mut release.trials)?;
        release.files.insert(package);
    }
    fs::remove_dir_all(&folder)?;
    let bill_name = format!("{}.cdx.json", name(&release.origin.version, target.triple));
    fs::write(out.join(&bill_name), bill::make(target, &release.origin)?)?;
    release.files.insert(bill_name);
    Ok(())
}

/// Makes and tries the archive of a target alone.
pub(super) fn make_archive(target: &'static Target, out: &Path, release: &mut Release) -> Result<()> {
    build(target, &out.join(name(&release.origin.version, target.triple)), &release.origin)?;
    archive_of(target, out, release)
}

/// Builds the program of a target, and puts together what its archive holds.
fn build(target: &'static Target, folder: &Path, origin: &Origin) -> Result<()> {
    let program = Program { path: target.build(&Sources::here()?, origin)?, runner: target.runner };
    complete(&program, target)?;
    program.check(target, origin)?;
    assemble(&program, target.system, folder)
}

/// Packs the archive of a folder that was put together, and tries it.
fn archive_of(target: &Target, out: &Path, release: &mut Release) -> Result<()> {
    let name = name(&release.origin.version, target.triple);
    let archive = match target.system {
        System::Linux => archive::tar(out, &name, &release.origin)?,
        System::Windows => archive::zip(out, &name, &release.origin)?,
    };
    roots::check_one(&out.join(&archive), &mut release.trials)?;
    release.files.insert(archive);
    Ok(())
}

/// Returns the name of an archive without its ending, and of the folder in it.
fn name(version: &str, triple: &str) -> String {
    format!("clockscope-{version}-{triple}")
}

/// Puts together what the archive holds.
fn assemble(program: &Program, system: System, folder: &Path) -> Result<()> {
    archive::copy(&program.path, &archive::in_folder(folder, system.program())?, archive::PROGRAM)?;
    for document in DOCUMENTS {
        archive::copy(Path::new(document), &folder.join(document), archive::TEXT)?;
    }
    for (shell, file) in COMPLETIONS {
        let path = archive::in_folder(folder, &format!("completions/{file}"))?;
        archive::write(&path, &program.output(&["completions", shell])?, archive::TEXT)?;
    }
    if system == System::Linux {
        let pages = manual::pages(|arguments| program.output(arguments))?;
        ensure!(pages.len() > 1, "`clockscope man` names no command");
        for (name, text) in pages {
            archive::write(&archive::in_folder(folder, &format!("man/{name}"))?, &text, archive::TEXT)?;
        }
        for file in MONITORING {
            archive::copy(&Path::new("packaging").join(file), &archive::in_folder(folder, file)?, archive::TEXT)?;
        }
    }
    Ok(())
}

/// Puts what Wine lacks beside a program for Windows. It is in no archive.
fn complete(program: &Program, target: &Target) -> Result<()> {
    match (target.system, program.path.parent()) {
        (System::Windows, Some(folder)) => platforms::add_library(&folder.to_string_lossy()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::TARGETS;
    use super::*;
    use crate::run;

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
        let windows = &binstall["overrides"]["x86_64-pc-windows-msvc"];
        let url = windows["pkg-url"].as_str().unwrap();
        assert!(url.ends_with("/clockscope-{ version }-x86_64-pc-windows-gnu.zip"), "{url}");
        assert!(TARGETS.iter().any(|target| target.triple == "x86_64-pc-windows-gnu"));
    }
}
