//! Targets of archives, and the way in which their programs are built.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::origin::Origin;
use crate::cross;
use crate::needs::{self, Need};
use crate::run;

/// A target of an archive. Each has a place in which its program runs here: no archive is made of a
/// program that never ran.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) triple: &'static str,
    /// Command that runs its programs; nothing where this machine does.
    pub(super) runner: &'static [&'static str],
    /// Name of that place, for people.
    pub(super) location: &'static str,
    /// Requirements for building and running.
    needs: &'static [Need],
    /// Debian's name of the processor, where a package is made as well.
    pub(super) debian: Option<&'static str>,
}

/// zig has musl's start files, which Debian's compiler lacks.
const ZIG: [Need; 2] =
    [Need::python_program("cargo-zigbuild", "cargo-zigbuild"), Need::python_module("ziglang", "ziglang")];

const TARGETS: &[Target] = &[Target {
    triple: "x86_64-unknown-linux-musl",
    runner: &[],
    location: "on this machine",
    needs: &ZIG,
    debian: Some("amd64"),
}];

/// Tools that pack.
const TOOLS: [Need; 6] = [
    Need::program("tar", "tar"),
    Need::program("gzip", "gzip"),
    Need::program("sha256sum", "coreutils"),
    Need::program("objdump", "binutils"),
    Need::program("dpkg-deb", "dpkg"),
    Need::program("git", "git"),
];

/// Returns the targets of these names; all if there is none.
pub(super) fn chosen(names: &[&str]) -> Result<Vec<&'static Target>> {
    let known: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        bail!("no archive is made for {unknown}: expected {}", known.join(" or "));
    }
    let is_chosen = |target: &&Target| names.is_empty() || names.contains(&target.triple);
    let chosen: Vec<&Target> = TARGETS.iter().filter(is_chosen).collect();
    let needs = chosen.iter().flat_map(|target| target.needs).chain(&TOOLS).chain(&cross::COMPILER);
    if let Some(missing) = needs::missing(needs) {
        bail!("archives need packages: {missing}");
    }
    Ok(chosen)
}

impl Target {
    /// Builds the command; returns the program's path.
    pub(super) fn build(&self, origin: &Origin) -> Result<PathBuf> {
        let folder = std::path::absolute(run::built("dist-build"))?;
        let text = folder.to_str().context("the path of the build's folder is no text")?;
        let flags = remapping(text)?.join("\u{1f}");
        let variables = [
            cross::OTHER_COMPILER[0],
            cross::OTHER_COMPILER[1],
            ("CARGO_TARGET_DIR", text),
            ("CARGO_ENCODED_RUSTFLAGS", flags.as_str()),
            // A build in steps differs from one at once.
            ("CARGO_INCREMENTAL", "0"),
            ("SOURCE_DATE_EPOCH", origin.epoch.as_str()),
            ("CLOCKSCOPE_COMMIT", origin.commit.as_str()),
        ];
        let program =
            ["rustc", "--release", "--quiet", "--locked", "--package", "clockscope-cli", "--bin", "clockscope"];
        // zig links musl, so rustc must not.
        let of_target = ["--target", self.triple, cross::BUILD_STD, "--", "-C", "link-self-contained=no"];
        run::with(&variables, "cargo-zigbuild", &[&program[..], &of_target].concat())?;
        Ok(folder.join(self.triple).join("release/clockscope"))
    }
}

/// Returns the compiler's flags that take this machine's folders out of the program.
fn remapping(target_folder: &str) -> Result<Vec<String>> {
    let root = run::root();
    let root = root.to_str().context("the path of the clone is no text")?;
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo_home = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
    // The last one that fits counts, and the target folder may be in the clone.
    let folders = [(root, "/clockscope"), (cargo_home.as_str(), "/cargo"), (target_folder, "/target")];
    Ok(folders.map(|(from, to)| format!("--remap-path-prefix={from}={to}")).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_an_archive_is_refused() {
        let error = chosen(&["mips-unknown-none"]).unwrap_err().to_string();
        assert!(error.starts_with("no archive is made for mips-unknown-none: expected x86_64"), "{error}");
    }

    #[test]
    fn folders_of_this_machine_are_remapped() {
        let flags = remapping("/somewhere/target").unwrap();
        assert_eq!(flags.last().unwrap(), "--remap-path-prefix=/somewhere/target=/target");
        let root = run::root();
        assert_eq!(flags[0], format!("--remap-path-prefix={}=/clockscope", root.display()));
    }
}
