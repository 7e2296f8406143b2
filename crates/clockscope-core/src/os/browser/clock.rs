//! performance.now() and Date.now().

use crate::Errno;

/// Step that browsers round to where a page is not isolated, in ns (High Resolution Time, "coarsen
/// time").
const COARSENED_NS: u64 = 100_000;

/// Reads performance.now(), which never goes back, in ns since the Unix epoch:
/// performance.timeOrigin is added, so that the page's threads see one timeline. (Workers have
/// origins of their own.)
pub(in super::super) fn monotonic_ns() -> Result<u64, Errno> {
    let (origin_ms, since_ms) = host::performance_ms().ok_or(Errno::UNSUPPORTED)?;
    // Each by itself: the sum as one float would be rounded to 0.2 µs.
    Ok(ns(origin_ms).wrapping_add(ns(since_ms)) as u64)
}

/// Reads Date.now(), whose unit is a millisecond.
pub(in super::super) fn wall_ns() -> Result<i64, Errno> {
    host::date_ms().map(ns).ok_or(Errno::UNSUPPORTED)
}

/// Returns that no such clock is known.
pub(in super::super) fn boot_ns() -> Result<i64, Errno> {
    Err(Errno::UNSUPPORTED)
}

/// Milliseconds as whole ns; saturates, and 0 for what is not a number.
fn ns(ms: f64) -> i64 {
    (ms * 1e6) as i64
}

/// No host states one.
pub(in super::super) fn nominal_tick_ns() -> u64 {
    COARSENED_NS
}

/// Returns `None`: whether the clock goes on while the machine sleeps differs between browsers.
pub(in super::super) fn suspended_ns() -> Option<u64> {
    None
}

#[cfg(feature = "js")]
mod host {
    #![allow(unsafe_code, reason = "the macro declares the host's functions")]

    use wasm_bindgen::JsCast;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        type Global;
        #[wasm_bindgen(method, getter)]
        fn performance(this: &Global) -> Option<Performance>;

        type Performance;
        #[wasm_bindgen(method)]
        fn now(this: &Performance) -> f64;
        #[wasm_bindgen(method, getter, js_name = timeOrigin)]
        fn time_origin(this: &Performance) -> f64;
    }

    std::thread_local! {
        static PERFORMANCE: Option<Performance> = js_sys::global().unchecked_into::<Global>().performance();
    }

    /// performance.timeOrigin and performance.now(); `None` where the host has no such object.
    pub(super) fn performance_ms() -> Option<(f64, f64)> {
        PERFORMANCE.try_with(|performance| performance.as_ref().map(|it| (it.time_origin(), it.now()))).ok().flatten()
    }

    /// Date.now().
    pub(super) fn date_ms() -> Option<f64> {
        Some(js_sys::Date::now())
    }
}

/// There is no JavaScript.
#[cfg(not(feature = "js"))]
mod host {
    pub(super) fn performance_ms() -> Option<(f64, f64)> {
        None
    }

    pub(super) fn date_ms() -> Option<f64> {
        None
    }
}
