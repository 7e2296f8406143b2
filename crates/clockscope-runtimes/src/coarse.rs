//! The time by which limits are kept. The kernel answers it from memory: it can be read where the
//! counter is disabled.

use rustix::time::{ClockId, clock_gettime};

/// Seconds of the coarse monotonic clock.
pub(crate) fn seconds() -> f64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
