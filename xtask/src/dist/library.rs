//! The C library's archive, for programs that are built elsewhere.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::archive;
use super::release::{DOCUMENTS, Release};
use super::sources::Sources;
use super::trial::Place;
use crate::install;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Tools that build it, and that try it.
pub(super) const NEEDS: &str = "x86_64-unknown-linux-gnu cc pkg-config cmake make meson ninja";

/// The folder of the archive, seen from its file for pkg-config: programs find it wherever it was
/// unpacked.
const PREFIX: &str = "${pcfiledir}/../..";

/// The program of examples/c that each way of building ends with.
const EXAMPLE: &str = "usleep";

/// Makes the archive.
pub(super) fn make(out: &Path, release: &mut Release) -> Result<()> {
    let sources = Sources::here()?;
    sources.build(&release.origin, &[], &["--package", "clockscope-capi", "--target", TARGET])?;
    let built = sources.built_for(TARGET);
    let name = format!("clockscope-c-{}-{TARGET}", release.origin.version);
    let folder = out.join(&name);
    install::unpacked(Path::new(PREFIX), &built, &folder)?;
    for document in DOCUMENTS {
        archive::copy(Path::new(document), &folder.join(document), archive::TEXT)?;
    }
    let archive = archive::tar(out, &name, &release.origin)?;
    fs::remove_dir_all(&folder)?;
    tried(&out.join(&archive), &archive, &name, release)?;
    release.files.insert(archive);
    Ok(())
}

/// Unpacks the archive into a folder of its own, and builds and runs programs that find the library
/// by pkg-config, CMake and Meson.
fn tried(path: &Path, artifact: &str, name: &str, release: &mut Release) -> Result<()> {
    let root = tempfile::tempdir()?;
    let place = Place { artifact, root: "a folder" };
    let mut run = |words: &str| {
        // A shell: these are the lines that a user would type.
        let mut command = Command::new("sh");
        command.args(["-ec", words]).current_dir(root.path());
        place.run(&mut command, words, &mut release.trials)
    };
    fs::copy(path, root.path().join(artifact))?;
    let examples = root.path().join("examples");
    fs::create_dir(&examples)?;
    for entry in fs::read_dir("examples/c")? {
        let entry = entry?;
        fs::copy(entry.path(), examples.join(entry.file_name()))?;
    }
    run(&format!("tar xzf {artifact}"))?;
    let pkg_config = format!("PKG_CONFIG_PATH={name}/lib/pkgconfig");
    let ran = |printed: &str| {
        ensure!(printed.starts_with("usleep(1000), 200 times: median "), "the example prints {printed}");
        Ok(())
    };
    run(&format!(
        "{pkg_config} sh -c 'cc -std=c99 -o by-pkg-config examples/{EXAMPLE}.c $(pkg-config --cflags --libs clockscope)'"
    ))?;
    ran(&run(&format!("LD_LIBRARY_PATH={name}/lib ./by-pkg-config"))?)?;
    run(&format!("cmake -S examples -B by-cmake -DCMAKE_PREFIX_PATH=$PWD/{name} && cmake --build by-cmake"))?;
    ran(&run(&format!("by-cmake/{EXAMPLE}"))?)?;
    run(&format!(
        "meson setup -Dpkg_config_path=$PWD/{name}/lib/pkgconfig by-meson examples && meson compile -C by-meson"
    ))?;
    ran(&run(&format!("LD_LIBRARY_PATH={name}/lib by-meson/{EXAMPLE}"))?)
}
