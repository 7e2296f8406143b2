//! One table of odd inputs: options, files and outputs that users get wrong, each with its exit
//! code and the first line of the answer.
#![cfg(target_os = "linux")]

mod files;
mod numbers;
mod options;
mod outputs;

use std::fs;
use std::path::Path;
use std::process::{Command, Output as Finished, Stdio};
use std::time::Duration;

use clockscope_testing::{Signal, project, signal, skip, until_it_catches, until_it_ran, with_default};
use serde_json::Value;

use crate::support::{clockscope, is_emulated, run};

/// A command line that is odd, or is asked for in odd circumstances, and its answer.
struct Row {
    /// Words with blanks between them; `""` is an empty one.
    words: &'static str,
    /// The file `in.json` of the folder that the command runs in.
    input: Input,
    output: Output,
    code: i32,
    /// First line: of standard error if the command fails, otherwise of standard output. `[..]` is
    /// anything.
    first: &'static str,
}

const fn row(words: &'static str, input: Input, output: Output, code: i32, first: &'static str) -> Row {
    Row { words, input, output, code, first }
}

/// The file `in.json`.
enum Input {
    None,
    Missing,
    Folder,
    Empty,
    Text(&'static str),
    Bytes(&'static [u8]),
    /// A record of `info`.
    Record,
    /// Its first half.
    CutRecord,
    /// The record, and this after it.
    Followed(&'static str),
    /// The record, after the mark of UTF-8.
    Marked,
    /// The record with another value (in JSON) at a place (a pointer of JSON).
    Changed(&'static str, &'static str),
    /// A recording of `steps`.
    Recording,
}

/// Standard output.
enum Output {
    Pipe,
    Full,
    Closed,
    /// A file, where files may have no bytes.
    FileLimit,
}

/// Parts of texts that libraries and systems have, and users cannot use.
const RAW: &[&str] = &[
    "struct ",
    "invalid digit",
    "EOF",
    "u32",
    "u64",
    "utf-8",
    "os error",
    "missing field",
    "unknown field",
    "unknown variant",
    "invalid type",
    "invalid float",
    "panicked",
];

#[test]
fn odd_inputs_have_the_answers_of_the_table() {
    if is_emulated() {
        return skip("an emulated command is too slow for so many");
    }
    let rows: Vec<&Row> = [options::ROWS, numbers::ROWS, files::ROWS, outputs::ROWS].into_iter().flatten().collect();
    assert!(rows.len() >= 100, "{}", rows.len());
    let wrong: Vec<String> = rows.into_iter().filter_map(|row| problem(row).err()).collect();
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// A link to a file that is not there yet stays a link.
#[test]
fn a_dangling_link_is_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink("target.json", &link).unwrap();
    run(clockscope(&["info", "-o", link.to_str().unwrap()]), 0);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    let record: Value = serde_json::from_slice(&fs::read(folder.path().join("target.json")).unwrap()).unwrap();
    assert_eq!(record["schema"], "clockscope.info");
}

/// A lost terminal ends a run as SIGTERM does: with what was measured, and no draft.
#[test]
fn a_lost_terminal_ends_a_run_with_its_file() {
    if is_emulated() {
        return skip("the signal would go to the emulator");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.json");
    let words = ["measure", "monotonic", "-d", "1h", "-q", "-o", file.to_str().unwrap()];
    let mut child = with_default(Signal::HUP, &clockscope(&words)).stderr(Stdio::null()).spawn().unwrap();
    until_it_catches(&child, Signal::HUP);
    // Before that there is nothing to write.
    until_it_ran(&child, Duration::from_millis(400));
    signal(&child, Signal::HUP);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["x.json"]);
}

/// Runs a row, and compares.
fn problem(row: &Row) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    put(&row.input, &folder.path().join("in.json"));
    let finished = finished(row, folder.path());
    let error = String::from_utf8(finished.stderr).unwrap();
    let text = if row.code == 0 { String::from_utf8(finished.stdout).unwrap() } else { error.clone() };
    let first = text.lines().next().unwrap_or_default();
    let is = |problem: &str, met: bool| if met { Ok(()) } else { Err(format!("{}: {problem}: {text}", row.words)) };
    is(&format!("exit code {:?}, not {}", finished.status.code(), row.code), finished.status.code() == Some(row.code))?;
    is(&format!("the first line is not {:?}", row.first), matches(row.first, first))?;
    let errors = error.lines().filter(|line| line.starts_with("error: ")).count();
    is("not one line of error", errors == usize::from(row.code != 0) || is_finding(row))?;
    let raw = RAW.iter().find(|raw| error.contains(**raw));
    is(&format!("{raw:?}"), raw.is_none())?;
    let left = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.ends_with(".tmp")).collect();
    is(&format!("left: {left:?}"), left.is_empty())
}

/// Returns whether the exit code says more than that the command failed.
fn is_finding(row: &Row) -> bool {
    matches!(row.code, 1 | 3)
}

/// Runs the command in a folder.
fn finished(row: &Row, folder: &Path) -> Finished {
    let words: Vec<&str> = row.words.split(' ').map(|word| if word == "\"\"" { "" } else { word }).collect();
    let mut command = match row.output {
        Output::Pipe => clockscope(&words),
        Output::Full => in_shell("exec \"$0\" \"$@\" > /dev/full", &words),
        Output::Closed => in_shell("exec \"$0\" \"$@\" >&-", &words),
        Output::FileLimit => in_shell("ulimit -f 0; exec \"$0\" \"$@\" > out", &words),
    };
    command.current_dir(folder).env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).output().unwrap()
}

fn in_shell(script: &str, words: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_clockscope")]).args(words);
    shell
}

/// Writes the input.
fn put(input: &Input, file: &Path) {
    let record = || fs::read(project().join("crates/clockscope-report/tests/fixtures/info.json")).unwrap();
    let bytes = match input {
        Input::None | Input::Missing => return,
        Input::Folder => return fs::create_dir(file).unwrap(),
        Input::Recording => {
            let words = ["steps", "monotonic", "--reads", "9", "--raw", file.to_str().unwrap()];
            run(clockscope(&words), 0);
            return;
        }
        Input::Empty => Vec::new(),
        Input::Text(text) => text.as_bytes().to_vec(),
        Input::Bytes(bytes) => bytes.to_vec(),
        Input::Record => record(),
        Input::CutRecord => record()[..record().len() / 2].to_vec(),
        Input::Followed(text) => [&record(), text.as_bytes()].concat(),
        Input::Marked => [b"\xef\xbb\xbf", &record()[..]].concat(),
        Input::Changed(pointer, value) => {
            let mut changed: Value = serde_json::from_slice(&record()).unwrap();
            *changed.pointer_mut(pointer).unwrap() = serde_json::from_str(value).unwrap();
            serde_json::to_vec(&changed).unwrap()
        }
    };
    fs::write(file, bytes).unwrap();
}

/// Returns whether a line is the expected one, in which `[..]` is anything.
fn matches(expected: &str, line: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == line,
        Some((start, end)) => line.len() >= start.len() + end.len() && line.starts_with(start) && line.ends_with(end),
    }
}
