//! Ctrl-C in a console of Wine: the command ends the run, prints what it has, and withdraws the
//! period of the timer that it requested.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::program::{PERIOD_CALLS, QUIET, Wine, period_calls};

/// The exit code of an interrupted run.
const INTERRUPTED: i32 = 130;
/// Longest wait for what has to happen.
const PATIENCE: Duration = Duration::from_secs(120);
/// Code of the key on a terminal.
const CTRL_C: &[u8] = b"\x03";

pub(super) fn check(wine: &Wine) -> Result<()> {
    let log = format!("{}.log", wine.program);
    // Of an earlier run, if there is one.
    let _ = fs::remove_file(&log);
    let question = "measure query_performance_counter --duration 10min --timer-period 2ms --format json";
    // `script` (bsdutils, which every Debian has) makes the terminal that Wine's console is on.
    let line = format!("exec wine '{}' {question} 2>'{log}'", wine.program);
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.envs([QUIET]).envs([PERIOD_CALLS]).env("TERM", "xterm");
    let mut running = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().context("cannot run script")?;
    let ended = interrupted(&mut running, Path::new(&log));
    // Nothing is left to be done if it has ended by itself.
    let _ = running.kill();
    let (status, seen) = (running.wait()?, read(Path::new(&log)));
    ended.with_context(|| format!("Ctrl-C: {status}\n{seen}"))?;
    ensure!(status.code() == Some(INTERRUPTED), "Ctrl-C: {status}: expected {INTERRUPTED}\n{seen}");
    let calls = period_calls(&seen);
    ensure!(calls == (1, 1), "Ctrl-C: the period was requested and withdrawn {calls:?} times\n{seen}");
    Ok(fs::remove_file(&log)?)
}

/// Presses the key when the period was requested, and waits for the end.
fn interrupted(running: &mut Child, log: &Path) -> Result<()> {
    until(|| Ok(period_calls(&read(log)).0 > 0)).context("the period was not requested")?;
    running.stdin.as_mut().context("no input")?.write_all(CTRL_C)?;
    until(|| Ok(running.try_wait()?.is_some())).context("it did not end")
}

fn read(log: &Path) -> String {
    String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned()
}

fn until(mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !is_so()? {
        if begin.elapsed() > PATIENCE {
            bail!("not within {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
