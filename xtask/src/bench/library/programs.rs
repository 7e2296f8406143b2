//! Programs of the bench, and the `name value` lines that they print.

use anyhow::{Context, Result};

use super::super::{CPU, Values};
use crate::run;

/// Folder into which the programs of bench/peers are built.
pub(super) fn folder() -> String {
    run::built("peers")
}

/// Path of one of them.
pub(super) fn program(name: &str) -> String {
    format!("{}/release/{name}", folder())
}

/// Values that a program printed as `name value` lines, pinned to the CPU of the comparison.
pub(super) fn pinned(name: &str, arguments: &[&str]) -> Result<Values> {
    pinned_command(&[&[&*program(name)], arguments].concat())
}

/// The same of another program.
pub(super) fn pinned_command(words: &[&str]) -> Result<Values> {
    values(&run::output("taskset", &[&["--cpu-list", &CPU], words].concat())?)
}

/// `name value` lines.
pub(super) fn values(output: &str) -> Result<Values> {
    output
        .lines()
        .map(|line| {
            let (name, value) = line.split_once(' ').context("a line without a value")?;
            Ok((name.to_owned(), value.parse()?))
        })
        .collect()
}
