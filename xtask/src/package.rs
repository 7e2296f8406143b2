//! Checks every published crate (its licenses, its README, and what crates.io and docs.rs show),
//! and builds the packages.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::run;

/// Files that every package holds.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// Files that are the same as the workspace's.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
/// Fields that are a text.
const TEXTS: [&str; 6] = ["description", "documentation", "license", "readme", "repository", "rust_version"];
/// Categories of crates.io that the crates use.
const CATEGORIES: [&str; 10] = [
    "command-line-utilities",
    "data-structures",
    "date-and-time",
    "development-tools::profiling",
    "hardware-support",
    "mathematics",
    "no-std",
    "os",
    "science",
    "visualization",
];
/// The limit of crates.io for keywords and for categories.
const MOST: usize = 5;
/// The limit of crates.io for a keyword's length.
const LONGEST_KEYWORD: usize = 20;
/// Crates that readers confuse, and the other one that the first lines of their pages name.
const PAIR: [(&str, &str); 2] = [("clockscope", "clockscope-cli"), ("clockscope-cli", "clockscope")];
/// Number of lines of a README that are its first ones: heading, empty line, and two of text.
const FIRST_LINES: usize = 4;
/// Number of lines of a README, at least and at most.
const README_LINES: std::ops::RangeInclusive<usize> = 10..=30;

/// Setting of debug information in the workspace's profile `dev`. Packages have no profiles: with
/// this one, crates of others are those that the tests have built.
const DEBUG: (&str, &str) = ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");

