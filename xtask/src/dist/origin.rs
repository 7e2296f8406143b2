//! Origin of archives: a version, and a commit with its time.

use anyhow::{Result, bail};
use serde_json::Value;

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
        let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
        if !changes.is_empty() {
            bail!("the clone differs from its commit, and archives are made of commits: commit these first\n{changes}");
        }
        let metadata = run::output("cargo", &["metadata", "--format-version", "1", "--no-deps"])?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let command = packages.find(|package| package["name"] == "clockscope-cli");
        let Some(version) = command.and_then(|command| command["version"].as_str()) else {
            bail!("cargo metadata names no package clockscope-cli");
        };
        Ok(Self {
            version: version.to_owned(),
            commit: git(&["rev-parse", "HEAD"])?,
            epoch: git(&["log", "-1", "--format=%ct"])?,
            time: git(&["log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"])?,
        })
    }
}

impl Origin {
    /// The commit's time as Debian writes it.
    pub(super) fn date(&self) -> Result<String> {
        Ok(run::output("date", &["--utc", "--rfc-email", "--date", &format!("@{}", self.epoch)])?.trim().to_owned())
    }
}

fn git(arguments: &[&str]) -> Result<String> {
    Ok(run::output_with(&[("TZ", "UTC")], "git", arguments)?.trim().to_owned())
}
