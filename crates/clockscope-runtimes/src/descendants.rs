//! All processes that a program has started, wherever they have gone: browsers and build servers
//! leave the group and the session that they were started in.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, waitpid};

use crate::coarse::seconds;

/// Time for which it is tried to end what is there, in seconds. A process that is being started
/// while the others are ended is found the next time.
const PATIENCE: f64 = 3.0;
const BETWEEN_TURNS: Duration = Duration::from_millis(1);

/// While it lives, this process is the parent of its descendants that lose theirs, so that none
/// gets out of sight.
#[derive(Debug)]
pub(crate) struct Adoption {
    /// Processes that were there before, which are left alone: a shell's process substitution, a
    /// server that a script started before it became this program. With the time at which each
    /// started, since numbers are given again.
    before: HashSet<(i32, u64)>,
}

/// A process, as the kernel describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pid: i32,
    parent: i32,
    /// In ticks since boot.
    started: u64,
}

impl Adoption {
    /// Begins.
    ///
    /// # Errors
    /// The system does not know such a thing.
    pub(crate) fn begin() -> io::Result<Self> {
        let before = descendants(&HashSet::new()).iter().map(|process| (process.pid, process.started)).collect();
        adopt(true)?;
        Ok(Self { before })
    }

    /// Ends a program and every other process that descends from this one and was not there before,
    /// and waits until they are gone; some seconds at most, since a process that hangs inside the
    /// kernel cannot be ended. Where /proc shows nothing it ends the program and the group that it
    /// leads.
    pub(crate) fn end_all(&self, child: &mut Child) {
        let child_pid = Pid::from_child(child);
        let until = seconds() + PATIENCE;
        while seconds() < until {
            // Those of which only the status is left go as well, or they would be found for ever.
            let is_over = !matches!(child.try_wait(), Ok(None));
            if !is_over {
                let _ = child.kill().and(kill_process_group(child_pid, Signal::KILL).map_err(Into::into));
            }
            let left = descendants(&self.before);
            if is_over && left.is_empty() {
                return;
            }
            for process in left {
                let Some(pid) = Pid::from_raw(process.pid) else { continue };
                // One that has ended in the meantime is not there any more, which is as good.
                let _ = kill_process(pid, Signal::KILL);
                if process.parent == own() && pid != child_pid {
                    let _ = waitpid(Some(pid), WaitOptions::NOHANG);
                }
            }
            std::thread::sleep(BETWEEN_TURNS);
        }
    }
}

impl Drop for Adoption {
    fn drop(&mut self) {
        let _ = adopt(false);
    }
}

/// Makes this process the parent of descendants that lose theirs, or not any more.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn adopt(is_wanted: bool) -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(is_wanted.then(getpid))?)
}

/// Does nothing: without /proc only the program's group is ended.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn adopt(_: bool) -> io::Result<()> {
    Ok(())
}

fn own() -> i32 {
    getpid().as_raw_nonzero().get()
}

/// All descendants of this process, but for these and theirs.
fn descendants(spared: &HashSet<(i32, u64)>) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        if let Some(process) = process(pid) {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![own()];
    while let Some(parent) = parents.pop() {
        let children = children.remove(&parent).into_iter().flatten();
        for process in children.filter(|process| !spared.contains(&(process.pid, process.started))) {
            found.push(process);
            parents.push(process.pid);
        }
    }
    found
}

/// A process as it is now.
fn process(pid: i32) -> Option<Process> {
    described(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses what proc(5) says in `stat`. The name before the rest, in brackets, may hold anything.
pub(crate) fn described(pid: i32, stat: &str) -> Option<Process> {
    /// Places behind the name: the state is the first.
    const PARENT: usize = 1;
    const STARTED: usize = 19;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Process { pid, parent: fields.get(PARENT)?.parse().ok()?, started: fields.get(STARTED)?.parse().ok()? })
}
