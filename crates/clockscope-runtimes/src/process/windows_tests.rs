use std::os::windows::process::CommandExt;

use super::*;

static NEVER: AtomicBool = AtomicBool::new(false);

/// The system's shell with a script as it stands there: `cmd` does not know how others quote.
fn shell(script: &str) -> Command {
    let mut command = Command::new("cmd.exe");
    command.raw_arg(format!("/d /c {script}"));
    command
}

fn cmd(script: &str, seconds: f64, stop: &AtomicBool) -> (FinishedProgram, Option<String>) {
    let limits = Limits { seconds, stop };
    let outcome = run(&mut shell(script), limits, &mut NoTask).unwrap();
    let fault = outcome.ended.fault(limits);
    (outcome, fault)
}

/// Runs for long without an output, in any number of processes.
const LONG: &str = "for /l %i in (0,0,1) do @rem";

#[test]
fn what_is_printed_is_taken_and_faults_are_reported() {
    let (outcome, fault) = cmd("echo out& echo err>&2", 60.0, &NEVER);
    assert_eq!((outcome.stdout.trim(), outcome.stderr.trim(), fault), ("out", "err", None));
    let (_, fault) = cmd("exit 3", 60.0, &NEVER);
    assert_eq!(fault.as_deref(), Some("ended with status 3"));
    // STATUS_ACCESS_VIOLATION (ntstatus.h).
    let (_, fault) = cmd("exit -1073741819", 60.0, &NEVER);
    assert_eq!(fault.as_deref(), Some("ended with status 0xc0000005"));
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let (_, fault) = cmd(LONG, 0.5, &NEVER);
    assert_eq!(fault.as_deref(), Some("did not end within 0.5 s"));
    let (_, fault) = cmd(LONG, 60.0, &AtomicBool::new(true));
    assert_eq!(fault.as_deref(), Some("was interrupted"));
}

#[test]
fn output_without_end_is_taken_up_to_a_limit() {
    const MOST: usize = 4000;
    let mut command = shell("for /l %i in (0,0,1) do @echo 01234567890123456789");
    let family = Family::begin().unwrap();
    family.bind(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut child = command.spawn().unwrap();
    family.admit(&child).unwrap();
    let mut output = Output::new(&mut child, MOST).unwrap();
    while !output.is_too_much() {
        output.wait(&[], POLL_INTERVAL).unwrap();
        output.take().unwrap();
    }
    family.end_all(&mut child);
    let [stdout, stderr] = output.texts();
    assert!(stdout.len() >= MOST && stderr.is_empty(), "{} {stderr}", stdout.len());
}

/// The job holds what the program starts and leaves behind; it is empty when the program is over.
#[test]
fn nothing_is_left_behind() {
    let mut command = shell(&format!("start /b cmd /d /c \"{LONG}\"& echo started"));
    let family = Family::begin().unwrap();
    family.bind(command.stdin(Stdio::null()).stdout(Stdio::null()));
    let mut child = command.spawn().unwrap();
    family.admit(&child).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(family.active().is_some_and(|active| active > 0), "the program's child does not run");
    family.end_all(&mut child);
    assert_eq!(family.active(), Some(0));
}

/// It holds the pipes, whose end would never come.
#[test]
fn a_child_that_holds_the_output_is_not_waited_for() {
    let before = seconds();
    let (outcome, fault) = cmd(&format!("start /b cmd /d /c \"{LONG}\"& echo done"), 120.0, &NEVER);
    assert_eq!((outcome.stdout.trim(), fault), ("done", None));
    assert!(seconds() - before < 60.0, "it waited for the child");
}
