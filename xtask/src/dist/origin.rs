//! Origin of archives: a version, and a commit with its time.

use anyhow::{Result, bail};

use crate::run;

/// The sources of all archives of one run.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) version: String,
    pub(super) commit: String,
    /// The commit's time in seconds since 1970: SOURCE_DATE_EPOCH.
    pub(super) epoch: String,
    /// The same by RFC 3339, in UTC.
    pub(super) time: String,
}

impl Origin {
    /// Reads it of this clone, which must not differ from its commit: an archive of other sources
    /// could not be made again.
    pub(super) fn of_clone() -> Result<Self> {
        let changes = git(&["status", "--porcelain", "--untracked-files=normal"])?;
        if !changes.is_empty() {
            bail!(
                "the clone differs from its commit, and archives are made of commits: commit or remove these first\n{changes}"
            );
        }
        Self::of_commit()
    }

    /// Reads it of this clone, whatever was changed in it.
    pub(super) fn of_commit() -> Result<Self> {
        Ok(Self {
            // All members have the workspace's.
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: git(&["rev-parse", "HEAD"])?,
            epoch: git(&["log", "-1", "--format=%ct"])?,
            time: git(&["log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"])?,
        })
    }
}

impl Origin {
    /// The version as Debian orders it: a pre-release comes before its release.
    pub(super) fn debian_version(&self) -> String {
        self.version.replacen('-', "~", 1)
    }

    /// The version as Python's index writes it (PEP 440): `1.2.3-rc.4` is `1.2.3rc4` there.
    pub(super) fn python_version(&self) -> Result<String> {
        let Some((release, pre)) = self.version.split_once('-') else { return Ok(self.version.clone()) };
        let known = [("alpha.", "a"), ("beta.", "b"), ("rc.", "rc")].into_iter();
        let found =
            known.filter_map(|(word, short)| Some((short, pre.strip_prefix(word)?.parse::<u32>().ok()?))).next();
        let Some((short, number)) = found else {
            bail!("Python's index has no form for the version {}: expected -alpha.N, -beta.N or -rc.N", self.version);
        };
        Ok(format!("{release}{short}{number}"))
    }

    /// The commit's time as Debian writes it.
    pub(super) fn date(&self) -> Result<String> {
        Ok(run::output("date", &["--utc", "--rfc-email", "--date", &format!("@{}", self.epoch)])?.trim().to_owned())
    }
}

fn git(arguments: &[&str]) -> Result<String> {
    Ok(run::output_with(&[("TZ", "UTC")], "git", arguments)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pre_releases_are_ordered_before_their_release() {
        let origin = |version: &str| Origin {
            version: version.to_owned(),
            commit: String::new(),
            epoch: String::new(),
            time: String::new(),
        };
        assert_eq!(origin("1.2.3").debian_version(), "1.2.3");
        assert_eq!(origin("1.2.3").python_version().unwrap(), "1.2.3");
        assert_eq!(origin("1.2.3-rc.4").debian_version(), "1.2.3~rc.4");
        assert_eq!(origin("1.2.3-rc.4").python_version().unwrap(), "1.2.3rc4");
        assert_eq!(origin("1.2.3-beta.4").python_version().unwrap(), "1.2.3b4");
        let error = origin("1.2.3-next").python_version().unwrap_err().to_string();
        assert!(error.ends_with("1.2.3-next: expected -alpha.N, -beta.N or -rc.N"), "{error}");
    }
}
