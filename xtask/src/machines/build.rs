//! Builds the programs that run in the machines: static, since there is nothing else in them.

use std::path::{Path, PathBuf};

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

/// Programs that are put into a machine.
pub(super) struct Programs {
    pub(super) architecture: Architecture,
    pub(super) clockscope: PathBuf,
    pub(super) watch: PathBuf,
    pub(super) boot: PathBuf,
    pub(super) civil: PathBuf,
    pub(super) wall: PathBuf,
    pub(super) stamps: PathBuf,
    /// The probe for C.
    pub(super) probe: PathBuf,
    /// Steers the clock as time daemons do.
    pub(super) steer: PathBuf,
}

impl Programs {
    /// The programs, by their names in the machine.
    pub(super) fn files(&self) -> [(&'static str, &Path); 8] {
        [
            ("clockscope", &self.clockscope),
            ("probe-c", &self.probe),
            ("steer", &self.steer),
            // busybox has a `watch` of its own.
            ("clockscope-boot", &self.boot),
            ("clockscope-civil", &self.civil),
            ("clockscope-wall", &self.wall),
            ("clockscope-stamps", &self.stamps),
            ("clockscope-watch", &self.watch),
        ]
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
        let built = |name: &str, source: &str| -> Result<PathBuf> {
            let program = folder.join(name);
            let file = program.to_str().context("the folder's name is no text")?;
            run::with(&[], compiler, &["-static", "-O2", "-o", file, source])?;
            Ok(program)
        };
        Ok(Self {
            architecture,
            clockscope: folder.join("clockscope"),
            watch: folder.join("watch"),
            boot: folder.join("boot"),
            civil: folder.join("civil"),
            wall: folder.join("wall"),
            stamps: folder.join("stamps"),
            probe: built("probe-c", "crates/clockscope-runtimes/probes/probe.c")?,
            steer: built("steer", "machines/steer.c")?,
        })
    }
}
