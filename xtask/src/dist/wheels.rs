//! Wheels and the sdist of the Python package. Each is installed and run before it counts as made.

mod emulated;
mod platform;
mod pythons;
mod trials;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::origin::Origin;
use super::trial::Trial;
use crate::needs::{self, Need};
use crate::python::Environment;
use crate::run;
use platform::{PLATFORMS, Platform};

const REQUIREMENTS: &str = "xtask/src/dist/wheels/requirements.txt";

/// The largest wheel, in bytes.
const LARGEST: u64 = 4_000_000;

const TOOLS: [Need; 4] = [
    Need::program("readelf", "binutils"),
    Need::program("qemu-aarch64", "qemu-user"),
    Need::program("debootstrap", "debootstrap"),
    Need::program("dpkg-deb", "dpkg"),
];

/// Makes the sdist and the wheels in a folder; returns their names. Each command of their trials is
/// added.
pub(super) fn make(out: &Path, origin: &Origin, trials: &mut Vec<Trial>) -> Result<Vec<String>> {
    if let Some(missing) = needs::missing(&TOOLS) {
        bail!("wheels need packages: {missing}");
    }
    let tools = match Environment::new("dist", REQUIREMENTS)? {
        Ok(tools) => tools,
        Err(missing) => bail!("{missing}"),
    };
    PLATFORMS.iter().try_for_each(standard_library)?;
    // Packed first, as maturin also packs what is staged for a wheel.
    println!("== sdist");
    let sdist = tools.maturin("sdist", &[("SOURCE_DATE_EPOCH", &origin.epoch)], &[], out)?;
    let mut files = vec![name(&sdist)?];
    trials::sdist(&tools, &sdist, trials)?;
    // All before the first wheel: to stage one changes a folder that the next build looks at.
    println!("== commands of wheels");
    let commands: Vec<String> =
        PLATFORMS.iter().map(|platform| command(&platform.command_target(), origin)).collect::<Result<_>>()?;
    for (platform, command) in PLATFORMS.iter().zip(&commands) {
        let wheel = build(&tools, platform, command, origin, out)?;
        trials::wheel(&tools, platform, &wheel, trials)?;
        files.push(name(&wheel)?);
    }
    Ok(files)
}

/// Builds a platform's wheel, which an index has to accept.
fn build(tools: &Environment, platform: &Platform, command: &str, origin: &Origin, out: &Path) -> Result<PathBuf> {
    let target = platform.module_target();
    println!("== wheel for {target}: build");
    let folder = folder()?;
    // cargo-zigbuild, which is a part of maturin, finds zig by the first python3.
    let programs = Path::new(&tools.python).parent().context("the environment's Python has no folder")?;
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs.to_owned()].into_iter().chain(std::env::split_paths(&inherited)))?;
    let flags = flags(&["-C", "target-feature=-crt-static"], &folder)?;
    let variables = [
        ("PATH", path.to_str().context("PATH is not text")?),
        ("CARGO_TARGET_DIR", &folder),
        ("CARGO_ENCODED_RUSTFLAGS", &flags),
        ("CARGO_INCREMENTAL", "0"),
        ("SOURCE_DATE_EPOCH", &origin.epoch),
    ];
    let policy = ["--compatibility", platform.baseline(), "--auditwheel", "check"];
    let how = [&["--release", "--zig", "--target", &target], &policy[..]].concat();
    let wheel = tools.wheel(command, &variables, &how, out)?;
    let (file, expected) = (name(&wheel)?, platform.file(&origin.version));
    ensure!(file == expected, "maturin built {file}, expected {expected}");
    let size = fs::metadata(&wheel).with_context(|| format!("cannot read {}", wheel.display()))?.len();
    println!("   {file}: {size} bytes");
    ensure!(size <= LARGEST, "{file} has {size} bytes, expected {LARGEST} at most");
    Ok(wheel)
}

/// Builds the command for a target of musl, which needs only Rust's own linker; returns its path.
fn command(target: &str, origin: &Origin) -> Result<String> {
    let folder = folder()?;
    let flags = flags(&["-C", "linker=rust-lld"], &folder)?;
    let variables = [
        ("CARGO_TARGET_DIR", folder.as_str()),
        ("CARGO_ENCODED_RUSTFLAGS", &flags),
        ("CARGO_INCREMENTAL", "0"),
        ("SOURCE_DATE_EPOCH", &origin.epoch),
        ("CLOCKSCOPE_COMMIT", &origin.commit),
    ];
    let what = ["--locked", "--package", "clockscope-cli", "--bin", "clockscope"];
    run::with(&variables, "cargo", &[&["build", "--quiet", "--release", "--target", target], &what[..]].concat())?;
    Ok(format!("{folder}/{target}/release/clockscope"))
}

/// Folder of the builds.
fn folder() -> Result<String> {
    let folder = std::path::absolute(run::built("dist-build"))?;
    Ok(folder.to_str().context("the path of the build's folder is not text")?.to_owned())
}

/// Returns the compiler's flags, encoded: these, and those that take this machine's folders out of
/// what is built.
fn flags(flags: &[&str], target_folder: &str) -> Result<String> {
    let root = run::root();
    let root = root.to_str().context("the path of the clone is not text")?;
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo_home = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    // The last one that fits counts, and the target folder may be in the clone.
    let folders = [(root, "/clockscope"), (cargo_home.as_str(), "/cargo"), (target_folder, "/target")];
    let remapped = folders.map(|(from, to)| format!("--remap-path-prefix={from}={to}"));
    Ok(flags.iter().copied().chain(remapped.iter().map(String::as_str)).collect::<Vec<_>>().join("\u{1f}"))
}

/// Fails unless Rust's standard library is here for the targets of a platform.
fn standard_library(platform: &Platform) -> Result<()> {
    for target in [platform.module_target(), platform.command_target()] {
        let folder = run::output("rustc", &["--print", "target-libdir", "--target", &target])?;
        ensure!(Path::new(folder.trim()).is_dir(), "no standard library for {target}: rustup target add {target}");
    }
    Ok(())
}

fn name(file: &Path) -> Result<String> {
    let name = file.file_name().and_then(|name| name.to_str());
    Ok(name.with_context(|| format!("{} has no name of text", file.display()))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_are_remapped() {
        let flags = flags(&["-C", "x"], "/somewhere/target").unwrap();
        let flags: Vec<&str> = flags.split('\u{1f}').collect();
        assert_eq!(flags[..2], ["-C", "x"]);
        assert_eq!(flags[2], format!("--remap-path-prefix={}=/clockscope", run::root().display()));
        assert_eq!(flags.last(), Some(&"--remap-path-prefix=/somewhere/target=/target"));
    }
}
