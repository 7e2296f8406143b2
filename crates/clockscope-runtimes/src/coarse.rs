//! The time by which limits are kept. On Linux the kernel answers it from memory: it can be read
//! where the counter is disabled, which other systems do not do.

/// Seconds of the coarse monotonic clock.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn seconds() -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Seconds since the first call.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn seconds() -> f64 {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}
