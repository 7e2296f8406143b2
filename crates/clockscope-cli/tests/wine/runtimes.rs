//! `clockscope runtimes` under Wine, with a program that stands for a runtime: its readings become
//! a row, it is ended when its time is over, and nothing of it stays.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::program::Wine;

/// The name that the runtime's program has among processes.
const NAME: &str = "clockscope-runtime";
/// Time for which processes that were ended may be seen.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn check(wine: &Wine) -> Result<()> {
    let program = wine.program("runtime.c", NAME)?;
    let python = format!("python={program}");
    let of = |more: &[&str]| -> Result<Value> {
        let document = wine.document(&[&["runtimes", "python", "--runtime", &python], more].concat())?;
        nothing_is_left()?;
        Ok(document["runtimes"].clone())
    };
    let rows = of(&["--duration", "100ms"])?;
    ensure!(rows.as_array().is_some_and(|rows| rows.len() == 1), "runtimes: one row was expected: {rows}");
    is_measured(&rows[0])?;
    // The program has printed all, and does not end. On a busy machine it may need longer to print.
    let ended = |timeout| of(&["--duration", "50ms", "--timeout", timeout]);
    let rows = ended("5s").or_else(|_| ended("60s"))?;
    ensure!(rows.as_array().is_some_and(|rows| rows.len() == 2), "runtimes: two rows were expected: {rows}");
    is_measured(&rows[0])?;
    ensure!(rows[1]["failure"] == "timed_out" && rows[1]["available"] == false, "runtimes: {}", rows[1]);
    supported(&wine.document(&["runtimes", "--list", "--runtime", &python])?)
}

fn is_measured(row: &Value) -> Result<()> {
    let is_right = row["available"] == true
        && row["version"] == "3.99.1"
        && row["nominal_resolution_ns"] == 100.0
        && row["cost_ns"].as_f64().is_some_and(|ns| ns > 0.0)
        && row["regressions"] == 0;
    ensure!(is_right, "runtimes: {row}");
    Ok(())
}

/// Runtimes that Windows alone has are listed, and those whose probes do not know its clocks have
/// the reason.
fn supported(list: &Value) -> Result<()> {
    let rows = list["runtimes"].as_array().context("runtimes --list: there are none")?;
    let of =
        |name: &str| rows.iter().find(|row| row["runtime"] == name).with_context(|| format!("{name} is not listed"));
    let reason = |name: &str| of(name).map(|row| row["reason"].as_str().unwrap_or_default().to_owned());
    ensure!(of("python")?["available"] == true, "runtimes --list: {list}");
    let hints = rows.iter().filter_map(|row| row["get"].as_str());
    let foreign: Vec<&str> = hints.filter(|hint| hint.contains("apt ") || hint.contains("brew ")).collect();
    ensure!(foreign.is_empty(), "runtimes --list: these are not of Windows: {foreign:?}");
    let java = of("java")?["get"].as_str().unwrap_or_default();
    ensure!(java.contains("winget "), "runtimes --list: Java: {java}");
    ensure!(reason("perl")?.contains("does not know the clocks of Windows"), "runtimes --list: {list}");
    let framework = reason("dotnet-framework")?;
    ensure!(framework.contains("csc.exe is there"), "runtimes --list: .NET Framework: {framework}");
    Ok(())
}

/// Waits until no process of the runtime is there; fails if one stays.
fn nothing_is_left() -> Result<()> {
    let begin = Instant::now();
    loop {
        let left = processes()?;
        if left.is_empty() {
            return Ok(());
        }
        ensure!(begin.elapsed() < PATIENCE, "runtimes: these stay: {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Arguments of all processes that have the runtime's name among them, but not the command itself.
fn processes() -> Result<Vec<String>> {
    let arguments = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    };
    let is_one = |line: &String| line.contains(&format!("{NAME}.exe")) && !line.contains("python=");
    Ok(std::fs::read_dir("/proc")?.flatten().map(arguments).filter(is_one).collect())
}
