//! Packages of the published crates.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::{folder, run};

/// Files that every package holds.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// Setting of debug information in the workspace's profile `dev`. Packages have no profiles: with
/// this one, crates of others are those that the tests have built.
const DEBUG: (&str, &str) = ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");

/// Packages every published crate, with its licenses and its README. Building the packages is
/// [`verify`]'s: it takes minutes, and this a second.
pub(crate) fn check() -> Result<()> {
    let metadata = metadata()?;
    for package in published(&metadata) {
        let name = text(package, "name");
        let list = run::output("cargo", &["package", "--list", "--allow-dirty", "--package", name])?;
        if let Some(file) = FILES.iter().find(|file| !list.lines().any(|line| line == **file)) {
            bail!("the package {name} has no {file}");
        }
    }
    let arguments = [vec!["package", "--no-verify", "--allow-dirty"], named(&metadata)].concat();
    // Without the registry's index where the cache has every dependency: 1 s instead of 10.
    let packaged = run::output("cargo", &[&arguments[..], &["--offline"]].concat());
    packaged.or_else(|_| run::output("cargo", &arguments)).map(drop)
}

/// Arguments of cargo that name the published packages.
fn named(metadata: &Value) -> Vec<&str> {
    published(metadata).flat_map(|package| ["--package", text(package, "name")]).collect()
}

/// Runs `cargo publish --dry-run`: builds each package from its packaged files and from the other
/// packages, without the upload. cargo 1.90 is the first that publishes a workspace.
pub(crate) fn verify() -> Result<()> {
    let home = fresh_home()?;
    let arguments = ["publish", "--workspace", "--dry-run", "--locked", "--allow-dirty"];
    run::output_with(&[DEBUG, ("CARGO_HOME", &home)], "cargo", &arguments).map(drop)
}

/// Makes a home of cargo that holds what the present one holds but for unpacked packages of this
/// workspace, and returns its path. Cargo unpacks these once for each version: in its usual home, a
/// second run at the same place would build what the first one packaged.
fn fresh_home() -> Result<String> {
    let old = present_home()?;
    let new = std::path::absolute(run::built("package-home"))?;
    folder::remove(&new)?;
    let sources = Path::new("registry/src");
    folder::empty(new.join(sources))?;
    for file in ["config.toml", "credentials.toml", "registry/index", "registry/cache"] {
        link(&old, &new, Path::new(file))?;
    }
    for registry in fs::read_dir(old.join(sources)).into_iter().flatten().flatten() {
        let name = registry.file_name();
        // A registry of the network is named by its host, one of packages in a folder by nothing.
        if !name.as_encoded_bytes().starts_with(b"-") {
            link(&old, &new, &sources.join(name))?;
        }
    }
    new.into_os_string().into_string().map_err(|path| anyhow!("{} is not UTF-8", path.display()))
}

/// Returns where cargo keeps what it downloads: CARGO_HOME, or `.cargo` in the user's home.
fn present_home() -> Result<PathBuf> {
    let set = env::var_os("CARGO_HOME").map(PathBuf::from);
    set.or_else(|| Some(env::home_dir()?.join(".cargo"))).context("this user has no home: set CARGO_HOME")
}

/// Links a file of one folder in another one, if it is there.
fn link(from: &Path, to: &Path, file: &Path) -> Result<()> {
    let target = from.join(file);
    if !target.exists() {
        return Ok(());
    }
    symlink(&target, to.join(file)).with_context(|| format!("cannot link {}", target.display()))
}

/// Returns what cargo states of the workspace and its members.
pub(crate) fn metadata() -> Result<Value> {
    run::document("cargo", &["metadata", "--format-version", "1", "--no-deps"])
}

/// Returns the packages that may be published.
fn published(metadata: &Value) -> impl Iterator<Item = &Value> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // An empty list of registries is `publish = false`.
    packages.filter(|package| package["publish"].as_array().is_none_or(|registries| !registries.is_empty()))
}

/// Returns a field of a package, empty if it has none.
fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_published_is_not_checked() {
        let metadata = json!({ "packages": [
            { "name": "open", "publish": null }, { "name": "closed", "publish": [] },
            { "name": "named", "publish": ["crates-io"] },
        ]});
        let names: Vec<&str> = published(&metadata).map(|package| text(package, "name")).collect();
        assert_eq!(names, ["open", "named"]);
    }
}
