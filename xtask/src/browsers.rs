//! Pages of `--format html` in real browsers: no message, no request, no axe-core violation, with
//! and without script, from 360 to 1920 pixels, light, dark and printed.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde_json::Value;

use crate::needs::{self, Need};
use crate::{docs, run};

const FIXTURES: &str = "crates/clockscope-report/tests/fixtures";
const NEEDS: [Need; 3] =
    [Need::program("node", "nodejs"), Need::program("npm", "npm"), Need::program("chromium", "chromium")];
/// A text that would be markup, a script, or the end of what it is in.
const HOSTILE: &str = "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x'";

/// The pages that a check opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Two recorded documents, a hostile one, all three on one page, and each eighth page of the
    /// documentation.
    Some,
    All,
}

/// A browser that pages are checked in.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Browser {
    Chromium,
    Firefox,
}

impl Browser {
    /// Its name for pages.mjs.
    const fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
        }
    }
}

impl Extent {
    /// Its name for site.mjs.
    const fn name(self) -> &'static str {
        match self {
            Self::Some => "some",
            Self::All => "all",
        }
    }
}

/// Records of [`Extent::Some`]: charts, tables with known and unknown cells, and names that are
/// markup.
const SOME_RECORDS: [&str; 3] = ["check", "healthy", "hostile-healthy"];

/// Checks the pages and the documentation's site in Chromium.
pub(crate) fn check(extent: Extent) -> Result<()> {
    needs::require("checks of pages", &NEEDS)?;
    check_pages(Browser::Chromium, "chromium", extent)?;
    let site = docs::site::build()?;
    let program = run::output("which", &["chromium"])?;
    let (packages, site) = (run::built("browsers/packages"), site.to_string_lossy().into_owned());
    run::with(&[], "node", &["xtask/browser/site.mjs", &packages, program.trim(), &site, extent.name()])
}

/// Checks all pages in a browser, by its program.
pub(crate) fn in_browser(browser: Browser, program: &str) -> Result<()> {
    check_pages(browser, program, Extent::All)
}

fn check_pages(browser: Browser, program: &str, extent: Extent) -> Result<()> {
    let program = run::output("which", &[program]).with_context(|| format!("{program} is missing"))?;
    let packages = run::built("browsers/packages");
    run::with(&[], "xtask/fetch-browsers.sh", &[&packages])?;
    let pages = pages(extent)?;
    let pages: Vec<&str> = pages.iter().filter_map(|page| page.to_str()).collect();
    let arguments = ["xtask/browser/pages.mjs", &packages, browser.name(), program.trim()];
    run::with(&[], "node", &[&arguments[..], &pages].concat())
}

/// Renders recorded documents and hostile ones, each on a page, and all of them on one.
fn pages(extent: Extent) -> Result<Vec<PathBuf>> {
    let folder = PathBuf::from(run::built("browsers/pages"));
    fs::create_dir_all(&folder)?;
    let program = run::debug_command()?;
    let mut records: Vec<PathBuf> = fs::read_dir(FIXTURES)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    records.sort();
    for fixture in ["healthy", "steps", "compare"] {
        let hostile = folder.join(format!("hostile-{fixture}.json"));
        let mut record: Value = serde_json::from_str(&fs::read_to_string(format!("{FIXTURES}/{fixture}.json"))?)?;
        spoil(&mut record);
        fs::write(&hostile, record.to_string())?;
        records.push(hostile);
    }
    if extent == Extent::Some {
        records.retain(|record| SOME_RECORDS.iter().any(|name| record.file_stem().is_some_and(|stem| stem == *name)));
        if records.len() != SOME_RECORDS.len() {
            bail!("expected records named {}; there are {records:?}", SOME_RECORDS.join(", "));
        }
    }
    let render = |name: &str, records: &[&PathBuf]| -> Result<PathBuf> {
        let page = folder.join(name).with_extension("html");
        let records = records.iter().filter_map(|record| record.to_str());
        let arguments: Vec<&str> = ["report", "--format", "html", "--output", page.to_str().context("a path")?]
            .into_iter()
            .chain(records)
            .collect();
        run::with(&[], &program, &arguments)?;
        Ok(page)
    };
    let name =
        |record: &PathBuf| record.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut pages: Vec<PathBuf> =
        records.iter().map(|record| render(&name(record), &[record])).collect::<Result<_>>()?;
    pages.push(render("all", &records.iter().collect::<Vec<_>>())?);
    Ok(pages)
}

/// Replaces names and reasons.
fn spoil(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if ["name", "model", "reason", "description"].contains(&key.as_str()) => {
                        *text = format!("{text} {HOSTILE} {}", "x".repeat(2000));
                    }
                    value => spoil(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(spoil),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spoiled_wherever_they_are() {
        let mut value = serde_json::json!({ "clocks": [{ "name": "tsc", "kind": "counter" }] });
        spoil(&mut value);
        assert!(value["clocks"][0]["name"].as_str().is_some_and(|name| name.contains(HOSTILE)));
        assert_eq!(value["clocks"][0]["kind"], "counter");
    }
}
