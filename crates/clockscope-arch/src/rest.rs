//! Waits of a thread.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Lets the thread rest for about `duration`; not at all where the system refuses. (std's sleep panics
/// there.)
pub fn rest(duration: Duration) {
    let (lock, nobody_wakes) = (Mutex::new(()), Condvar::new());
    if let Ok(guard) = lock.lock() {
        let _ = nobody_wakes.wait_timeout(guard, duration);
    }
}
