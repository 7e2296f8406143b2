//! A program that ends with the one that started it, even if that is killed and can end nothing
//! itself.

#![allow(unsafe_code, reason = "what a child does between fork and exec is asked for by an unsafe call")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Has the kernel kill the program when the calling thread ends. Not what the program has started
/// itself.
pub(crate) fn bind(command: &mut Command) {
    let parent = getpid();
    let before_exec = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have ended before that was said.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    // SAFETY: between fork and exec only what is async-signal-safe may be called. These are bare
    // system calls, and errors of a kind or a number alone, which allocate nothing.
    unsafe { command.pre_exec(before_exec) };
}
