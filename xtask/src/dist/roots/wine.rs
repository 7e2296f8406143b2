//! The program for Windows under Wine, in a Windows that nothing ran in before.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};

use super::super::archive::file_name;
use super::super::trial::{self, Place, QUESTIONS, Trial};
use super::artifact::Archive;
use super::empty_folder;
use crate::{folder, needs, platforms, run};

const ROOT: &str = "a new Windows of Wine";

const CLOCK: &str = "query_performance_counter";

pub(in crate::dist) const NEEDS: &str = "unzip wine wineserver x86_64-w64-mingw32-gcc";

/// Unpacks an archive for Windows and runs its program.
pub(in crate::dist) fn check(archive: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    needs::require("trials under Wine", NEEDS)?;
    let name = file_name(archive)?;
    let place = Place { artifact: name, root: ROOT };
    let windows = Windows::new(archive)?;
    let checked = windows.check(&place, Archive::from_name(name)?, trials);
    // Its processes stay for a while.
    windows.wineserver("--kill")?;
    windows.wineserver("--wait")?;
    checked?;
    folder::remove(&windows.folder)
}

/// A Windows of its own, and the folder of an archive.
struct Windows {
    folder: PathBuf,
    program: PathBuf,
}

impl Windows {
    fn new(archive: &Path) -> Result<Self> {
        let folder = empty_folder("wine")?;
        let unpacked = folder.join("archive");
        run::with(&[], "unzip", &["-q", &archive.to_string_lossy(), "-d", &unpacked.to_string_lossy()])?;
        let outermost = unpacked.join(file_name(archive)?.trim_end_matches(".zip"));
        Ok(Self { folder, program: outermost.join("clockscope.exe") })
    }

    fn check(&self, place: &Place, archive: Archive, trials: &mut Vec<Trial>) -> Result<()> {
        self.start()?;
        archive.check_version(&self.run(place, &["--version", "--verbose"], trials)?)?;
        for question in QUESTIONS {
            // Windows has another clock for intervals.
            let words = question.iter().map(|word| if *word == "monotonic" { CLOCK } else { word });
            let printed = self.run(place, &words.collect::<Vec<_>>(), trials)?;
            trial::judge(question, &printed).with_context(|| place.named(&question.join(" ")))?;
        }
        Ok(())
    }

    /// Makes its files, and adds a library that Wine before version 9 lacks.
    fn start(&self) -> Result<()> {
        let output = self.output(&["wineboot", "--init"])?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "wineboot --init: {}\n{error}", output.status);
        let libraries = self.folder.join("prefix/drive_c/windows/system32");
        ensure!(libraries.is_dir(), "wineboot --init made no {}\n{error}", libraries.display());
        if !libraries.join(platforms::ADDED_LIBRARY).exists() {
            platforms::add_library(&libraries.to_string_lossy())?;
        }
        Ok(())
    }

    /// Runs the program.
    fn run(&self, place: &Place, arguments: &[&str], trials: &mut Vec<Trial>) -> Result<String> {
        let program = self.program.to_string_lossy();
        let output = self.output(&[&[&*program], arguments].concat())?;
        place.accept(&output, &format!("clockscope.exe {}", arguments.join(" ")), trials)
    }

    /// Output of a program of Windows, by files: a process that is left behind would keep pipes
    /// open for ever.
    fn output(&self, words: &[&str]) -> Result<Output> {
        let files = ["stdout", "stderr"].map(|name| self.folder.join(name));
        let [stdout, stderr] = files.each_ref().map(File::create);
        let mut command = self.command("wine");
        command.args(words).stdin(Stdio::null()).stdout(stdout?).stderr(stderr?);
        let status = command.status().context("cannot run wine")?;
        let [stdout, stderr] = files.each_ref().map(fs::read);
        Ok(Output { status, stdout: stdout?, stderr: stderr? })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.folder).env("WINEPREFIX", self.folder.join("prefix")).env("WINEDEBUG", "-all");
        // Nothing here needs .NET or pages, for which Wine would ask.
        command.env("WINEDLLOVERRIDES", "mscoree,mshtml=");
        command
    }

    /// Runs a command of the process that all programs of this Windows share.
    fn wineserver(&self, order: &str) -> Result<()> {
        // There may be none any more, of which it complains.
        let command = self.command("wineserver").arg(order).stdin(Stdio::null()).stderr(Stdio::null()).status();
        command.context("cannot run wineserver").map(drop)
    }
}
