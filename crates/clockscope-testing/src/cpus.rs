//! The CPUs that tests may use. A cpuset need not hold CPU 0, so no test names a CPU by itself.

use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::skip;

/// Returns the CPUs that the calling thread may run on, ascending.
///
/// # Panics
/// The system reports no affinity mask.
#[must_use]
pub fn allowed_cpus() -> Vec<u32> {
    let set = sched_getaffinity(None).expect("the system reports an affinity mask");
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}

/// Returns the first two CPUs that the calling thread may run on. If there is only one, the test is
/// skipped and must return.
#[must_use]
#[track_caller]
pub fn two_cpus() -> Option<(u32, u32)> {
    match allowed_cpus().as_slice() {
        [one, other, ..] => Some((*one, *other)),
        cpus => {
            skip(&format!("two CPUs are needed, and this process may only run on CPU {cpus:?}"));
            None
        }
    }
}

/// Binds the calling thread to one CPU while `body` runs. Threads and processes that `body` starts
/// inherit it.
///
/// # Panics
/// The thread may not run there.
pub fn on_cpu<T>(cpu: u32, body: impl FnOnce() -> T) -> T {
    let before = sched_getaffinity(None).expect("the system reports an affinity mask");
    bind(cpu);
    let result = body();
    sched_setaffinity(None, &before).expect("the thread may run where it ran before");
    result
}

/// Moves all threads of a child process to one CPU, as the kernel does when another goes offline.
/// Threads that it starts afterwards inherit it or bind themselves.
pub fn move_threads(child: &Child, cpu: u32) {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
    for thread in threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        // A thread that has ended meanwhile needs no CPU.
        let _ = sched_setaffinity(Pid::from_raw(thread), &only(cpu));
    }
}

fn bind(cpu: u32) {
    sched_setaffinity(None, &only(cpu)).expect("the thread may run on this CPU");
}

fn only(cpu: u32) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    set
}

/// A busy loop on one CPU, until it is dropped.
pub struct Hog {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hog {
    /// Starts the loop and returns once it runs.
    ///
    /// # Panics
    /// No thread can be started or bound to this CPU.
    #[must_use]
    pub fn on(cpu: u32) -> Self {
        let (stop, runs) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (stopped, running) = (Arc::clone(&stop), Arc::clone(&runs));
        let thread = std::thread::spawn(move || {
            bind(cpu);
            running.store(true, Ordering::Release);
            while !stopped.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        });
        while !runs.load(Ordering::Acquire) && !thread.is_finished() {
            std::thread::yield_now();
        }
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the loop was bound to its CPU");
        }
    }
}
