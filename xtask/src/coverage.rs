//! Which lines the tests reach, those of programs that they start included.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::run;

/// Where instrumented programs are built and their profiles are kept.
const FOLDER: &str = "target/coverage";

/// Least share of a file's lines that need not be mentioned, in percent.
const ENOUGH: f64 = 80.0;

/// Runs all tests with instrumented programs and prints each file's share of lines, the lowest
/// first.
pub(crate) fn measure() -> Result<()> {
    let [merge, report] = tools()?;
    let profiles = std::path::absolute(format!("{FOLDER}/profiles"))?;
    // Those of former runs; there may be none.
    let _ = std::fs::remove_dir_all(&profiles);
    let pattern = profiles.join("%p-%m.profraw");
    let variables = [
        ("RUSTFLAGS", "-C instrument-coverage"),
        ("CARGO_TARGET_DIR", FOLDER),
        ("LLVM_PROFILE_FILE", pattern.to_str().context("the folder's name is not text")?),
    ];
    // What was reached is worth knowing even if a test fails.
    let tests = run::with(&variables, "cargo", &["test", "--workspace", "--quiet", "--no-fail-fast"]);
    let merged = format!("{FOLDER}/merged.profdata");
    let list = profiles.with_extension("txt");
    std::fs::write(&list, files(&profiles, "profraw")?.join("\n"))?;
    let list = format!("--input-files={}", list.display());
    run::with(&[], &merge, &["merge", "-sparse", "--failure-mode=all", &list, "-o", &merged])?;
    let mut arguments = vec!["export".to_owned(), "--summary-only".to_owned(), format!("--instr-profile={merged}")];
    arguments
        .push("--ignore-filename-regex=(/registry/|/rustc/|/tests/|tests\\.rs$|xtask/|clockscope-testing/)".to_owned());
    for program in programs(&variables)? {
        arguments.extend(["--object".to_owned(), program]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    print(&serde_json::from_str(&run::output(&report, &arguments)?)?)?;
    tests
}

/// The programs that merge and read profiles, of the version that this compiler writes.
fn tools() -> Result<[String; 2]> {
    let version = run::output("rustc", &["--version", "--verbose"])?;
    let version = version.lines().find_map(|line| line.strip_prefix("LLVM version: ")).context("no LLVM version")?;
    let major = version.split('.').next().unwrap_or(version);
    let tools = ["llvm-profdata", "llvm-cov"].map(|tool| format!("{tool}-{major}"));
    match tools.iter().find(|tool| !run::exists(tool)) {
        Some(missing) => bail!("{missing} is missing: apt-get install llvm-{major}"),
        None => Ok(tools),
    }
}

/// All files in a folder that end so.
fn files(folder: &std::path::Path, ending: &str) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths
        .filter(|path| path.extension().is_some_and(|end| end == ending))
        .map(|path| path.display().to_string())
        .collect())
}

/// The test programs, and the command that they start.
fn programs(variables: &[(&str, &str)]) -> Result<Vec<String>> {
    let arguments = ["test", "--workspace", "--no-run", "--quiet", "--message-format", "json"];
    let messages = run::output_with(variables, "cargo", &arguments)?;
    let of = |line: &str| -> Option<String> {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(message["executable"].as_str()?.to_owned())
    };
    let mut programs: Vec<String> = messages.lines().filter_map(of).collect();
    programs.push(PathBuf::from(FOLDER).join("debug/clockscope").display().to_string());
    Ok(programs)
}

fn print(report: &serde_json::Value) -> Result<()> {
    let data = &report["data"][0];
    let percent = |summary: &serde_json::Value| summary["lines"]["percent"].as_f64().unwrap_or(0.0);
    let root = run::root().display().to_string();
    let mut files: Vec<(f64, String)> = data["files"]
        .as_array()
        .context("no files in the report")?
        .iter()
        .map(|file| (percent(&file["summary"]), file["filename"].as_str().unwrap_or_default().replace(&root, ".")))
        .collect();
    files.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (percent, file) in files.iter().filter(|(percent, _)| *percent < ENOUGH) {
        println!("{percent:5.1} %  {file}");
    }
    println!(
        "{:5.1} % of all lines, {} files of {} below {ENOUGH} %",
        percent(&data["totals"]),
        files.iter().filter(|file| file.0 < ENOUGH).count(),
        files.len()
    );
    Ok(())
}
