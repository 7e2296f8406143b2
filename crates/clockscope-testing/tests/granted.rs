//! The time that a machine grants is what all threads of a process get.

#![cfg(target_os = "linux")]

use std::process::Command;
use std::time::Duration;

use clockscope_testing::{allowed_cpus, granted, on_cpu, skip, thread_time};

/// Set where this program is the process that is watched.
const CHILD: &str = "CLOCKSCOPE_CHILD";

/// Threads that share a CPU wait for each other, while the first one waits for nothing but them.
#[test]
fn what_its_other_threads_waited_for_counts() {
    let spin = || while thread_time() < Duration::from_millis(150) {};
    if std::env::var_os(CHILD).is_some() {
        let spinning = on_cpu(allowed_cpus()[0], || [(); 3].map(|()| std::thread::spawn(spin)));
        return spinning.map(std::thread::JoinHandle::join).into_iter().for_each(|ended| ended.expect("no panic"));
    }
    if !std::path::Path::new("/proc/self/schedstat").exists() {
        return skip("the kernel keeps no account of what threads waited for");
    }
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    let (output, granted) =
        granted(command.args(["--exact", "what_its_other_threads_waited_for_counts"]).env(CHILD, ""));
    assert!(output.status.success(), "{output:?}");
    assert!(!granted.is_whole(), "{granted:?}");
}
