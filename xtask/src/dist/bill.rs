//! The bill of materials: every crate that is in a program, as CycloneDX.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::origin::Origin;
use super::target::Target;
use crate::run;

/// The version of the format.
const SPECIFICATION: &str = "1.5";

/// Returns the bill of a target's program.
pub(super) fn make(target: &Target, origin: &Origin) -> Result<String> {
    // Without procedural macros, which run in the compiler alone. `cargo metadata` would have the
    // features of the whole workspace.
    let what = ["tree", "--locked", "--package", "clockscope-cli", "--edges", "normal,no-proc-macro"];
    let how = ["--target", target.triple, "--prefix", "none", "--format", "{p}|{l}"];
    let tree = run::output("cargo", &[&what[..], &how].concat())?;
    let lock = fs::read_to_string("Cargo.lock").context("cannot read Cargo.lock")?;
    let compiler = run::output("rustc", &["--version"])?;
    let bill = bill(&crates(&tree)?, &checksums(&lock)?, target.triple, compiler.trim(), origin)?;
    Ok(format!("{}\n", serde_json::to_string_pretty(&bill)?))
}

/// A crate in the program: name, version, license expression.
type Crate = (String, String, String);

/// Reads the lines of `cargo tree`: `NAME vVERSION [(PATH)]|LICENSE [(*)]`.
fn crates(tree: &str) -> Result<BTreeSet<Crate>> {
    tree.lines().map(|line| one(line).with_context(|| format!("cargo tree printed {line:?}"))).collect()
}

fn one(line: &str) -> Option<Crate> {
    let (package, license) = line.split_once('|')?;
    let mut words = package.split_whitespace();
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    let license = license.trim_end_matches("(*)").trim();
    Some((name.to_owned(), version.to_owned(), license.replace('/', " OR ")))
}

/// Returns the checksums of Cargo.lock by name and version. Crates of the workspace have none.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>> {
    let lock: toml::Table = lock.parse().context("Cargo.lock is not TOML")?;
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let one =
        |package: &toml::Value| Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?));
    Ok(packages.filter_map(one).collect())
}

fn bill(
    crates: &BTreeSet<Crate>,
    checksums: &BTreeMap<(String, String), String>,
    triple: &str,
    compiler: &str,
    origin: &Origin,
) -> Result<Value> {
    let is_command = |(name, ..): &&Crate| name == "clockscope-cli";
    ensure!(crates.iter().any(|one| is_command(&one)), "cargo tree does not name clockscope-cli");
    let components = |kind: &'static str| {
        move |(name, version, license): &Crate| {
            let purl = format!("pkg:cargo/{name}@{version}");
            let mut component = json!({
                "type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl,
                "licenses": [{ "expression": license }],
            });
            if let Some(sum) = checksums.get(&(name.clone(), version.clone())) {
                component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
            }
            component
        }
    };
    let command: Vec<Value> = crates.iter().filter(is_command).map(components("application")).collect();
    let libraries: Vec<Value> = crates.iter().filter(|one| !is_command(one)).map(components("library")).collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {
            "timestamp": origin.time,
            "component": command[0],
            "properties": [
                { "name": "clockscope:commit", "value": origin.commit },
                { "name": "clockscope:target", "value": triple },
                { "name": "clockscope:compiler", "value": compiler },
            ],
        },
        "components": libraries,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "clockscope-cli v0.1.0 (/x/crates/clockscope-cli)|MIT OR Apache-2.0\n\
                        csv v1.4.0|Unlicense/MIT\nanyhow v1.0.1|MIT OR Apache-2.0\nanyhow v1.0.1|MIT OR Apache-2.0 (*)\n";
    const LOCK: &str = "[[package]]\nname = \"csv\"\nversion = \"1.4.0\"\nchecksum = \"aa55\"\n\
                        [[package]]\nname = \"clockscope-cli\"\nversion = \"0.1.0\"\n";

    fn origin() -> Origin {
        let text = str::to_owned;
        Origin { version: text("0.1.0"), commit: text("c0ffee"), epoch: text("0"), time: text("1970-01-01T00:00:00Z") }
    }

    #[test]
    fn a_bill_has_each_crate_once_with_license_and_checksum() {
        let bill = bill(&crates(TREE).unwrap(), &checksums(LOCK).unwrap(), "t", "rustc 1", &origin()).unwrap();
        assert_eq!(bill["metadata"]["component"]["purl"], "pkg:cargo/clockscope-cli@0.1.0");
        assert_eq!(bill["metadata"]["component"]["hashes"], Value::Null);
        let components = bill["components"].as_array().unwrap();
        let names: Vec<&str> = components.iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, ["anyhow", "csv"]);
        assert_eq!(components[1]["licenses"], json!([{ "expression": "Unlicense OR MIT" }]));
        assert_eq!(components[1]["hashes"], json!([{ "alg": "SHA-256", "content": "aa55" }]));
    }

    #[test]
    fn a_tree_of_another_form_is_refused() {
        assert_eq!(crates("csv 1.4.0|MIT").unwrap_err().to_string(), "cargo tree printed \"csv 1.4.0|MIT\"");
        let other = crates("csv v1.4.0|MIT").unwrap();
        assert!(bill(&other, &BTreeMap::new(), "t", "rustc 1", &origin()).is_err());
    }
}
