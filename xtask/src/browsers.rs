//! Pages of `--format html` in real browsers: no message, no request, no axe-core violation, with
//! and without script, from 360 to 1920 pixels, light, dark and printed. The programs of
//! xtask/browser check them.

use anyhow::{Context, Result};

use crate::{docs, needs, run};

/// Two recorded documents, a hostile one, all three on one page, and each eighth page of the
/// documentation.
pub(crate) const SOME: &str = "some";
pub(crate) const ALL: &str = "all";

/// Checks the pages and the documentation's site in Chromium.
pub(crate) fn check(extent: &str) -> Result<()> {
    needs::require("checks of pages", "node npm chromium")?;
    check_pages("chromium", "chromium", extent)?;
    let site = docs::site::build()?.to_string_lossy().into_owned();
    let program = run::output("which", &["chromium"])?;
    run::with(&[], "node", &["xtask/browser/site.mjs", &run::built(PACKAGES), program.trim(), &site, extent])
}

/// The folder of the packages, below what cargo builds.
const PACKAGES: &str = "browsers/packages";

/// Checks pages in a browser, by its name and its program.
pub(crate) fn check_pages(browser: &str, program: &str, extent: &str) -> Result<()> {
    let program = run::output("which", &[program]).with_context(|| format!("{program} is missing"))?;
    let packages = run::built(PACKAGES);
    run::with(&[], "xtask/fetch-browsers.sh", &[&packages])?;
    let arguments = ["xtask/browser/pages.mjs", &packages, browser, program.trim(), extent, &run::debug_command()?];
    run::with(&[], "node", &arguments)
}
