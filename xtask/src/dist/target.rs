//! Targets of archives, and the way in which their programs are built.

use std::path::PathBuf;

use anyhow::Result;

use super::origin::Origin;
use super::sources::Sources;

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
    pub(super) needs: &'static str,
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

pub(super) const TARGETS: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-musl",
        system: System::Linux,
        runner: &[],
        linker: LINKER,
        needs: "x86_64-unknown-linux-musl",
        debian: Some("amd64"),
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        system: System::Linux,
        runner: &["qemu-aarch64"],
        linker: LINKER,
        needs: "aarch64-unknown-linux-musl qemu-aarch64",
        debian: Some("arm64"),
    },
    Target {
        triple: "x86_64-pc-windows-gnu",
        system: System::Windows,
        runner: &["wine"],
        linker: "x86_64-w64-mingw32-gcc",
        needs: "x86_64-pc-windows-gnu x86_64-w64-mingw32-gcc wine /usr/lib/wine/wine64",
        debian: None,
    },
];

impl Target {
    /// Builds the command of a clone; returns the program's path.
    pub(super) fn build(&self, sources: &Sources, origin: &Origin) -> Result<PathBuf> {
        let flags = [format!("-Clinker={}", self.linker)];
        sources.build(
            origin,
            &flags,
            &["--package", "clockscope-cli", "--bin", "clockscope", "--target", self.triple],
        )?;
        Ok(sources.built_for(self.triple).join(self.system.program()))
    }
}
