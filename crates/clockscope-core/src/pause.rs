//! Pauses of a thread.

use std::time::Duration;

/// Pauses the thread for about `duration`; not at all where the system does not permit it. (std's
/// sleep panics there.)
#[cfg(not(any(target_os = "wasi", all(target_family = "wasm", target_os = "unknown"))))]
pub fn pause(duration: Duration) {
    use std::sync::{Condvar, Mutex};

    let (lock, nobody_wakes) = (Mutex::new(()), Condvar::new());
    if let Ok(guard) = lock.lock() {
        let _ = nobody_wakes.wait_timeout(guard, duration);
    }
}

/// Pauses the thread on WASI, where std's condition variables panic without threads; not at all
/// in a browser, whose page must not wait.
#[cfg(any(target_os = "wasi", all(target_family = "wasm", target_os = "unknown")))]
pub fn pause(duration: Duration) {
    if cfg!(target_os = "wasi") {
        std::thread::sleep(duration);
    }
}
