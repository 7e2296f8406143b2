//! Profiles: `dist` inherits the overrides of `release`, which build quickly and not well. Each has
//! one of its own.

use anyhow::{Context, Result};
use toml::Table;

/// Names the packages that a manifest overrides for `release` and not for `dist`.
pub(super) fn inherited_overrides(manifest: &str) -> Result<Vec<String>> {
    let manifest: Table = manifest.parse().context("Cargo.toml is not TOML")?;
    let mut inherited = Vec::new();
    for package in overrides(&manifest, "release").keys() {
        if !overrides(&manifest, "dist").contains_key(package) {
            inherited.push(format!("Cargo.toml: the profile dist has no override for {package}, and inherits one"));
        }
    }
    Ok(inherited)
}

fn overrides(manifest: &Table, profile: &str) -> Table {
    let packages = manifest.get("profile").and_then(|profiles| profiles.get(profile)?.get("package")?.as_table());
    packages.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inherited_override_is_found() {
        let manifest = "[profile.release.package.a]\nopt-level = 0\n[profile.release.package.b]\nopt-level = 0\n\
                        [profile.dist.package.a]\nopt-level = 3\n";
        let expected = "Cargo.toml: the profile dist has no override for b, and inherits one";
        assert_eq!(inherited_overrides(manifest).unwrap(), [expected]);
        assert!(inherited_overrides("[profile.dist]\n").unwrap().is_empty());
    }
}
