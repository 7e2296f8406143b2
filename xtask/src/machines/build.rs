//! Builds the programs that run in the machines: static, since there is nothing else in them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Architecture;
use crate::{cross, run};

/// Flags of the compiler, apart by what cargo wants. Where the sources lie is not in the programs:
/// otherwise they would be laid out otherwise in each folder, and the machine whose time is the
/// number of instructions would show it.
fn flags() -> String {
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"));
    let folders = [(run::root().display().to_string(), "clockscope"), (home.unwrap_or_default(), "cargo")];
    let remapped = folders.iter().filter(|(from, _)| !from.is_empty());
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
    flags.extend(remapped.map(|(from, to)| format!("--remap-path-prefix={from}=/{to}")));
    flags.join("\x1f")
}

/// Programs by their names in a machine, and their files. busybox has a `watch` of its own.
const FILES: [(&str, &str); 8] = [
    ("clockscope", "clockscope"),
    ("probe-c", "probe-c"),
    ("steer", "steer"),
    ("clockscope-boot", "boot"),
    ("clockscope-bounds", "bounds"),
    ("clockscope-wall", "wall"),
    ("clockscope-stamps", "stamps"),
    ("clockscope-watch", "watch"),
];

/// Programs in C, and their sources: the probe for C, and one that steers the clock as time daemons
/// do.
const IN_C: [(&str, &str); 2] =
    [("probe-c", "crates/clockscope-runtimes/probes/probe.c"), ("steer", "machines/steer.c")];

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Builds the programs; returns their names in the machine, and their files.
pub(super) fn programs(architecture: Architecture) -> Result<Vec<(&'static str, PathBuf)>> {
    println!("   building static programs for {}", architecture.name());
    for what in [&["--package", "clockscope-cli"] as &[&str], &["--package", "clockscope-emulated", "--bins"]] {
        match architecture {
            Architecture::X86 => {
                let arguments = [&["build", "--quiet", "--profile", "emulated", "--target", TARGET], what].concat();
                run::with(&[("CARGO_ENCODED_RUSTFLAGS", &flags())], "cargo", &arguments)
            }
            Architecture::Arm => cross::build(what),
        }
        .with_context(|| format!("the static programs for {}", architecture.name()))?;
    }
    let (folder, compiler) = match architecture {
        Architecture::X86 => (run::built(&format!("{TARGET}/emulated")), "cc"),
        Architecture::Arm => (cross::built(""), "aarch64-linux-gnu-gcc"),
    };
    for (name, source) in IN_C {
        run::with(&[], compiler, &["-static", "-O2", "-o", &format!("{folder}/{name}"), source])?;
    }
    Ok(FILES.map(|(name, file)| (name, Path::new(&folder).join(file))).to_vec())
}
