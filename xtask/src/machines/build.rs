//! Builds the programs that run in the machines: static, since there is nothing else in them.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::machine::Architecture;
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
    ("clockscope-civil", "civil"),
    ("clockscope-wall", "wall"),
    ("clockscope-stamps", "stamps"),
    ("clockscope-watch", "watch"),
];

/// Programs in C, and their sources: the probe for C, and one that steers the clock as time daemons
/// do.
const IN_C: [(&str, &str); 2] =
    [("probe-c", "crates/clockscope-runtimes/probes/probe.c"), ("steer", "machines/steer.c")];

/// Programs that are put into a machine.
pub(super) struct Programs {
    pub(super) architecture: Architecture,
    folder: PathBuf,
}

impl Programs {
    /// The programs, by their names in the machine.
    pub(super) fn files(&self) -> [(&'static str, PathBuf); 8] {
        FILES.map(|(name, file)| (name, self.folder.join(file)))
    }

    /// Builds them.
    pub(super) fn build(architecture: Architecture) -> Result<Self> {
        println!("   building static programs for {}", architecture.name());
        let target = architecture.target();
        for what in [&["--package", "clockscope-cli"] as &[&str], &["--package", "clockscope-emulated"]] {
            match architecture {
                Architecture::X86 => {
                    let arguments = [&["build", "--quiet", "--profile", "emulated", "--target", target], what].concat();
                    run::with(&[("CARGO_ENCODED_RUSTFLAGS", &flags())], "cargo", &arguments)
                }
                Architecture::Arm => cross::build(what),
            }
            .with_context(|| format!("the static programs for {target}"))?;
        }
        let folder = PathBuf::from(match architecture {
            Architecture::X86 => run::built(&format!("{target}/emulated")),
            Architecture::Arm => cross::built(""),
        });
        let compiler = match architecture {
            Architecture::X86 => "cc",
            Architecture::Arm => "aarch64-linux-gnu-gcc",
        };
        for (name, source) in IN_C {
            let program = folder.join(name);
            let file = program.to_str().context("the folder's name is no text")?;
            run::with(&[], compiler, &["-static", "-O2", "-o", file, source])?;
        }
        Ok(Self { architecture, folder })
    }
}
