//! The command and the C library for Windows: built by MinGW. Their tests run them by Wine.

use anyhow::Result;

use super::{compiler, emulated};
use crate::tally::Tally;
use crate::{cross, needs, run};

pub(super) const TARGET: &str = "x86_64-pc-windows-gnu";

/// Folder in which they are built: in the profile that the library's tests are built in, which
/// shares the standard library with them.
fn folder() -> Result<String> {
    let folder = std::path::absolute(format!("{}/{TARGET}/debug", compiler::FOLDER))?;
    Ok(folder.to_string_lossy().into_owned())
}

/// Builds the command, and prints the executable's path as the last line.
pub(crate) fn print_path() -> Result<()> {
    needs::require("programs for Windows", &[emulated::WINDOWS.needs, cross::COMPILER].join(" "))?;
    build("clockscope-cli")?;
    println!("{}/clockscope.exe", folder()?);
    Ok(())
}

/// Builds a package, but not its tests.
fn build(package: &str) -> Result<()> {
    emulated::WINDOWS.complete(&folder()?)?;
    let own = emulated::WINDOWS.variables(TARGET);
    let variables: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let arguments = ["build", "--quiet", "--package", package, "--target", TARGET, cross::BUILD_STD];
    run::with(&variables, "cargo", &arguments)
}

/// Has the command answer its questions, and programs in C use the library, by its DLL and
/// statically.
pub(super) fn check(tally: &mut Tally) -> Result<()> {
    build("clockscope-cli")?;
    build("clockscope-capi")?;
    let folder = folder()?;
    let built = [("CLOCKSCOPE_WINDOWS", folder.as_str())];
    tally.cargo_test(&built, &["--test", "wine", "--", "--ignored"])?;
    tally.cargo_test(&built, &["--package", "clockscope-capi", "--test", "c", "--", "--ignored", "under_wine"])
}
