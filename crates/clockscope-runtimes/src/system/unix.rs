//! Unix: a program in a group of its own, its descendants, and pipes that are polled.
//!
//! All systems have the same items: [`Family`], the processes that belong to a program; [`Output`],
//! its two pipes; [`Descriptor`], a socket to wait for; [`ending`], how a program ended in words.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::descendants::Adoption;
use crate::parent_death;

/// A socket to wait for.
pub(crate) type Descriptor<'a> = std::os::fd::BorrowedFd<'a>;

/// Returns the descriptor of a socket.
pub(crate) fn descriptor(socket: &impl AsFd) -> Descriptor<'_> {
    socket.as_fd()
}

/// The processes that belong to a program.
pub(crate) struct Family(Adoption);

impl Family {
    pub(crate) fn begin() -> io::Result<Self> {
        Adoption::begin().map(Self)
    }

    /// Has the program end with this process, in a group of its own, so that a terminal's Ctrl-C
    /// reaches us alone, who then end it.
    pub(crate) fn bind(&self, command: &mut Command) {
        command.process_group(0);
        parent_death::bind(command);
    }

    /// Does nothing: descendants are found when they are ended.
    pub(crate) fn admit(&self, _: &Child) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn end_all(&self, child: &mut Child) {
        self.0.end_all(child);
    }
}

/// Words for how a program ended that did not succeed, which follow its name.
pub(crate) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}{}", of_signal(signal)),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

/// A signal's name, in brackets.
fn of_signal(signal: i32) -> String {
    rustix::process::Signal::from_named_raw(signal).map_or_else(String::new, |name| {
        let name = format!("{name:?}");
        format!(" ({})", name.trim_matches('"').trim_start_matches("Signal::"))
    })
}

/// Output of a program.
pub(crate) struct Output {
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
}

impl Output {
    /// Of each pipe, `most` bytes are taken.
    pub(crate) fn new(child: &mut Child, most: usize) -> io::Result<Self> {
        Ok(Self {
            stdout: Stream::new(child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?, most)?,
            stderr: Stream::new(child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?, most)?,
        })
    }

    /// Until something was printed, one of the others has something, or a moment has passed.
    pub(crate) fn wait(&mut self, others: &[Descriptor<'_>], moment: Duration) -> io::Result<()> {
        let ours = [self.stdout.descriptor(), self.stderr.descriptor()].into_iter().flatten();
        let all = ours.chain(others.iter().copied());
        let mut all: Vec<PollFd<'_>> =
            all.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        let moment = Timespec::try_from(moment).map_err(io::Error::other)?;
        match poll(&mut all, Some(&moment)) {
            // Our own signals only set a flag.
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn take(&mut self) -> io::Result<()> {
        self.stdout.take()?;
        self.stderr.take()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.stdout.source.is_none() && self.stderr.source.is_none()
    }

    pub(crate) fn is_too_much(&self) -> bool {
        self.stdout.is_full() || self.stderr.is_full()
    }

    /// Stdout's and stderr's.
    pub(crate) fn texts(&self) -> [String; 2] {
        [&self.stdout.taken, &self.stderr.taken].map(|taken| String::from_utf8_lossy(taken).into_owned())
    }
}

/// One of the two pipes, until its end.
struct Stream<S> {
    source: Option<S>,
    taken: Vec<u8>,
    most: usize,
}

impl<S: Read + AsFd> Stream<S> {
    fn new(source: S, most: usize) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&source, true)?;
        Ok(Self { source: Some(source), taken: Vec::new(), most })
    }

    fn is_full(&self) -> bool {
        self.taken.len() >= self.most
    }

    fn descriptor(&self) -> Option<Descriptor<'_>> {
        self.source.as_ref().map(AsFd::as_fd)
    }

    /// Takes what there is.
    fn take(&mut self) -> io::Result<()> {
        let mut piece = [0; 1 << 16];
        while let Some(source) = &mut self.source {
            if self.taken.len() >= self.most {
                break;
            }
            match source.read(&mut piece) {
                Ok(0) => self.source = None,
                Ok(count) => self.taken.extend(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