/// Checks every published crate, then packages it. Building the packages is
/// [`verify`]'s: it takes minutes, and this a second.
pub(crate) fn check() -> Result<()> {
    let metadata = metadata()?;
    let mut wrong = Vec::new();
    for package in published(&metadata) {
        let name = text(package, "name");
        let list = run::output("cargo", &["package", "--list", "--allow-dirty", "--package", name])?;
        wrong.extend(faults(package, &list));
        let manifest = Path::new(text(package, "manifest_path"));
        let folder = manifest.parent().with_context(|| format!("{name} has no folder"))?;
        wrong.extend(unlike_the_workspace(name, folder)?);
        let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        let lines = readme.lines().count();
        if !README_LINES.contains(&lines) {
            wrong.push(format!("{name}: README.md has {lines} lines, expected 10 to 30"));
        }
        wrong.extend(unmentioned_pair(name, &readme));
    }
    if !wrong.is_empty() {
        bail!("packages are incomplete:\n  {}", wrong.join("\n  "));
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
    if new.exists() {
        fs::remove_dir_all(&new).with_context(|| format!("cannot remove {}", new.display()))?;
    }
    let sources = Path::new("registry/src");
    fs::create_dir_all(new.join(sources)).with_context(|| format!("cannot create {}", new.display()))?;
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
    let metadata = run::output("cargo", &["metadata", "--format-version", "1", "--no-deps"])?;
    Ok(serde_json::from_str(&metadata)?)
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

/// Returns what a published package lacks, by its metadata and by the list of its files.
fn faults(package: &Value, list: &str) -> Vec<String> {
    let mut wrong: Vec<String> =
        TEXTS.iter().filter(|field| text(package, field).is_empty()).map(|field| format!("has no {field}")).collect();
    for file in FILES.iter().filter(|file| !list.lines().any(|line| line == **file)) {
        wrong.push(format!("its package has no {file}"));
    }
    let keywords = words(&package["keywords"]);
    if keywords.is_empty() || keywords.len() > MOST {
        wrong.push(format!("has {} keywords, expected 1 to {MOST}", keywords.len()));
    }
    for keyword in keywords.iter().filter(|keyword| !is_keyword(keyword)) {
        wrong.push(format!("has the keyword {keyword:?}, which crates.io does not accept"));
    }
    let categories = words(&package["categories"]);
    if categories.is_empty() || categories.len() > MOST {
        wrong.push(format!("has {} categories, expected 1 to {MOST}", categories.len()));
    }
    for category in categories.iter().filter(|category| !CATEGORIES.contains(category)) {
        wrong.push(format!("has the category {category:?}, which is not in the list of xtask/src/package.rs"));
    }
    let docs = &package["metadata"]["docs"]["rs"];
    if docs["all-features"] != true || words(&docs["targets"]).is_empty() {
        wrong.push("[package.metadata.docs.rs] does not set all-features and targets".to_owned());
    }
    // Its pages then name the feature that an item needs.
    if !package["features"]["std"].is_null() && !words(&docs["rustdoc-args"]).contains(&"docsrs") {
        wrong.push("[package.metadata.docs.rs] does not set rustdoc-args = [\"--cfg\", \"docsrs\"]".to_owned());
    }
    wrong.iter().map(|fault| format!("{}: {fault}", text(package, "name"))).collect()
}

/// Returns the texts of a list.
fn words(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns that the first lines of a README do not name the other crate of a pair.
fn unmentioned_pair(name: &str, readme: &str) -> Option<String> {
    let (_, other) = PAIR.iter().find(|(one, _)| *one == name)?;
    let first: Vec<&str> = readme.lines().take(FIRST_LINES).collect();
    let link = format!("[`{other}`](https://crates.io/crates/{other})");
    let is_named = first.join(" ").contains(&link);
    (!is_named).then(|| format!("{name}: the first {FIRST_LINES} lines of README.md lack {link}"))
}

/// Returns true if crates.io accepts a keyword.
fn is_keyword(word: &str) -> bool {
    word.len() <= LONGEST_KEYWORD
        && word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.chars().all(|each| each.is_ascii_alphanumeric() || "_-+".contains(each))
}

/// Returns the licenses in a crate's folder that differ from the workspace's, as links do that
/// became text files.
fn unlike_the_workspace(name: &str, folder: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for license in LICENSES {
        let expected = fs::read(license).with_context(|| format!("cannot read {license}"))?;
        if fs::read(folder.join(license)).ok() != Some(expected) {
            wrong.push(format!("{name}: {license} differs from the workspace's, expected a link to it"));
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COMPLETE: &str = "Cargo.toml\nLICENSE-APACHE\nLICENSE-MIT\nREADME.md\nsrc/lib.rs\n";

    fn complete() -> Value {
        json!({
            "name": "x", "description": "X.", "documentation": "https://docs.rs/x", "license": "MIT", "readme": "README.md",
            "repository": "https://example.org", "rust_version": "1.89", "keywords": ["clock"], "categories": ["os"],
            "metadata": { "docs": { "rs": { "all-features": true, "targets": ["x86_64-unknown-linux-gnu"] } } },
        })
    }

    #[test]
    fn every_planted_fault_is_found() {
        assert_eq!(faults(&complete(), COMPLETE), [""; 0]);
        for (field, value, expected) in [
            ("readme", Value::Null, "x: has no readme"),
            ("documentation", Value::Null, "x: has no documentation"),
            ("keywords", json!([]), "x: has 0 keywords, expected 1 to 5"),
            ("keywords", json!(["a", "b", "c", "d", "e", "f"]), "x: has 6 keywords, expected 1 to 5"),
            ("keywords", json!(["two words"]), "x: has the keyword \"two words\", which crates.io does not accept"),
            ("categories", json!([]), "x: has 0 categories, expected 1 to 5"),
            (
                "categories",
                json!(["clocks"]),
                "x: has the category \"clocks\", which is not in the list of xtask/src/package.rs",
            ),
            ("metadata", Value::Null, "x: [package.metadata.docs.rs] does not set all-features and targets"),
            (
                "features",
                json!({ "std": [] }),
                "x: [package.metadata.docs.rs] does not set rustdoc-args = [\"--cfg\", \"docsrs\"]",
            ),
        ] {
            let mut package = complete();
            package[field] = value;
            assert_eq!(faults(&package, COMPLETE), [expected]);
        }
        let unlicensed = COMPLETE.replace("LICENSE-MIT\n", "");
        assert_eq!(faults(&complete(), &unlicensed), ["x: its package has no LICENSE-MIT"]);
    }

    #[test]
    fn each_page_of_a_pair_names_the_other_crate_first() {
        let link = "[`clockscope-cli`](https://crates.io/crates/clockscope-cli)";
        assert_eq!(unmentioned_pair("clockscope", &format!("# x\n\nThe command is\n{link}.\n")), None);
        let late = unmentioned_pair("clockscope", &format!("# x\n\n\n\n{link}.\n")).unwrap();
        assert_eq!(late, format!("clockscope: the first 4 lines of README.md lack {link}"));
        assert_eq!(unmentioned_pair("clockscope-core", "# x\n"), None);
    }

    #[test]
    fn what_is_not_published_is_not_checked() {
        let metadata = json!({ "packages": [
            { "name": "open", "publish": null }, { "name": "closed", "publish": [] },
            { "name": "named", "publish": ["crates-io"] },
        ]});
        let names: Vec<&str> = published(&metadata).map(|package| text(package, "name")).collect();
        assert_eq!(names, ["open", "named"]);
    }

    #[test]
    fn a_license_that_is_no_link_is_found() {
        std::env::set_current_dir(run::root()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(unlike_the_workspace("x", folder.path()).unwrap().len(), 2);
        fs::copy("LICENSE-MIT", folder.path().join("LICENSE-MIT")).unwrap();
        fs::write(folder.path().join("LICENSE-APACHE"), "../../LICENSE-APACHE").unwrap();
        let wrong = unlike_the_workspace("x", folder.path()).unwrap();
        assert_eq!(wrong, ["x: LICENSE-APACHE differs from the workspace's, expected a link to it"]);
    }
}
