//! Boots a machine under qemu and takes what its commands printed from the console.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::frames::{self, Frames};
use crate::images;
use crate::machine::{Architecture, Machine};

/// The line that the guest prints last.
const DONE: &str = "@@done";

impl Machine {
    /// A file of its architecture: `kernel` or `initrd`.
    fn image(&self, name: &str) -> PathBuf {
        images().join(self.architecture.name()).join(name)
    }

    /// The file in which its console is kept.
    pub(super) fn console(&self) -> PathBuf {
        images().join(format!("{}.txt", self.name))
    }
}

/// Runs a machine until it turns itself off. What it printed is kept in the folder of the machines.
pub(super) fn boot(machine: &Machine) -> Result<Frames> {
    let console = machine.console();
    let file = File::create(&console).with_context(|| format!("cannot write {}", console.display()))?;
    let mut command = command(machine);
    let mut emulator = command
        .stdin(Stdio::null())
        .stderr(file.try_clone()?)
        .stdout(file)
        .spawn()
        .with_context(|| format!("cannot run {}", machine.architecture.emulator()))?;
    let status = wait(&mut emulator, machine.limit)?;
    let printed = String::from_utf8_lossy(&fs::read(&console)?).replace('\r', "");
    let why = match status {
        None => format!("did not end within {} s", machine.limit.as_secs()),
        Some(status) if !status.success() => format!("{}: {status}", machine.architecture.emulator()),
        Some(_) if !printed.lines().any(|line| line == DONE) => {
            "turned itself off before its script was at its end".into()
        }
        Some(_) => return frames::read(&printed).with_context(|| console_tail(&console, &printed)),
    };
    bail!("{why}\n{}", console_tail(&console, &printed))
}

/// The emulator with its arguments. Never KVM: what is found has to be the same on every computer.
fn command(machine: &Machine) -> Command {
    let (console, board, processor): (_, &[&str], _) = match machine.architecture {
        // The stock processor and RDTSCP; `max` would bring page tables that make it slow.
        Architecture::X86 => ("ttyS0", &[], "qemu64,+rdtscp"),
        Architecture::Arm => ("ttyAMA0", &["-machine", "virt"], "max,pauth-impdef=on"),
    };
    let mut command = Command::new(machine.architecture.emulator());
    command.args(board);
    command.args(["-accel", if machine.cpus > 1 { "tcg,thread=multi" } else { "tcg" }]);
    command.args(["-cpu", machine.processor.unwrap_or(processor), "-smp", &machine.cpus.to_string()]);
    command.args(["-m", "512", "-nodefaults", "-display", "none", "-no-reboot", "-serial", "stdio"]);
    command.args(machine.options);
    command.arg("-kernel").arg(machine.image("kernel"));
    command.arg("-initrd").arg(machine.image("initrd"));
    let (name, kernel) = (machine.name, machine.kernel);
    command.args(["-append", &format!("console={console} quiet loglevel=1 panic=-1 machine={name} {kernel}")]);
    command
}

/// Waits for the process to end and returns its status; kills it and gives `None` if it does not
/// end in time.
fn wait(process: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            process.kill()?;
            process.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Words for the place where the console's output is kept, and its last lines.
fn console_tail(console: &Path, printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    let last = lines[lines.len().saturating_sub(15)..].join("\n    ");
    format!("its console is kept in {}; it ends:\n    {last}", console.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_hangs_is_killed() {
        let mut hanging = Command::new("sleep").arg("1000").spawn().unwrap();
        assert_eq!(wait(&mut hanging, Duration::ZERO).unwrap(), None);
        let mut ending = Command::new("true").spawn().unwrap();
        assert!(wait(&mut ending, crate::LIMIT).unwrap().unwrap().success());
    }
}
