//! Files that a command reads. Its outputs replace none of them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clockscope_records::Document;

use crate::file_identity::FileIdentity;
use crate::usage::UsageError;

/// Files that a command reads. Every read of a file that the user names is one of its methods, and
/// `Destination` opens no output without it.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    files: Vec<Input>,
}

#[derive(Debug)]
struct Input {
    path: PathBuf,
    identity: Option<FileIdentity>,
}

impl Inputs {
    /// Adds a file that another part of the program reads.
    pub(crate) fn add(&mut self, file: &Path) {
        self.files.push(Input::new(file));
    }

    /// Reads a file, or standard input for `-`.
    pub(crate) fn read(&mut self, file: &Path) -> io::Result<Vec<u8>> {
        self.add(file);
        if is_stdin(file) {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        std::fs::read(file)
    }

    /// Reads a recorded document. The purpose is a part of errors.
    pub(crate) fn read_document(&mut self, file: &Path, purpose: &str) -> Result<Document> {
        let wrong = format!("cannot {purpose} {}", file.display());
        let bytes = self.read(file).context(wrong.clone())?;
        Document::from_bytes(&bytes).context(wrong)
    }

    /// Returns the name by which a file was added, which may be another one.
    pub(crate) fn name(&self, file: &Path) -> Option<&Path> {
        let file = Input::new(file);
        self.files.iter().find(|input| input.is_same(&file)).map(|input| input.path.as_path())
    }

    /// Refuses an output that is one of these files. The option is a part of the error.
    pub(crate) fn refuse_output(&self, output: &Path, option: &str) -> Result<(), UsageError> {
        let replaced = FileIdentity::at(output);
        let Some(input) = self.files.iter().find(|input| replaced.is_some() && input.identity == replaced) else {
            return Ok(());
        };
        let read = if is_stdin(&input.path) { "standard input".into() } else { input.path.to_string_lossy() };
        Err(UsageError(format!(
            "{option} {} would replace {read}, an input of this command: name another file",
            output.display()
        )))
    }
}

impl Input {
    fn new(file: &Path) -> Self {
        let identity = if is_stdin(file) { FileIdentity::of_stdin() } else { FileIdentity::at(file) };
        Self { path: file.to_owned(), identity }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.path == other.path || self.identity.is_some() && self.identity == other.identity
    }
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}
