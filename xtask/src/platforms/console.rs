//! Events of a console under Wine: Ctrl-C lets the command print what it has, Ctrl-Break ends it, and
//! both withdraw the period of the timer that it requested. Closing the window takes the way of
//! Ctrl-Break; nothing here closes one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::wine::{PERIOD_CALLS, Wine, period_calls, started};

/// The exit code of an interrupted run.
const INTERRUPTED: i32 = 130;
/// That of a process that the system's handler of Ctrl-Break ends: the low byte of
/// STATUS_CONTROL_C_EXIT, which is all that Unix has.
const ENDED: i32 = 0x3a;

pub(super) fn check(wine: &Wine) -> Result<()> {
    let console = wine.program("xtask/wine/console.c", "console")?;
    for (event, code) in [("c", INTERRUPTED), ("break", ENDED)] {
        let program = std::path::absolute(&wine.program)?.display().to_string();
        let question = ["measure", "query_performance_counter", "--duration", "10min", "--timer-period", "2ms"];
        let mut command = started(&console, &[&[event, &program], &question[..]].concat());
        command.envs([PERIOD_CALLS]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut running = command.spawn().context("cannot run wine")?;
        let log = sent(&mut running).inspect_err(|_| drop(running.kill()))?;
        let ended = running.wait()?;
        let calls = period_calls(&log);
        ensure!(calls == (1, 1), "{event}: the period was requested and withdrawn {calls:?} times\n{log}");
        ensure!(ended.code() == Some(code), "{event}: {ended}: expected {code}\n{log}");
    }
    Ok(())
}

/// Sends the event when the period was requested; returns what Wine printed until the end.
fn sent(running: &mut Child) -> Result<String> {
    let (stdin, stderr) = (running.stdin.take(), running.stderr.take());
    let (mut stdin, stderr) = (stdin.context("no input")?, BufReader::new(stderr.context("no output")?));
    let (mut log, mut is_sent) = (String::new(), false);
    for line in stderr.lines() {
        log += &(line? + "\n");
        if !is_sent && period_calls(&log).0 > 0 {
            stdin.write_all(b"\n")?;
            is_sent = true;
        }
    }
    if is_sent { Ok(log) } else { bail!("the period was not requested\n{log}") }
}
