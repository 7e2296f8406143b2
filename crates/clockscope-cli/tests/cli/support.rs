//! Runs the command, plain or under a rig, and reads its records.

#![allow(dead_code, reason = "every test program uses its own part")]

use std::borrow::BorrowMut;
use std::process::{Child, Command, Output};
use std::sync::OnceLock;

use clockscope_testing::{Granted, Schema, granted, granted_beside, rig};
use serde_json::Value;

/// This architecture's counter as `list` names it, and one of its reading sequences that is
/// ordered.
pub(crate) const COUNTER: [&str; 2] =
    if cfg!(target_arch = "aarch64") { ["cntvct", "cntvct_isb"] } else { ["tsc", "rdtscp"] };

/// Names a program that runs the command for another architecture, with its arguments
/// (`cargo xtask release-check cross`).
const RUNNER: &str = "CLOCKSCOPE_TEST_RUNNER";

/// Returns true if the command runs under an emulator.
pub(crate) fn is_emulated() -> bool {
    std::env::var_os(RUNNER).is_some()
}

/// The command.
pub(crate) fn clockscope(arguments: &[&str]) -> Command {
    let program = env!("CARGO_BIN_EXE_clockscope");
    let runner = std::env::var(RUNNER).unwrap_or_default();
    let mut words = runner.split_whitespace().chain([program]);
    let mut command = Command::new(words.next().unwrap_or(program));
    // The terminal of whoever runs the tests decides nothing.
    command.args(words).args(arguments).env("LC_ALL", "C.UTF-8").env_remove("COLUMNS");
    command
}

/// The command with a rig preloaded.
pub(crate) fn under(name: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = clockscope(arguments);
    command.env("LD_PRELOAD", rig(name)).envs(variables.iter().copied());
    command
}

/// Runs to the end; fails the test, with what was printed, unless the exit code is `code`.
pub(crate) fn run(mut command: impl BorrowMut<Command>, code: i32) -> Output {
    run_granted(command.borrow_mut(), code).0
}

/// Runs as [`run`] does, and also returns what the machine granted the command.
pub(crate) fn run_granted(mut command: impl BorrowMut<Command>, code: i32) -> (Output, Granted) {
    let command = command.borrow_mut();
    let (output, granted) = granted(command);
    assert_code(command, &output, code);
    (output, granted)
}

fn assert_code(command: &Command, output: &Output, code: i32) {
    assert_eq!(
        output.status.code(),
        Some(code),
        "{command:?}\nstdout: {}\nstderr: {}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs to this error, and returns what is on standard error: there are no data.
pub(crate) fn stderr(arguments: &[&str], code: i32) -> String {
    let output = run(clockscope(arguments), code);
    assert!(output.stdout.is_empty(), "data on stdout in spite of an error");
    String::from_utf8(output.stderr).unwrap()
}

/// Runs to success and reads the record, which must be valid.
pub(crate) fn record(command: Command) -> Value {
    record_granted(command).0
}

/// Reads the record as [`record`] does, and also returns what the machine granted the command.
pub(crate) fn record_granted(command: Command) -> (Value, Granted) {
    record_beside(command, 0, |_| ())
}

/// The record of a run that ends with this code, with something done to the process meanwhile.
pub(crate) fn record_beside(mut command: Command, code: i32, beside: impl FnOnce(&Child)) -> (Value, Granted) {
    let (output, granted) = granted_beside(&mut command, beside);
    assert_code(&command, &output, code);
    let record: Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    assert_valid(&record);
    (record, granted)
}

/// Checks a document against the schema.
pub(crate) fn assert_valid(document: &Value) {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| printed_schema(&[]));
    assert_eq!(schema.errors(document), [""; 0]);
}

/// A schema that the program prints.
pub(crate) fn printed_schema(name: &[&str]) -> Schema {
    let output = run(clockscope(&[&["schema"], name].concat()), 0);
    Schema::parse(&String::from_utf8(output.stdout).expect("a text"))
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

/// A recorded document of the tests of the renderer.
pub(crate) fn fixture(name: &str) -> String {
    format!("{}/../clockscope-report/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"))
}
