//! The calls that sleep on a simulated machine, and the signal that ends a sleep.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use clockscope_measure::SleepingCalls;
use clockscope_system::sleeping::{Call, SleepError};
use clockscope_testing::simulation::{ClockId, Multiprocessor};

/// A signal that comes at a true time, and sets a flag. It ends a sleep.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) at_ps: u128,
    pub(crate) stop: AtomicBool,
}

impl Signal {
    /// Sleeps until the signal comes at most. Returns true if it has come.
    pub(super) fn interrupts(&self, cpus: &Multiprocessor, ns: u64) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let left_ps = self.at_ps.saturating_sub(cpus.now_ps());
        if left_ps > u128::from(ns) * 1000 {
            return false;
        }
        cpus.sleep_ps(left_ps as u64);
        self.stop.store(true, Ordering::Relaxed);
        true
    }
}

/// The calls that sleep: until CLOCK_MONOTONIC has advanced by what was asked for, and later; or
/// earlier, where the machine is made so.
pub(crate) struct Sleeper {
    pub(super) cpus: Arc<Multiprocessor>,
    pub(super) monotonic: ClockId,
    /// The step in which the kernel sees its clock.
    pub(super) tick_ns: u64,
    pub(super) early_ns: u64,
    pub(super) sleeps: Arc<Mutex<Vec<(Call, u64, u64)>>>,
    pub(super) signal: Option<Arc<Signal>>,
}

impl Sleeper {
    fn monotonic_ns(&self) -> u64 {
        let ns = (self.cpus.true_clock_ps(self.monotonic, self.cpus.now_ps()) / 1000) as u64;
        ns / self.tick_ns * self.tick_ns
    }
}

impl SleepingCalls for Sleeper {
    fn sleep(&self, call: Call, ns: u64, monotonic_ns: u64) -> Result<(), SleepError> {
        if call == Call::Poll && !ns.is_multiple_of(1_000_000) {
            return Err(SleepError::Whole("milliseconds"));
        }
        let began_ns = self.monotonic_ns();
        let from_ns = if call == Call::ClockNanosleepAbsolute { monotonic_ns } else { began_ns };
        let until_ns = (from_ns + ns).saturating_sub(self.early_ns);
        loop {
            let left_ns = until_ns.saturating_sub(self.monotonic_ns());
            if left_ns == 0 {
                break;
            }
            if self.signal.as_ref().is_some_and(|signal| signal.interrupts(&self.cpus, left_ns)) {
                return Ok(());
            }
            // Until it is seen that so much has passed.
            self.cpus.sleep_ps(left_ns.next_multiple_of(self.tick_ns) * 1000);
        }
        let got_ns = self.monotonic_ns() - began_ns;
        self.sleeps.lock().expect("nobody panicked").push((call, ns, got_ns));
        Ok(())
    }
}
