//! Files of records: one a check, or one a day, compressed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// The folder of a census's records.
#[derive(Clone, Copy)]
pub(super) struct DayFolder<'a> {
    records: &'a Path,
    is_compact: bool,
}

impl<'a> DayFolder<'a> {
    pub(super) fn new(records: &'a Path, is_compact: bool) -> Self {
        Self { records, is_compact }
    }

    /// Begins a day.
    pub(super) fn open(self, date: &str) -> Result<DayFiles<'a>> {
        let stream = if self.is_compact {
            Some(Compressor::start(&self.records.join(format!("{date}.ndjson.zst")))?)
        } else {
            let folder = self.records.join(date);
            fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
            None
        };
        Ok(DayFiles { records: self.records, date: date.to_owned(), stream })
    }
}

/// The files of a day.
pub(super) struct DayFiles<'a> {
    records: &'a Path,
    date: String,
    stream: Option<Compressor>,
}

impl DayFiles<'_> {
    /// Writes a check, the one of this turn of its host, and returns its file below the folder of
    /// records.
    pub(super) fn put(&mut self, host: usize, turn: usize, content: &[u8]) -> Result<String> {
        match &mut self.stream {
            Some(stream) => {
                stream.write(content)?;
                Ok(format!("{}.ndjson.zst", self.date))
            }
            None => {
                let file = format!("{}/{}.ndjson", self.date, name(host, turn));
                put(&self.records.join(&file), content)?;
                Ok(file)
            }
        }
    }

    /// Writes a bad file and returns it the same way. It shares no file with checks, because a cut
    /// would join it with the next line.
    pub(super) fn stray(&mut self, host: usize, turn: usize, content: &[u8]) -> Result<String> {
        if self.stream.is_none() {
            return self.put(host, turn, content);
        }
        let file = format!("{}-{}.ndjson.zst", self.date, name(host, turn));
        let mut stream = Compressor::start(&self.records.join(&file))?;
        stream.write(content)?;
        stream.finish()?;
        Ok(file)
    }

    /// Ends the day.
    pub(super) fn close(self) -> Result<()> {
        self.stream.map_or(Ok(()), Compressor::finish)
    }
}

/// Returns the name of a host's file. The one of turn 0 sorts last.
fn name(host: usize, turn: usize) -> String {
    if turn == 0 { format!("{host:05}") } else { format!("{host:05}-{turn}") }
}

/// A running program `zstd`, which writes a file.
struct Compressor {
    child: Child,
    input: ChildStdin,
}

impl Compressor {
    fn start(file: &Path) -> Result<Self> {
        let started = Command::new("zstd").args(["-q", "-3", "-o"]).arg(file).stdin(Stdio::piped()).spawn();
        let mut child = started.context("cannot run zstd, which --compact needs: apt-get install zstd")?;
        let Some(input) = child.stdin.take() else { bail!("zstd has no input") };
        Ok(Self { child, input })
    }

    fn write(&mut self, content: &[u8]) -> Result<()> {
        self.input.write_all(content).context("cannot write to zstd")
    }

    fn finish(self) -> Result<()> {
        let Self { mut child, input } = self;
        drop(input);
        let status = child.wait()?;
        ensure!(status.success(), "zstd failed: {status}");
        Ok(())
    }
}

/// Writes a file.
pub(super) fn put(path: &Path, content: &[u8]) -> Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}
