//! Texts of errors: with the errors of files in plain words, without the system's error numbers.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Returns the text of an error with its causes.
pub(crate) fn text(error: &anyhow::Error) -> String {
    let mut causes: Vec<String> = error.chain().map(cause).collect();
    causes.dedup();
    without_numbers(&causes.join(": "))
}

fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    error.downcast_ref::<io::Error>().map_or_else(|| error.to_string(), |error| of_io(innermost(error)))
}

/// Returns the system's error inside of one that the CSV writer has wrapped.
fn innermost(error: &io::Error) -> &io::Error {
    let csv = error.get_ref().and_then(|inner| inner.downcast_ref::<csv::Error>());
    match csv.map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(inner)) => inner,
        _ => error,
    }
}

/// Returns the sentence of an error of a file: what is wrong, and what to do. One that has a
/// sentence of its own keeps it.
pub(crate) fn of_io(error: &io::Error) -> String {
    if let Some(own) = error.get_ref() {
        return without_numbers(&own.to_string());
    }
    let sentence = match error.kind() {
        ErrorKind::NotFound => "there is no such file",
        ErrorKind::IsADirectory => "it is a folder; name a file in it",
        ErrorKind::NotADirectory => "a part of its path is a file, not a folder",
        ErrorKind::PermissionDenied => "permission denied: choose another file, or another user",
        ErrorKind::StorageFull => "no space left on the device: free some, or choose another",
        ErrorKind::QuotaExceeded => "the quota is used up: free some space, or choose another file",
        ErrorKind::FileTooLarge => "larger than the limit of file sizes permits (ulimit -f): raise it",
        ErrorKind::ReadOnlyFilesystem => "its file system is read-only: choose another file",
        ErrorKind::InvalidFilename => "the system does not accept such a name: choose another",
        ErrorKind::OutOfMemory => "not enough memory",
        // EBADF, which has no kind: standard output or input is closed.
        _ if is_closed(error) => "it is closed",
        _ => return without_numbers(&error.to_string()),
    };
    sentence.to_owned()
}

/// Returns the error of a file that could not be made in a folder that is there: some, as /proc,
/// take none.
pub(crate) fn of_new_file(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::NotFound => io::Error::other("its folder takes no new files: choose another"),
        _ => error,
    }
}

/// Returns whether the error is that of a closed file descriptor.
fn is_closed(error: &io::Error) -> bool {
    const EBADF: i32 = 9;
    cfg!(unix) && error.raw_os_error() == Some(EBADF)
}

/// Returns the folder that would have to be there for a file to be made, if it is missing.
pub(crate) fn missing_folder(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.exists()).then(|| folder.to_owned())
}

/// The text without ` (os error 2)`, which std adds to the system's own sentences.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((number, rest)) if number.parse::<i32>().is_ok() => text + rest,
        _ => text + " (os error " + part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_number_is_left() {
        let found = io::Error::from_raw_os_error(if cfg!(windows) { 1 } else { 71 });
        let error = anyhow::anyhow!(found).context("cannot read x (os error of 3)");
        assert!(text(&error).starts_with("cannot read x (os error of 3): "), "{error:#}");
        assert!(!text(&error).contains(" (os error 7"), "{error:#}");
        assert_eq!(without_numbers("a (os error 2): b (os error -3)"), "a: b");
        let missing = anyhow::anyhow!(io::Error::from(ErrorKind::NotFound)).context("cannot report x");
        assert_eq!(text(&missing), "cannot report x: there is no such file");
    }
}
