//! Windows: a program and all that it starts in a job, and pipes that threads read.
//!
//! All systems have the same items: [`Family`], the processes that belong to a program; [`Output`],
//! its two pipes; [`Descriptor`], a socket to wait for; [`ending`], how a program ended in words.

use std::io::{self, Read};
use std::os::windows::io::AsSocket;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::coarse::seconds;
use crate::parent_death::Job;

/// A socket to wait for.
pub(crate) type Descriptor<'a> = std::os::windows::io::BorrowedSocket<'a>;

/// Returns the descriptor of a socket.
pub(crate) fn descriptor(socket: &impl AsSocket) -> Descriptor<'_> {
    socket.as_socket()
}

/// No window, whose closing would end the program, and no console, so that Ctrl-C reaches us alone,
/// who then end it (winbase.h).
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
/// The program begins when it is in its job (winbase.h).
const CREATE_SUSPENDED: u32 = 0x0000_0004;

/// Time for which the end of the job's processes is waited for, in seconds.
const PATIENCE: f64 = 3.0;
const BETWEEN_TURNS: Duration = Duration::from_millis(1);
/// Period at which sockets are looked at: pipes and sockets cannot be waited for at once.
const SOCKETS: Duration = Duration::from_millis(5);

/// The processes that belong to a program.
pub(crate) struct Family(Job);

impl Family {
    pub(crate) fn begin() -> io::Result<Self> {
        Job::new().map(Self)
    }

    /// Has it start without a console, and wait until it is admitted.
    #[allow(clippy::unused_self, reason = "the same on all systems")]
    pub(crate) fn bind(&self, command: &mut Command) {
        command.creation_flags(CREATE_NO_WINDOW | CREATE_SUSPENDED);
    }

    /// Puts the program into the job, and lets it begin.
    pub(crate) fn admit(&self, child: &Child) -> io::Result<()> {
        self.0.admit(child)
    }

    /// Number of processes.
    #[cfg(test)]
    pub(crate) fn active(&self) -> Option<u32> {
        self.0.active()
    }

    /// Ends all, and waits until they are gone, for some seconds at most.
    pub(crate) fn end_all(&self, child: &mut Child) {
        // One that could not be admitted is in no job.
        let _ = child.kill();
        self.0.end();
        let until = seconds() + PATIENCE;
        while seconds() < until {
            let is_over = !matches!(child.try_wait(), Ok(None));
            if is_over && self.0.active() == Some(0) {
                return;
            }
            thread::sleep(BETWEEN_TURNS);
        }
    }
}

/// Words for how a program ended that did not succeed, which follow its name. Statuses of the
/// kernel are written as its documentation does: 0xc0000005 is an access violation.
pub(crate) fn ending(status: ExitStatus) -> String {
    match status.code() {
        Some(code @ 0..) => format!("ended with status {code}"),
        Some(code) => format!("ended with status {:#010x}", code.cast_unsigned()),
        None => "ended in an unknown way".to_owned(),
    }
}

/// The two pipes, by their places.
const STDOUT: usize = 0;
const STDERR: usize = 1;

/// A piece of a pipe; an empty one is its end.
type Piece = (usize, io::Result<Vec<u8>>);

/// Output of a program.
pub(crate) struct Output {
    pieces: Receiver<Piece>,
    /// A piece that came while it was waited for.
    early: Option<Piece>,
    taken: [Vec<u8>; 2],
    is_open: [bool; 2],
    most: usize,
}

impl Output {
    /// Of each pipe, `most` bytes are taken, and what comes with the last of them.
    pub(crate) fn new(child: &mut Child, most: usize) -> io::Result<Self> {
        // Small, so that a program that prints without end waits for us.
        let (sender, pieces) = sync_channel(4);
        read(STDOUT, child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?, most, sender.clone())?;
        read(STDERR, child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?, most, sender)?;
        Ok(Self { pieces, early: None, taken: [const { Vec::new() }; 2], is_open: [true; 2], most })
    }

    /// Until something was printed, or a moment has passed.
    pub(crate) fn wait(&mut self, others: &[Descriptor<'_>], moment: Duration) -> io::Result<()> {
        let moment = if others.is_empty() { moment } else { moment.min(SOCKETS) };
        match self.pieces.recv_timeout(moment) {
            Ok(piece) => self.early = Some(piece),
            Err(RecvTimeoutError::Timeout) => {}
            // Both pipes are at their end.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(SOCKETS),
        }
        Ok(())
    }

    pub(crate) fn take(&mut self) -> io::Result<()> {
        while let Some((index, piece)) = self.early.take().or_else(|| self.pieces.try_recv().ok()) {
            let piece = piece?;
            self.is_open[index] &= !piece.is_empty();
            self.taken[index].extend(piece);
            if self.is_too_much() {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.is_open == [false; 2]
    }

    pub(crate) fn is_too_much(&self) -> bool {
        self.taken.iter().any(|taken| taken.len() >= self.most)
    }

    /// Stdout's and stderr's.
    pub(crate) fn texts(&self) -> [String; 2] {
        self.taken.each_ref().map(|taken| String::from_utf8_lossy(taken).into_owned())
    }
}

/// Reads a pipe in a thread of its own, which ends at the pipe's end, or when nobody takes what was
/// read. A process that outlives the program may hold the pipe open: then the thread ends with it.
fn read(index: usize, mut pipe: impl Read + Send + 'static, most: usize, sender: SyncSender<Piece>) -> io::Result<()> {
    let mut left = most;
    let thread = thread::Builder::new().spawn(move || {
        let mut piece = vec![0; 1 << 16];
        loop {
            let read = pipe.read(&mut piece).map(|count| piece[..count].to_vec());
            let is_last = read.as_ref().map_or(true, Vec::is_empty);
            left = left.saturating_sub(read.as_ref().map_or(0, Vec::len));
            if sender.send((index, read)).is_err() || is_last || left == 0 {
                return;
            }
        }
    });
    thread.map(drop)
}
