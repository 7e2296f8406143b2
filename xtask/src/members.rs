//! Members of the workspace that `cargo test` leaves out: those that are not default members.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::package;
use crate::tally::Tally;

/// Runs their tests by `cargo test` with these variables and arguments.
pub(crate) fn test_others(tally: &mut Tally, variables: &[(&str, &str)], arguments: &[&str]) -> Result<()> {
    let metadata = package::metadata()?;
    let mut all = vec!["--workspace"];
    for name in defaults(&metadata)? {
        all.extend(["--exclude", name]);
    }
    all.extend(arguments);
    tally.cargo_test(variables, &all)
}

/// Returns the names of the default members, by the metadata of the workspace.
fn defaults(metadata: &Value) -> Result<Vec<&str>> {
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let ids: Vec<&Value> = metadata["workspace_default_members"].as_array().into_iter().flatten().collect();
    let defaults: Vec<&str> =
        packages.iter().filter(|package| ids.contains(&&package["id"])).filter_map(|it| it["name"].as_str()).collect();
    if defaults.is_empty() || defaults.len() == packages.len() {
        bail!("{} of {} members are default members: expected some", defaults.len(), packages.len());
    }
    Ok(defaults)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn default_members_are_found_by_their_ids() {
        let packages = json!([{ "id": "p#1", "name": "one" }, { "id": "p#2", "name": "two" }]);
        let some = json!({ "packages": packages, "workspace_default_members": ["p#2"] });
        assert_eq!(defaults(&some).unwrap(), ["two"]);
        let all = json!({ "packages": packages, "workspace_default_members": ["p#1", "p#2"] });
        let error = defaults(&all).unwrap_err().to_string();
        assert_eq!(error, "2 of 2 members are default members: expected some");
    }
}
