//! Boots a machine under qemu and takes what its commands printed from the console.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::build::Programs;
use super::frames::{self, Frames};
use super::machine::{Architecture, Machine};
use crate::run;

/// The guest's side.
const GUEST: &str = "machines";

/// The line that the guest prints last.
const DONE: &str = "@@done";

/// Files that every boot needs: one initial file system an architecture serves all of its machines.
pub(super) struct Images {
    /// Folder of kernels and busybox.
    fetched: PathBuf,
    /// Folder of initial file systems and consoles.
    folder: PathBuf,
}

impl Images {
    /// Packs the initial file systems from what was fetched and built, beside the former.
    pub(super) fn pack(folder: &Path, programs: &[Programs]) -> Result<Self> {
        let images = Self { fetched: folder.to_owned(), folder: folder.to_owned() };
        for programs in programs {
            images.pack_one(programs.architecture, &programs.files())?;
        }
        Ok(images)
    }

    /// Packs one that holds no program but this one, as `clockscope`.
    pub(super) fn of_program(
        fetched: &Path,
        folder: &Path,
        architecture: Architecture,
        program: &Path,
    ) -> Result<Self> {
        let images = Self { fetched: fetched.to_owned(), folder: folder.to_owned() };
        images.pack_one(architecture, &[("clockscope", program.to_owned())])?;
        Ok(images)
    }

    fn kernel(&self, architecture: Architecture) -> PathBuf {
        self.fetched.join(architecture.name()).join("kernel")
    }

    fn initrd(&self, architecture: Architecture) -> PathBuf {
        self.folder.join(architecture.name()).join("initrd")
    }

    /// File in which a machine's console is kept.
    pub(super) fn console(&self, machine: &Machine) -> PathBuf {
        self.folder.join(format!("{}.txt", machine.name))
    }

    fn pack_one(&self, architecture: Architecture, programs: &[(&str, PathBuf)]) -> Result<()> {
        self.pack_files(architecture, programs).with_context(|| format!("the file system for {}", architecture.name()))
    }

    fn pack_files(&self, architecture: Architecture, programs: &[(&str, PathBuf)]) -> Result<()> {
        let root = self.folder.join(architecture.name()).join("root");
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        for folder in ["bin", "dev", "machines", "proc", "run", "sys", "tmp"] {
            fs::create_dir_all(root.join(folder))?;
        }
        copy(&self.fetched.join(architecture.name()).join("busybox"), &root.join("bin/busybox"))?;
        // The kernel starts /init before anything else is there.
        symlink("busybox", root.join("bin/sh"))?;
        for (name, program) in programs {
            copy(program, &root.join("bin").join(name))?;
        }
        copy(&Path::new(GUEST).join("init.sh"), &root.join("init"))?;
        for script in fs::read_dir(GUEST)? {
            let script = script?.path();
            if script.extension().is_some_and(|ending| ending == "sh") {
                copy(&script, &root.join(&script))?;
            }
        }
        // The same bytes on every computer: the machine whose time is the number of instructions
        // unpacks them.
        let script = "cd \"$1\" && find . -exec touch --no-dereference --date=@1767225600 {} + && find . | LC_ALL=C sort | \
                      cpio --quiet --create --reproducible --format newc --owner 0:0 >../initrd";
        run::with(&[], "sh", &["-c", script, "sh", &root.to_string_lossy()])
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Runs a machine until it turns itself off. What it printed is kept in the folder of the machines.
pub(super) fn boot(machine: &Machine, images: &Images) -> Result<Frames> {
    let console = images.console(machine);
    let file = File::create(&console).with_context(|| format!("cannot write {}", console.display()))?;
    let mut command = command(machine, images);
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
fn command(machine: &Machine, images: &Images) -> Command {
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
    command.arg("-kernel").arg(images.kernel(machine.architecture));
    command.arg("-initrd").arg(images.initrd(machine.architecture));
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
        assert!(wait(&mut ending, super::super::LIMIT).unwrap().unwrap().success());
    }
}
