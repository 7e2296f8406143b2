//! Runs the command, plain or under a rig, and reads its records.

#![allow(dead_code, reason = "every test program uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

/// The command.
pub(crate) fn clockscope(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clockscope"));
    command.args(arguments);
    command
}

/// The command with a rig preloaded.
pub(crate) fn under(rig: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = clockscope(arguments);
    command.env("LD_PRELOAD", compiled(rig)).envs(variables.iter().copied());
    command
}

/// Runs to the end; fails the test, with what was printed, unless the exit code is `code`.
pub(crate) fn run(mut command: Command, code: i32) -> Output {
    let output = command.output().expect("the command starts");
    assert_eq!(
        output.status.code(),
        Some(code),
        "{command:?}\nstdout: {}\nstderr: {}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Runs to success and reads the record, which must be valid.
pub(crate) fn record(command: Command) -> Value {
    let output = run(command, 0);
    let record: Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    assert_valid(&record);
    record
}

/// Checks a document against the schema.
pub(crate) fn assert_valid(document: &Value) {
    static VALIDATOR: OnceLock<jsonschema::Validator> = OnceLock::new();
    let validator = VALIDATOR.get_or_init(|| {
        let output = run(clockscope(&["schema"]), 0);
        let schema: Value = serde_json::from_slice(&output.stdout).expect("a schema");
        jsonschema::validator_for(&schema).expect("a valid schema")
    });
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// The record of a clock.
pub(crate) fn clock<'a>(record: &'a Value, name: &str) -> &'a Value {
    let clocks = record["clocks"].as_array().expect("clocks");
    clocks.iter().find(|clock| clock["name"] == name).unwrap_or_else(|| panic!("{name} is not in the record"))
}

/// A count of a clock's events.
pub(crate) fn count(record: &Value, name: &str, event: &str) -> u64 {
    let events = &clock(record, name)["events"];
    events[event].as_u64().unwrap_or_else(|| panic!("{name} has no count of {event}: {events}"))
}

/// Sends a signal such as `INT` to a child. By the shell's own kill: the program of that name is not on every system.
pub(crate) fn signal(child: &Child, name: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("kill -{name} {}", child.id())]);
    assert!(shell.status().expect("a shell").success(), "{shell:?}");
}

/// The shared library of a rig, compiled once a test program.
fn compiled(rig: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rigs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the rigs");
        for rig in ["liar", "no_tsc", "deny", "trap", "early"] {
            // The library's own tests use that one, too.
            let owner = if rig == "trap" { "../clockscope" } else { "." };
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{owner}/tests/rigs/{rig}.c"));
            let library = folder.join(format!("{rig}.so"));
            let mut compiler = Command::new("cc");
            compiler.args(["-Wall", "-Werror", "-O2", "-shared", "-fPIC", "-o"]).arg(library).arg(source).arg("-ldl");
            assert!(compiler.status().expect("cc is installed").success(), "{compiler:?}");
        }
        folder
    });
    folder.join(format!("{rig}.so"))
}
