//! Wheels and the sdist of the Python package. Each is installed and run before it counts as made.

mod emulated;
mod platform;
mod pythons;
mod trials;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::archive::file_name;
use super::origin::Origin;
use super::release::Release;
use super::sources::Sources;
use super::target;
use crate::python::Environment;
use crate::{folder, run};
use platform::{PLATFORMS, Platform};

const REQUIREMENTS: &str = "xtask/src/dist/wheels/requirements.txt";

/// The largest wheel, in bytes.
const LARGEST: u64 = 4_000_000;

pub(super) const NEEDS: &str = "x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl \
                                 aarch64-unknown-linux-musl ensurepip readelf qemu-aarch64 debootstrap dpkg-deb";

/// Makes the sdist and the wheels.
pub(super) fn make(out: &Path, release: &mut Release) -> Result<()> {
    let Release { origin, files, trials } = release;
    let tools = Environment::new("dist", REQUIREMENTS)?;
    // Packed first, as maturin also packs what is staged for a wheel.
    println!("== sdist");
    let sdist = tools.maturin("sdist", &[("SOURCE_DATE_EPOCH", &origin.epoch)], &[], out)?;
    files.insert(file_name(&sdist)?.to_owned());
    trials::sdist(&tools, &sdist, trials)?;
    // All before the first wheel: to stage one changes a folder that the next build looks at.
    println!("== commands of wheels");
    let commands: Vec<PathBuf> = PLATFORMS.iter().map(|platform| command(platform, origin)).collect::<Result<_>>()?;
    for (platform, command) in PLATFORMS.iter().zip(&commands) {
        let wheel = build(&tools, platform, &command.to_string_lossy(), origin, out)?;
        trials::wheel(&tools, platform, &wheel, trials)?;
        files.insert(file_name(&wheel)?.to_owned());
    }
    Ok(())
}

/// Builds a platform's wheel, which an index has to accept.
fn build(tools: &Environment, platform: &Platform, command: &str, origin: &Origin, out: &Path) -> Result<PathBuf> {
    let target = platform.module_target();
    println!("== wheel for {target}: build");
    let sources = Sources::here()?;
    // cargo-zigbuild, which is a part of maturin, finds zig by the first python3.
    let programs = Path::new(&tools.python).parent().context("the environment's Python has no folder")?;
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs.to_owned()].into_iter().chain(std::env::split_paths(&inherited)))?;
    let flags = [vec!["-Ctarget-feature=-crt-static".to_owned()], sources.remapping()?].concat().join("\u{1f}");
    let variables = [
        ("PATH", path.to_str().context("PATH is not text")?),
        ("CARGO_TARGET_DIR", folder::text(sources.folder())?),
        ("CARGO_ENCODED_RUSTFLAGS", &flags),
        ("CARGO_INCREMENTAL", "0"),
        ("SOURCE_DATE_EPOCH", &origin.epoch),
    ];
    let policy = ["--compatibility", platform.baseline(), "--auditwheel", "check"];
    let how = [&["--profile", run::DIST_PROFILE, "--zig", "--target", &target], &policy[..]].concat();
    let wheel = tools.wheel(command, &variables, &how, out)?;
    let (file, expected) = (file_name(&wheel)?, platform.file(&origin.python_version()?));
    ensure!(file == expected, "maturin built {file}, expected {expected}");
    let size = fs::metadata(&wheel).with_context(|| format!("cannot read {}", wheel.display()))?.len();
    println!("   {file}: {size} bytes");
    ensure!(size <= LARGEST, "{file} has {size} bytes, expected {LARGEST} at most");
    Ok(wheel)
}

/// Builds the static command that a platform's wheel holds; returns its path.
fn command(platform: &Platform, origin: &Origin) -> Result<PathBuf> {
    let triple = platform.command_target();
    let target = target::TARGETS.iter().find(|target| target.triple == triple);
    target.with_context(|| format!("no command is built for {triple}"))?.build(&Sources::here()?, origin)
}
