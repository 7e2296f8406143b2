//! Targets of archives, and the way in which their programs are built.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::origin::Origin;
use crate::needs::Need;
use crate::run;

/// A target of an archive. Each has a place in which its program runs here: no archive is made of a
/// program that never ran.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) triple: &'static str,
    pub(super) system: System,
    /// Command that runs its programs; nothing where this machine does.
    pub(super) runner: &'static [&'static str],
    linker: &'static str,
    /// Requirements for building and running.
    pub(super) needs: &'static [Need],
    /// Debian's name of the processor, where a package is made as well.
    pub(super) debian: Option<&'static str>,
}

/// System of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    Windows,
}

impl System {
    /// The command's name.
    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Linux => "clockscope",
            Self::Windows => "clockscope.exe",
        }
    }
}

/// Rust's own linker: what is linked does not depend on this machine's compiler of C.
const LINKER: &str = "rust-lld";
const MINGW: &str = "x86_64-w64-mingw32-gcc";

pub(super) const TARGETS: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-musl",
        system: System::Linux,
        runner: &[],
        linker: LINKER,
        needs: &[Need::target("x86_64-unknown-linux-musl")],
        debian: Some("amd64"),
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        system: System::Linux,
        runner: &["qemu-aarch64"],
        linker: LINKER,
        needs: &[Need::target("aarch64-unknown-linux-musl"), Need::program("qemu-aarch64", "qemu-user")],
        debian: Some("arm64"),
    },
    Target {
        triple: "x86_64-pc-windows-gnu",
        system: System::Windows,
        runner: &["wine"],
        linker: MINGW,
        needs: &[
            Need::target("x86_64-pc-windows-gnu"),
            Need::program(MINGW, "gcc-mingw-w64-x86-64"),
            Need::program("wine", "wine"),
            Need::file("/usr/lib/wine/wine64", "wine64"),
        ],
        debian: None,
    },
];

impl Target {
    /// Builds the command; returns the program's path.
    pub(super) fn build(&self, origin: &Origin) -> Result<PathBuf> {
        let flags = [remapping()?, vec![format!("-Clinker={}", self.linker)]].concat();
        built(origin, &flags, &["--package", "clockscope-cli", "--bin", "clockscope", "--target", self.triple])?;
        Ok(folder()?.join(self.triple).join("release").join(self.system.program()))
    }
}

/// Folder in which everything of a release is built.
pub(super) fn folder() -> Result<PathBuf> {
    Ok(std::path::absolute(run::built("dist-build"))?)
}

/// Builds something of a release, so that it does not depend on the clone's folder.
pub(super) fn built(origin: &Origin, flags: &[String], arguments: &[&str]) -> Result<()> {
    let folder = folder()?;
    let variables = [
        ("CARGO_TARGET_DIR", folder.to_str().context("the path of the build's folder is no text")?),
        ("CARGO_ENCODED_RUSTFLAGS", &flags.join("\u{1f}")),
        // A build in steps differs from one at once.
        ("CARGO_INCREMENTAL", "0"),
        ("SOURCE_DATE_EPOCH", origin.epoch.as_str()),
        ("CLOCKSCOPE_COMMIT", origin.commit.as_str()),
    ];
    run::with(&variables, "cargo", &[&["build", "--release", "--quiet", "--locked"], arguments].concat())
}

/// Returns the compiler's flags that take this machine's folders out of the program.
pub(super) fn remapping() -> Result<Vec<String>> {
    let (root, target) = (run::root(), folder()?);
    let path = |path: &std::path::Path| Ok::<_, anyhow::Error>(path.to_str().context("a path is no text")?.to_owned());
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo_home = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    // The last one that fits counts, and the target folder may be in the clone.
    let folders = [(path(&root)?, "/clockscope"), (cargo_home, "/cargo"), (path(&target)?, "/target")];
    Ok(folders.map(|(from, to)| format!("--remap-path-prefix={from}={to}")).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_are_remapped() {
        let flags = remapping().unwrap();
        assert_eq!(flags.last().unwrap(), &format!("--remap-path-prefix={}=/target", folder().unwrap().display()));
        let root = run::root();
        assert_eq!(flags[0], format!("--remap-path-prefix={}=/clockscope", root.display()));
    }
}
