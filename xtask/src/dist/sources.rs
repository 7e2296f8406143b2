//! Clones of which releases are built.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::origin::Origin;
use crate::folder::text;
use crate::run;

/// A clone, and the folder into which it is built.
#[derive(Debug)]
pub(super) struct Sources {
    root: PathBuf,
    folder: PathBuf,
}

impl Sources {
    /// This clone.
    pub(super) fn here() -> Result<Self> {
        Ok(Self { root: run::root(), folder: std::path::absolute(run::built("dist-build"))? })
    }

    /// The clone in a folder, which has an absolute path.
    pub(super) fn in_folder(root: &Path) -> Self {
        Self { root: root.to_owned(), folder: root.join("target") }
    }

    /// Folder into which it is built.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of what was built for a target.
    pub(super) fn built_for(&self, target: &str) -> PathBuf {
        self.folder.join(target).join(run::DIST_PROFILE)
    }

    /// Builds something of a release, so that it does not depend on the clone's folder.
    pub(super) fn build(&self, origin: &Origin, flags: &[String], arguments: &[&str]) -> Result<()> {
        let flags = [self.remapping()?, flags.to_vec()].concat().join("\u{1f}");
        let manifest = self.root.join("Cargo.toml");
        let variables = [
            ("CARGO_TARGET_DIR", text(&self.folder)?),
            ("CARGO_ENCODED_RUSTFLAGS", &flags),
            // A build in steps differs from one at once.
            ("CARGO_INCREMENTAL", "0"),
            ("SOURCE_DATE_EPOCH", &origin.epoch),
            ("CLOCKSCOPE_COMMIT", &origin.commit),
        ];
        let common =
            ["build", "--profile", run::DIST_PROFILE, "--quiet", "--locked", "--manifest-path", text(&manifest)?];
        run::with(&variables, "cargo", &[&common, arguments].concat())
    }

    /// Returns the compiler's flags that take this machine's folders out of the program.
    pub(super) fn remapping(&self) -> Result<Vec<String>> {
        let home = std::env::var("HOME").unwrap_or_default();
        let cargo_home = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
        // The last one that fits counts, and the target folder may be in the clone.
        let folders = [(text(&self.root)?, "/clockscope"), (&cargo_home, "/cargo"), (text(&self.folder)?, "/target")];
        Ok(folders.map(|(from, to)| format!("--remap-path-prefix={from}={to}")).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_are_remapped() {
        let flags = Sources::in_folder(Path::new("/a/clone")).remapping().unwrap();
        assert_eq!(flags.first().unwrap(), "--remap-path-prefix=/a/clone=/clockscope");
        assert_eq!(flags.last().unwrap(), "--remap-path-prefix=/a/clone/target=/target");
    }
}
