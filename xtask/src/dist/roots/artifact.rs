//! Artifacts by the names of their files.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::run;

/// An archive, by its name: `clockscope-0.1.0-x86_64-unknown-linux-musl.tar.gz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Archive<'a> {
    pub(super) version: &'a str,
    pub(super) triple: &'a str,
    /// Name of the processor, as the triple calls it.
    pub(super) processor: &'static str,
}

impl<'a> Archive<'a> {
    pub(super) fn of(name: &'a str) -> Result<Self> {
        let stem = name.strip_suffix(".tar.gz").or_else(|| name.strip_suffix(".zip"));
        let stem = stem.and_then(|stem| stem.strip_prefix("clockscope-"));
        // A version may hold a hyphen.
        let found = stem.and_then(|stem| {
            let processors = ["x86_64", "aarch64"].into_iter();
            let mut places =
                processors.filter_map(|processor| Some((processor, stem.find(&format!("-{processor}-"))?)));
            let (processor, at) = places.next()?;
            // The library's archive has a word before its version.
            stem.starts_with(|first: char| first.is_ascii_digit()).then(|| Self {
                version: &stem[..at],
                triple: &stem[at + 1..],
                processor,
            })
        });
        found.with_context(|| format!("{name} is not an archive: expected clockscope-VERSION-TARGET.tar.gz or .zip"))
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
        let archive = Archive::of("clockscope-0.1.0-rc.1-aarch64-unknown-linux-musl.tar.gz").unwrap();
        let expected = Archive { version: "0.1.0-rc.1", triple: "aarch64-unknown-linux-musl", processor: "aarch64" };
        assert_eq!(archive, expected);
        assert!(Archive::of("clockscope-0.1.0-x86_64-pc-windows-gnu.zip").is_ok());
        for name in [
            "clockscope-0.1.0.tar.gz",
            "clock-0.1.0-x86_64-x.zip",
            "clockscope-0.1.0-x86_64-x.deb",
            "clockscope-c-0.1.0-x86_64-x.tar.gz",
        ] {
            assert!(Archive::of(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_program_of_another_version_or_target_is_refused() {
        let archive = Archive::of("clockscope-1.2.3-x86_64-x.tar.gz").unwrap();
        let sound = "clockscope 1.2.3\ncommit: c0ffee\ntarget: x86_64-x\n";
        assert!(archive.check_version(sound).is_ok());
        assert!(archive.check_version(&sound.replace("1.2.3", "1.2.4")).is_err());
        assert!(archive.check_version(&sound.replace("64-x", "64-y")).is_err());
        assert!(archive.check_version("").is_err());
    }
}
