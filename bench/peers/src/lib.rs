//! Parts that the programs share. Each pins nothing itself: `taskset` does.

use std::hint::black_box;

use clockscope::{Conversion, ticks};

/// Argument number `index`, or `default` where there is none.
pub fn argument(index: usize, default: u64) -> u64 {
    std::env::args().nth(index).map_or(default, |text| text.parse().expect("a whole number"))
}

/// Ticks as ns, by a calibration of a tenth of a second.
pub fn conversion() -> Conversion {
    clockscope::calibrate_blocking(std::time::Duration::from_millis(100)).expect("a counter that may be read")
}

/// Ticks that `read` takes, `times` in a row, between fenced readings.
#[inline(always)]
pub fn timed<T>(times: u64, mut read: impl FnMut() -> T) -> u64 {
    let start = ticks::start();
    for _ in 0..times {
        black_box(read());
    }
    ticks::stop().wrapping_sub(start)
}

/// The value below which this share of all lies.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}

/// CLOCK_MONOTONIC in ns, by the C library.
#[inline(always)]
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME in ns since the Unix epoch, by the C library.
#[inline(always)]
pub fn realtime_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME)
}

#[inline(always)]
fn clock_ns(id: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the timespec.
    unsafe { libc::clock_gettime(id, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
