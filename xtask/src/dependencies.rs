//! Other people's crates, against the tables of deny.toml: licenses, sources, and crates of several
//! versions. `cargo deny` checks the same and more; this check needs nothing but cargo.

mod license;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run;

/// Has what is allowed.
const RULES: &str = "deny.toml";

/// Checks every crate of Cargo.lock.
pub(crate) fn check() -> Result<()> {
    let rules = fs::read_to_string(RULES).with_context(|| format!("cannot read {RULES}"))?;
    let rules = Rules::parse(&rules)?;
    let found = metadata("Cargo.toml")?;
    // A workspace of its own: nothing else looks at its lock file before its long build.
    metadata("fuzz/Cargo.toml")?;
    let wrong = rules.broken_by(&crates(&serde_json::from_str(&found)?));
    if wrong.is_empty() { Ok(()) } else { bail!("{RULES} does not allow:\n  {}", wrong.join("\n  ")) }
}

/// Returns what cargo knows of a workspace.
///
/// # Errors
/// Its lock file is not up to date.
fn metadata(manifest: &str) -> Result<String> {
    run::output("cargo", &["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest])
        .with_context(|| format!("{manifest}: `cargo metadata --manifest-path {manifest}` updates its lock file"))
}

/// A crate of Cargo.lock.
#[derive(Clone, Debug)]
struct Package {
    name: String,
    version: String,
    /// Its license expression, where it has one.
    license: Option<String>,
    /// Where it is from; nothing for crates of this workspace.
    source: Option<String>,
}

/// Returns all crates that cargo knows of.
fn crates(metadata: &Value) -> Vec<Package> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let package = |package: &Value| {
        let (name, version) = (text(&package["name"])?, text(&package["version"])?);
        Some(Package { name, version, license: text(&package["license"]), source: text(&package["source"]) })
    };
    packages.filter_map(package).collect()
}

/// What deny.toml allows.
#[derive(Debug)]
struct Rules {
    licenses: Vec<String>,
    /// Index addresses of registries.
    registries: Vec<String>,
    /// `name@version` of crates that may be there beside another version.
    skipped: Vec<String>,
}

impl Rules {
    fn parse(text: &str) -> Result<Self> {
        let table: toml::Table = text.parse().with_context(|| format!("{RULES} is not TOML"))?;
        let list = |section: &str, key: &str| {
            let found = table.get(section).and_then(|section| section.get(key)).and_then(toml::Value::as_array);
            found.with_context(|| format!("{RULES} has no list {section}.{key}"))
        };
        let words = |list: &[toml::Value]| list.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect();
        let skipped = list("bans", "skip")?.iter();
        Ok(Self {
            licenses: words(list("licenses", "allow")?),
            registries: words(list("sources", "allow-registry")?),
            skipped: skipped.filter_map(|skip| Some(skip.get("crate")?.as_str()?.to_owned())).collect(),
        })
    }

    /// Returns what the crates break.
    fn broken_by(&self, packages: &[Package]) -> Vec<String> {
        let mut wrong: Vec<String> = packages.iter().flat_map(|package| self.faults(package)).collect();
        wrong.extend(self.repeated(packages));
        wrong
    }

    /// Returns what is wrong with one crate.
    fn faults(&self, package: &Package) -> Vec<String> {
        let shown = format!("{}@{}", package.name, package.version);
        let mut wrong = Vec::new();
        match &package.license {
            None => wrong.push(format!("{shown}: it states no license expression")),
            Some(expression) if !license::is_allowed(expression, &self.licenses) => {
                wrong.push(format!("{shown}: the license {expression}"));
            }
            Some(_) => {}
        }
        let is_known = |source: &String| self.registries.iter().any(|known| *source == format!("registry+{known}"));
        if let Some(source) = package.source.as_ref().filter(|source| !is_known(source)) {
            wrong.push(format!("{shown}: the source {source}"));
        }
        wrong
    }

    /// Returns crates of several versions that are not skipped, and skips of crates that are not
    /// there.
    fn repeated(&self, packages: &[Package]) -> Vec<String> {
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for package in packages {
            versions.entry(&package.name).or_default().push(&package.version);
        }
        let is_skipped = |name: &str, version: &str| self.skipped.contains(&format!("{name}@{version}"));
        let left = |(name, all): (&&str, &Vec<&str>)| {
            let left: Vec<&str> = all.iter().copied().filter(|version| !is_skipped(name, version)).collect();
            (left.len() > 1).then(|| format!("{name}: the versions {}", left.join(" and ")))
        };
        let is_there = |skip: &&String| packages.iter().any(|each| **skip == format!("{}@{}", each.name, each.version));
        let gone = self.skipped.iter().filter(|skip| !is_there(skip));
        let gone = gone.map(|skip| format!("a skip of {skip}, which is not in Cargo.lock: remove the line"));
        versions.iter().filter_map(left).chain(gone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_allowed() {
        std::env::set_current_dir(run::root()).unwrap();
        check().unwrap();
    }

    fn rules() -> Rules {
        let text = r#"
            licenses.allow = ["MIT"]
            bans.skip = [{ crate = "old@1.0.0", reason = "tests" }]
            sources.allow-registry = ["https://index.example"]
        "#;
        Rules::parse(text).unwrap()
    }

    fn package(name: &str, version: &str) -> Package {
        let source = Some("registry+https://index.example".to_owned());
        Package { name: name.to_owned(), version: version.to_owned(), license: Some("MIT".to_owned()), source }
    }

    #[test]
    fn every_planted_fault_is_found() {
        let sound = [package("old", "1.0.0"), package("old", "2.0.0"), package("one", "1.0.0")];
        assert_eq!(rules().broken_by(&sound), [""; 0]);
        for (planted, expected) in [
            (Package { license: Some("GPL-3.0".to_owned()), ..package("x", "1.0.0") }, "x@1.0.0: the license GPL-3.0"),
            (Package { license: None, ..package("x", "1.0.0") }, "x@1.0.0: it states no license expression"),
            (Package { source: Some("git+x".to_owned()), ..package("x", "1.0.0") }, "x@1.0.0: the source git+x"),
            (package("one", "1.1.0"), "one: the versions 1.0.0 and 1.1.0"),
        ] {
            assert_eq!(rules().broken_by(&[&sound[..], &[planted]].concat()), [expected]);
        }
        let gone = "a skip of old@1.0.0, which is not in Cargo.lock: remove the line";
        assert_eq!(rules().broken_by(&sound[1..]), [gone]);
        // A crate of this workspace has no source.
        assert_eq!(rules().faults(&Package { source: None, ..package("own", "1.0.0") }), [""; 0]);
    }

    #[test]
    fn rules_that_lack_a_list_are_refused() {
        let error = Rules::parse("licenses.allow = []").unwrap_err();
        assert_eq!(error.to_string(), "deny.toml has no list bans.skip");
    }
}
