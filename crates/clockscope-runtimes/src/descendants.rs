//! All processes that a program has started, wherever they have gone: browsers and build servers leave the group and the session
//! that they were started in.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};

/// How often it is tried to end what is there. A process that is being started while the others are ended is found the next time.
const TURNS: u32 = 2000;
const BETWEEN_TURNS: Duration = Duration::from_millis(1);

/// From now on this process becomes the parent of its descendants that lose theirs, so that none gets out of sight.
pub(crate) fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Ends a program and every other process that descends from this one, and waits until they are gone; 2 s at most, since a
/// process that hangs inside the kernel cannot be ended.
pub(crate) fn end_all(child: &mut Child) {
    let child_pid = Pid::from_child(child);
    for _ in 0..TURNS {
        // Those of which only the status is left go as well, or they would be found for ever.
        let is_over = !matches!(child.try_wait(), Ok(None));
        let left = descendants();
        if is_over && left.is_empty() {
            return;
        }
        for (pid, is_ours) in left {
            // One that has ended in the meantime is not there any more, which is as good.
            let _ = kill_process(pid, Signal::KILL);
            if is_ours && pid != child_pid {
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
        std::thread::sleep(BETWEEN_TURNS);
    }
}

/// All descendants of this process, and whether it is their parent.
fn descendants() -> Vec<(Pid, bool)> {
    let own = rustix::process::getpid();
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![own.as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for pid in children.remove(&parent).into_iter().flatten() {
            found.extend(Pid::from_raw(pid).map(|pid| (pid, parent == own.as_raw_nonzero().get())));
            parents.push(pid);
        }
    }
    found
}

/// A process's parent (proc(5), stat). The name before it, in brackets, may hold anything.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
