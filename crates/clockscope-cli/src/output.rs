//! The one place that writes: data to standard output or a file, everything else to standard error.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clockscope_records::printable;

use crate::error_text;
use crate::exit::Exit;
use crate::file_identity::FileIdentity;
use crate::inputs::Inputs;
use crate::usage::UsageError;

/// Prints an error with its causes.
pub(crate) fn print_error(error: &anyhow::Error) {
    let text = error_text::text(error);
    // It may quote a file that comes from anywhere, and no line of that is to look like ours.
    let lines: Vec<_> = text.lines().map(printable).collect();
    print_line(&format!("error: {}", lines.join("\n  ")));
}

/// Prints what the user should know beside the data.
pub(crate) fn warn(message: &str) {
    print_line(&format!("warning: {message}"));
}

/// Prints what was done.
pub(crate) fn say(message: &str) {
    print_line(message);
}

/// Writes a line to standard error. Where that is full or closed the line is lost, and the data and
/// the exit code are worth no less.
fn print_line(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Destination of data.
#[derive(Debug)]
pub(crate) enum Destination {
    Stdout,
    /// A file that is written under another name beside, and renamed when it is complete.
    File {
        target: PathBuf,
        option: &'static str,
        draft: Draft,
    },
    /// A device or a pipe, which must not be replaced by a file.
    Special {
        target: PathBuf,
        option: &'static str,
        file: File,
    },
}

/// Most files that killed processes of one number may have left beside a target.
const MAX_LEFT_DRAFTS: u32 = 99;

/// The file that is being written; removed unless it was renamed.
#[derive(Debug)]
pub(crate) struct Draft {
    path: PathBuf,
    file: File,
    complete: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.complete {
            // Nothing sensible is left to be done if it cannot be removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Destination {
    /// Opens the destination before anything is measured, so that what cannot be written is known
    /// at once. `-` and the system's names of standard output are standard output: a file that it
    /// is redirected to is not replaced.
    pub(crate) fn open(path: Option<&Path>, inputs: &Inputs) -> Result<Self> {
        match path {
            Some(file) if !is_stdout(file) => Self::file(file, "--output", inputs),
            _ => refuse_closed_stdout().map(|()| Self::Stdout),
        }
    }

    /// Opens the file that an option names. One of the inputs is refused, whatever its name.
    pub(crate) fn file(path: &Path, option: &'static str, inputs: &Inputs) -> Result<Self> {
        inputs.refuse_output(path, option)?;
        let is_folder = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
        if is_folder && !path.is_dir() {
            anyhow::bail!("cannot write to {option} {}: there is no such folder", path.display());
        }
        // A link is followed: the file that it names is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| end_of_links(path));
        let wrong = format!("cannot write to {option} {}", path.display());
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => anyhow::bail!("{wrong}: it is a folder; name a file in it"),
            Ok(found) if !found.is_file() => {
                let file = OpenOptions::new().write(true).open(&target).context(wrong)?;
                Ok(Self::Special { target, option, file })
            }
            Ok(_) => {
                // A file that may not be written is not replaced either, though its folder would
                // permit it.
                let draft = OpenOptions::new().append(true).open(&target).and_then(|_| Draft::create(&target));
                Ok(Self::File { draft: draft.context(wrong)?, target, option })
            }
            Err(_) => {
                if let Some(folder) = error_text::missing_folder(&target) {
                    anyhow::bail!("{wrong}: there is no folder {}", folder.display());
                }
                let draft = Draft::create(&target).map_err(error_text::of_new_file).context(wrong)?;
                Ok(Self::File { draft, target, option })
            }
        }
    }

    /// Refuses two options that name the same file.
    pub(crate) fn refuse_same_file(&self, other: &Self) -> Result<(), UsageError> {
        if let Self::File { target, option, .. } = self
            && let Self::File { target: other_target, option: other_option, .. } = other
            && let Some(identity) = FileIdentity::at(target)
            && FileIdentity::at(other_target) == Some(identity)
        {
            let both = format!("{option} and {other_option} name the same file");
            return Err(UsageError(format!("{both}: expected two, since each would replace the other")));
        }
        Ok(())
    }

    /// Returns true if it may be a terminal.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Returns true if a file appears, or is replaced, when everything is written.
    pub(crate) fn is_replaced(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Writes everything. A reader that closed standard output early is no error.
    pub(crate) fn write(self, text: &str) -> Result<()> {
        self.write_by(|out| out.write_all(text.as_bytes()))
    }

    /// Lets an answer be written. One with nothing of what was asked replaces no file.
    pub(crate) fn write_answer(
        self,
        exit: Exit,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<Exit> {
        match &self {
            Self::File { target, option, .. } if exit == Exit::Unanswered && target.exists() => {
                warn(&format!(
                    "{option} {}: the answer has no result: the file is left as it was; name a new file to see why",
                    target.display()
                ));
            }
            _ => self.write_by(write)?,
        }
        Ok(exit)
    }

    /// Lets everything be written. What is left half-written by an error is removed, where it is a
    /// file.
    pub(crate) fn write_by(self, write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> Result<()> {
        match self {
            Self::Stdout => match refuse_closed_stdout().map(|()| write_buffered(io::stdout(), write))? {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                outcome => outcome.context("cannot write to standard output"),
            },
            Self::Special { target, option, file } => {
                write_buffered(file, write).with_context(|| format!("cannot write to {option} {}", target.display()))
            }
            Self::File { target, option, draft } => {
                draft.finish(write, &target).with_context(|| format!("cannot write to {option} {}", target.display()))
            }
        }
    }
}

/// Returns true for a name of standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    const UNIX_NAMES: [&str; 4] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"];
    path == Path::new("-") || cfg!(unix) && UNIX_NAMES.iter().any(|name| path == Path::new(name))
}

/// Refuses a standard output that was closed when the process was started.
fn refuse_closed_stdout() -> Result<()> {
    let is_closed = clockscope_system::standard_output::was_closed();
    anyhow::ensure!(!is_closed, "cannot write to standard output: it is closed: redirect it, or name a file by -o");
    Ok(())
}

/// Most links that are followed; the system's own limit (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// Returns the file that would be made by writing to a link to nothing, or the path itself.
fn end_of_links(path: &Path) -> PathBuf {
    let mut end = path.to_owned();
    for _ in 1..MAX_LINKS {
        let Ok(target) = fs::read_link(&end) else { break };
        end = end.parent().unwrap_or(Path::new("")).join(target);
    }
    end
}

fn write_buffered<W: Write + Send>(
    out: W,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write(&mut out)?;
    out.flush()
}

impl Draft {
    /// A new file beside the target: a rename within a folder replaces the target at once or not at
    /// all. Its name is made of the process's number, not of a random one: libraries that make
    /// random names seed them by reading a clock, which kills the process where the counter is
    /// disabled.
    ///
    /// Another number follows where a process of the same number was killed and has left its file:
    /// containers give each process the same one.
    fn create(target: &Path) -> io::Result<Self> {
        let target_name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut attempt = 0;
        loop {
            let mut name = OsString::from(".");
            name.push(target_name);
            name.push(format!(".{}.{attempt}.tmp", std::process::id()));
            let path = target.with_file_name(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < MAX_LEFT_DRAFTS => attempt += 1,
                file => return Ok(Self { path, file: file?, complete: false }),
            }
        }
    }

    fn finish(
        mut self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
        target: &Path,
    ) -> io::Result<()> {
        write_buffered(&self.file, write)?;
        self.file.sync_all()?;
        if let Ok(existing) = fs::metadata(target) {
            fs::set_permissions(&self.path, existing.permissions())?;
        }
        fs::rename(&self.path, target)?;
        self.complete = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A draft that a process of this number has left does not keep the next one from writing.
    #[test]
    fn what_a_killed_process_left_is_passed_by() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("clockscope.prom");
        let left = Draft::create(&target).unwrap();
        Destination::file(&target, "--output", &Inputs::default()).unwrap().write("whole 1\n").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "whole 1\n");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(), 2, "the draft that was left is not ours to remove");
        drop(left);
        assert_eq!(names(), 1);
    }
}
