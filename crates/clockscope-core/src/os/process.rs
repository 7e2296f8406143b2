//! The number of the process, where there are several.

/// Returns the number of the process that calls, never 0: a forked child has another one.
#[must_use]
pub fn process() -> u64 {
    u64::from(std::process::id()).max(1)
}
