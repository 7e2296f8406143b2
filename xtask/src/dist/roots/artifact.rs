//! Artifacts by the names of their files.

use std::path::Path;

use anyhow::{Context, Result, bail};
use regex::Regex;

use crate::run;

/// An archive, by its name: `clockscope-0.1.0-x86_64-unknown-linux-musl.tar.gz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Archive<'a> {
    pub(super) version: &'a str,
    pub(super) triple: &'a str,
    /// Name of the processor, as the triple calls it.
    pub(super) processor: &'a str,
}

impl<'a> Archive<'a> {
    pub(super) fn from_name(name: &'a str) -> Result<Self> {
        // A version may hold a hyphen. The library's archive has a word before its version.
        let pattern = Regex::new(r"^clockscope-([0-9].*?)-((x86_64|aarch64)-.*)\.(?:tar\.gz|zip)$")?;
        let found = pattern.captures(name);
        let found = found
            .with_context(|| format!("{name} is not an archive: expected clockscope-VERSION-TARGET.tar.gz or .zip"))?;
        let (_, [version, triple, processor]) = found.extract();
        Ok(Self { version, triple, processor })
    }

    /// Returns true if this machine's processor runs its program.
    pub(super) fn runs_here(&self) -> bool {
        self.processor == std::env::consts::ARCH
    }

    /// Checks what the program says of itself.
    pub(super) fn check_version(&self, printed: &str) -> Result<()> {
        let (first, last) = (format!("clockscope {}", self.version), format!("target: {}", self.triple));
        let lines: Vec<&str> = printed.lines().collect();
        if lines.first() != Some(&first.as_str()) || lines.last() != Some(&last.as_str()) {
            bail!("--version --verbose prints\n{printed}expected {first} and {last}");
        }
        Ok(())
    }
}

/// Unpacks a .tar.gz without its outermost folder.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let [archive, folder] = [archive, folder].map(|path| path.to_string_lossy());
    run::with(&[], "tar", &["--extract", "--file", &archive, "--directory", &folder, "--strip-components=1"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_known_by_its_name() {
        let archive = Archive::from_name("clockscope-0.1.0-rc.1-aarch64-unknown-linux-musl.tar.gz").unwrap();
        let expected = Archive { version: "0.1.0-rc.1", triple: "aarch64-unknown-linux-musl", processor: "aarch64" };
        assert_eq!(archive, expected);
        assert!(Archive::from_name("clockscope-0.1.0-x86_64-pc-windows-gnu.zip").is_ok());
        for name in [
            "clockscope-0.1.0.tar.gz",
            "clock-0.1.0-x86_64-x.zip",
            "clockscope-0.1.0-x86_64-x.deb",
            "clockscope-c-0.1.0-x86_64-x.tar.gz",
        ] {
            assert!(Archive::from_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_program_of_another_version_or_target_is_refused() {
        let archive = Archive::from_name("clockscope-1.2.3-x86_64-x.tar.gz").unwrap();
        let sound = "clockscope 1.2.3\ncommit: c0ffee\ntarget: x86_64-x\n";
        assert!(archive.check_version(sound).is_ok());
        assert!(archive.check_version(&sound.replace("1.2.3", "1.2.4")).is_err());
        assert!(archive.check_version(&sound.replace("64-x", "64-y")).is_err());
        assert!(archive.check_version("").is_err());
    }
}
