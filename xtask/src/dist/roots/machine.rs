//! Emulated machines: Debian's kernel, busybox and the program of an archive.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Output};

use anyhow::{Context, Result};

use super::super::archive::file_name;
use super::super::trial::{self, Place, QUESTIONS, Trial};
use super::artifact::{Archive, unpack};
use super::empty_folder;
use crate::machines::{self, Frames};
use crate::{folder, needs};

pub(in crate::dist) const NEEDS: &str = "tar cpio";

/// Names under which machines/installed.sh runs [`QUESTIONS`].
const NAMES: [&str; 3] = ["measure", "check", "page"];

/// Boots a machine with the processor of an archive for Linux, and runs the program there.
pub(in crate::dist) fn check(archive: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    needs::require("trials in emulated machines", NEEDS)?;
    let name = file_name(archive)?;
    let known = Archive::from_name(name)?;
    let (architecture, root) = match known.processor {
        "aarch64" => ("arm64", "an emulated arm64 machine"),
        _ => ("amd64", "an emulated x86-64 machine"),
    };
    let place = Place { artifact: name, root };
    let unpacked = empty_folder("unpacked")?;
    unpack(archive, &unpacked)?;
    machines::require_to_install(architecture)?;
    let images = empty_folder("machine")?;
    let frames = machines::run_installed(architecture, &unpacked.join("clockscope"), &images)?;
    known.check_version(&answer(&place, &frames, "version", &["--version", "--verbose"], trials)?)?;
    for (name, question) in NAMES.iter().zip(QUESTIONS) {
        let printed = answer(&place, &frames, name, question, trials)?;
        trial::judge(question, &printed).with_context(|| place.named(&question.join(" ")))?;
    }
    folder::remove(&unpacked)?;
    folder::remove(&images)
}

/// Returns what a command of the script printed, and notes its trial down.
fn answer(place: &Place, frames: &Frames, name: &str, question: &[&str], trials: &mut Vec<Trial>) -> Result<String> {
    let words = format!("clockscope {}", question.join(" "));
    let [frame, error] = [name.to_owned(), format!("{name}.stderr")].map(|name| frames.get(&name));
    let frame = frame.with_context(|| format!("{}: it was not run", place.named(&words)))?;
    let output = Output {
        status: ExitStatus::from_raw(frame.code << 8),
        stdout: frame.text.clone().into_bytes(),
        stderr: error.map(|frame| frame.text.clone().into_bytes()).unwrap_or_default(),
    };
    place.accept(&output, &words, trials)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::run;

    #[test]
    fn the_script_asks_the_questions() {
        let script = fs::read_to_string(run::root().join("machines/installed.sh")).unwrap();
        let lines: Vec<&str> = script.lines().filter(|line| line.starts_with("run ")).collect();
        let questions = NAMES.iter().zip(QUESTIONS);
        let expected = questions.map(|(name, question)| format!("run {name} clockscope {}", question.join(" ")));
        let version = "run version clockscope --version --verbose".to_owned();
        assert_eq!(lines, [version].into_iter().chain(expected).collect::<Vec<_>>());
    }
}
