//! Sleeps by each call that the system has.

use std::time::Duration;

pub use crate::os::sleep_call::{Call, SleepError};

use crate::os::facts;

/// Resources that the calls need, made once.
#[derive(Debug)]
pub struct Sleeper {
    system: facts::Sleeper,
}

impl Sleeper {
    /// Makes it.
    #[must_use]
    pub fn new() -> Self {
        Self { system: facts::Sleeper::new() }
    }

    /// Sleeps for `ns` nanoseconds. `monotonic_ns` is what CLOCK_MONOTONIC shows now, for the call
    /// that sleeps until a moment. A signal may end it early.
    ///
    /// # Errors
    /// The call failed, or cannot sleep for so long.
    pub fn sleep(&self, call: Call, ns: u64, monotonic_ns: u64) -> Result<(), SleepError> {
        match call {
            Call::ThreadSleep => {
                std::thread::sleep(Duration::from_nanos(ns));
                Ok(())
            }
            call => self.system.sleep(call, ns, monotonic_ns),
        }
    }
}

impl Default for Sleeper {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the calling thread's timer slack in ns, by which the kernel may wake it late on purpose;
/// `None` where the kernel does not show it.
#[must_use]
pub fn timer_slack_ns() -> Option<u64> {
    facts::timer_slack_ns()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn every_call_sleeps_a_millisecond() {
        let sleeper = Sleeper::new();
        for call in Call::ALL {
            let before = std::time::Instant::now();
            let monotonic_ns = clockscope_core::os::Timeline::new().now_ns().unwrap();
            sleeper.sleep(*call, 1_000_000, monotonic_ns).unwrap();
            assert!(before.elapsed() >= Duration::from_micros(990), "{call:?}");
        }
        assert_eq!(sleeper.sleep(Call::Poll, 1_000, 0), Err(SleepError::Whole("milliseconds")));
        assert!(timer_slack_ns().is_some());
    }
}
